"""Rules that keep, drop or rewrite questions, by name."""

from exam_gen.rules._base import Filtered, Rule, Step, Tools, apply, dropped, each
from exam_gen.rules._catalogue import RULE_KINDS, needs_of, objections, rules_of
from exam_gen.rules._duplicates import stem_words
from exam_gen.rules._filters import rule_of

__all__ = [
    "RULE_KINDS",
    "Filtered",
    "Rule",
    "Step",
    "Tools",
    "apply",
    "dropped",
    "each",
    "needs_of",
    "objections",
    "rule_of",
    "rules_of",
    "stem_words",
]
