"""Where the exam measures: information of all its questions over ability, with the pipelines' abilities below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from irt import plots
from paper_figs.results import THETA, read_fit, script

NAME = "exam_information"


def compute(run: Path) -> pd.DataFrame:
    """`theta, total, total_low, total_high` of the curve, then one row per pipeline with `student, theta` alone."""
    fit = read_fit(run)
    found = fit.information(THETA)
    columns = {"total": found.total, "total_low": found.total_low, "total_high": found.total_high}
    curve = pd.DataFrame({"theta": found.theta, **columns})
    return pd.concat([curve, fit.abilities[["student", "theta"]]], ignore_index=True)


def draw(ax: Axes, table: pd.DataFrame) -> None:
    """The curve with its band and a mark per pipeline."""
    pipelines = table["student"].notna()
    plots.exam_information(ax, table[~pipelines], table.loc[pipelines, "theta"])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script."""
    return script(compute, draw, NAME, __doc__, argv)


if __name__ == "__main__":
    raise SystemExit(main())
