"""How well a model predicts answers it has not seen: folds of single answers, or of all answers of a level to an item.

Pipelines with a part in common answer alike, so that left-out single answers are partly known from near copies. A model
is to be judged by what it says of a retriever on questions that this retriever was not seen on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irt._argument_checks import require_whole
from irt._estimation import fit
from irt._fit_settings import FitSettings
from irt._printing import json_record
from irt._responses import Floats, ResponseMatrix, levels, require_matrix
from irt.fitting._estimation_outcome import Progress, tell

ANSWERS = "answers"
"""Folds of single answers."""
LEAST = 1e-12
"""Least probability that is scored: a miss of certainty costs much, but not everything."""


@dataclass(frozen=True)
class HeldOutScore:
    """Mean log probability of left-out answers, `score`, its standard error over items, and how many there were.

    `by` are the folds: `answers`, or the facet whose levels were left out item by item. `converged` counts the fits
    that did.
    """

    by: str
    score: float
    se: float
    answers: int
    folds: int
    converged: int

    def record(self) -> dict[str, Any]:
        """The score as JSON can hold it."""
        return json_record(self)

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The score for a reader."""
        left = "single answers" if self.by == ANSWERS else f"all answers of a level of '{self.by}' to an item"
        said = "" if self.converged == self.folds else f"; {self.folds - self.converged} of the fits did not converge"
        return [
            f"held out, {self.folds} folds of {left}: log score {self.score:.4f} an answer, standard error over items "
            f"{self.se:.4f}, {self.answers} answers{said}"
        ]


def held_out_score(
    data: ResponseMatrix,
    by: str = ANSWERS,
    folds: int = 5,
    settings: FitSettings | None = None,
    progress: Progress | None = None,
) -> HeldOutScore:
    """Fit `folds` times, each time without a part of the answers, and score the predictions of these.

    Every item keeps an answer in every fold. `by` a facet: in each fold, every item lacks about one in `folds` of the
    facet's levels, all of its students at once. Raises ValueError for an unknown facet, ratings, fewer than two folds,
    and more folds than the facet has levels.
    """
    require_matrix(data)
    require_whole("folds", folds, 2)
    settings = settings or FitSettings()
    if data.top is not None:
        raise ValueError("held-out scores read right and wrong answers; a table of ratings was given")
    fold = _folds(data, by, folds, settings.seed)
    sums, counts, converged = np.zeros(len(data.items)), np.zeros(len(data.items)), 0
    for number in range(folds):
        left = data.asked & (fold == number)
        found = fit(replace(data, scores=np.where(left, np.nan, data.scores)), settings=settings)
        sums += np.where(left, _log_scores(data, found.expected), 0.0).sum(axis=0)
        counts += np.where(left, data.attempts, 0.0).sum(axis=0)
        converged += found.converged
        tell(progress, number + 1, folds)
    score = float(sums.sum() / counts.sum())
    # A ratio of sums over items, which are independent of each other.
    spread = np.sum((sums - score * counts) ** 2) * len(sums) / (len(sums) - 1)
    return HeldOutScore(by, score, float(np.sqrt(spread) / counts.sum()), int(counts.sum()), folds, converged)


def _folds(data: ResponseMatrix, by: str, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each answer `[S, I]`: within each item folds differ in size by one at most."""
    rng = np.random.default_rng([seed, 7])
    students, items = data.scores.shape
    if by == ANSWERS:
        return _spread(rng, students, items, folds)
    names: Sequence[str] = levels(data, by)
    if len(names) < folds:
        raise ValueError(f"folds: found {folds} for the {len(names)} levels of '{by}'; wanted at most {len(names)}")
    assert data.facets is not None
    places = np.array([names.index(value) for value in data.facets[by]])
    return np.asarray(_spread(rng, len(names), items, folds)[places])


def _spread(rng: np.random.Generator, count: int, items: int, folds: int) -> NDArray[np.int64]:
    """`[count, items]`: in every column numbers below `folds`, in random order and as equally often as can be."""
    return np.asarray(rng.permuted(np.tile(np.arange(count) % folds, (items, 1)), axis=1).T)


def _log_scores(data: ResponseMatrix, expected: Floats) -> Floats:
    """Log probability of each answer `[S, I]`."""
    p = np.clip(expected, LEAST, 1 - LEAST)
    return np.asarray(data.successes * np.log(p) + (data.attempts - data.successes) * np.log1p(-p))
