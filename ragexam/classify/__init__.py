"""Labelling the questions of an exam: by rules, by a language model, by clusters; and comparing labellers."""

from ragexam.classify._classification import Classification, LabellingRequest, ModelLabeller, classify
from ragexam.classify._definition import read_taxonomy
from ragexam.classify._job import ClassificationJob, run
from ragexam.classify._label_agreement import LabellerAgreement, LevelAgreement, compare_labels, read_labels
from ragexam.classify._results import ClassificationResult

__all__ = [
    "Classification",
    "ClassificationJob",
    "ClassificationResult",
    "LabellerAgreement",
    "LabellingRequest",
    "LevelAgreement",
    "ModelLabeller",
    "classify",
    "compare_labels",
    "read_labels",
    "read_taxonomy",
    "run",
]
