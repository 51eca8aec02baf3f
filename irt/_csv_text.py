"""CSV tables as text, read row by row: tables of many columns take pandas' reader minutes."""

from __future__ import annotations

import csv
import gzip
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from _csv import Reader

LONGEST_CELL = 10**9
"""Characters of a cell; the limit of the standard library, 131,072, is below a long passage."""


def read_text(path: Path, needed: Sequence[str] = ()) -> pd.DataFrame:
    """The table as text, its index the line (less 2) each row ends on; empty cells and lines are empty strings.

    Raises a one-line ValueError for a file that is no CSV in UTF-8 or lacks a `needed` column, columns without names of
    their own, and rows of another length than the header.
    """
    csv.field_size_limit(LONGEST_CELL)
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
            return _read(csv.reader(lines, strict=True), path, needed)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start} is not UTF-8; wanted a UTF-8 CSV") from error
    except (csv.Error, EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{path}: not a readable CSV ({one_line(error)})") from error


def one_line(error: Exception) -> str:
    """The message of an error on one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]


def require_columns(header: list[str], path: Path) -> None:
    """ValueError unless all columns but the first have a name, and each its own."""
    if not any(header):
        raise ValueError(f"{path}: not a readable CSV (no header); wanted a line of column names")
    if len(header) == 1:
        found = " ".join(header[0].split())[:80]
        raise ValueError(f"{path}:1: one column, '{found}'; wanted columns separated by commas")
    seen: set[str] = set()
    for position, name in enumerate(header):
        if not name and position:
            raise ValueError(f"{path}:1: column {position + 1} has no name; wanted the id of an item or a facet")
        if name in seen:
            raise ValueError(f"{path}:1: column '{name}' appears twice; wanted one column of each name")
        seen.add(name)


def _read(reader: Reader, path: Path, needed: Sequence[str]) -> pd.DataFrame:
    header = [name.strip() for name in next(reader, [])]
    missing = [name for name in needed if name not in header]
    if missing and any(header):
        wanted = f"a table {','.join(needed)}, with that header and a line per item"
        raise ValueError(f"{path}:1: no column '{missing[0]}'; wanted {wanted}")
    require_columns(header, path)
    rows, at = [], []
    for row in reader:
        if not any(row):
            continue
        if len(row) != len(header):
            raise ValueError(f"{path}:{reader.line_num}: {len(row)} cells; wanted {len(header)}, as in the header")
        rows.append([*map(sys.intern, row)])
        at.append(reader.line_num - 2)
    cells = np.array(rows, dtype=object).reshape(len(rows), len(header))
    return pd.DataFrame(cells, columns=pd.Index(header), index=at, dtype=object)
