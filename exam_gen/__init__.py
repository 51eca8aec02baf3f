"""Corpus to exam: documents, chunks, questions, filters."""

from exam_gen.catalogue import rules_of
from exam_gen.chunks import ChunkBounds, chunk
from exam_gen.corpus import read_corpus
from exam_gen.files import read_exam, write_exam
from exam_gen.model import LanguageModel, Likelihoods, Prompt
from exam_gen.records import Chunk, Document, Dropped, Exam, Question
from exam_gen.replies import ReplyStore
from exam_gen.rules import Rule, Tools
from exam_gen.screening import write_screened
from exam_gen.statistics import exam_statistics
from exam_gen.writing import WritingSettings, write_questions

__all__ = [
    "Chunk",
    "ChunkBounds",
    "Document",
    "Dropped",
    "Exam",
    "LanguageModel",
    "Likelihoods",
    "Prompt",
    "Question",
    "ReplyStore",
    "Rule",
    "Tools",
    "WritingSettings",
    "chunk",
    "exam_statistics",
    "read_corpus",
    "read_exam",
    "rules_of",
    "write_exam",
    "write_questions",
    "write_screened",
]
