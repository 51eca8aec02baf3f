"""CSV tables as text: long ones by pandas' reader, wide ones row by row (many columns take pandas minutes)."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import numpy as np
import pandas as pd

LONGEST_CELL = 10**9
LONG = ("item", "score")
"""Columns that make a table long."""


def read_text(path: Path, needed: Sequence[str] = ()) -> pd.DataFrame:
    """The table as text, its index the line (less 2) each row ends on; empty cells and lines are empty strings.

    Raises a one-line ValueError for a file that is no CSV in UTF-8 or lacks a `needed` column, columns without names of
    their own, and rows of another length than the header.
    """
    try:
        header = _header(path)
        for name in needed if any(header) else ():
            if name not in header:
                wanted = ",".join(needed)
                raise ValueError(
                    f"{path}:1: no column '{name}'; wanted a table {wanted}, with that header and a line per item"
                )
        require_columns(header, path)
        return _read_long(path) if set(LONG) <= set(header) else _read_wide(path)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start} is not UTF-8; wanted a UTF-8 CSV") from error
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise ValueError(f"{path}: not a readable CSV ({one_line(error)})") from error
        wanted, line, cells = found.groups()
        raise ValueError(f"{path}:{line}: {cells} cells; wanted {wanted}, as in the header") from error
    except (pd.errors.EmptyDataError, csv.Error, EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{path}: not a readable CSV ({one_line(error)})") from error


def one_line(error: Exception) -> str:
    """The message of an error on one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]


def _header(path: Path) -> list[str]:
    csv.field_size_limit(LONGEST_CELL)
    with _opened(path) as lines:
        return [name.strip() for name in next(csv.reader(lines), [])]


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


def _read_long(path: Path) -> pd.DataFrame:
    table = pd.read_csv(
        path, dtype=str, keep_default_na=False, na_values=[], encoding="utf-8-sig", skip_blank_lines=False
    )
    if not isinstance(table.index, pd.RangeIndex):
        cells = table.shape[1] + table.index.nlevels
        raise ValueError(f"{path}:2: {cells} cells; wanted {table.shape[1]}, as in the header")
    table.columns = pd.Index([str(name).strip() for name in table.columns])
    return table.astype(object).where(table.notna(), "")


def _read_wide(path: Path) -> pd.DataFrame:
    with _opened(path) as lines:
        reader = csv.reader(lines, strict=True)
        header = next(reader)
        rows, at = [], []
        for row in reader:
            if not any(row):
                continue
            if len(row) != len(header):
                raise ValueError(f"{path}:{reader.line_num}: {len(row)} cells; wanted {len(header)}, as in the header")
            rows.append(np.array(row, dtype=object))
            at.append(reader.line_num - 2)
    cells = np.array(rows, dtype=object).reshape(len(rows), len(header))
    return pd.DataFrame(cells, columns=pd.Index([name.strip() for name in header]), index=at, dtype=object)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
        yield lines
