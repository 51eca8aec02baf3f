"""Reviewing an exam on a local page: accept, edit, retire and restore its questions, or audit it blindly."""

from ragexam.review._blind_audit import BlindAudit
from ragexam.review._exam_editor import ExamEditor
from ragexam.review._server import ReviewServer

__all__ = ["BlindAudit", "ExamEditor", "ReviewServer"]
