"""How well answers are foretold that a model has not seen: cells held out in turn, against baselines of means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

import irt
from irt import Floats
from paper_figs._cached_fits import population_fit
from paper_figs._question_resampling import weights

FOLDS = 5
Predict = Callable[[irt.ResponseMatrix], Floats]
"""From the answers that may be seen to a probability of a right answer in every cell `[S, I]`."""


def grand_mean(data: irt.ResponseMatrix) -> Floats:
    """The share right of all answers."""
    return np.full(data.scores.shape, float(data.successes.sum() / data.attempts.sum()))


def question_mean(data: irt.ResponseMatrix) -> Floats:
    """The share right of each question, of one right and one wrong answer more."""
    share = (data.successes.sum(axis=0) + 1) / (data.attempts.sum(axis=0) + 2)
    return np.asarray(np.tile(share, (len(data.students), 1)))


def both_means(data: irt.ResponseMatrix) -> Floats:
    """The question's mean, moved by how far the pipeline's mean lies from that of all; between 0 and 1."""
    pipeline = (data.successes.sum(axis=1) + 1) / (data.attempts.sum(axis=1) + 2)
    overall = data.successes.sum() / data.attempts.sum()
    return np.asarray(np.clip(question_mean(data) + pipeline[:, None] - overall, 0, 1))


def response_model(model: str) -> Predict:
    """The posterior mean of an item response model with free abilities."""
    return lambda data: population_fit(data, model).expected


METHODS: Mapping[str, Predict] = {
    "mean of all": grand_mean,
    "question mean": question_mean,
    "question and pipeline means": both_means,
    "1PL": response_model("1pl"),
    "2PL": response_model("2pl"),
    "3PL": response_model("3pl"),
}
"""From the plainest to the richest."""
BASELINE = "question and pipeline means"


def predictions(data: irt.ResponseMatrix, method: Predict, seed: int = 0) -> Floats:
    """What a method says of every cell without having seen it `[S, I]`, in `FOLDS` turns."""
    fold = folds(data, seed)
    found = np.full(data.scores.shape, np.nan)
    for turn in range(FOLDS):
        hidden = fold == turn
        seen = replace(data, scores=np.where(hidden, np.nan, data.scores))
        found[hidden] = method(seen)[hidden]
    return found


def folds(data: irt.ResponseMatrix, seed: int = 0) -> np.ndarray:
    """The turn in which each cell is held out `[S, I]`: each pipeline's questions spread evenly over the turns."""
    rng = np.random.default_rng(seed)
    students, items = data.scores.shape
    first = rng.permutation(students)[:, None] + rng.permutation(items)[None, :]
    return np.asarray(first % FOLDS)


def rmse(data: irt.ResponseMatrix, predicted: Floats, seed: int = 0) -> Floats:
    """Root mean squared error, in the sample and in each resample of questions `[1 + DRAWS]`."""
    asked = data.asked
    squared = np.where(asked, (np.nan_to_num(data.proportions) - predicted) ** 2, 0.0).sum(axis=0)
    drawn = weights(len(data.items), seed)
    return np.asarray(np.sqrt(drawn @ squared / (drawn @ asked.sum(axis=0))))
