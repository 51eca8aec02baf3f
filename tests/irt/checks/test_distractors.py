"""The nominal model of wrong options: known slopes come back, chance is not flagged, groups count as groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import irt
from irt.checks import distractors
from irt.checks._distractors import option_slopes
from irt.checks._findings import report

KEY = "A"


def chosen_by(made: irt.Simulation, seed: int, second: int, shared: float = 0.0) -> tuple[pd.DataFrame, dict[str, str]]:
    """Options that students choose: of the first items, the abler who miss the key choose B; students of one language
    model have tastes in common.
    """
    rng, data = np.random.default_rng(seed), made.data
    table = {}
    for index, item in enumerate(data.items):
        logits = rng.normal(0, 0.3, 3) + np.outer(made.truth.theta, [1.5 * (index < second), 0, 0])
        if shared and data.facets is not None:
            logits += rng.normal(0, shared, (10, 3))[pd.Categorical(data.facets["llm"]).codes]
        odds = np.exp(logits)
        wrong = [rng.choice(list("BCD"), p=row / row.sum()) for row in odds]
        table[item] = np.where(data.scores[:, index] == 1, KEY, wrong)
    return pd.DataFrame(table, index=list(data.students)), dict.fromkeys(data.items, KEY)


def test_slopes_of_known_abilities_come_back() -> None:
    rng, count = np.random.default_rng(1), 4000
    theta, slopes, intercepts = rng.standard_normal(count), np.array([0.0, -1.5, 0.5]), np.array([0.0, 0.4, -0.6])
    odds = np.exp(np.outer(theta, slopes) + intercepts)
    choice = np.array([rng.choice(3, p=row / row.sum()) for row in odds])
    found = option_slopes(choice, 2, theta[:, None], np.ones((count, 1)))
    errors = np.sqrt(np.diag(found.covariance))
    assert (np.abs(found.values - [-1.5, 0.5, 0.4, -0.6]) < 3 * errors).all()
    assert (errors < 0.08).all()


def test_of_students_who_are_alike_the_intercepts_are_log_odds() -> None:
    choice = np.repeat([0, 1, 2], [400, 200, 100])
    found = option_slopes(choice, 2, np.zeros((700, 1)), np.ones((700, 1)))
    assert found.values == pytest.approx([0, 0, -np.log(2), -np.log(4)], abs=0.01)


def test_uncertain_abilities_do_not_flatten_slopes() -> None:
    """Draws of an ability known to half a standard deviation give the slope of the ability itself."""
    rng, count = np.random.default_rng(2), 3000
    theta = rng.standard_normal(count)
    right = rng.random(count) < 1 / (1 + np.exp(1.2 * theta))  # the wrong option is chosen where ability is high
    seen = theta + rng.normal(0, 0.5, count)
    draws = (seen / 1.25)[:, None] + np.sqrt(0.2) * rng.standard_normal((count, 60))
    averaged = option_slopes(np.where(right, 0, 1), 1, draws, np.full(draws.shape, 1 / 60))
    flat = option_slopes(np.where(right, 0, 1), 1, seen[:, None], np.ones((count, 1)))
    error = np.sqrt(averaged.covariance[0, 0])
    assert averaged.values[0] == pytest.approx(1.2, abs=3 * error)
    assert flat.values[0] < 1.2 - 3 * error


def test_a_wrong_option_that_the_able_choose_is_flagged_and_chance_is_not() -> None:
    made = irt.simulate(students=300, items=12, seed=3)
    fit = irt.fit(made.data, method="map")
    options, key = chosen_by(made, 4, second=3)
    found = distractors(fit, options, key)
    flagged = found[found["flag"]]
    assert set(flagged["option"]) == {"B"}
    assert set(flagged["item"]) <= {"q0", "q1", "q2"}
    assert len(flagged) >= 2
    assert set(found["item"].iloc[: 4 * len(flagged)]) == set(flagged["item"])
    assert found.groupby("item")["share"].sum().to_numpy() == pytest.approx(1)
    said = report(fit, options=options, key=key)
    assert any("check whether it is right as well" in sentence for sentence in said.sentences)


def test_tastes_of_one_language_model_are_no_evidence() -> None:
    """Sixty pipelines of six models, each with tastes of its own: those of ten pipelines are one."""
    false, plain = 0, 0
    for seed in range(4):
        made = irt.simulate(items=15, facets={"llm": 6, "retriever": 10}, seed=seed)
        options, key = chosen_by(made, seed, second=0, shared=1.5)
        fit = irt.fit(made.data, method="map", item_effects=False)
        false += int(distractors(fit, options, key)["flag"].sum())
        alone = irt.fit(replace(made.data, facets=None), method="map")
        plain += int(distractors(alone, options, key)["flag"].sum())
    assert false == 0
    assert plain >= false


def test_an_option_that_few_took_is_not_judged() -> None:
    made = irt.simulate(students=40, items=4, seed=5)
    options, key = chosen_by(made, 6, second=0)
    options.iloc[0, 0] = "E"
    found = distractors(irt.fit(made.data, method="map"), options, key)
    rare = found[found["option"] == "E"].iloc[0]
    assert rare["takers"] == 1
    assert pd.isna(rare["p"])
    assert np.isfinite(rare["slope"])
