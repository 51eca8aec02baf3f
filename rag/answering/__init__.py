"""Examinees that write: models that answer by letters, and systems of somebody else's."""

from rag.answering._black_box import build_black_box
from rag.answering._letters import LetterExaminee

__all__ = ["LetterExaminee", "build_black_box"]
