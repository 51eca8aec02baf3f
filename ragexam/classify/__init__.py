"""Labelling the questions of an exam: by rules, by a language model, by clusters; and comparing labellers."""

from ragexam.classify._definition import read_taxonomy
from ragexam.classify._job import ClassificationJob, run
from ragexam.classify._label_agreement import compare_labels

__all__ = ["ClassificationJob", "compare_labels", "read_taxonomy", "run"]
