"""Ways to answer: by log-likelihood, by letters, or by a third-party system; with prompts, tasks and scoring."""

from rag.answering._black_box import build_black_box
from rag.answering._letters import LetterExaminee

__all__ = ["LetterExaminee", "build_black_box"]
