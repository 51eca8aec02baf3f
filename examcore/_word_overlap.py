"""Jaccard similarity of texts as bags of words."""

from __future__ import annotations

from collections import Counter


def jaccard(first: str, second: str) -> float:
    """Words in common over words in either, as bags: 1 for the same words, 0 for none in common (or none at all)."""
    return bag_jaccard(word_bag(first), word_bag(second))


def word_bag(text: str) -> Counter[str]:
    """The lower-case words of a text, as often as each occurs."""
    return Counter(text.lower().split())


def bag_jaccard(left: Counter[str], right: Counter[str]) -> float:
    """Words in common over words in either bag, 0 when both are empty."""
    common = sum(min(count, right[word]) for word, count in left.items() if word in right)
    union = left.total() + right.total() - common
    return common / union if union else 0.0
