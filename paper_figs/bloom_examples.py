"""Table 6: the levels of Bloom's revised taxonomy with what they ask, how pipelines fare, and examples."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from examcore import IntervalEstimate
from irt import kernels
from paper_figs import _cached_fits as fits
from paper_figs._command_line import script
from paper_figs._question_resampling import over_questions, posterior
from paper_figs._table_files import DASH, PaperRow, PaperTable, name, row, with_limits
from paper_figs._task_results import TaskResults
from paper_figs.bloom_levels import BY_VERBS, MEANINGS
from taxonomy import LEVELS, VERBS

EXAMPLE_WORDS = 28
"""Of an example; the column then has about as many lines as the others."""
NOTE = (
    "A question may have several levels. Accuracy: percent correct over all pipelines, with 90 % interval over the "
    "level's questions. Information: of a question, on average at the pipelines' abilities, with 90 % interval of "
    "the posterior. Example: the most informative question of this level alone (else of any), by its id where the "
    f"results hold no text. {BY_VERBS}"
)


def compute(run: TaskResults) -> pd.DataFrame:
    """`task, level, meaning, verbs, questions, accuracy, low, high, information…, example_id, example`."""
    groups, fit, everyone = run.labelled("bloom"), fits.item_fit(run), range(len(run.data.students))
    theta = fit.abilities["theta"].to_numpy(float)
    each = dict(zip(fit.data.items, fit.information(theta).mean.mean(axis=1), strict=True))
    texts = dict(zip(run.questions["question"], run.questions["text"], strict=True))
    rows: list[dict[str, Any]] = []
    for level in LEVELS:
        ids = groups.get(level, [])
        found = over_questions(run.data.select(ids), everyone) if ids else IntervalEstimate(*[np.nan] * 3)
        told = _information(run, ids)
        alone = [one for one in ids if sum(one in others for others in groups.values()) == 1]
        example = max(alone or ids, key=each.__getitem__) if ids else None
        rows.append(
            {
                "task": run.task,
                "level": level,
                "meaning": MEANINGS[level],
                "verbs": " ".join(sorted(VERBS[level])),
                "questions": len(ids),
                **dict(zip(("accuracy", "low", "high"), found, strict=True)),
                **dict(zip(("information", "information_low", "information_high"), told, strict=True)),
                "example_id": example or "",
                "example": texts[example] or "" if example else "",
            }
        )
    return pd.DataFrame(rows)


def build(runs: Sequence[TaskResults]) -> list[PaperTable]:
    """One table per task: levels with numbers and an example."""
    heads = ("Level", "Asks to", "Verbs, some", "Questions", "Accuracy, %", "Information", "Example")
    tables = []
    for run in runs:
        data = compute(run)
        rows = tuple(_row(one) for one in data.to_dict("records"))
        title = f"Levels of Bloom's revised taxonomy: {run.task}"
        tables.append(PaperTable(f"bloom_examples-{run.slug}", title, NOTE, data, heads, rows, wide=(1, 2, 6)))
    return tables


def _information(run: TaskResults, ids: Sequence[str]) -> IntervalEstimate:
    """Mean over the questions at 25 quantiles of the pipelines' abilities, from draws of the questions' parameters."""
    if not ids:
        return IntervalEstimate(*[np.nan] * 3)
    fit = fits.item_fit(run)
    theta = np.quantile(fit.abilities["theta"], (np.arange(25) + 0.5) / 25)
    drawn = fit.thinned(1000)
    places = [fit.data.items.index(one) for one in ids]
    each = [kernels.information(theta, *(drawn[key][:, one, None] for key in "abcd")).mean(axis=1) for one in places]
    return posterior(np.mean(each, axis=0))


def _row(one: Mapping[Hashable, Any]) -> PaperRow:
    accuracy = IntervalEstimate(*(one[key] for key in ("accuracy", "low", "high")))
    information = IntervalEstimate(*(one[key] for key in ("information", "information_low", "information_high")))
    verbs = ", ".join(one["verbs"].split()[:5])
    return row(one["level"], one["meaning"], verbs, str(one["questions"]), with_limits(accuracy, 0, scale=100),
               with_limits(information, 2), _example(one))  # fmt: skip


def _example(one: Mapping[Hashable, Any]) -> str:
    if not one["example"]:
        return name(one["example_id"]) if one["example_id"] else DASH
    words = str(one["example"]).split()
    return " ".join(words[:EXAMPLE_WORDS]) + (" …" if len(words) > EXAMPLE_WORDS else "")


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
