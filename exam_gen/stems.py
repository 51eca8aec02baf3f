"""From the text a model wrote to a stem, or the reason why it is none."""

from __future__ import annotations

import re

from exam_gen.words import FUNCTION_WORDS

_MENTIONS_TEXT = re.compile(
    r"\b(?:the|this|that|given|above|following) (?:sentence|text|passage|paragraph|document|documentation|article|paper"
    r"|study|abstract|context|section|topic|fact|excerpt|phrase|name|quote)\b|\b(?:these|those)\b|\bmentioned\b|____",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|we|our|us|my|you|your)\b")
_QUESTION = re.compile(r"\b(?:what|which|who|whom|whose|where|when|why|how)\b", re.IGNORECASE)
_ANEW = re.compile(r"\s*(?:What|Which|Who|Whom|Whose|Where|When|Why|How|In what|In which)\b")
_ASKING = frozenset(
    ["name", "term", "excep", "metho", "funct", "attri", "class", "keywo", "varia", "numbe", "value", "type"]
)
"""Beginnings of words that a question uses to say what it asks for."""
_WORD = re.compile(r"[a-z0-9_]+")


def read_stem(raw: str, *, title: str, key: str, sentence: str = "", opening: str = "") -> tuple[str, str | None]:
    """The stem in a reply that continues `opening`, and why it cannot be used (None when it can).

    With the `sentence` it was made from, it must also keep to it. A stem that names nothing of the document's title is
    given the title as its topic, so that it stands alone.
    """
    # A chat model may begin the question anew instead of going on with it.
    begun = "" if opening.strip() and _ANEW.match(raw) else opening
    stem = " ".join((begun + raw).strip().split("\n")[0].split())
    end = stem.find("?")
    stem = stem[: end + 1] if end >= 0 else stem
    stem = stem[:1].upper() + stem[1:]
    reason = _fault(stem, key, sentence, title)
    return (stem if reason or names_subject(stem, title) else with_topic(stem, title)), reason


def with_topic(stem: str, title: str) -> str:
    """The stem under its topic."""
    topic = title.strip().rstrip(".:")
    return f"{topic}{'' if topic.endswith('?') else '.'} {stem}"


def _fault(stem: str, key: str, sentence: str, title: str) -> str | None:
    if not stem.endswith("?"):
        return "stem is not a question"
    if not 30 <= len(stem) <= 300:
        return "stem is too short or too long"
    if not _QUESTION.search(stem):
        return "stem asks yes or no"
    if _FIRST_PERSON.search(stem):
        return "stem speaks in the first person"
    if _MENTIONS_TEXT.search(stem):
        return "stem refers to the text"
    if leaks(stem, key):
        return "stem contains the key"
    if sentence and strays(stem, sentence, title, key):
        return "stem strays from the sentence"
    return None


def leaks(stem: str, key: str) -> bool:
    """Whether the stem holds the key, or every content word of it."""
    if re.search(rf"(?<!\w){re.escape(key.lower())}(?!\w)", stem.lower()):
        return True
    words = [word for word in _WORD.findall(key.lower()) if word not in FUNCTION_WORDS]
    seen = set(_WORD.findall(stem.lower()))
    shared = [word for word in words if word in seen or word.rstrip("s") in seen]
    return bool(words) and len(shared) * 2 > len(words)


def strays(stem: str, sentence: str, title: str, key: str) -> bool:
    """Whether the stem says much that the sentence does not, or leaves out most of what it says.

    At most three in ten of its content words are foreign to sentence and title, and at least four in ten of the
    sentence's (without the key) stand in it. Words count as equal when their first five letters are.
    """
    asked, said, topic = _stems(stem) - _ASKING, _stems(sentence) - _stems(key), _stems(title)
    foreign = asked - said - topic - _stems(key)
    return len(foreign) > 0.3 * len(asked) or len(asked & said) < 0.4 * len(said)


def _stems(text: str) -> set[str]:
    return {word[:5] for word in _WORD.findall(text.lower()) if word not in FUNCTION_WORDS}


def names_subject(stem: str, title: str) -> bool:
    """Whether a content word of the title stands in the stem."""
    words = {word.rstrip("s") for word in _WORD.findall(title.lower()) if word not in FUNCTION_WORDS and len(word) > 1}
    return not words or bool(words & {word.rstrip("s") for word in _WORD.findall(stem.lower())})
