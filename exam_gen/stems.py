"""From the text a model wrote to a stem, or the reason why it is none."""

from __future__ import annotations

import re

from exam_gen.spans import FUNCTION_WORDS

_MENTIONS_TEXT = re.compile(
    r"\b(?:the|this|that|given|above|following) (?:sentence|text|passage|paragraph|statement above|document|documentation|article|"
    r"paper|study|abstract|context|section|topic|fact|excerpt)\b|\bmentioned\b|\baccording to the (?:text|passage)|____",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\b(?:what|which|who|whom|whose|where|when|why|how)\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9_]+")


def read_stem(raw: str, key: str) -> tuple[str, str | None]:
    """The stem in a reply, and why it cannot be used (None when it can)."""
    stem = " ".join(raw.strip().split("\n")[0].split())
    end = stem.find("?")
    stem = stem[: end + 1] if end >= 0 else stem
    return stem, _fault(stem, key)


def _fault(stem: str, key: str) -> str | None:
    if not stem.endswith("?"):
        return "stem is not a question"
    if not 30 <= len(stem) <= 300:
        return "stem is too short or too long"
    if not _QUESTION.search(stem):
        return "stem asks yes or no"
    if _MENTIONS_TEXT.search(stem):
        return "stem refers to the text"
    if leaks(stem, key):
        return "stem contains the key"
    return None


def leaks(stem: str, key: str) -> bool:
    """Whether the stem holds the key, or every content word of it."""
    if re.search(rf"(?<!\w){re.escape(key.lower())}(?!\w)", stem.lower()):
        return True
    words = [word for word in _WORD.findall(key.lower()) if word not in FUNCTION_WORDS]
    seen = set(_WORD.findall(stem.lower()))
    shared = [word for word in words if word in seen or word.rstrip("s") in seen]
    return bool(words) and len(shared) * 2 > len(words)


def names_subject(stem: str, title: str) -> bool:
    """Whether a content word of the title stands in the stem."""
    words = {word.rstrip("s") for word in _WORD.findall(title.lower()) if word not in FUNCTION_WORDS and len(word) > 1}
    return not words or bool(words & {word.rstrip("s") for word in _WORD.findall(stem.lower())})
