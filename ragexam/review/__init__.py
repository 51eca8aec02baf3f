"""Reading an exam on a local page: accepting, mending, retiring and restoring questions; and a blind audit."""

from ragexam.review._audit import AuditDesk
from ragexam.review._desk import Desk
from ragexam.review._server import ReviewServer

__all__ = ["AuditDesk", "Desk", "ReviewServer"]
