"""Files about the items of a fit: labels such as groups or keys, and the options that students chose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from irt._csv_text import read_text
from irt._files import require_file
from irt._result import Fit
from irt.checks._inputs import listed
from irt.commands._arguments import rows_are_numbered


def read_labels(path: Path, column: str, items: Sequence[str] = ()) -> dict[str, str]:
    """What a CSV file with the columns `item` and `column` says of each item; ValueError for another file.

    All of `items` must be in it, and none of its cells be empty.
    """
    require_file(path, f"a CSV table item,{column}")
    table = read_text(path, needed=("item", column))
    found: dict[str, str] = {}
    for row, item, label in zip(table.index, table["item"].str.strip(), table[column].str.strip(), strict=True):
        if not item and not label:
            continue
        for name, cell in (("item", item), (column, label)):
            if not cell:
                raise ValueError(f"{path}:{row + 2}: {name} is empty ('{item},{label}'); wanted a row item,{column}")
        if found.setdefault(item, label) != label:
            raise ValueError(f"{path}:{row + 2}: item '{item}' is '{label}' here and '{found[item]}' above")
    for item in items:
        if item not in found:
            raise ValueError(f"{path}: item '{item}' has no {column}; wanted a row item,{column} for every item")
    return found


def read_chosen_options(path: Path, fit: Fit) -> pd.DataFrame:
    """Chosen options, one row per student of the fit, one column per item; empty where none was chosen.

    The first column holds the students. It may be absent where the table of the fit had none either: rows then belong
    to each other in their order. ValueError for a student or an item that is not there.
    """
    require_file(path, "a CSV table of students by items")
    table = read_text(path)
    first, students = str(table.columns[0]), fit.data.students
    for item in fit.data.items:
        if item not in table.columns:
            raise ValueError(f"{path}:1: no column '{item}'; wanted the chosen options of every item")
    if first in fit.data.items:
        return _by_row(table, path, fit)
    named = table.set_index(table[first].str.strip()).drop(columns=first)
    if named.index.has_duplicates:
        row = int(np.argmax(named.index.duplicated()))
        raise ValueError(f"{path}:{table.index[row] + 2}: student '{named.index[row]}' appears twice")
    for student in students:
        if student not in named.index:
            way = (
                f"; its table names none: leave out '{first}' to match rows in their order"
                if rows_are_numbered(fit)
                else ""
            )
            raise ValueError(f"{path}: no row of student '{student}'; wanted one for each student of the fit{way}")
    return named.loc[list(students)]


def _by_row(table: pd.DataFrame, path: Path, fit: Fit) -> pd.DataFrame:
    """Options without a column of students, for a fit whose table had none."""
    students = fit.data.students
    if not rows_are_numbered(fit):
        raise ValueError(
            f"{path}:1: the first column is item '{table.columns[0]}'; wanted the students ({listed(students, 2)}), as "
            "in the table of the fit"
        )
    if len(table) != len(students):
        raise ValueError(
            f"{path}: found {len(table)} rows and no column of students; wanted {len(students)} rows, as in the table "
            "of the fit"
        )
    return table.set_axis(pd.Index(students), axis=0)
