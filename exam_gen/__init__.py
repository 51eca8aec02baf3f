"""Corpus to exam: documents, chunks, questions, filters."""

from exam_gen._assembly import Stratum, assemble, attribute, split_pool
from exam_gen._free_writing import MAX_TOKENS, QUESTION_FORMATS
from exam_gen._prompts import closed_prompt, judgment_prompt, open_prompt, question_prompt, wrong_answers_prompt
from exam_gen._screening import write_screened
from exam_gen._statistics import Baseline, ExamStatistics, exam_statistics
from exam_gen._versions import ExamDiff, diff_exams
from exam_gen._writing import WritingSettings, WrittenExam, write_questions
from exam_gen.corpora._chunks import ChunkBounds, chunk
from exam_gen.corpora._corpus import Corpus, gather, read_corpus
from exam_gen.corpora._inventory import take_inventory
from exam_gen.corpora._selection import Selection
from exam_gen.rules._base import Rule, Tools
from exam_gen.rules._catalogue import rules_of
from examcore import (
    Chunk,
    Document,
    Dropped,
    Exam,
    LanguageModel,
    Likelihoods,
    Prompt,
    Question,
    ReplyStore,
    read_exam,
    write_exam,
)

__all__ = [
    "MAX_TOKENS",
    "QUESTION_FORMATS",
    "Baseline",
    "Chunk",
    "ChunkBounds",
    "Corpus",
    "Document",
    "Dropped",
    "Exam",
    "ExamDiff",
    "ExamStatistics",
    "LanguageModel",
    "Likelihoods",
    "Prompt",
    "Question",
    "ReplyStore",
    "Rule",
    "Selection",
    "Stratum",
    "Tools",
    "WritingSettings",
    "WrittenExam",
    "assemble",
    "attribute",
    "chunk",
    "closed_prompt",
    "diff_exams",
    "exam_statistics",
    "gather",
    "judgment_prompt",
    "open_prompt",
    "question_prompt",
    "read_corpus",
    "read_exam",
    "rules_of",
    "split_pool",
    "take_inventory",
    "write_exam",
    "write_questions",
    "write_screened",
    "wrong_answers_prompt",
]
