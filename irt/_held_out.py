"""How well a model predicts answers it has not seen: of single answers, of a level on an item, or of anything new.

Pipelines with a part in common answer alike, so that left-out single answers are partly known from near copies. A model
is to be judged by what it says of a retriever on questions that this retriever was not seen on, or of a retriever,
pipeline or question that it has not seen at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from irt._argument_checks import require_whole
from irt._estimation import estimate
from irt._fit_settings import FitSettings
from irt._printing import json_record, table_text
from irt._reading import require_estimable
from irt._responses import Floats, ResponseMatrix, levels, require_matrix
from irt.fitting._estimation_outcome import Progress, tell

ANSWERS, ITEMS, STUDENTS = "answers", "items", "students"
"""Folds of single answers, of whole items, and of whole students."""
BINS = 10
"""Groups of answers in a calibration table, by the predicted probability."""
LEAST = 1e-12
"""Least probability that is scored: a miss of certainty costs much, but not everything."""


@dataclass(frozen=True)
class HeldOutScore:
    """Mean log probability of left-out answers, `score`, its standard error over items, and how many there were.

    `by` are the folds (`held_out_score`), `whole` whether levels were left out of all items at once. `converged` counts
    the fits that did. `calibration` has a row for each tenth of the answers by predicted probability:
    `predicted,observed,se,answers`, the mean prediction, the share right, and its standard error over items. `by_item`
    are the sums of log probabilities `[I]`, and `counts` the answers that they are sums of.
    """

    by: str
    whole: bool
    score: float
    se: float
    answers: int
    folds: int
    converged: int
    calibration: pd.DataFrame = field(repr=False)
    by_item: Floats = field(repr=False)
    counts: Floats = field(repr=False)

    @property
    def left_out(self) -> str:
        """What a fold leaves out, in words."""
        if self.by in (ANSWERS, ITEMS, STUDENTS):
            return {ANSWERS: "single answers", ITEMS: "whole items", STUDENTS: "whole students"}[self.by]
        return f"whole levels of '{self.by}'" if self.whole else f"all answers of a level of '{self.by}' to an item"

    def record(self) -> dict[str, Any]:
        """The score as JSON can hold it."""
        return json_record({name: value for name, value in vars(self).items() if name not in ("by_item", "counts")})

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The score for a reader."""
        said = "" if self.converged == self.folds else f"; {self.folds - self.converged} of the fits did not converge"
        return [
            f"held out, {self.folds} folds of {self.left_out}: log score {self.score:.4f} an answer, standard error "
            f"over items {self.se:.4f}, {self.answers} answers{said}",
            "what was predicted and what came, by tenths of the answers:",
            table_text(self.calibration),
        ]


@dataclass(frozen=True)
class HeldOutComparison:
    """Scores of several models on the same left-out answers: `scores` by name, best first.

    `behind` is how far each is behind the best an answer, `se` the standard error of that over items.
    """

    scores: Mapping[str, HeldOutScore]
    behind: Mapping[str, float]
    se: Mapping[str, float]

    @property
    def table(self) -> pd.DataFrame:
        """`model,score,behind,se,converged`, best first."""
        rows = [
            (name, found.score, self.behind[name], self.se[name], f"{found.converged} of {found.folds}")
            for name, found in self.scores.items()
        ]
        return pd.DataFrame(rows, columns=["model", "score", "behind", "se", "converged"])

    def record(self) -> dict[str, Any]:
        """The comparison as JSON can hold it."""
        return {
            name: {**found.record(), "behind": self.behind[name], "behind_se": self.se[name]}
            for name, found in self.scores.items()
        }

    def lines(self, out: Path | None = None, /) -> list[str]:
        """The comparison for a reader; a single model's score is shown whole."""
        best, *others = self.scores.values()
        if not others:
            return best.lines(out)
        return [
            f"held out, {best.folds} folds of {best.left_out}, {best.answers} answers: log score an answer, how far "
            "behind the best, and the standard error of that over items",
            self.table.to_string(index=False, float_format="{:.4f}".format),
        ]


def held_out_score(
    data: ResponseMatrix,
    by: str = ANSWERS,
    folds: int = 5,
    settings: FitSettings | None = None,
    *,
    whole: bool = False,
    progress: Progress | None = None,
) -> HeldOutScore:
    """Fit `folds` times, each time without a part of the answers, and score the predictions of these.

    `by` says what is left out together: `answers` (single ones; every item keeps some in every fold), `items` (all
    answers to some items, which are predicted as items of the population), `students` (all answers of some, predicted
    from their levels), or a facet: in each fold, every item lacks about one in `folds` of its levels, all of its
    students at once, or with `whole` some levels are left out of all items, and predicted as new levels (with as many
    folds as levels, one is). Raises ValueError for an unknown facet, ratings, fewer than two folds, and more folds than
    there is to leave out.
    """
    settings = settings or FitSettings()
    require_matrix(data)
    if data.top is not None:
        raise ValueError("held-out scores read right and wrong answers; a table of ratings was given")
    require_estimable(data)
    require_whole("folds", folds, 2)
    fold = _folds(data, by, folds, settings.seed, whole)
    predicted, converged = np.full(data.scores.shape, np.nan), 0
    for number in range(folds):
        left = data.asked & (fold == number)
        found = estimate(replace(data, scores=np.where(left, np.nan, data.scores)), settings)
        predicted = np.where(left, found.expected, predicted)
        converged += found.converged
        tell(progress, number + 1, folds)
    counts = data.attempts.sum(axis=0)
    sums = np.where(data.asked, _log_scores(data, predicted), 0.0).sum(axis=0)
    score, se = _ratio(sums, counts)
    return HeldOutScore(
        by, whole, score, se, int(counts.sum()), folds, converged, _calibration(data, predicted), sums, counts
    )


