"""Figure 4: mean information of a question over ability, for each question word."""

from __future__ import annotations

from collections.abc import Sequence

from paper_figs import _grouped_information as grouping
from paper_figs._command_line import script
from paper_figs._figure_files import PaperFigure
from paper_figs._task_results import TaskResults
from taxonomy import FORMS

CAPTION = (
    "Mean Fisher information of a question, per unit of ability squared; in brackets the number of questions, each "
    "counted under the word it asks with. Bars: 90 % interval at the peak (cut where far above all curves)."
)


def build(runs: Sequence[TaskResults]) -> list[PaperFigure]:
    """One panel per task."""
    title = "Information by question word"
    return [grouping.plate(runs, "information_by_question_word", title, CAPTION, "form", FORMS)]


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
