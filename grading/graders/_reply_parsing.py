"""Parsing the replies of a grading model into grades; one named rule applies to each, or it is unparsed (NaN).

The rules are those of EXAM++ (Farzi and Dietz 2024, sections 4.2.1 and 4.2.2): a number from 0 to 5 is the rating;
without a number an answer is 1, and an expression of `UNANSWERABLE` or an ill-formed answer ("a.", "(iii)") is 0.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from examcore import repaired_json_object

UNANSWERABLE = (
    "unanswerable",
    "no",
    "no answer",
    "not enough information",
    "unknown",
    "it is not possible to tell",
    "it does not say",
    "no relevant information",
)
"""The expressions of the paper."""
PHRASES = tuple(one for one in UNANSWERABLE if one != "no" and one != "unknown")
"""The expressions that also count in a short sentence ("The question is unanswerable.")."""
SHORT = 16
"""Words of the longest reply in which one of `PHRASES` is the message, rather than a part of an answer."""

_ILL_FORMED = re.compile(r"[(\[]?\s*(?:[a-e]|i{1,3}|iv|vi{0,3}|ix|x)\s*[)\].:]*", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:[.,]\d+)?(?![\w]|[.,]\d)")
_RATED = re.compile(r"(?:rating|score|grade|rate)\s*(?:is|:|=|of)?\s*\W*\Z", re.IGNORECASE)
_OUT_OF = re.compile(r"(?:/|\bout of)\s*\Z", re.IGNORECASE)
_OF = re.compile(r"\s*(?:/|out of)\s*(\d+)", re.IGNORECASE)
_SCALE = re.compile(r"(?<![\w.])0\s*(?:to|-|–)\s*[1-5](?![\w.]\w)", re.IGNORECASE)
"""The scale itself ("from 0 to 5"), which is no rating."""
_FINAL = re.compile(
    r"(?:\b(?:final|overall)[ _]score|\bo)\b[^\w-]*(?:[mto]\b[^\w-]*)?(?:is\b[^\w-]*)?(-?\d+(?:[.,]\d+)?)(?![.,]?\w)",
    re.IGNORECASE,
)
"""The final score of several, under its name or its letter ("##final score: 2", "O: 2", "Final score (O): 2")."""
_TURNS = re.compile(r"<\|[^|>]*\|>|</?s>|<pad>")


class Parsed(NamedTuple):
    """A grade and the rule that gave it; NaN if no rule applies."""

    grade: float
    rule: str


OPENING = 40
"""Tokens of a reply before the first member of its list, for a polite sentence."""
UNPARSED = Parsed(math.nan, "unparsed")


def parse_rating(reply: str, top: int = 5) -> Parsed:
    """A rating from 0 to `top`: the first separate number in that range, otherwise 1 for an answer and 0 for none.

    "4", "4.", "4/5", "Rating: **4**" and "4: mostly relevant" are 4. Unparsed are a number out of range that is the
    whole reply or is called the rating ("Rating: 10"), a rating on another scale ("4/10", "1.5/10"), and a reply
    without words.
    """
    text = cleaned(reply)
    if is_unanswerable(text):
        return Parsed(0.0, "unanswerable")
    text = _SCALE.sub("", text).strip() or text
    for one in _NUMBER.finditer(text):
        before = text[: one.start()]
        if _on_another_scale(text[one.end() :], top):
            return UNPARSED
        if one.group() in map(str, range(top + 1)) and not _OUT_OF.search(before):
            return Parsed(float(one.group()), "number")
        if not re.search(r"[^\W\d_]", text) or _RATED.search(before):
            return UNPARSED
    return _answered(text)


def parse_answer(reply: str) -> Parsed:
    """1 for an answer, 0 for a reply that is ill-formed or says that there is no answer; unparsed without words."""
    text = cleaned(reply)
    return Parsed(0.0, "unanswerable") if is_unanswerable(text) else _answered(text)


def parse_yes_no(reply: str) -> Parsed:
    """1 for yes, 0 for no ("Yes.", "**No**, because …", "The answer is yes"); both or neither is unparsed."""
    words = re.findall(r"[a-z]+", cleaned(reply).lower())
    if words and words[0] in ("yes", "no"):
        other = "no" if words[0] == "yes" else "yes"
        found = set() if words[1:3] in (["or", other], ["and", other]) else {words[0]}
    else:
        found = {"yes", "no"}.intersection(words)
    return Parsed(float("yes" in found), found.pop()) if len(found) == 1 else UNPARSED


def parse_level(reply: str, top: int = 2) -> Parsed:
    """A relevance level: the first separate number, if it is from 0 to `top`; anything else is unparsed."""
    text = cleaned(reply)
    found = _NUMBER.search(text)
    if found is None or found.group() not in map(str, range(top + 1)) or _on_another_scale(text[found.end() :], top):
        return UNPARSED
    return Parsed(float(found.group()), "number")


def parse_final_score(reply: str, top: int = 3) -> Parsed:
    """The last score called final, overall or O, or the only number of a reply; anything else is unparsed.

    "M: 3, T: 2, O: 2" and "##final score: 2" are 2; three numbers without a name are no score, nor is one above `top`.
    """
    text = cleaned(reply)
    named = list(_FINAL.finditer(text))
    numbers = list(_NUMBER.finditer(_SCALE.sub("", text)))
    if not named:
        return parse_level(text, top) if len(numbers) == 1 else UNPARSED
    score = named[-1].group(1)
    if score not in map(str, range(top + 1)) or _on_another_scale(text[named[-1].end() :], top):
        return UNPARSED
    return Parsed(float(score), "final score")


def cleaned(reply: str) -> str:
    """A reply without turn markers and enclosing quotes, stars and white space."""
    return _TURNS.sub(" ", reply).strip(" \t\r\n\"'`*_")


def json_list(reply: str) -> list[object] | None:
    """The list in a reply: under any name of an object, or alone; None where there is none."""
    text = cleaned(reply)
    bracket, brace = text.find("["), text.find("{")
    if bracket >= 0 and (brace < 0 or bracket < brace):
        text = f'{{"list": {text[bracket:]}}}'
    found = repaired_json_object(text) or {}
    return next((one for one in found.values() if isinstance(one, list)), None)


def is_unanswerable(text: str) -> bool:
    """Whether a reply is one of the expressions, or a short sentence with one of `PHRASES`."""
    words = re.findall(r"\w+", text.lower())
    plain = " ".join(words)
    return plain in UNANSWERABLE or (
        len(words) <= SHORT and any(re.search(rf"\b{phrase}\b", plain) for phrase in PHRASES)
    )


def is_ill_formed(text: str) -> bool:
    """Whether an answer is only a letter or Roman numeral, as in a list of choices: "a.", "(iii)"."""
    return bool(_ILL_FORMED.fullmatch(text.strip()))


def _on_another_scale(after: str, top: int) -> bool:
    """Whether the text after a number says that it is out of another number than `top`."""
    of = _OF.match(after)
    return of is not None and int(of.group(1)) != top


def _answered(text: str) -> Parsed:
    if is_ill_formed(text):
        return Parsed(0.0, "ill-formed")
    return Parsed(1.0, "answer") if re.search(r"\w", text) else UNPARSED
