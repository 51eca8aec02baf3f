"""What the scripts here share: their command line, the files they read, and where they write."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import irt
from irt import plots

Compute = Callable[[Path], pd.DataFrame]
Draw = Callable[[Axes, pd.DataFrame], None]
Height = float | Callable[[pd.DataFrame], float]

THETA = np.linspace(-3.0, 3.0, 61)
"""Abilities at which curves are drawn."""


def script(
    compute: Compute, draw: Draw, name: str, doc: str | None, argv: Sequence[str] | None = None, height: Height = 2.9
) -> int:
    """Run one figure's script: `RUN --out DIR` writes `DIR/NAME.csv`, `.pdf` and `.png` and prints their paths.

    Returns the exit status: 0, or 2 with one line on standard error when the run folder lacks what is needed.
    """
    parser = argparse.ArgumentParser(prog=f"python -m paper_figs.{name}", description=doc)
    parser.add_argument("run", type=Path, help="a run folder")
    parser.add_argument("--out", type=Path, default=Path("figures"), help="folder to write to (default: figures)")
    arguments = parser.parse_args(argv)
    try:
        table = compute(arguments.run)
        for path in write(arguments.out, name, table, draw, height):
            print(path)
    except (ValueError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    return 0


def write(folder: Path, name: str, table: pd.DataFrame, draw: Draw, height: Height = 2.9) -> list[Path]:
    """Write a figure's table first, then the figure drawn from it."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / f"{name}.csv"
    table.to_csv(data, index=False, float_format="%.6g")
    with plots.canvas(height if isinstance(height, int | float) else height(table)) as (figure, ax):
        draw(ax, table)
        return [data, *plots.save(figure, folder / name)]


def read_fit(run: Path) -> irt.Fit:
    """The fitted model of a run folder."""
    return irt.load_fit(run / "fit")


def read_questions(run: Path) -> list[Mapping[str, Any]]:
    """The questions of a run as they stand in `exam.jsonl`."""
    path = run / "exam.jsonl"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; wanted the exam of a run folder")
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}; wanted one JSON object per line") from None
    return found


def grouped_information(
    run: Path, kind: str, label: Callable[[str], Sequence[str]], order: Sequence[str]
) -> pd.DataFrame:
    """Information of the questions of each label: `group, theta, n_items, total…, mean…` with bands.

    A question counts under each of its labels: those stored with it as `kind`, else what `label` reads off its text.
    """
    fit = read_fit(run)
    groups: dict[str, list[str]] = {name: [] for name in order}
    for line in read_questions(run):
        if line["id"] in fit.data.items:
            for name in (line.get("labels") or {}).get(kind) or label(str(line["question"])):
                groups.setdefault(name, []).append(str(line["id"]))
    return fit.information_by({name: ids for name, ids in groups.items() if ids}, THETA)
