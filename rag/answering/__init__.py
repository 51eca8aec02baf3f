"""Ways to answer: by log-likelihood, by letters, or by a third-party system; with prompts, tasks and scoring."""

from rag.answering._black_box import build_black_box
from rag.answering._choice_parsing import read_choice
from rag.answering._letters import listed_choices
from rag.answering._replies import FORMS, LETTERS, ReplyExaminee

__all__ = ["FORMS", "LETTERS", "ReplyExaminee", "build_black_box", "listed_choices", "read_choice"]
