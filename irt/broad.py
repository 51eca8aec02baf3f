"""CSV tables of very many columns, which pandas' reader takes minutes for."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import numpy as np
import pandas as pd

MANY = 2000
LONGEST_CELL = 10**9


def read_broad(path: Path) -> pd.DataFrame | None:
    """The table as text, its index the line (less 2) each row ends on; None when it has no more than `MANY` columns.

    Raises ValueError for a row of another length than the header, and UnicodeDecodeError.
    """
    csv.field_size_limit(LONGEST_CELL)
    with _opened(path) as lines:
        reader = csv.reader(lines)
        header = next(reader, [])
        if len(header) <= MANY:
            return None
        rows, at = [], []
        for row in reader:
            if not any(row):
                continue
            if len(row) != len(header):
                raise ValueError(
                    f"{path}:{reader.line_num}: {len(row)} cells; {len(header)}, as in the header, were wanted"
                )
            rows.append(np.array(row, dtype=object))
            at.append(reader.line_num - 2)
    cells = np.array(rows, dtype=object).reshape(len(rows), len(header))
    return pd.DataFrame(cells, columns=pd.Index([name.strip() for name in header]), index=at, dtype=object)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
        yield lines  # type: ignore[misc]
