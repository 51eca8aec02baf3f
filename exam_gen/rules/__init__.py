"""Rules that keep, drop or rewrite questions, by name."""

from exam_gen.rules.base import Rule, Tools, apply, each

__all__ = ["Rule", "Tools", "apply", "each"]
