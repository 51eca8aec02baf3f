"""Reading an exam on a local page: accepting, mending, retiring and restoring questions; and a blind audit."""

from ragexam.review.audit import AuditDesk
from ragexam.review.desk import Desk
from ragexam.review.server import ReviewServer

__all__ = ["AuditDesk", "Desk", "ReviewServer"]
