"""How results are shown: JSON for programs, lines for readers, CSV files for tables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
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


def json_record(record: object) -> dict[str, Any]:
    """The fields of a record, or the values of a mapping, as JSON can hold them."""
    found: dict[str, Any] = json_value(record)
    return found


def json_value(value: Any) -> Any:
    """Records as objects, tables as lists of rows, arrays as lists, and null for what is infinite or empty."""
    if isinstance(value, pd.DataFrame):
        value = value.to_dict("records")
    elif isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): json_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    return None if value is pd.NA or (isinstance(value, float) and not math.isfinite(value)) else value


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
