"""How results are shown: JSON for programs, lines for readers, CSV files for tables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from irt._files import replacing, require_folder

PRINTED_ROWS = 20
"""Rows of a table that are printed; files and JSON hold all."""


class Printable(Protocol):
    """A result that a command shows."""

    def record(self) -> dict[str, Any]:
        """The result as JSON can hold it."""
        ...

    def lines(self, out: Path | None = None, /) -> list[str]:
        """The result for a reader; `out` is the folder that received its tables, if any."""
        ...


def json_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with plain values, and null for what is infinite or empty, which JSON cannot hold."""
    return {name: _plain(value) for name, value in record.items()}


def json_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as JSON can hold them."""
    return [json_record({str(name): value for name, value in row.items()}) for row in table.to_dict("records")]


def first_rows(table: pd.DataFrame, whole: str) -> str:
    """The first rows of a table; of a longer one, also how many are left and where the `whole` is."""
    shown, left = table_text(table.head(PRINTED_ROWS)), len(table) - PRINTED_ROWS
    return shown if left <= 0 else f"{shown}\n... and {left} more: {whole}"


def where_whole(out: Path | None, name: str, otherwise: str = "--json or --out DIR gives all") -> str:
    """Where to find all of a table that the folder `out`, if given, received as the file `name`."""
    return otherwise if out is None else f"all in {out / name}"


def table_text(table: pd.DataFrame) -> str:
    """A table as aligned text; empty cells are blank."""
    optional = [name for name, kind in table.dtypes.items() if str(kind) == "Float64"]
    table = table.astype(dict.fromkeys(optional, "float64"))
    return str(table.round(3).to_string(index=False, na_rep=""))


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write one CSV per table, named by `table_file`; all appear once all are written."""
    require_folder(folder, "a folder for tables")
    with ExitStack() as stack:
        for name, table in tables.items():
            table.to_csv(stack.enter_context(replacing(folder / table_file(name))), index=False)


def table_file(name: str) -> str:
    """The file name of a table: `item fit` is in `item-fit.csv`."""
    return f"{re.sub(r'[^A-Za-z0-9_.]+', '-', name)}.csv"


def _plain(value: Any) -> Any:
    if value is pd.NA:
        return None
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
