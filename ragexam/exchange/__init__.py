"""Exams and answers in the forms of other tools: lm-evaluation-harness, Inspect, hub data sets, tables."""

from ragexam.exchange._reading import import_answers
from ragexam.exchange._writing import export_exam

__all__ = ["export_exam", "import_answers"]
