"""Corpus to exam: documents, chunks, questions, filters."""

from exam_gen.assembly import assemble
from exam_gen.corpora.chunks import ChunkBounds, chunk
from exam_gen.corpora.corpus import Corpus, gather, read_corpus
from exam_gen.corpora.inventory import take_inventory
from exam_gen.corpora.selection import Selection
from exam_gen.rules.base import Rule, Tools
from exam_gen.rules.catalogue import rules_of
from exam_gen.screening import write_screened
from exam_gen.statistics import exam_statistics
from exam_gen.versions import diff_exams
from exam_gen.writing import WritingSettings, write_questions
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
    "Chunk",
    "ChunkBounds",
    "Corpus",
    "Document",
    "Dropped",
    "Exam",
    "LanguageModel",
    "Likelihoods",
    "Prompt",
    "Question",
    "ReplyStore",
    "Rule",
    "Selection",
    "Tools",
    "WritingSettings",
    "assemble",
    "chunk",
    "diff_exams",
    "exam_statistics",
    "gather",
    "read_corpus",
    "read_exam",
    "rules_of",
    "take_inventory",
    "write_exam",
    "write_questions",
    "write_screened",
]
