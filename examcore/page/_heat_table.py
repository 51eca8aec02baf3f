"""A table whose cells are coloured by a share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HeatCell:
    """One cell of a heat map; `share` is the accuracy in percent, None where nobody answered."""

    share: int | None
    text: str
    range: str


@dataclass(frozen=True)
class HeatRow:
    """One row of a heat map."""

    name: str
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True)
class HeatTable:
    """Accuracy by two facets."""

    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[HeatRow, ...]
