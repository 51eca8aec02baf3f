"""Table 3 as a picture: what each component is worth, the effect of every level with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from irt import plots
from paper_figs import fits
from paper_figs.commands import script
from paper_figs.drawing import Panel, Plate
from paper_figs.runs import Run, facet_name, level_name

CAPTION = (
    "Effect of each level on ability, in standard deviations of the pipelines' abilities, with its 90 % interval "
    "from the joint posterior. Effects sum to zero within a component: 0 is its average level."
)


def compute(run: Run) -> pd.DataFrame:
    """`task, facet, level, effect, low, high`, zero on average within a facet."""
    table = fits.components(run)[["facet", "level", "effect", "low", "high"]]
    table.insert(0, "task", run.task)
    return table


def build(runs: Sequence[Run]) -> list[Plate]:
    """One panel per task."""
    tables = [compute(run) for run in runs]
    panels = tuple(
        Panel(table, lambda ax, data: plots.component_forest(ax, _named(data)), run.task, plots.forest_height(table))
        for run, table in zip(runs, tables, strict=True)
    )
    return [Plate("component_contrasts", "What each component is worth", CAPTION, panels)]


def _named(table: pd.DataFrame) -> pd.DataFrame:
    levels = [level_name(row["facet"], row["level"]) for row in table.to_dict("records")]
    return table.assign(facet=table["facet"].map(facet_name), level=levels)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script."""
    return script(build, __doc__, argv)


if __name__ == "__main__":
    raise SystemExit(main())
