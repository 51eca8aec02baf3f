"""A reader's decisions about questions, the exam they make, and blind audits."""

from exam_gen.review._audit import (
    FAULTS,
    Judgment,
    check_judgment,
    draw,
    in_words,
    labelled,
    read_judgments,
    result,
    sheet,
    shortfall,
)
from exam_gen.review._decisions import Review, Reviewed, apply_edits
from exam_gen.review._edits import CONTENT, Edit, edit_of

__all__ = [
    "CONTENT",
    "FAULTS",
    "Edit",
    "Judgment",
    "Review",
    "Reviewed",
    "apply_edits",
    "check_judgment",
    "draw",
    "edit_of",
    "in_words",
    "labelled",
    "read_judgments",
    "result",
    "sheet",
    "shortfall",
]
