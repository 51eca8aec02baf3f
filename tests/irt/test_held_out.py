"""Scores of left-out answers: folds, agreement with the truth, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import irt
from irt._held_out import _folds

MADE = irt.simulate(items=40, facets={"llm": 3, "retriever": 5}, seed=1)
MAP = irt.FitSettings(method="map")


def test_folds_of_answers_divide_every_item_evenly() -> None:
    counts = np.stack([np.bincount(column, minlength=5) for column in _folds(MADE.data, "answers", 5, 0).T])
    assert (counts == 3).all()


def test_folds_of_a_facet_keep_the_students_of_a_level_together() -> None:
    fold = _folds(MADE.data, "retriever", 5, 0)
    assert MADE.data.facets is not None
    for level in set(MADE.data.facets["retriever"]):
        own = fold[(MADE.data.facets["retriever"] == level).to_numpy()]
        assert (own == own[0]).all()
    assert all(sorted(set(column)) == [0, 1, 2, 3, 4] for column in fold.T)


@pytest.mark.parametrize("by", ["answers", "retriever"])
def test_the_score_lies_between_the_truth_s_and_that_of_the_mean(by: str) -> None:
    found = irt.held_out_score(MADE.data, by, settings=MAP)
    right, p = MADE.data.scores, MADE.truth.probability
    best = float(np.mean(right * np.log(p) + (1 - right) * np.log1p(-p)))
    share = right.mean()
    means = float(share * np.log(share) + (1 - share) * np.log1p(-share))
    assert found.answers == right.size
    assert means < found.score < best + 3 * found.se
    assert 0 < found.se < 0.1
    assert "40" not in found.lines()[0].split("log score")[0]


@pytest.mark.slow
def test_effects_on_items_predict_shared_answers_better() -> None:
    made = irt.simulate(items=30, facets={"llm": 3, "retriever": 4}, shared_sd={"retriever": 3.0}, seed=2).data
    short = irt.FitSettings(draws=250, warmup=200)
    found, plain = (
        irt.held_out_score(made, folds=3, settings=short),
        irt.held_out_score(made, folds=3, settings=MAP.changed(item_effects=False)),
    )
    assert found.score > plain.score + 0.05


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(ValueError, match="found 6 for the 5 levels of 'retriever'"):
        irt.held_out_score(MADE.data, "retriever", folds=6, settings=MAP)
    with pytest.raises(ValueError, match="folds"):
        irt.held_out_score(MADE.data, folds=1, settings=MAP)
    with pytest.raises(ValueError, match="unknown facet 'x'"):
        irt.held_out_score(MADE.data, "x", settings=MAP)
    with pytest.raises(ValueError, match="a table of ratings was given"):
        irt.held_out_score(replace(MADE.data, top=np.ones(40, dtype=np.int64)), settings=MAP)
