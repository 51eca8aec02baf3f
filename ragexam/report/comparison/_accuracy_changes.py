"""Changes of accuracy between two runs: the same pipelines on the same questions, question by question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from examcore import IntervalEstimate, bootstrap_mean
from ragexam.report._level_draws import INTERVAL
from ragexam.report._response_scores import NOTHING
from ragexam.report._simultaneous_intervals import MEASURES, simultaneous_means
from ragexam.report.comparison._paired_runs import PairedRuns


@dataclass(frozen=True)
class AccuracyChanges:
    """B minus A on the common questions that all compared pipelines answered in both runs.

    `pipelines` has `student`, `levels` has `facet,level`, each with `before, after` and the measures of
    `simultaneous_means`; `questions` has `item,before,after,estimate`, the largest change first. `identical` says that
    no answer changed; `left_out` counts common questions that somebody did not answer.
    """

    overall: IntervalEstimate
    pipelines: pd.DataFrame
    levels: pd.DataFrame
    questions: pd.DataFrame
    n_questions: int
    left_out: int
    identical: bool


def accuracy_changes(pair: PairedRuns) -> AccuracyChanges | None:
    """None where no pipeline answered a common question in both runs."""
    if not pair.questions or not pair.pipelines:
        return None
    before, after = (_wide(evidence.scores, pair) for evidence in (pair.a, pair.b))
    answered = ~(before.isna() | after.isna()).any(axis=1).to_numpy()
    if not answered.any():
        return None
    before, after = before[answered], after[answered]
    gaps = (after - before).to_numpy(float)
    return AccuracyChanges(
        overall=bootstrap_mean(gaps.mean(axis=1), level=INTERVAL) if len(gaps) else NOTHING,
        pipelines=_pipelines(before, after),
        levels=_levels(pair, before, after),
        questions=_questions(before, after),
        n_questions=int(answered.sum()),
        left_out=int((~answered).sum()),
        identical=bool((gaps == 0).all()),
    )


def _wide(scores: pd.DataFrame, pair: PairedRuns) -> pd.DataFrame:
    table = scores.pivot_table(index="item", columns="student", values="score", aggfunc="mean", dropna=False)
    return table.reindex(index=list(pair.questions), columns=list(pair.pipelines))


def _pipelines(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    names = [(str(name),) for name in before.columns]
    table = simultaneous_means(names, (after - before).to_numpy(float), ["student"])
    ends = pd.DataFrame({"student": before.columns, "before": before.mean(), "after": after.mean()}).reset_index(
        drop=True
    )
    return table.merge(ends, on="student")


def _levels(pair: PairedRuns, before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """By level of each component, averaged over the compared pipelines that have it in both runs."""
    of = [run.scores.drop_duplicates("student").set_index("student") for run in (pair.a, pair.b)]
    names, columns, ends = [], [], []
    for facet, levels in pair.levels.items():
        for level in levels:
            having = [
                name
                for name in before.columns
                if str(of[0].at[name, facet]) == level and str(of[1].at[name, facet]) == level
            ]
            if having and len(levels) > 1:
                names.append((facet, level))
                columns.append((after[having] - before[having]).mean(axis=1).to_numpy(float))
                ends.append(
                    (facet, level, float(before[having].to_numpy().mean()), float(after[having].to_numpy().mean()))
                )
    if not names:
        return pd.DataFrame(columns=["facet", "level", *MEASURES, "before", "after"])
    table = simultaneous_means(names, np.stack(columns, axis=1), ["facet", "level"])
    return table.merge(pd.DataFrame(ends, columns=["facet", "level", "before", "after"]), on=["facet", "level"])


def _questions(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    table = pd.DataFrame(
        {"item": before.index, "before": before.mean(axis=1), "after": after.mean(axis=1)}
    ).reset_index(drop=True)
    table = table.assign(estimate=table["after"] - table["before"])
    return table.iloc[np.argsort(-table["estimate"].abs(), kind="stable")].reset_index(drop=True)
