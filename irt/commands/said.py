"""How an answer of the command line is put: a record for programs, lines for readers, tables for files."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from irt.files import replacing, require_folder
from irt.result import Estimate, Fit

SHOWN = 20
"""Rows of a table that are printed; files and JSON hold all."""


class Said(NamedTuple):
    """An answer: `record` holds what JSON can hold, `lines` is text, `warnings` and `notes` are sentences."""

    record: dict[str, Any]
    lines: str
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def doubts(fit: Fit) -> tuple[str, ...]:
    """A warning when the fit itself is not to be used."""
    return () if fit.converged else ("This fit did not converge: what is read from it is not to be used.",)


def interval(value: Estimate, times: float = 1.0, unit: str = "") -> str:
    """An estimate with its interval."""
    digits = 1 if unit else 2
    middle, low, high = (f"{times * number:+.{digits}f}" for number in (value.estimate, value.low, value.high))
    return f"{middle}{unit} [{low}, {high}]"


def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """A table's rows as JSON can hold them."""
    return [finite({str(name): value for name, value in row.items()}) for row in table.to_dict("records")]


def finite(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with null for what is infinite or empty, which JSON cannot hold."""
    return {name: _plain(value) for name, value in record.items()}


def excerpt(table: pd.DataFrame, whole: str) -> str:
    """The first rows of a table for a reader; of a longer one, how many more there are and what gives the `whole`."""
    shown, left = text(table.head(SHOWN)), len(table) - SHOWN
    return shown if left <= 0 else f"{shown}\n... and {left} more: {whole}"


def kept(out: Path | None, name: str, otherwise: str = "--json or --out DIR gives all") -> str:
    """Where the whole of a table is that `out`, if given, received as `name`."""
    return otherwise if out is None else f"all in {out / name}"


def text(table: pd.DataFrame) -> str:
    """A table for a reader; empty cells are blank."""
    optional = [name for name, kind in table.dtypes.items() if str(kind) == "Float64"]
    table = table.astype(dict.fromkeys(optional, "float64"))
    return str(table.round(3).to_string(index=False, na_rep=""))


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """One CSV per table, as `table_file` calls it; all are put in place when all are written."""
    require_folder(folder, "a folder for tables")
    with ExitStack() as stack:
        for name, table in tables.items():
            table.to_csv(stack.enter_context(replacing(folder / table_file(name))), index=False)


def table_file(name: str) -> str:
    """The file of a table; `item fit` is in `item-fit.csv`."""
    return f"{re.sub(r'[^A-Za-z0-9_.]+', '-', name)}.csv"


def _plain(value: Any) -> Any:
    if value is pd.NA:
        return None
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
