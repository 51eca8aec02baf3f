"""The steps from a fact to a verified question, and reading what a model replied."""

from exam_gen.drafting._facts import Fact, facts
from exam_gen.drafting._json_questions import TOKENS
from exam_gen.drafting._reformulation import GUIDELINES, Leaning, objection, reformulation_prompt

__all__ = ["GUIDELINES", "TOKENS", "Fact", "Leaning", "facts", "objection", "reformulation_prompt"]
