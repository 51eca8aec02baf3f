"""Corpus to exam: documents, chunks, questions, filters."""

from exam_gen._assembly import Stratum, assemble, attribute, split_pool
from exam_gen._baselines import Baseline
from exam_gen._exam_diff import ExamDiff, diff_exams
from exam_gen._exam_writer import WritingProgress
from exam_gen._language_notice import language_notice
from exam_gen._paper_writing import MAX_TOKENS
from exam_gen._prompts import (
    PEOPLE_VERSION,
    closed_prompt,
    judgment_prompt,
    open_prompt,
    paper_prompt,
    question_prompt,
    questions_prompt,
    wrong_answers_prompt,
)
from exam_gen._statistics import ExamStatistics, Spread, exam_statistics, overlaps
from exam_gen._writing import WrittenExam, write_screened
from exam_gen._writing_settings import WritingSettings
from exam_gen.drafting._drafts import AnsweredQuestion

__all__ = [
    "MAX_TOKENS",
    "PEOPLE_VERSION",
    "AnsweredQuestion",
    "Baseline",
    "ExamDiff",
    "ExamStatistics",
    "Spread",
    "Stratum",
    "WritingProgress",
    "WritingSettings",
    "WrittenExam",
    "assemble",
    "attribute",
    "closed_prompt",
    "diff_exams",
    "exam_statistics",
    "judgment_prompt",
    "language_notice",
    "open_prompt",
    "overlaps",
    "paper_prompt",
    "question_prompt",
    "questions_prompt",
    "split_pool",
    "write_screened",
    "wrong_answers_prompt",
]
