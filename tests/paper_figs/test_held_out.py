"""Answers held out: nothing of them is seen, and models are judged by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import irt
from paper_figs import held_out
from paper_figs._question_resampling import interval


def simulated(seed: int = 3) -> irt.ResponseMatrix:
    return irt.simulate(items=40, facets={"retriever": 6, "shots": 5}, seed=seed).data


def test_every_cell_is_held_out_once_and_turns_are_even() -> None:
    data = simulated()
    fold = held_out.folds(data)
    assert np.bincount(fold.ravel()).tolist() == [240] * 5
    assert (np.apply_along_axis(np.bincount, 1, fold) == 8).all()


@pytest.mark.parametrize("method", [held_out.question_mean, held_out.both_means, held_out.response_model("2pl")])
def test_what_is_foretold_does_not_depend_on_the_answer(method: held_out.Predict) -> None:
    data = simulated()
    fold = held_out.folds(data)
    changed = replace(data, scores=np.where(fold == 2, 1 - data.scores, data.scores))
    ours, theirs = (held_out.predictions(one, method)[fold == 2] for one in (data, changed))
    assert ours == pytest.approx(theirs)


def test_error_is_the_root_of_the_mean_square() -> None:
    data = simulated()
    predicted = np.full(data.scores.shape, 0.25)
    right = data.scores.mean()
    expected = np.sqrt(right * 0.75**2 + (1 - right) * 0.25**2)
    assert held_out.rmse(data, predicted)[0] == pytest.approx(expected)


def test_means_are_those_of_the_answers() -> None:
    scores = np.array([[1.0, 0.0, np.nan], [1.0, 1.0, 0.0]])
    data = irt.ResponseMatrix(scores, ("a", "b"), ("x", "y", "z"))
    assert held_out.grand_mean(data) == pytest.approx(np.full((2, 3), 3 / 5))
    assert held_out.question_mean(data)[0] == pytest.approx([3 / 4, 2 / 4, 1 / 3])
    moved = held_out.both_means(data) - held_out.question_mean(data)
    assert moved[:, 0] == pytest.approx([2 / 4 - 3 / 5, 3 / 5 - 3 / 5])


def test_the_model_that_made_the_answers_foretells_better_than_means() -> None:
    data = irt.simulate(items=60, facets={"retriever": 8, "shots": 6}, seed=5).data
    errors = {
        name: held_out.rmse(data, held_out.predictions(data, held_out.METHODS[name]))
        for name in ("question mean", held_out.BASELINE, "2PL")
    }
    assert interval(errors["question mean"] - errors["2PL"]).low > 0
    assert interval(errors[held_out.BASELINE] - errors["2PL"]).estimate > 0


def test_no_gain_is_claimed_where_answers_are_coin_tosses() -> None:
    scores = np.random.default_rng(8).integers(0, 2, (24, 40)).astype(float)
    data = irt.ResponseMatrix(scores, tuple(f"s{n}" for n in range(24)), tuple(f"q{n}" for n in range(40)))
    methods = [held_out.METHODS[name] for name in ("mean of all", "2PL")]
    plain, model = (held_out.rmse(data, held_out.predictions(data, one)) for one in methods)
    assert interval(plain - model).low < 0
