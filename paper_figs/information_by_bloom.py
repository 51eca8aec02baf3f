"""Figure 3: mean information of a question over ability, for each process level of Bloom's revised taxonomy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from irt import plots
from paper_figs.results import grouped_information, script
from taxonomy import LEVELS, bloom

NAME = "information_by_bloom"


def compute(run: Path) -> pd.DataFrame:
    """`group, theta, n_items, total…, mean…`; a question counts in every level it is labelled with."""
    return grouped_information(run, "bloom", bloom, LEVELS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script."""
    return script(compute, plots.grouped_information, NAME, __doc__, argv, height=3.4)


if __name__ == "__main__":
    raise SystemExit(main())
