"""Table 3 as a picture: what each component is worth, the contrast of every level with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from irt import plots
from paper_figs._command_line import script
from paper_figs._figure_files import Draw, FigurePanel, PaperFigure
from paper_figs._task_results import TaskResults, facet_name, level_name
from paper_figs.component_abilities import ABILITY, ACCURACY, compute

CAPTION = (
    "Contrast of each level to the average level of its component, with 90 % interval. Left: in ability, standard "
    "deviations of the pipelines' abilities, from the joint posterior, with effects of shared components on questions. "
    "Right: in accuracy, percentage points, over questions resampled jointly for all pipelines."
)
AXES = {ABILITY: "Ability, standard deviations", ACCURACY: "Accuracy, percentage points"}


def build(runs: Sequence[TaskResults]) -> list[PaperFigure]:
    """One plate of two panels per task."""
    return [_plate(run) for run in runs]


def _plate(run: TaskResults) -> PaperFigure:
    table = compute(run)
    parts = {scale: table[table["scale"] == scale] for scale in AXES}
    panels = tuple(
        FigurePanel(part, _draw(scale), scale.capitalize(), plots.forest_height(part)) for scale, part in parts.items()
    )
    return PaperFigure(f"component_contrasts-{run.slug}", f"What each component is worth: {run.task}", CAPTION, panels)


def _draw(scale: str) -> Draw:
    def draw(ax: Axes, table: pd.DataFrame) -> None:
        levels = [level_name(row["facet"], row["level"]) for row in table.to_dict("records")]
        named = table.assign(facet=table["facet"].map(facet_name), level=levels)
        if scale == ACCURACY:
            named[["effect", "low", "high"]] *= 100
        plots.component_forest(ax, named)
        ax.set_xlabel(f"{AXES[scale]}\n(0: average level)")

    return draw


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
