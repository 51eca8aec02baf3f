"""Fonts for names in any script, and marks in place of names that none of them can draw."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager, get_font
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, FuncFormatter

_OTHER_SCRIPTS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Source Han Sans", "WenQuanYi Zen Hei", "IPAexGothic"),
    *("Droid Sans Fallback", "Hiragino Sans", "PingFang SC", "Yu Gothic", "Microsoft YaHei", "Malgun Gothic"),
    *("Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Tamil", "Noto Sans Thai"),
    *("Noto Sans Armenian", "Arial Unicode MS"),
)
"""Fonts that systems usually have for scripts that DejaVu Sans lacks, in the order in which they are tried."""


def font_families() -> list[str]:
    """The families of a figure: the plain one, then those of other scripts that are installed."""
    _find_new_fonts()
    installed = {font.name for font in fontManager.ttflist}
    return ["sans-serif", *(name for name in _OTHER_SCRIPTS if name in installed)]


def _find_new_fonts() -> None:
    """Fonts installed since matplotlib last listed them, which it does once for every later process."""
    listed = {font.fname for font in fontManager.ttflist}
    for path in findSystemFonts():
        if path not in listed:
            with suppress(Exception):  # what is no font is left out, as by matplotlib
                fontManager.addfont(path)


def is_drawable(text: str) -> bool:
    """Whether the installed fonts have every character of a text; those that do not show count as drawn."""
    known = _characters(tuple(font_families()))
    return all(ord(one) in known or one.isspace() or unicodedata.category(one)[0] == "C" for one in text)


@cache
def _characters(families: tuple[str, ...]) -> frozenset[int]:
    found = (get_font(findfont(FontProperties(family=[one]))).get_charmap() for one in families)
    return frozenset[int]().union(*found)


@contextmanager
def marked_names(figure: Figure, key: Path) -> Iterator[None]:
    """Within it, names of the figure that no font can draw are numbered, `[1]`, `[2]`, …

    What each stands for is written to `key` (`mark,name`), which is absent where all names are drawn.
    """
    marks: dict[str, str] = {}

    def marked(name: str) -> str:
        return name if is_drawable(name) else marks.setdefault(name, f"[{len(marks) + 1}]")

    key.unlink(missing_ok=True)
    axes = [axis for ax in figure.findobj(Axes) for axis in (ax.xaxis, ax.yaxis)]
    # The texts of ticks are set anew by their formatter whenever they are drawn; these two are those that give names.
    ticks = [(axis, axis.get_major_formatter()) for axis in axes]
    named = [(axis, one) for axis, one in ticks if isinstance(one, FixedFormatter | FuncFormatter)]
    texts = [(one, one.get_text()) for one in figure.findobj(Text)]
    for axis, formatter in named:
        axis.set_major_formatter(FuncFormatter(lambda value, place, names=formatter: marked(names(value, place))))
    for text, name in texts:
        text.set_text(marked(name))
    try:
        yield
    finally:
        for axis, formatter in named:
            axis.set_major_formatter(formatter)
        for text, name in texts:
            text.set_text(name)
    if marks:
        with key.open("w", encoding="utf-8", newline="") as file:
            rows = [("mark", "name"), *((mark, name) for name, mark in marks.items())]
            csv.writer(file, lineterminator="\n").writerows(rows)
