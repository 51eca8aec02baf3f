"""What each component is worth: the effect of every level of every component with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from irt import plots
from paper_figs.results import read_fit, script

NAME = "component_contrasts"


def compute(run: Path) -> pd.DataFrame:
    """`facet, level, effect, low, high`, zero on average within a facet."""
    table = read_fit(run).components
    if table.empty:
        raise ValueError(f"{run / 'fit'}: fitted without facets; wanted a fit with components")
    return table[["facet", "level", "effect", "low", "high"]]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script."""
    return script(compute, plots.component_forest, NAME, __doc__, argv, height=plots.forest_height)


if __name__ == "__main__":
    raise SystemExit(main())
