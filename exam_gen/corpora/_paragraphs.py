"""Paragraphs of text that was printed on pages: wrapped lines joined, page numbers and running heads left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_FURNITURE = re.compile(
    r"\s*(?:[-–—]?\s?\d{1,3}\s?[-–—]?|[ivxlc]{1,6}|table of contents|part\s+[iv]{1,3}|items?\s+\d{1,2}[abc]?"
    r"(?:\s*,\s*\d{1,2}[abc]?)*)\s*",
    re.IGNORECASE,
)
_FULL = 0.75
"""A line of at least this share of the usual width was broken because it was full."""
_WIDEST = 400
_ENDS = ".!?:;"


class _Paragraph(NamedTuple):
    """Joined lines; what is no prose (a table's row, a heading) stays close to its like."""

    text: str
    is_prose: bool


def reflow(text: str) -> str:
    """Paragraphs as single lines, apart by a blank line; short lines (tables, headings) keep their breaks.

    A line is joined to the one before when that was full, or when it goes on in lower case, even over a page's end.
    Lines that hold only a page number, a running head of a filing or "Table of Contents" are left out.
    """
    lines = [" ".join(line.split()) for line in text.strip().replace("\f", "\n").split("\n")]
    found = list(_paragraphs(lines, _usual_width(lines)))
    parts: list[str] = []
    for number, one in enumerate(found):
        parts.append(one.text)
        if number + 1 < len(found):
            parts.append("\n\n" if one.is_prose or found[number + 1].is_prose else "\n")
    return "".join(parts)


def _usual_width(lines: list[str]) -> int:
    """The width that nine in ten of the longer lines keep to."""
    lengths = sorted(min(len(line), _WIDEST) for line in lines if len(line) > 40)
    return lengths[int(0.9 * (len(lengths) - 1))] if lengths else _WIDEST


def _paragraphs(lines: list[str], width: int) -> Iterator[_Paragraph]:
    parts: list[str] = []
    turned = False  # a page was turned, or a blank line passed, since the last line
    for line in lines:
        if not line or _FURNITURE.fullmatch(line):
            turned = True
            continue
        if parts and _goes_on(parts[-1], line, width, turned):
            parts.append(line)
        else:
            if parts:
                yield _paragraph(parts)
            parts = [line]
        turned = False
    if parts:
        yield _paragraph(parts)


def _goes_on(above: str, line: str, width: int, turned: bool) -> bool:
    unfinished = above[-1] not in _ENDS and line[0].islower()
    return unfinished or (not turned and len(above) >= _FULL * width)


def _paragraph(parts: list[str]) -> _Paragraph:
    return _Paragraph(" ".join(parts), len(parts) > 1 or parts[-1][-1] in _ENDS)
