"""Labelling the questions of an exam: by rules, by a language model, by clusters; and comparing labellers."""

from ragexam.classify.classification import Asking, Classification, Wanted, classify
from ragexam.classify.comparison import read_labels
from ragexam.classify.definition import read_taxonomy
from ragexam.classify.job import Job, run

__all__ = ["Asking", "Classification", "Job", "Wanted", "classify", "read_labels", "read_taxonomy", "run"]
