"""From the text a model wrote to a stem, or the reason why it is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from exam_gen.language._tagging import dangling
from exam_gen.language._words import GENERIC
from examcore import FUNCTION_WORDS

_MENTIONS_TEXT = re.compile(
    r"\b(?:the|this|that|given|above|following) (?:sentence|text|passage|paragraph|document|documentation|article|paper"
    r"|study|abstract|context(?! of)|section|topic|fact|excerpt|quote)\b|\b(?:these|those)\b|\bmentioned\b|____",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|we|our|us|my|you|your)\b")
_QUESTION = re.compile(r"\b(?:what|which|who|whom|whose|where|when|why|how)\b", re.IGNORECASE)
_YES_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|will|would|should|must|may|might|has|have|had)\b", re.IGNORECASE
)
_OPEN_ENDED = re.compile(
    r"\b(?:give|name) an? |\bwhat (?:is|are|was|were) (?:an? (?:example|important|common|key|main|major|popular)"
    r"|some|one of|the main (?:focus|topic|goal|purpose|idea)|the (?:significance|importance|nature))\b",
    re.IGNORECASE,
)
_VAGUE = frozenset(
    "multiple several various different certain many specific additional other few number".split()  # noqa: SIM905
)
_SENTENCE = re.compile(r"[a-z]{3,}[\"'”’)]*[.…!][\"'”’)]*(?:\s|$)")
"""A title that holds the end of a sentence: the first words of a document that has none."""
LONGEST_TOPIC = 14
"""Words."""
LONGEST_KEY = 72
"""Characters."""
MOST_WORDS = 10
"""Words of a key: longer ones are clauses, beside which no wrong answer looks alike."""
_WORD = re.compile(r"[a-z0-9_]+")
_NEGATION = re.compile(r"\b(?:no|not|never|none|neither|nor|cannot|without)\b|n['’]t\b", re.IGNORECASE)


class DraftStem(NamedTuple):
    """A stem and its key as they were read from a reply, and why they cannot be used (None when they can)."""

    stem: str
    key: str
    reason: str | None


def read_question(raw: str, *, title: str, sentence: str) -> DraftStem:
    """The stem and the key in a reply of the form `question, newline, Answer: words of the sentence`.

    The key is given as it stands in the sentence.
    """
    asked, _, answered = raw.strip().removeprefix("Question:").partition("\n")
    key = find_answer(answered.strip().split("\n")[0].removeprefix("Answer:"), sentence)
    return read_stem(asked, key, title=title, sentence=sentence)


def read_stem(raw: str, key: str, *, title: str, sentence: str) -> DraftStem:
    """The stem in a text, for a key of the sentence.

    A stem that names nothing of its document's title, or leans on it, is given it as its topic, so that it stands
    alone; a title that is a sentence of the text is none.
    """
    stem = " ".join(raw.split())
    end = stem.find("?")
    stem = stem[: end + 1] if end >= 0 else stem
    stem = stem[:1].upper() + stem[1:]
    reason = _fault(stem, title) or unfit(key, sentence)
    if reason is None and leaks(stem, key):
        reason = "stem contains the key"
    if reason is None and (_NEGATION.search(sentence) and not _NEGATION.search(f"{stem} {key}")):
        reason = "stem leaves out a negation"
    topic = "" if _SENTENCE.search(title.strip()) or len(title.split()) > LONGEST_TOPIC else title
    if reason is None and dangling(stem, topic) is not None:
        reason = "stem does not name its subject"
    alone = reason is not None or not topic or (names_subject(stem, topic) and dangling(stem, "") is None)
    return DraftStem(stem if alone else with_topic(stem, topic), key, reason)


def find_answer(answer: str, sentence: str) -> str:
    """The words of the sentence that an answer copies, but for case, quotes and inflection; empty where none are."""
    bare = answer.strip().strip("\"'`*“”").rstrip(".,;: ").strip("\"'`*“”")
    words = re.findall(r"[^\s\"`*“”]+", bare)
    article = len(words) > 1 and words[0].lower() in {"a", "an", "the"}
    return _found(words, sentence) or (_found(words[1:], sentence) if article else "")


def _found(words: Sequence[str], sentence: str) -> str:
    if not words:
        return ""
    # A verb may stand in another form: "What does it do?" is answered by "coerce zeros" from "it coerces zeros".
    first = re.escape(words[0]) + r"(?:s|es|d|ed)?" if words[0].isalpha() else re.escape(words[0])
    pattern = r"[\s\"`*“”]+".join([first, *(re.escape(word) for word in words[1:])])
    found = re.search(rf"(?<!\w){pattern}(?!\w)(?:\(\))?", sentence, re.IGNORECASE)
    return _balanced(found.group()) if found else ""


def _balanced(text: str) -> str:
    """The text without outer marks that have no partner in it."""
    for mark in '"`':
        if text.count(mark) % 2:
            text = text.strip(mark)
    return text.rstrip(".,;: ")


def unfit(key: str, sentence: str) -> str | None:
    """Why the key cannot be one."""
    if not key:
        return "answer is not in the sentence"
    if len(key) > LONGEST_KEY or len(key.split()) > MOST_WORDS:
        return "answer is too long"
    content = [word for word in _WORD.findall(key.lower()) if word not in FUNCTION_WORDS]
    if not set(content) - _VAGUE or key.lower().rstrip("s") in GENERIC or len(key) < 2:
        return "answer says little"
    if (
        key[0] in ",;)"
        or any(key.count(mark) % 2 for mark in '"`')
        or re.search(r"\b(?:and|or|the|a|an|of|to|in|for|with|by|that|which|is|are)$", key.lower())
    ):
        return "answer is cut off"
    if one_of_list(sentence, key):
        return "answer is one item of a list"
    if sentence.lower().count(key.lower()) > 1:
        return "answer stands twice in the sentence"
    return None


_BEFORE_ITEM = re.compile(r"(?:,|\b(?:and|or|nor|e\.g\.|like|such as|including|especially|both|either))\s*[\"'`*(]*$")
_AFTER_ITEM = re.compile(r"[\"'`*)]*\s*(?:,\s*)?\(?(?:and|or|nor|as well as)\b")
_MORE_ITEMS = re.compile(r"[\"'`*)]*\s*,\s*[^,]{1,40}(?:,|\b(?:and|or)\b)")


def one_of_list(sentence: str, key: str) -> bool:
    """Whether the key is one of several things the sentence names together, any of which would answer."""
    start = sentence.lower().find(key.lower())
    before, after = sentence[: max(start, 0)], sentence[max(start, 0) + len(key) :]
    if re.search(r"\b(?:and|or)\b", key):
        return bool(re.match(r"[\"'`*)]*\s*,?\s*(?:and|or)\b", after))
    if re.search(r"\b(?:e\.g\.,?|such as|for example,?|including)\s[\"'`*(]*$", before):
        return True
    if re.search(r"\b(?:and|or|nor)\s+[\"'`*(]*$", before) or re.match(r"[\"'`*)]*\s*\(?(?:and|or)\b", after):
        # "and" or "or" beside the key may also join another clause.
        return not _CLAUSE_AFTER.match(after)
    return bool(_BEFORE_ITEM.search(before) and _AFTER_ITEM.match(after)) or bool(
        _BEFORE_ITEM.search(before) and _MORE_ITEMS.match(after)
    )


_CLAUSE_AFTER = re.compile(
    r"[\"'`*)]*\s*\(?(?:and|or)\b\s*(?:\w+\s+){0,3}"
    r"(?:is|are|was|were|has|have|can|may|must|will|does|do|\w+(?:ed|es|ates|izes))\b"
)


def with_topic(stem: str, title: str) -> str:
    """The stem under its topic."""
    topic = title.strip().rstrip(".:")
    return f"{topic}{'' if topic.endswith('?') else '.'} {stem}"


def _fault(stem: str, title: str) -> str | None:
    faults = {
        "stem is not a question": not stem.endswith("?"),
        "stem is too short or too long": not 22 <= len(stem) <= 260,
        "stem asks yes or no": _YES_NO.match(stem),
        "stem has no question word": not _QUESTION.search(stem),
        "stem speaks in the first person": _FIRST_PERSON.search(stem),
        "stem refers to the text": _MENTIONS_TEXT.search(stem),
        "stem has more than one answer": _OPEN_ENDED.search(stem),
    }
    found = next((reason for reason, there in faults.items() if there), None)
    if found is None and title.strip().endswith("?"):
        asked, titled = _stems(stem), _stems(title)
        if len(asked & titled) > 0.7 * len(asked):
            return "stem repeats the title"
        if not names_subject(stem, title):
            return "stem does not name its subject"
    return found


def leaks(stem: str, key: str) -> bool:
    """Whether the stem holds the key, or every content word of it."""
    if re.search(rf"(?<!\w){re.escape(key.lower())}(?!\w)", stem.lower()):
        return True
    words = [word for word in _WORD.findall(key.lower()) if word not in FUNCTION_WORDS]
    seen = set(_WORD.findall(stem.lower()))
    shared = [word for word in words if word in seen or word.rstrip("s") in seen]
    return bool(words) and len(shared) * 2 > len(words)


_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def echoes(stem: str, key: str) -> set[str]:
    """The beginnings of the key's words, or of the parts of its names, with which words of the stem begin, too."""
    return _beginnings(key) & _beginnings(stem)


def _beginnings(text: str) -> set[str]:
    words = [word.lower() for word in _PART.findall(text)]
    return {word[:5] for word in words if len(word) > 3 and word not in FUNCTION_WORDS}


def _stems(text: str) -> set[str]:
    return {word[:5] for word in _WORD.findall(text.lower()) if word not in FUNCTION_WORDS}


def names_subject(stem: str, title: str) -> bool:
    """Whether a content word of the title stands in the stem."""
    words = _content(title)
    return not words or bool(words & _content(stem))


def _content(text: str) -> set[str]:
    return {word.rstrip("s") for word in _WORD.findall(text.lower()) if word not in FUNCTION_WORDS and len(word) > 1}
