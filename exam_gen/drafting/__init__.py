"""The steps from a fact to a verified question, and reading what a model replied."""

from exam_gen.drafting._facts import Fact, facts

__all__ = [
    "Fact",
    "facts",
]
