"""Reading an exam on a local page: accepting, mending, retiring and restoring questions; and a blind audit."""

from ragexam.review._blind_audit import BlindAudit
from ragexam.review._exam_editor import ExamEditor
from ragexam.review._server import ReviewServer

__all__ = ["BlindAudit", "ExamEditor", "ReviewServer"]
