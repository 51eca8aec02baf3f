"""What the page's template shows: sections of sentences, warnings, tables and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from examcore.page import HeatTable
from ragexam.report._figure_files import Picture
from ragexam.report._page_tables import PageTable


@dataclass(frozen=True)
class PageSection:
    """A section: sentences, warnings, tables, a figure, and `folded`, a table that opens by a click."""

    sentences: Sequence[str]
    warnings: Sequence[str] = ()
    tables: Sequence[PageTable] = ()
    figure: Picture | None = None
    folded: PageTable | None = None


@dataclass(frozen=True)
class HeatSection:
    """A section of heat maps; `details` are folded away."""

    sentences: Sequence[str]
    tables: Sequence[HeatTable] = ()
    details: Sequence[HeatTable] = ()


@dataclass(frozen=True)
class FactList:
    """Names and values under a title; a `long` one is folded away."""

    title: str
    facts: Sequence[tuple[str, str]]
    long: bool = False
