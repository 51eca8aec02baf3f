"""Commands about a saved fit itself: its information, its checks, items that treat levels differently."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from irt._printing import write_tables
from irt._reading import read_responses
from irt._responses import facet_names
from irt._storage import load_fit
from irt.checks._differential import DifferentialItems, dif
from irt.checks._findings import report
from irt.commands._arguments import FitFolder, TablesFolder, convergence_warning, load_right_or_wrong
from irt.commands._label_files import read_chosen_options, read_labels
from irt.commands._output import OpenStep, Output
from irt.curves import ExamInformation, GroupInformation
from irt.fitting._estimation_outcome import begun


def exam_information(
    fit: FitFolder,
    output: Output,
    low: Annotated[float, typer.Option(metavar="THETA", help="Lowest ability.")] = -3.0,
    high: Annotated[float, typer.Option(metavar="THETA", help="Highest ability.")] = 3.0,
    points: Annotated[int, typer.Option(metavar="N", help="Number of abilities.")] = 25,
    groups: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="item,group: one curve per group.")] = None,
) -> None:
    """Print the information curve of a fit as CSV."""
    if points < 1 or high < low:
        raise ValueError(
            f"found {points} points from {low:g} to {high:g}; wanted at least 1, from --low to a --high above it"
        )
    loaded = load_fit(fit)
    grid = np.linspace(low, high, points)
    if groups is not None:
        items = loaded.data.items
        labels = read_labels(groups, "group", items)
        parts = pd.Series(items).groupby([labels[item] for item in items], sort=False)
        members = {str(label): part.tolist() for label, part in parts}
        output.show(GroupInformation(loaded.information_by(members, grid)), convergence_warning(loaded))
        return
    output.show(ExamInformation(loaded.information(grid), loaded.reliability), convergence_warning(loaded))


def check_fit(
    fit: FitFolder,
    output: Output,
    step: OpenStep,
    groups: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="item,group: items that may depend on each other.")
    ] = None,
    options: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="With --key: student, then the chosen option of each item (no student column if the fit's table had "
            "none).",
        ),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="With --options: item,key, the right options.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Random seed. Default: that of the fit.")] = None,
    out: TablesFolder = None,
) -> None:
    """Say whether a fit can be believed, and which items to mend."""
    plain = options is None and key is None and groups is None
    loaded = load_fit(fit) if plain else load_right_or_wrong(fit)
    if (options is None) != (key is None):
        raise ValueError("found one of --options and --key; wanted both, or neither")
    labels = None if groups is None else read_labels(groups, "group")
    chosen = None if options is None else read_chosen_options(options, loaded)
    keys = None if key is None else read_labels(key, "key", loaded.data.items)
    with output.progress(step, "check") as progress:
        begun(progress)
        found = report(loaded, labels, chosen, keys, seed=seed)
        if options is not None and "keys" in found.skipped:
            raise ValueError(f"{options}: {found.skipped['keys']}")
        if out is not None:
            write_tables(out, found.tables)
    output.show(found)


def differential_items(
    fit: FitFolder,
    facet: Annotated[str, typer.Option(metavar="F", help="The facet whose levels are compared.")],
    output: Output,
    responses: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Table with the facet, if the fit has it not.")
    ] = None,
    out: TablesFolder = None,
) -> None:
    """Find items that treat equally able students differently."""
    loaded = load_right_or_wrong(fit)
    items = loaded.data.items
    data = loaded.data if responses is None else read_responses(responses, items=items).select(items)
    if facet not in facet_names(data) and responses is None:
        there = ", ".join(facet_names(data)) or "none"
        raise ValueError(f"the fit has no facet '{facet}' (it has {there}); give the table that has it: --responses")
    found = DifferentialItems(facet, dif(data, loaded.parameters, facet))
    if out is not None:
        write_tables(out, found.tables)
    output.show(found, convergence_warning(loaded), () if responses is None else data.notes, out)
