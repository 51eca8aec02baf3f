"""Figure 6: how an exam is written, sat, measured and shortened, with each task's numbers at every step."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from irt import plots
from irt.plots import records, wrapped
from paper_figs import _cached_fits as fits
from paper_figs._command_line import script
from paper_figs._figure_files import FigurePanel, PaperFigure
from paper_figs._task_results import TaskResults


class Step(NamedTuple):
    """A box: its place in columns and rows, its heading, what happens there and what is counted."""

    column: int
    row: int
    title: str
    what: str
    unit: str


STEPS = (
    Step(0, 0, "Corpus", "documents cut into passages", "passages"),
    Step(1, 0, "Questions", "written by a language model from one passage each", "written"),
    Step(2, 0, "Filters", "unparsable, leaking, guessable or ambiguous dropped", "dropped"),
    Step(3, 0, "Exam", "multiple choice, key known", "questions"),
    Step(3, 1, "Pipelines", "language model × retriever × prompting mode sit the exam", "pipelines"),
    Step(2, 1, "Answers", "choice of the highest log-likelihood", "answers"),
    Step(1, 1, "Item response model", "abilities of components, information of questions", "informative"),
    Step(0, 1, "Pruning", "least discriminating left out, judged on pipelines held out", "kept"),
)
CAPTION = (
    "From documents to a measured exam, and back to a shorter one. Numbers count what each step holds for each "
    "task; a dash where the released results do not say. Informative: questions whose discrimination is above 1 "
    "with 95 % probability, of all."
)
_WIDE, _HIGH = 0.88, 0.82


def compute(run: TaskResults) -> pd.DataFrame:
    """`task, step, count`: one row per box, empty where the results do not say."""
    corpus, statistics = run.corpus or {}, run.statistics or {}
    lost = None
    if statistics:
        lost = sum(statistics["unparsable"].values()) + sum(statistics["dropped"].values())
    fit = fits.item_fit(run)
    counts = {
        "Corpus": corpus.get("chunks"),
        "Questions": statistics.get("generated"),
        "Filters": lost,
        "Exam": len(run.data.items),
        "Pipelines": len(run.data.students),
        "Answers": int(run.data.asked.sum()),
        "Item response model": int(((fit.draws["a"] > 1).mean(axis=0) > 0.95).sum()),
        "Pruning": len(fits.pruning(run)["kept"]),
    }
    rows = [(run.task, step.title, counts[step.title]) for step in STEPS]
    return pd.DataFrame(rows, columns=["task", "step", "count"]).astype({"count": "Int64"})


def draw(ax: Axes, table: pd.DataFrame) -> None:
    """The boxes in a ring, arrows between them, and the counts of the tasks in each."""
    for step in STEPS:
        left, bottom = step.column, -step.row
        box = FancyBboxPatch((left, bottom), _WIDE, _HIGH, boxstyle="round,pad=0,rounding_size=0.04", linewidth=0.9,
                             facecolor="#EAF2F8" if step.row == 0 else "#FDF1E7", edgecolor=plots.INK)  # fmt: skip
        ax.add_patch(box)
        counts = "\n".join([f"{step.unit}:", *map(_count, records(table[table["step"] == step.title]))])
        top = bottom + _HIGH
        place: dict[str, Any] = {"textcoords": "offset points", "linespacing": 1.25}
        ax.annotate(step.title, (left, top), (6, -5), va="top", weight="bold", **place)
        ax.annotate(wrapped(step.what, 24), (left, top), (6, -18), va="top", **place)
        ax.annotate(counts, (left, bottom), (6, 5), va="bottom", color=plots.COLOURS[0], **place)
    for one, other in zip(STEPS, (*STEPS[1:], STEPS[0]), strict=True):
        _arrow(ax, one, other)
    ax.annotate("next round", (_WIDE / 2, -(1 - _HIGH) / 2), (6, 0), textcoords="offset points", va="center")
    ax.set_xlim(-0.03, 3 + _WIDE + 0.03)
    ax.set_ylim(-1.03, _HIGH + 0.03)
    ax.set_axis_off()


def build(runs: Sequence[TaskResults]) -> list[PaperFigure]:
    """The drawing with the numbers of all tasks."""
    table = pd.concat([compute(run) for run in runs], ignore_index=True)
    panel = FigurePanel(table, draw, height=2.7 + 0.26 * (len(runs) - 1))
    title = "Writing, sitting, measuring and shortening an exam"
    return [PaperFigure("exam_process", title, CAPTION, (panel,), across=True)]


def _count(row: Mapping[Hashable, Any]) -> str:
    number = "–" if pd.isna(row["count"]) else f"{row['count']:,}"
    return f"{plots.shorten(row['task'], 15)} {number}"


def _arrow(ax: Axes, one: Step, other: Step) -> None:
    """From one box to the next, along the ring; from the last one back it leads to the exam that is asked next."""
    middle = _HIGH / 2
    if one.row == other.row:
        forward = other.column > one.column
        start = one.column + (_WIDE if forward else 0)
        ends = ((start, -one.row + middle), (other.column + (0 if forward else _WIDE), -other.row + middle))
    else:
        down = other.row > one.row
        place = one.column + _WIDE / 2
        ends = ((place, -one.row + (0 if down else _HIGH)), (place, -other.row + (_HIGH if down else 0)))
    ax.add_patch(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=8, shrinkA=1, shrinkB=1, color=plots.INK,
                                 linewidth=0.9))  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
