"""Figures 1 and 7: accuracy by topic, a radar of retrievers and one of language models for each task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.projections.polar import PolarAxes

from irt import plots
from irt.plots import legend_below, records, wrapped
from paper_figs._command_line import script
from paper_figs._figure_files import FigurePanel, PaperFigure
from paper_figs._question_resampling import over_questions
from paper_figs._task_results import BOUNDS, TaskResults, facet_name

FEW = 15
"""Questions below which a topic is marked: one question is worth more than six percent points."""
MOST, LEAST = 12, 6
"""Topics that have a spoke of their own: at most so many, and so many even where they have few questions."""
_LEAST_QUESTIONS = 5
_MOST_BESIDE = 6
"""Topics up to which two radars stand beside one another."""
_REST = "other topics"
_MARKERS = "os^DvPX"
"""Told apart without colour."""
_DOTTED, _DASHED = (0, (1, 1.2)), (0, (3.5, 1.5))
CAPTION = (
    "Percent correct by topic, averaged over all pipelines of a retriever (first) and of a language model (second); "
    "in brackets the number of questions, {}. Bars along the spokes: 90 % intervals over a topic's questions, "
    "drawn side by side. Closed book (dotted) and oracle (dashed), in grey, are bounds.{}"
)
POOLED = " The smallest topics stand together: {}."


def compute(run: TaskResults) -> pd.DataFrame:
    """`task, facet, level, topic, questions, few, accuracy, low, high`.

    Beyond the 12 largest topics the others are pooled, and beyond the 6 largest those of fewer than 5 questions.
    """
    groups = _pooled(run.labelled("topic"))
    rows = []
    for facet in ("retriever", "llm"):
        for level in run.levels(facet):
            students = run.students_at(**{facet: level})
            for topic, ids in groups.items():
                found = over_questions(run.data.select(ids), students)
                rows.append((run.task, facet, level, topic, len(ids), len(ids) < FEW, *found))
    if not rows:
        raise ValueError(f"{run.responses}: no facet retriever or llm; wanted the parts of the pipelines")
    columns = ["task", "facet", "level", "topic", "questions", "few", "accuracy", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def draw(ax: Axes, table: pd.DataFrame) -> None:
    """The radar of one facet: a closed line per level, its intervals beside one another at each spoke."""
    assert isinstance(ax, PolarAxes)
    topics, levels = list(dict.fromkeys(table["topic"])), list(dict.fromkeys(table["level"]))
    step = 2 * np.pi / len(topics)
    shift = min(0.5 * step, 0.24) / max(len(levels), 2)
    chosen = [level for level in levels if level not in BOUNDS]
    for place, level in enumerate(levels):
        rows = table[table["level"] == level]
        colour, dash = _look(level, chosen)
        angle = step * np.arange(len(topics)) + shift * (place - (len(levels) - 1) / 2)
        value = 100 * rows["accuracy"].to_numpy(float)
        ax.plot([*angle, angle[0]], [*value, value[0]], color=colour, linestyle=dash, linewidth=1.2,
                marker=_MARKERS[place % len(_MARKERS)], markersize=3.2, label=plots.shorten(level, 22))  # fmt: skip
        ax.vlines(angle, 100 * rows["low"], 100 * rows["high"], color=colour, linewidth=0.9, alpha=0.7)
    first = table.drop_duplicates("topic")
    width = 12 if _beside(table) else 18
    names = [_label(row["topic"], row["questions"], row["few"], width) for row in records(first)]
    ax.set_theta_offset(np.pi / 2)
    ax.set_theta_direction(-1)
    ax.set_xticks(step * np.arange(len(topics)), [])
    for place, said in enumerate(names):
        across, up = np.sin(step * place), np.cos(step * place)
        side = "center" if abs(across) < 0.2 else "left" if across > 0 else "right"
        height = "bottom" if up > 0.3 else "top" if up < -0.3 else "center"
        ax.text(step * place, 106, said, ha=side, va=height)
    ax.set_ylim(0, 100)
    ax.set_yticks([25, 50, 75, 100], [])
    for share in (25, 50, 75, 100):
        ax.text(step / 2, share, f"{share} %", ha="center", va="center", zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5})  # fmt: skip
    ax.grid(color=plots.FAINT, alpha=0.35, linewidth=0.6)
    ax.spines["polar"].set_color(plots.FAINT)
    legend_below(ax, columns=3)


def build(runs: Sequence[TaskResults]) -> list[PaperFigure]:
    """One plate per task: retrievers and language models."""
    plates = []
    for run in runs:
        table = compute(run)
        facets = [name for name in ("retriever", "llm") if name in set(table["facet"])]
        beside = _beside(table)
        height = 3.5 if beside else 4.3
        panels = tuple(
            FigurePanel(table[table["facet"] == one], draw, facet_name(one), height, polar=True) for one in facets
        )
        few = table.loc[table["few"], "topic"].nunique()
        marked = f"† where there are fewer than {FEW}" if few else f"at least {FEW} in every topic"
        name, title = f"accuracy_by_topic-{run.slug}", f"Accuracy by topic: {run.task}"
        rest = next((topic for topic in table["topic"] if topic.endswith(_REST)), "")
        caption = CAPTION.format(marked, POOLED.format(rest) if rest else "")
        plates.append(PaperFigure(name, title, caption, panels, columns=2 if beside else 1, across=not beside))
    return plates


def _pooled(groups: dict[str, list[str]]) -> dict[str, list[str]]:
    """The largest topics first; the others together, where they are several."""
    ordered = sorted(groups.items(), key=lambda one: -len(one[1]))
    shown = max(LEAST, sum(len(ids) >= _LEAST_QUESTIONS for _, ids in ordered[:MOST]))
    shown = shown if len(ordered) - shown > 1 else len(ordered)
    rest = [question for _, ids in ordered[shown:] for question in ids]
    named = {name or "no topic": ids for name, ids in ordered[:shown]}
    return {**named, **({f"{len(ordered) - shown} {_REST}": rest} if rest else {})}


def _beside(table: pd.DataFrame) -> bool:
    return bool(table["topic"].nunique() <= _MOST_BESIDE)


def _label(topic: str, questions: int, few: bool, width: int) -> str:
    name = plots.shorten(" ".join(topic.replace("_", " ").split()), 2 * width - 2)
    return wrapped(f"{name} ({questions}){'†' if few else ''}", width)


def _look(level: str, chosen: Sequence[str]) -> tuple[str, object]:
    if level in BOUNDS:
        return "#5c6370", _DOTTED if level == BOUNDS[0] else _DASHED
    place = chosen.index(level)
    return plots.COLOURS[place % len(plots.COLOURS)], "-" if place < len(plots.COLOURS) else plots.DASHES[3]


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
