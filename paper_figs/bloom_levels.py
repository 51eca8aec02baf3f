"""Figure 2: the six process levels of Bloom's revised taxonomy, and how many of each task's questions are of each."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from irt import plots
from irt.plots import grid, legend_below, records
from paper_figs._command_line import script
from paper_figs._figure_files import FigurePanel, PaperFigure
from paper_figs._question_resampling import jeffreys
from paper_figs._task_results import TaskResults
from taxonomy import LEVELS

MEANINGS = {
    "remember": "recognize, recall",
    "understand": "explain, compare, infer",
    "apply": "carry out, use",
    "analyze": "take apart, relate parts",
    "evaluate": "check, judge",
    "create": "plan, produce",
}
"""What an examinee does at each level (Anderson and Krathwohl 2001)."""
BY_VERBS = (
    "Levels are read off a question's verbs: where 100 questions were labelled by hand, they agreed hardly better "
    "than by chance (experiments/bloom_agreement)."
)
CAPTION = (
    "Left: process levels of Bloom's revised taxonomy, the simplest at the bottom. Right: share of a task's "
    "questions labelled with each level, with 90 % interval (Jeffreys); a question may have several levels. "
    f"{BY_VERBS}"
)
_SHADES = ("#D6E6F2", "#BCD8EB", "#9DC6E0", "#7DB3D5", "#5E9EC8", "#3F88BB")


def compute(run: TaskResults) -> pd.DataFrame:
    """`task, level, questions, of, share, low, high`."""
    found, total = run.labelled("bloom"), len(run.questions)
    rows = []
    for level in LEVELS:
        n = len(found.get(level, ()))
        rows.append((run.task, level, n, total, *jeffreys(n, total)))
    return pd.DataFrame(rows, columns=["task", "level", "questions", "of", "share", "low", "high"])


def draw_levels(ax: Axes, _: pd.DataFrame) -> None:
    """A pyramid of the levels with what an examinee does at each, the same for all tasks."""
    height = len(LEVELS)
    for place, level in enumerate(LEVELS):
        left, right = place / height / 2, (place + 0.94) / height / 2
        corners = [(left, place - 0.47), (1 - left, place - 0.47), (1 - right, place + 0.47), (right, place + 0.47)]
        ax.add_patch(Polygon(corners, closed=True, facecolor=_SHADES[place], edgecolor="none"))
        # The tip is too narrow for its words: all stand to the right of the pyramid.
        ax.plot([1.0 - (left + right) / 2, 1.04], [place, place], color=plots.FAINT, linewidth=0.6)
        ax.text(1.06, place, level, weight="bold", va="bottom", ha="left")
        ax.text(1.06, place - 0.04, MEANINGS[level], va="top", ha="left")
    ax.set_xlim(-0.02, 2.2)
    ax.set_ylim(-0.6, height - 0.4)
    ax.set_axis_off()


def draw_shares(ax: Axes, table: pd.DataFrame) -> None:
    """Dots with intervals, tasks side by side within a level, in the order of the pyramid."""
    tasks = list(dict.fromkeys(table["task"]))
    step = 0.8 / max(len(tasks), 2)
    for place, task in enumerate(tasks):
        rows = records(table[table["task"] == task])
        y = [LEVELS.index(row["level"]) + step * ((len(tasks) - 1) / 2 - place) for row in rows]
        colour, marker = plots.COLOURS[place % len(plots.COLOURS)], "osD^vP"[place % 6]
        ax.hlines(
            y, [100 * row["low"] for row in rows], [100 * row["high"] for row in rows], color=colour, linewidth=1.3
        )
        label = f"{plots.shorten(task, 22)} ({rows[0]['of']} questions)"
        ax.plot([100 * row["share"] for row in rows], y, marker, color=colour, markersize=3.6, label=label)
        if len(tasks) == 1:
            for row, height in zip(rows, y, strict=True):
                ax.annotate(str(row["questions"]), (100 * row["high"], height), (4, 0), textcoords="offset points",
                            va="center")  # fmt: skip
    ax.set_yticks(range(len(LEVELS)), LEVELS)
    ax.set_ylim(-0.6, len(LEVELS) - 0.4)
    ax.set_xlim(0, min(100.0, 1.18 * 100 * float(table["high"].max())))
    ax.set_xlabel("Questions with the level, %")
    grid(ax, "x")
    legend_below(ax, columns=2)


def build(runs: Sequence[TaskResults]) -> list[PaperFigure]:
    """The levels, and the tasks' questions beside them."""
    table = pd.concat([compute(run) for run in runs], ignore_index=True)
    height = 2.6 + 0.3 * len(runs)
    panels = (FigurePanel(table, draw_levels, height=height), FigurePanel(table, draw_shares, height=height))
    return [PaperFigure("bloom_levels", "Bloom's revised taxonomy", CAPTION, panels)]


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
