"""Paragraphs of text that was printed on pages: wrapped lines joined, page numbers and running heads left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FURNITURE = re.compile(
    r"\s*(?:[-–—]?\s?\d{1,3}\s?[-–—]?|[ivxlc]{1,6}|table of contents|part\s+[iv]{1,3}|items?\s+\d{1,2}[abc]?"
    r"(?:\s*,\s*\d{1,2}[abc]?)*)\s*",
    re.IGNORECASE,
)
_FULL = 0.75
"""A line of at least this share of the usual width was broken because it was full."""
_WIDEST = 400


def reflow(text: str) -> str:
    """Paragraphs as single lines, apart by a blank line; short lines (tables, headings) keep their breaks.

    A line is joined to the one before when that was full, or when it goes on in lower case, even over a page's end.
    Lines that hold only a page number, a running head of a filing or "Table of Contents" are left out.
    """
    lines = [" ".join(line.split()) for line in text.replace("\f", "\n").split("\n")]
    width = _usual_width(lines)
    return "\n".join(_joined(lines, width)).strip()


def _usual_width(lines: list[str]) -> int:
    """The width that nine in ten of the longer lines keep to."""
    lengths = sorted(min(len(line), _WIDEST) for line in lines if len(line) > 40)
    return lengths[int(0.9 * (len(lengths) - 1))] if lengths else _WIDEST


def _joined(lines: list[str], width: int) -> Iterator[str]:
    parts: list[str] = []
    turned = False  # a page was turned, or a blank line passed, since the last line
    for line in lines:
        if not line or _FURNITURE.fullmatch(line):
            turned = True
            continue
        full = bool(parts) and len(parts[-1]) >= _FULL * width
        open_ended = bool(parts) and parts[-1][-1] not in ".!?:;"
        goes_on = open_ended and line[0].islower()
        if parts and (goes_on if turned else goes_on or full):
            parts.append(line)
        else:
            if parts:
                yield " ".join(parts)
                prose = len(parts) > 1 or parts[-1][-1] in ".!?:;" or turned
                if prose:
                    yield ""
            parts = [line]
        turned = False
    if parts:
        yield " ".join(parts)
