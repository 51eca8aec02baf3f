"""A reader's decisions about questions, the exam they make, and blind audits."""

from exam_gen.review._audit import (
    FAULTS,
    AuditResult,
    Judgment,
    audit_result,
    audit_sheet,
    check_judgment,
    draw_audit_sample,
    labelled,
    missing_judgments,
    read_judgments,
)
from exam_gen.review._edits import CONTENT, Edit, edit_of
from exam_gen.review._review_state import Review, Reviewed, apply_edits

__all__ = [
    "CONTENT",
    "FAULTS",
    "AuditResult",
    "Edit",
    "Judgment",
    "Review",
    "Reviewed",
    "apply_edits",
    "audit_result",
    "audit_sheet",
    "check_judgment",
    "draw_audit_sample",
    "edit_of",
    "labelled",
    "missing_judgments",
    "read_judgments",
]
