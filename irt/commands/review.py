"""What the commands ask about a saved fit itself: its information, its checks, how its items treat the levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from irt.checks import Report, dif, report
from irt.checks.inputs import listed
from irt.commands.inquiry import right_or_wrong, unnamed
from irt.commands.said import Said, doubts, excerpt, kept, rows, table_file, write_tables
from irt.csv_text import read_text
from irt.files import require_file
from irt.fitting.estimation_outcome import Progress, begun
from irt.reading import read_responses
from irt.responses import facet_names
from irt.result import Fit, Information
from irt.storage import load_fit


def informed(folder: Path, low: float, high: float, points: int, groups: Path | None = None) -> Said:
    """The information of the exam over a grid of abilities, by group of items when a file of groups is given."""
    if points < 1 or high < low:
        raise ValueError(f"{points} points from {low:g} to {high:g} is not a grid")
    fit = load_fit(folder)
    grid = np.linspace(low, high, points)
    if groups is not None:
        items = fit.data.items
        table = fit.information_by(_members(labels(groups, "group", items), items), grid)
        return Said({"groups": rows(table)}, table.to_csv(index=False).strip(), doubts(fit))
    found = fit.information(grid)
    curves = {item: row.tolist() for item, row in zip(found.items, found.mean, strict=True)}
    parts = {"mean": found.total, "low": found.total_low, "high": found.total_high}
    total = {name: values.tolist() for name, values in parts.items()}
    record = {"theta": found.theta.tolist(), "total": total, "reliability": fit.reliability, "items": curves}
    return Said(record, _curve_lines(found), doubts(fit))


def differing(folder: Path, facet: str, responses: Path | None = None, out: Path | None = None) -> Said:
    """Items that treat the levels of a facet differently; `responses` when the fit's own table lacks the facet."""
    fit = right_or_wrong(folder)
    data = fit.data if responses is None else read_responses(responses, items=fit.data.items).select(fit.data.items)
    if facet not in facet_names(data) and responses is None:
        there = ", ".join(facet_names(data)) or "none"
        raise ValueError(f"the fit has no facet '{facet}' (it has {there}); give the table that has it: --responses")
    table, name = dif(data, fit.parameters, facet), f"dif {facet}"
    if out is not None:
        write_tables(out, {name: table})
    found = [str(sentence) for sentence in table["sentence"] if sentence]
    tested = int(table["p"].notna().sum())
    head = f"{len(found)} of {tested} comparisons differ by facet {facet} (5 %, adjusted for {tested})"
    columns = table[["item", "level", "against", "effect", "low", "high", "p_adjusted", "class"]]
    shown = excerpt(columns, kept(out, table_file(name)))
    record = {"facet": facet, "tested": tested, "flagged": len(found), "sentences": found, "items": rows(table)}
    notes = () if responses is None else data.notes
    return Said(record, "\n".join([head, *(f"- {sentence}" for sentence in found), shown]), doubts(fit), notes)


def checked(
    folder: Path,
    groups: Path | None = None,
    options: Path | None = None,
    key: Path | None = None,
    seed: int | None = None,
    out: Path | None = None,
    progress: Progress | None = None,
) -> Said:
    """Every check that the fit allows, gravest first; `out` receives one CSV per table.

    `groups` (`item,group`) names items that may depend on each other; `options` (`chosen_options`) and `key`
    (`item,key`) let a wrong key be told with the right one.
    """
    fit = load_fit(folder) if options is None and key is None and groups is None else right_or_wrong(folder)
    if (options is None) != (key is None):
        raise ValueError("chosen options and the key belong together: --options and --key were wanted, or neither")
    given = (
        None if groups is None else labels(groups, "group"),
        None if options is None else chosen_options(options, fit),
        None if key is None else labels(key, "key", fit.data.items),
    )
    begun(progress)
    found = report(fit, *given, seed=seed)
    if options is not None and "keys" in found.skipped:
        raise ValueError(f"{options}: {found.skipped['keys']}")
    if out is not None:
        write_tables(out, found.tables)
    record = {
        "sentences": list(found.sentences),
        "limits": found.limits,
        "skipped": dict(found.skipped),
        "tables": {name: rows(table) for name, table in found.tables.items()},
    }
    return Said(record, "\n".join([str(found), *_overall_lines(found)]))


def _overall_lines(found: Report) -> list[str]:
    """M2 also when it has nothing to complain of."""
    if "overall" not in found.tables:
        return []
    one = found.tables["overall"].iloc[0]
    size = f"RMSEA {one['rmsea']:.3f} [{one['rmsea_low']:.3f}, {one['rmsea_high']:.3f}], SRMSR {one['srmsr']:.3f}"
    return [f"M2 {one['m2']:.2f} on {one['df']} degrees of freedom, p {one['p']:.3g}; {size}"]


def labels(path: Path, column: str, items: Sequence[str] = ()) -> dict[str, str]:
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
                raise ValueError(
                    f"{path}:{row + 2}: {name} is empty ('{item},{label}'); a row item,{column} was wanted"
                )
        if found.setdefault(item, label) != label:
            raise ValueError(f"{path}:{row + 2}: item '{item}' is '{label}' here and '{found[item]}' above")
    for item in items:
        if item not in found:
            raise ValueError(f"{path}: item '{item}' has no {column}; a row item,{column} for every item was wanted")
    return found


def chosen_options(path: Path, fit: Fit) -> pd.DataFrame:
    """Chosen options, one row per student of the fit, one column per item; empty where none was chosen.

    The first column holds the students. It may be absent where the table of the fit had none either: rows then belong
    to each other in their order. ValueError for a student or an item that is not there.
    """
    require_file(path, "a CSV table of students by items")
    table = read_text(path)
    first, students = str(table.columns[0]), fit.data.students
    for item in fit.data.items:
        if item not in table.columns:
            raise ValueError(f"{path}:1: no column '{item}'; the chosen options of every item were wanted")
    if first in fit.data.items:
        return _by_row(table, path, fit)
    named = table.set_index(table[first].str.strip()).drop(columns=first)
    if named.index.has_duplicates:
        row = int(np.argmax(named.index.duplicated()))
        raise ValueError(f"{path}:{table.index[row] + 2}: student '{named.index[row]}' appears twice")
    for student in students:
        if student not in named.index:
            way = f"; its table names none: leave out '{first}' to match rows in their order" if unnamed(fit) else ""
            raise ValueError(f"{path}: no row of student '{student}'; one for each student of the fit was wanted{way}")
    return named.loc[list(students)]


def _by_row(table: pd.DataFrame, path: Path, fit: Fit) -> pd.DataFrame:
    """Options without a column of students, for a fit whose table had none."""
    students = fit.data.students
    if not unnamed(fit):
        raise ValueError(
            f"{path}:1: the first column is item '{table.columns[0]}'; the students ({listed(students, 2)}), as in the "
            "table of the fit, were wanted there"
        )
    if len(table) != len(students):
        raise ValueError(
            f"{path}: {len(table)} rows and no column of students; {len(students)} rows, as in the table of the fit, "
            "were wanted"
        )
    return table.set_axis(pd.Index(students), axis=0)


def _members(label: Mapping[str, str], items: Sequence[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for item in items:
        groups.setdefault(label[item], []).append(item)
    return groups


def _curve_lines(found: Information) -> str:
    columns = (found.theta, found.total, found.total_low, found.total_high, found.standard_error)
    lines = [",".join(f"{value:.6g}" for value in row) for row in zip(*columns, strict=True)]
    return "\n".join(["theta,information,low,high,standard_error", *lines])
