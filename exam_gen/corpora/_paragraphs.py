"""Paragraphs of text that was printed on pages: wrapped lines joined, page numbers and running heads left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

_FURNITURE = re.compile(
    r"\s*(?:[-–—]?\s?\d{1,3}\s?[-–—]?|[ivxlc]{1,6}|table of contents|part\s+[iv]{1,3}|items?\s+\d{1,2}[abc]?"
    r"(?:\s*,\s*\d{1,2}[abc]?)*)\s*",
    re.IGNORECASE,
)
_FULL = 0.75
"""A line of at least this share of the usual width was broken because it was full."""
_WIDEST = 400
"""Characters: a longer line was not wrapped by a page."""
_ENDS = ".!?:;"


def reflow(text: str) -> str:
    """Paragraphs as single lines, apart by a blank line; short lines (tables, headings) keep their breaks.

    A line is joined to the one before when that was full, or when it goes on in lower case, even over a page's end.
    Lines that hold only a page number, a running head of a filing or "Table of Contents" are left out.
    """
    lines = [" ".join(line.split()) for line in text.strip().replace("\f", "\n").split("\n")]
    found = list(_paragraphs(lines, _usual_width(lines)))
    # What is no prose (a table's row, a heading) stays close to its like.
    prose = [len(one) > 1 or one[-1][-1] in _ENDS for one in found]
    gaps = ["\n\n" if one or other else "\n" for one, other in pairwise(prose)]
    return "".join(" ".join(one) + gap for one, gap in zip(found, [*gaps, ""], strict=False))


def _usual_width(lines: list[str]) -> int:
    """The width that nine in ten of the longer lines keep to."""
    lengths = sorted(min(len(line), _WIDEST) for line in lines if len(line) > 40)
    return lengths[int(0.9 * (len(lengths) - 1))] if lengths else _WIDEST


def _paragraphs(lines: list[str], width: int) -> Iterator[list[str]]:
    """The lines of each paragraph."""
    parts: list[str] = []
    turned = False  # a page was turned, or a blank line passed, since the last line
    for line in lines:
        if not line or _FURNITURE.fullmatch(line):
            turned = True
            continue
        unfinished = parts and parts[-1][-1] not in _ENDS and line[0].islower()
        if parts and not unfinished and (turned or len(parts[-1]) < _FULL * width):
            yield parts
            parts = []
        parts.append(line)
        turned = False
    if parts:
        yield parts
