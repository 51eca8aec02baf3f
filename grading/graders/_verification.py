"""Whether an extracted answer matches the key: the word rule of EXAM++ (Farzi and Dietz 2024, section 4.2.1).

Key and answer are normalised (lower case, no stop words, stems) and match if their edit distance is less than a fifth
of the longer one's length. The paper does not name its stop words; `STOP_WORDS` has only words without meaning, so that
"above", "no" or "less" still distinguish answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from examcore import stem
from grading._records import BankQuestion, KeyAnswer

TOLERANCE = 0.2
"""Share of the longer string's characters that the edit distance must stay below."""
STOP_WORDS = frozenset(
    """a an the this that these those it its they them their there he she his her we our us you your i my me is are was
    were be been being am do does did has have had having of in on at to for by as from with and or but so if then than
    which who whom whose what when where can could will would shall should may might must also just very""".split()  # noqa: SIM905
)
TRUTH = {"true": True, "yes": True, "false": False, "no": False}
"""Keys that are truth values."""
_STATED = {**TRUTH, "correct": True, "incorrect": False}
_NEGATED = re.compile(r"\bnot\s+(?:\w+\s+)?(?:true|correct|false|incorrect)\b", re.IGNORECASE)


def normalised(text: str) -> str:
    """The lower-case stems of a text without its stop words, unless it has no other words."""
    words = _words(text)
    kept = [word for word in words if word not in STOP_WORDS] or words
    return " ".join(stem(word) for word in kept)


def is_match(answer: str, key: str) -> bool:
    """Whether an answer matches a key: the same truth value, or the word rule; empty texts never match."""
    wanted = polarity(key, alone=True)
    if wanted is not None:
        return polarity(answer) is wanted
    first, second = normalised(answer), normalised(key)
    longer = max(len(first), len(second))
    return bool(first and second) and Levenshtein.distance(first, second) < TOLERANCE * longer


def is_correct(answer: str, question: BankQuestion) -> bool:
    """Whether an answer meets a question's key: any of its answers (`or`), or each of them (`and`).

    For `and` each key may match a part of the answer, separated by commas, semicolons, lines or "and". Raises
    `ValueError` for a question without a key.
    """
    if not question.answers:
        raise ValueError(f"question {question.id!r}: no answers; wanted a key to verify with")
    if question.combine == "or":
        return any(is_match(answer, key.text) for key in question.answers)
    parts = _parts(answer)
    return all(any(is_match(part, key.text) for part in parts) for key in question.answers)


def polarity(text: str, *, alone: bool = False) -> bool | None:
    """The truth value that a text states (`true`, `yes`, `false` …); None for neither or both.

    With `alone` the text must be a single word of `TRUTH`, as a key is.
    """
    words = _words(text)
    if alone:
        return TRUTH.get(words[0]) if len(words) == 1 else None
    if words and words[0] in _STATED:
        first = _STATED[words[0]]
        is_both = words[1:2] in (["and"], ["or"]) and _STATED.get("".join(words[2:3]), first) != first
        return None if is_both else first
    stated = {_STATED[word] for word in words if word in _STATED}
    return None if len(stated) != 1 else stated.pop() is not bool(_NEGATED.search(text))


def meet(first: Sequence[KeyAnswer], second: Sequence[KeyAnswer]) -> bool:
    """Whether two keys have an answer in common."""
    return any(is_match(one.text, other.text) for one in first for other in second)


def _words(text: str) -> list[str]:
    """Lower-case words, without what follows an apostrophe ("Earth's")."""
    return re.findall(r"\w+", re.sub(r"['’](?:s|t|re|ve|ll|d|m)\b", "", text.lower()))


def _parts(answer: str) -> list[str]:
    """The whole answer and the parts of its list."""
    parts = re.split(r"[,;\n]|\band\b|(?<!\w)[-*•]\s", answer)
    return [answer, *(part for part in parts if part.strip())]
