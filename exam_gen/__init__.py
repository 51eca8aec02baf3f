"""Corpus to exam: documents, chunks, questions, filters."""

from exam_gen.model import LanguageModel, Likelihoods, Prompt
from exam_gen.records import Chunk, Document, Dropped, Exam, Question

__all__ = ["Chunk", "Document", "Dropped", "Exam", "LanguageModel", "Likelihoods", "Prompt", "Question"]
