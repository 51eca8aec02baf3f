"""Table 2: accuracy of each language model with each retriever, by task."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from examcore import IntervalEstimate
from irt import Floats
from paper_figs._command_line import script
from paper_figs._question_resampling import DRAWS, interval, share_interval, shares, weights
from paper_figs._table_files import DASH, PaperCell, PaperRow, PaperTable, heading, name, row, with_limits
from paper_figs._task_results import BOUNDS, TaskResults

AVERAGE = "Average"
NOTE = (
    "Percent correct, averaged over the prompting modes, with 90 % interval over the questions. Bold: the best of a "
    "task (closed book and oracle are bounds and no choice); †: not told apart from it, the 90 % interval of the "
    "difference over the same questions holds 0. All right or all wrong: Jeffreys' limit."
)
Cells = dict[tuple[str, str], Floats]
"""Share right in the sample and in each resample of questions `[1 + DRAWS]`, by language model and retriever."""


def compute(runs: Sequence[TaskResults]) -> pd.DataFrame:
    """`task, llm, retriever, pipelines, questions, accuracy, low, high, best, behind, behind_low, behind_high`.

    `behind` is the accuracy of the task's best combination minus this one's, on the same resampled questions. With
    several tasks those that all have take part in `Average`, whose tasks are resampled independently.
    """
    found = {run.task: _cells(run, seed) for seed, run in enumerate(runs)}
    frames = [_rows(run.task, found[run.task], len(run.data.items), run) for run in runs]
    if len(runs) > 1:
        common = [cell for cell in found[runs[0].task] if all(cell in cells for cells in found.values())]
        average = {cell: np.mean([cells[cell] for cells in found.values()], axis=0) for cell in common}
        frames += [_rows(AVERAGE, average, sum(len(run.data.items) for run in runs), None)] if average else []
    return pd.concat(frames, ignore_index=True)


def build(runs: Sequence[TaskResults]) -> list[PaperTable]:
    """Language models over retrievers, by task."""
    data = compute(runs)
    tasks = list(dict.fromkeys(data["task"]))
    by_place = {(one["llm"], one["retriever"], one["task"]): one for one in data.to_dict("records")}
    rows: list[PaperRow] = []
    for llm in dict.fromkeys(data["llm"]):
        rows.append(heading(name(llm)))
        retrievers = dict.fromkeys(data.loc[data["llm"] == llm, "retriever"])
        rows += [row(name(one), *(_cell(by_place.get((llm, one, task))) for task in tasks)) for one in retrievers]
    heads = ("Retriever", *(name(task) for task in tasks))
    title = "Accuracy by language model and retriever, %"
    return [PaperTable("accuracy_by_pipeline", title, NOTE, data, heads, tuple(rows))]


def _cells(run: TaskResults, seed: int) -> Cells:
    llms, retrievers = run.levels("llm"), run.levels("retriever")
    if not (llms and retrievers):
        raise ValueError(f"{run.responses}: no facets llm and retriever; wanted the parts of the pipelines")
    drawn = weights(len(run.data.items), seed)
    places = {(llm, one): run.students_at(llm=llm, retriever=one) for llm in llms for one in retrievers}
    return {cell: shares(run.data, students, drawn) for cell, students in places.items() if students}


def _rows(task: str, cells: Cells, questions: int, run: TaskResults | None) -> pd.DataFrame:
    chosen = {cell: values[0] for cell, values in cells.items() if cell[1] not in BOUNDS}
    best = max(chosen, key=lambda cell: chosen[cell]) if chosen else None
    rows = []
    for (llm, retriever), values in cells.items():
        behind = cells[best] - values if best else np.full(DRAWS + 1, np.nan)
        rows.append(
            {
                "task": task,
                "llm": llm,
                "retriever": retriever,
                "pipelines": None if run is None else len(run.students_at(llm=llm, retriever=retriever)),
                "questions": questions,
                **dict(zip(("accuracy", "low", "high"), share_interval(values, questions), strict=True)),
                "best": (llm, retriever) == best,
                **dict(zip(("behind", "behind_low", "behind_high"), interval(behind), strict=True)),
            }
        )
    return pd.DataFrame(rows)


def _cell(found: Mapping[Hashable, Any] | None) -> PaperCell:
    if found is None:
        return PaperCell(DASH)
    accuracy = IntervalEstimate(*(float(found[key]) for key in ("accuracy", "low", "high")))
    tied = not found["best"] and found["retriever"] not in BOUNDS and found["behind_low"] <= 0
    return PaperCell(with_limits(accuracy, 1, scale=100) + ("†" if tied else ""), strong=bool(found["best"]))


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
