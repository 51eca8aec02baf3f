"""Whether an extracted answer is the key: the word rule of EXAM++ (Farzi and Dietz 2024, section 4.2.1).

Key and answer are normalised (lower case, no stop words, stems) and match when their edit distance is less than a fifth
of the longer one's length. The paper names no list of stop words; `STOP_WORDS` holds words without a meaning of their
own, so that "above", "no" or "less" still tell answers apart.
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
_SAID = {**TRUTH, "correct": True, "incorrect": False}
_NEGATED = re.compile(r"\bnot\s+(?:\w+\s+)?(?:true|correct|false|incorrect)\b", re.IGNORECASE)


def normalised(text: str) -> str:
    """Lower-case stems without stop words, single spaces between; where only stop words stand, those stay."""
    words = _words(text)
    kept = [word for word in words if word not in STOP_WORDS] or words
    return " ".join(stem(word) for word in kept)


def is_match(answer: str, key: str) -> bool:
    """Whether an answer is a key: for a truth value the same one, else the rule of a fifth; nothing matches nothing."""
    wanted = polarity(key, alone=True)
    if wanted is not None:
        return polarity(answer) is wanted
    first, second = normalised(answer), normalised(key)
    longer = max(len(first), len(second))
    return bool(first and second) and Levenshtein.distance(first, second) < TOLERANCE * longer


def is_correct(answer: str, question: BankQuestion) -> bool:
    """Whether an answer meets a question's key: any of its answers (`or`), or each of them (`and`).

    For `and` each key may stand in a part of the answer of its own, divided by commas, semicolons, lines or "and".
    Raises `ValueError` for a question without a key.
    """
    if not question.answers:
        raise ValueError(f"question {question.id!r}: no answers; wanted a key to verify with")
    if question.combine == "or":
        return any(is_match(answer, key.text) for key in question.answers)
    parts = _parts(answer)
    return all(any(is_match(part, key.text) for part in parts) for key in question.answers)


def polarity(text: str, *, alone: bool = False) -> bool | None:
    """The truth value a text states: `true`, `yes` and the like, or their opposites; None for neither or both.

    With `alone` the text must be that word and nothing else, as a key is.
    """
    words = _words(text)
    if alone:
        return TRUTH.get(words[0]) if len(words) == 1 else None
    if words and words[0] in _SAID:
        both = words[1:2] in (["and"], ["or"]) and _SAID.get("".join(words[2:3]), _SAID[words[0]]) != _SAID[words[0]]
        return None if both else _SAID[words[0]]
    said = {_SAID[word] for word in words if word in _SAID}
    return None if len(said) != 1 else said.pop() is not bool(_NEGATED.search(text))


def meet(first: Sequence[KeyAnswer], second: Sequence[KeyAnswer]) -> bool:
    """Whether two keys have an answer in common."""
    return any(is_match(one.text, other.text) for one in first for other in second)


def _words(text: str) -> list[str]:
    """Lower-case words; what an apostrophe hangs on ("Earth's") is no word."""
    return re.findall(r"\w+", re.sub(r"['’](?:s|t|re|ve|ll|d|m)\b", "", text.lower()))


def _parts(answer: str) -> list[str]:
    """The whole answer and the parts it lists."""
    parts = re.split(r"[,;\n]|\band\b|(?<!\w)[-*•]\s", answer)
    return [answer, *(part for part in parts if part.strip())]
