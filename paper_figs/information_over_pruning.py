"""Figures 5 and 12: mean information of a question over ability, round after round of pruning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from irt import plots
from paper_figs.results import script

NAME = "information_over_pruning"


def compute(run: Path) -> pd.DataFrame:
    """`round, n_items, theta, mean`; round 0 is the whole exam."""
    path = run / "pruned" / "prune.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; wanted a run whose exam was pruned")
    try:
        pruning = json.loads(path.read_text(encoding="utf-8"))
        columns = ("round", "n_items")
        frames = [
            pd.DataFrame(
                {name: row[name] for name in columns} | {"theta": pruning["theta"], "mean": row["mean_information"]}
            )
            for row in pruning["trajectory"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {type(error).__name__} {error}; wanted the record of a pruning") from None
    return pd.concat(frames, ignore_index=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script."""
    return script(compute, plots.pruning_rounds, NAME, __doc__, argv, height=3.2)


if __name__ == "__main__":
    raise SystemExit(main())
