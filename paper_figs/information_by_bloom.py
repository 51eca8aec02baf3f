"""Figure 3: mean information of a question over ability, for each process level of Bloom's revised taxonomy."""

from __future__ import annotations

from collections.abc import Sequence

from paper_figs import _grouped_information as grouping
from paper_figs._command_line import script
from paper_figs._figure_files import PaperFigure
from paper_figs._task_results import TaskResults
from paper_figs.bloom_levels import BY_VERBS
from taxonomy import LEVELS

CAPTION = (
    "Mean Fisher information of a question, per unit of ability squared; in brackets the number of questions, which "
    "may have several levels. Bars: 90 % interval at the peak (cut where far above all curves). "
    f"{BY_VERBS}"
)


def build(runs: Sequence[TaskResults]) -> list[PaperFigure]:
    """One panel per task."""
    title = "Information by level of Bloom's taxonomy"
    return [grouping.plate(runs, "information_by_bloom", title, CAPTION, "bloom", LEVELS)]


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
