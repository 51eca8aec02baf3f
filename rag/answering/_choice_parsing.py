"""Which choice a written reply names, decided by rules and never by a model.

By letter: alone ("B", "(b)", "B."), before the choice ("B) at noon"), or called the answer ("the answer is B"). By
text: the choice itself, its beginning, or the one choice whose words stand in what was written; words that stand only
inside a longer choice's do not count. Several letters, several choices, a letter beside another choice's text, or
none of these name no choice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from examcore import normalized, unwrapped
from rag.answering._examinees import NO_CHOICE

CHOICE_PARSING_VERSION = "choice-1"
"""Stored with answers that were parsed by these rules; change it with every rule."""
MIN_PREFIX_CHARACTERS = 8
"""A text of at least this many characters stands for the one choice that begins with it."""
MAX_READ_CHARACTERS = 20_000
"""Longer replies are cut here before parsing."""
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_CALLED = (
    r"(?:(?:the\s+)?(?:(?:correct|right|best|final)\s+)?(?:answer|choice|option|letter)\b"
    r"(?:\s+(?:is|would\s+be|should\s+be))?\s*[:=]?\s*)"
)
_WRAP = r"[*_`\"'“‘(\[\s]*"
_BEHIND = r"(?:\s*[)\]*_`\"'”’.:,;!]|\s*$)"
"""What marks a letter as a label: a bracket, a stop, or nothing else."""


def read_choice(written: str, choices: Sequence[str], *, letters: bool = True) -> int:
    """The index of the choice that a text names, `NO_CHOICE` when it names none or several.

    `letters`: whether the choices were shown with letters, from A. The first line decides if it names a choice.
    """
    text = re.sub(r"\*{1,3}|`{1,3}", "", _THOUGHT.sub("", written[:MAX_READ_CHARACTERS])).strip()
    first = text.split("\n", 1)[0].strip()
    for part in dict.fromkeys((first, text)):
        found = _by_letter(part, choices) if letters else None
        found = _by_text(part, choices) if found is None else found
        if found is not None:
            return found
    return NO_CHOICE


def _by_letter(text: str, choices: Sequence[str]) -> int | None:
    opening = re.match(rf"{_WRAP}{_CALLED}?{_WRAP}([A-Za-z])(?![\w'’])(.*)", text, re.IGNORECASE | re.DOTALL)
    if opening:
        place, rest = _place(opening.group(1)), opening.group(2)
        if place < len(choices) and _is_label(opening.group(1), rest, choices[place]):
            return _checked(place, rest, choices)
    named = re.findall(rf"(?<![\w'’])[(\[]?([A-{_last(choices)}])[)\]]", text)
    places = {_place(letter) for letter in [*named, *_called(text, choices)]}
    if len(places) > 1:
        return NO_CHOICE
    return places.pop() if places else None


def _is_label(letter: str, rest: str, choice: str) -> bool:
    """Whether a letter that opens a text is a label; "A bucket" and "I think" may only look like one."""
    if re.match(_BEHIND, rest) or ((words := normalized(rest)) and words.startswith(normalized(choice))):
        return True
    return letter.isupper() and (letter not in "AI" or bool(re.match(r"\s*(?:and|or|because|since|is|[-–—&/,])", rest)))


def _checked(place: int, rest: str, choices: Sequence[str]) -> int:
    """The place of a label, unless another one or another choice's text follows it."""
    words = normalized(unwrapped(rest.split("\n")[0].lstrip(" )].:,-–—")))
    if words == normalized(choices[place]):
        return place
    last = _last(choices)
    also = re.match(rf"[\s)\].,*]*(?:and|or|,|;|/|&|\+)\s*{_WRAP}([A-{last}])(?![\w'’])", rest)
    also = also or re.match(rf"[)\].,\s]+([A-{last}]){_BEHIND}", rest)
    named = {_place(letter) for letter in [*([also.group(1)] if also else []), *_called(rest, choices)]}
    return NO_CHOICE if named - {place} or words in map(normalized, choices) else place


def _called(text: str, choices: Sequence[str]) -> list[str]:
    return re.findall(rf"(?i:{_CALLED}){_WRAP}([A-{_last(choices)}])(?![\w'’]){_BEHIND}", text)


def _last(choices: Sequence[str]) -> str:
    return chr(ord("A") + len(choices) - 1)


def _place(letter: str) -> int:
    return ord(letter.upper()) - ord("A")


def _by_text(text: str, choices: Sequence[str]) -> int | None:
    words = normalized(unwrapped(re.sub(rf"\A{_WRAP}{_CALLED}", "", text, flags=re.IGNORECASE)))
    wanted = [normalized(one) for one in choices]
    if words in wanted:
        return wanted.index(words)
    whole = [rf"(?<!\w){re.escape(one)}(?!\w)" for one in wanted]
    spans = [(place, match.span()) for place, one in enumerate(whole) for match in re.finditer(one, words)]
    inside = {a for _, a in spans for _, b in spans if b[0] <= a[0] and a[1] <= b[1] and a != b}
    named = {place for place, span in spans if span not in inside}
    if len(named) > 1:
        return NO_CHOICE
    if named:
        return named.pop()
    prefixed = [
        place for place, one in enumerate(wanted) if len(words) >= MIN_PREFIX_CHARACTERS and one.startswith(words)
    ]
    return prefixed[0] if len(prefixed) == 1 else None
