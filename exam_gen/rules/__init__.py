"""Rules that keep, drop or rewrite questions, by name."""

from exam_gen.rules._catalogue import RULE_KINDS, needs_of, objections, rules_of
from exam_gen.rules._duplicates import stem_words
from exam_gen.rules._rule import Filtered, Rule, RuleStep, RuleTools, apply_rules, dropped_question, each, rule_of

__all__ = [
    "RULE_KINDS",
    "Filtered",
    "Rule",
    "RuleStep",
    "RuleTools",
    "apply_rules",
    "dropped_question",
    "each",
    "needs_of",
    "objections",
    "rule_of",
    "rules_of",
    "stem_words",
]
