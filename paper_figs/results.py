"""What every script here shares: its command line, the files it reads, and where it writes."""

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

from irt import plots

Compute = Callable[[Path], pd.DataFrame]
Draw = Callable[[Axes, pd.DataFrame], None]


def script(
    compute: Compute, draw: Draw, name: str, doc: str | None, argv: Sequence[str] | None = None, height: float = 2.9
) -> int:
    """Run one figure's script: `RUN --out DIR` writes `DIR/NAME.csv`, `.pdf` and `.png` and prints their paths."""
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


def write(folder: Path, name: str, table: pd.DataFrame, draw: Draw, height: float = 2.9) -> list[Path]:
    """Write a figure's table first, then the figure drawn from it."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / f"{name}.csv"
    table.to_csv(data, index=False, float_format="%.6g")
    with plots.canvas(height) as (figure, ax):
        draw(ax, table)
        return [data, *plots.save(figure, folder / name)]


def exam_lines(run: Path) -> list[Mapping[str, Any]]:
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


def theta_grid(low: float = -3.0, high: float = 3.0) -> np.ndarray:
    """Abilities at which curves are drawn."""
    return np.linspace(low, high, 61)