def compare_models(
    data: ResponseMatrix,
    candidates: Mapping[str, FitSettings],
    by: str = ANSWERS,
    folds: int = 5,
    *,
    whole: bool = False,
    progress: Progress | None = None,
) -> HeldOutComparison:
    """`held_out_score` of several models by name, on the same folds, and how far each is behind the best.

    Raises ValueError for no candidates, candidates with different seeds, which draw the folds, and as `held_out_score`.
    """
    if not candidates:
        raise ValueError("candidates: found none; wanted at least one model")
    if len(seeds := {each.seed for each in candidates.values()}) > 1:
        raise ValueError(f"candidates: found seeds {sorted(seeds)}; wanted one, which draws the folds")
    found: dict[str, HeldOutScore] = {}
    for name, settings in candidates.items():
        before = len(found) * folds

        def told(done: int, _: int, before: int = before) -> None:
            tell(progress, before + done, len(candidates) * folds)

        found[name] = held_out_score(data, by, folds, settings, whole=whole, progress=told)
    best = max(found.values(), key=lambda one: one.score)
    ranked = dict(sorted(found.items(), key=lambda pair: -pair[1].score))
    gaps = {name: _ratio(best.by_item - one.by_item, one.counts) for name, one in ranked.items()}
    return HeldOutComparison(
        ranked, {name: gap for name, (gap, _) in gaps.items()}, {name: se for name, (_, se) in gaps.items()}
    )


def _folds(data: ResponseMatrix, by: str, folds: int, seed: int, whole: bool = False) -> NDArray[np.int64]:
    """The fold of each answer `[S, I]`: within what is divided, folds differ in size by one at most."""
    rng = np.random.default_rng([seed, 7])
    students, items = data.scores.shape
    if by == ANSWERS:
        return _spread(rng, students, items, folds)
    if by == ITEMS:
        return np.broadcast_to(_numbers(rng, items, folds, "items"), data.scores.shape)
    if by == STUDENTS:
        return np.broadcast_to(_numbers(rng, students, folds, "students")[:, None], data.scores.shape)
    names: Sequence[str] = levels(data, by)
    if whole:
        fold = np.broadcast_to(_numbers(rng, len(names), folds, f"levels of '{by}'")[:, None], (len(names), items))
    else:
        _require_enough(len(names), folds, f"levels of '{by}'")
        fold = _spread(rng, len(names), items, folds)
    assert data.facets is not None
    return np.asarray(fold[[names.index(value) for value in data.facets[by]]])


def _numbers(rng: np.random.Generator, count: int, folds: int, what: str) -> NDArray[np.int64]:
    """`[count]` numbers below `folds`, in random order and as equally often as can be."""
    _require_enough(count, folds, what)
    return np.asarray(rng.permutation(np.arange(count) % folds))


def _require_enough(count: int, folds: int, what: str) -> None:
    if count < folds:
        raise ValueError(f"folds: found {folds} for the {count} {what}; wanted at most {count}")


def _spread(rng: np.random.Generator, count: int, items: int, folds: int) -> NDArray[np.int64]:
    """`[count, items]`: in every column numbers below `folds`, in random order and as equally often as can be."""
    return np.asarray(rng.permuted(np.tile(np.arange(count) % folds, (items, 1)), axis=1).T)


def _log_scores(data: ResponseMatrix, expected: Floats) -> Floats:
    """Log probability of each answer `[S, I]`."""
    p = np.clip(expected, LEAST, 1 - LEAST)
    return np.asarray(data.successes * np.log(p) + (data.attempts - data.successes) * np.log1p(-p))


def _ratio(sums: Floats, counts: Floats) -> tuple[float, float]:
    """The ratio of two sums over items, and its standard error: items are independent of each other."""
    ratio = float(sums.sum() / counts.sum())
    spread = np.sum((sums - ratio * counts) ** 2) * len(sums) / (len(sums) - 1)
    return ratio, float(np.sqrt(spread) / counts.sum())


def _calibration(data: ResponseMatrix, predicted: Floats) -> pd.DataFrame:
    """`predicted,observed,se,answers` of each tenth of the answers by predicted probability."""
    asked = data.asked
    ends = np.unique(np.quantile(predicted[asked], np.arange(1, BINS) / BINS))
    group = np.where(asked, np.searchsorted(ends, predicted, side="right"), -1)
    rows = []
    for number in range(len(ends) + 1):
        own = group == number
        counts = np.where(own, data.attempts, 0.0).sum(axis=0)
        if counts.sum() == 0:
            continue
        observed, se = _ratio(np.where(own, data.successes, 0.0).sum(axis=0), counts)
        mean = float(np.sum(np.where(own, predicted * data.attempts, 0.0)) / counts.sum())
        rows.append((mean, observed, se, int(counts.sum())))
    return pd.DataFrame(rows, columns=["predicted", "observed", "se", "answers"])
