"""Sentences of running text, of Markdown and of plain-text manuals, as spans that cover the text."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from examcore._languages import ENGLISH, language_named

# Possessive and anchored at the run's first mark: a line of a million full stops stays linear.
_CANDIDATE = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+\s++|[。！？؟۔]++[”’»）」』]*+\s*+")
_WIDE = "。！？؟۔"
_OPENING = "\"'“‘«([*_`"
_ABBREVIATIONS = frozenset(
    """al approx apr assn aug ave bldg blvd bros ca capt cf ch co col corp cos dec dept dr ed eds eg eq eqs esp est etc
    ex feb fig figs gen gov hon inc incl jan jr jul jun ltd mar max messrs min mr mrs ms no nos nov oct op p par pp prof
    pt pty ref refs rep rev sec sect sen sep sept sr st tab tel univ vol vols vs ie i.e e.g u.s u.k u.s.a a.m p.m d.c
    n.a n.v s.a ph.d viz resp""".split()  # noqa: SIM905 - forty words to a line read better than forty lines
)
_FENCE = re.compile(r"[^\S\n]{0,3}(```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+•‣▪–]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)])\s+")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_UNDERLINE = re.compile(r"\s*([=\-~^*])\1{2,}\s*\Z")
_TABLE = re.compile(r"\s*(?:\||\+[-=+])")
_LONGEST_FOR_RULES = 600
"""Characters of an ambiguous stretch that the slow rules still see; they take quadratic time."""


class TextUnit(NamedTuple):
    """A span `start:end` that is not to be broken, `end` after its trailing white space.

    `level` says what begins here: 2 a heading, 1 another block (paragraph, list item, code), 0 a further sentence.
    """

    start: int
    end: int
    level: int


def text_units(text: str, code: str = ENGLISH) -> list[TextUnit]:
    """The sentences, headings, list items, tables and code blocks of a text.

    They follow each other without gaps from the first line that is not blank to the end of the text.
    Code blocks (fenced, or indented and not starting like a sentence) and tables are one unit each.
    """
    found: list[TextUnit] = []
    for begin, close, kind in _blocks(text):
        if kind in {"code", "heading"}:
            found.append(TextUnit(begin, close, 2 if kind == "heading" else 1))
            continue
        cuts = [begin, *sentence_starts(text[begin:close], begin, code), close]
        found += [TextUnit(start, end, int(start == begin)) for start, end in pairwise(cuts)]
    return found


def sentence_starts(text: str, offset: int = 0, code: str = ENGLISH) -> list[int]:
    """Where the second and later sentences of one paragraph begin, plus `offset`.

    Plain boundaries (a word, a full stop, a capital) are taken at once; only around abbreviations, initials and
    numbers pysbd's rules decide, those of the language or, where it has none, of English.
    """
    code = code if language_named(code).segmenter else ENGLISH
    marker = _ITEM.match(text)
    begin = marker.end() if marker else 0
    starts: list[int] = []
    doubtful: list[int] = []
    last = 0
    for match in _CANDIDATE.finditer(text, begin):
        cut = match.end()
        verdict = _verdict(text, begin, match, _abbreviations(code))
        if cut >= len(text) or verdict is False:
            continue
        if verdict is None:
            doubtful.append(cut)
            continue
        starts += _settle(text, last, cut, doubtful, code)
        starts.append(cut)
        last, doubtful = cut, []
    starts += _settle(text, last, len(text), doubtful, code)
    return [offset + start for start in starts]


@functools.cache
def _abbreviations(code: str) -> frozenset[str]:
    """Words that a full stop follows inside a sentence."""
    if code == ENGLISH:
        return _ABBREVIATIONS
    from pysbd.languages import Language as Rules

    return frozenset(word.lower() for word in Rules.get_language_code(code).Abbreviation.ABBREVIATIONS)


def _verdict(text: str, begin: int, match: re.Match[str], abbreviations: frozenset[str]) -> bool | None:
    """Whether a sentence surely ends here (True), surely does not (False), or the rules must say (None)."""
    mark = match.group()
    if mark[0] in _WIDE:
        return True
    following = text[match.end() : match.end() + 3].lstrip(_OPENING)
    if following[:1].islower():
        return False
    if mark[0] in "!?":
        return True
    before = re.split(r"\s", text[max(begin, match.start() - 40) : match.start()])
    word = before[-1].lstrip(_OPENING + "<>{").lower()
    if not word:
        return None
    if word in abbreviations or len(word) == 1 or not following[:1].isupper():
        return None
    return True if word[-1].isalpha() and "." not in word else None


def _settle(text: str, start: int, end: int, doubtful: list[int], code: str) -> list[int]:
    """The doubtful boundaries inside `start:end` that pysbd takes for sentence starts too."""
    if not doubtful:
        return []
    if end - start <= _LONGEST_FOR_RULES:
        ends = _rule_ends(text[start:end], code)
        return [cut for cut in doubtful if _squeezed(text, start, cut) in ends]
    # A long stretch is judged piece by piece, each up to the next doubtful place.
    kept: list[int] = []
    last = start
    for cut, following in zip(doubtful, [*doubtful[1:], end], strict=True):
        left = max(last, cut - _LONGEST_FOR_RULES // 2)
        right = min(following, cut + _LONGEST_FOR_RULES // 2)
        if _squeezed(text, left, cut) in _rule_ends(text[left:right], code):
            kept.append(cut)
            last = cut
    return kept


def _squeezed(text: str, start: int, end: int) -> int:
    """How many characters that are not white space lie in `start:end`: an offset that rewrapping does not change."""
    return len("".join(text[start:end].split()))


@functools.lru_cache(maxsize=20_000)
def _rule_ends(text: str, code: str) -> frozenset[int]:
    """The sentence ends pysbd finds, counted in characters that are not white space."""
    line = " ".join(text.split())
    total = 0
    ends = []
    for sentence in _segmenter(code).segment(line):
        total += len("".join(sentence.split()))
        ends.append(total)
    # The rules may add or lose characters on odd input; then their offsets mean nothing and no boundary is taken.
    return frozenset(ends) if total == len(line.replace(" ", "")) else frozenset()


@functools.cache
def _segmenter(code: str):  # type: ignore[no-untyped-def]
    import pysbd

    return pysbd.Segmenter(language=code, clean=False)


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of headings, code, tables and paragraphs; each ends where the next begins."""
    starts: list[tuple[int, str]] = []
    kind, fence = "", ""
    lines = text.split("\n")
    position = 0
    for index, line in enumerate(lines):
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if fence:
            fence = "" if line.strip().startswith(fence) else fence
            kind = kind if fence else ""
        elif not line.strip():
            # Blank lines inside indented code do not end it; anything else ends.
            kind = kind if kind == "indented" and _is_code(below) else ""
        else:
            new = _kind(line, below, kind)
            if new != "underline" and (new != kind or new in {"heading", "item"}):
                starts.append((position, new))
            kind = "" if new == "underline" else new
            if match := _FENCE.match(line):
                fence = match.group(1)
            elif new == "heading" and _HEADING.match(line):
                kind = ""
        position += len(line) + 1
    ends = [*(start for start, _ in starts[1:]), len(text)] if starts else []
    names = {"fenced": "code", "indented": "code", "table": "code"}
    for (start, kind), end in zip(starts, ends, strict=True):
        yield start, end, names.get(kind, kind)


def _kind(line: str, below: str, above: str) -> str:
    """What a line belongs to, given the kind of block it would continue (empty after a blank line)."""
    if _FENCE.match(line):
        return "fenced"
    if above == "heading" and _UNDERLINE.match(line):
        return "underline"
    if _HEADING.match(line) or (not above and _UNDERLINE.match(below) and not _ITEM.match(line)):
        return "heading"
    if _TABLE.match(line):
        return "table"
    if above == "indented" or (not above and _is_code(line)):
        return "indented"
    if _ITEM.match(line):
        return "item"
    return above if above in {"item", "paragraph"} else "paragraph"


def _is_code(line: str) -> bool:
    """Whether an indented line opens a code block: not a list item, and not starting like a sentence."""
    body = line.lstrip()
    indent = len(line.expandtabs(4)) - len(body.expandtabs(4))
    return indent >= 3 and bool(body) and not _ITEM.match(line) and not re.match(r"[\"'(“]?[A-Z][a-z]*\s+[a-z]", body)
