"""How an answer of the command line is put: a record for programs, lines for readers, tables for files."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from irt.reading import replacing
from irt.result import Estimate, Fit


class Said(NamedTuple):
    """An answer: `record` holds what JSON can hold, `lines` is text, `warnings` are sentences."""

    record: dict[str, Any]
    lines: str
    warnings: tuple[str, ...] = ()


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


def text(table: pd.DataFrame, most: int | None = None) -> str:
    """A table for a reader, its first `most` rows; empty cells are blank."""
    shown = table if most is None else table.head(most)
    optional = [name for name, kind in shown.dtypes.items() if str(kind) == "Float64"]
    shown = shown.astype(dict.fromkeys(optional, "float64"))
    return str(shown.round(3).to_string(index=False, na_rep=""))


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """One CSV per table, each written atomically; a name such as `item fit` becomes `item-fit.csv`."""
    for name, table in tables.items():
        with replacing(folder / f"{re.sub(r'[^A-Za-z0-9_.]+', '-', name)}.csv") as temporary:
            table.to_csv(temporary, index=False)


def _plain(value: Any) -> Any:
    if value is pd.NA:
        return None
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
