"""Item covariates: against a logistic regression, other samplers and simulated truth; what cannot be had is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import irt
from irt._design import design_of
from irt._item_covariates import read_item_table
from irt._model import build_problem
from irt._variance_components import logits_per_unit
from irt.checks import prior_sensitivity
from irt.fitting import _propagation as propagation
from irt.fitting._crossed import table_of
from irt.fitting._propagation import CrossedScales, Propagation
from tests.command_line import run_here
from tests.irt.item_covariate_tables import FACETS, NAME, ExplainedTable, explained_table

TABLE = explained_table(2, items=60, slope_sd=0.8)


@pytest.fixture(scope="module")
def fit() -> irt.Fit:
    return irt.fit(TABLE.data, method="map", seed=0, item_covariates=TABLE.known)


def run_irt(*words: object) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command of `irt`."""
    return run_here(Path(), "irt", list(map(str, words)))


def contrasts(fit: irt.Fit, table: ExplainedTable) -> Iterator[tuple[irt.Floats, float]]:
    """Draws of each two levels' difference of slopes in logits, with the truth; first the slope of all answers."""
    unit = logits_per_unit(fit.draws)
    yield fit.draws["item_covariate"][:, 0] * unit, table.main
    for name, truth in table.slopes.items():
        slopes = fit.draws[f"item_covariate.{name}"][:, :, 0] * unit[:, None]
        for one, other in combinations(range(len(truth)), 2):
            yield slopes[:, one] - slopes[:, other], float(truth[one] - truth[other])


def test_slopes_are_those_simulated(fit: irt.Fit) -> None:
    drawn, truth = zip(*contrasts(fit, TABLE), strict=True)
    z = [(draws.mean() - known) / draws.std() for draws, known in zip(drawn, truth, strict=True)]
    assert np.abs(z).max() < 3
    assert np.corrcoef([draws.mean() for draws in drawn], truth)[0, 1] > 0.8


def test_without_effects_on_single_items_it_is_a_logistic_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scales near 0, wide priors and one discrimination leave the covariate by levels: scikit-learn finds the same."""
    monkeypatch.setattr(propagation, "NEAR", 1e-7)
    rng, trials = np.random.default_rng(3), 30.0
    data, design = design_of(TABLE.data, None)
    terms = [design.term(name) for name in FACETS]
    by_student = np.column_stack([np.ones(12), *(term.free_root[term.level_of] for term in terms)])
    known = read_item_table(TABLE.known, data.items)
    rows = np.hstack([np.repeat(by_student, 60, axis=0), np.kron(by_student, known.standard)])
    right = rng.binomial(int(trials), 1 / (1 + np.exp(-rows @ rng.normal(0, 0.5, rows.shape[1])))).astype(float)
    found = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-8).fit(
        np.vstack([rows, rows]), np.repeat([1, 0], len(rows)), np.append(right, trials - right)
    )
    data = replace(data, scores=right.reshape(12, 60), trials=np.full((12, 60), trials))
    design = replace(design, item_facets=tuple(FACETS), item_covariates=known)
    problem = build_problem(data, design, "1pl", 4, irt.Priors(item_covariate_scale=100, centre_b=100))
    scales = CrossedScales(np.full(2, 100.0), 1e-4, 0.0, 1e-4, np.full(2, 1e-4), 0.0)
    at = Propagation.of(problem, table_of(problem), scales)
    gaussian = at.run(at.start()).gaussian
    slopes, errors = 100 * gaussian.mean.v[at.parts[1]], 100 * np.sqrt(gaussian.variances.v[at.parts[1]])
    assert slopes / errors == pytest.approx(found.coef_[0, 6:] / errors, abs=0.1)


@pytest.mark.slow
def test_the_sampler_agrees_with_propagation(fit: irt.Fit) -> None:
    sampled = irt.fit(TABLE.data, seed=0, draws=250, item_covariates=TABLE.known)
    for (one, _), (other, _) in zip(contrasts(fit, TABLE), contrasts(sampled, TABLE), strict=True):
        assert abs(one.mean() - other.mean()) < 0.3 * other.std()
        assert one.std() / other.std() == pytest.approx(1, abs=0.2)
    assert np.corrcoef(fit.point["b"], sampled.point["b"])[0, 1] > 0.98
    for name in FACETS:
        scale = f"item_effect_scale.{name}"
        assert fit.point[scale] == pytest.approx(sampled.point[scale], abs=0.15)


@pytest.mark.validate
def test_a_second_implementation_has_the_same_posterior() -> None:
    table = explained_table(5, items=25)
    fits = [
        irt.fit(table.data, seed=0, draws=1000, backend=backend, item_covariates=table.known)
        for backend in ("gibbs", "pymc")
    ]
    for (one, _), (other, _) in zip(*(contrasts(each, table) for each in fits), strict=True):
        assert abs(one.mean() - other.mean()) < 0.25 * other.std()
        assert one.std() / other.std() == pytest.approx(1, abs=0.15)


@pytest.mark.validate
@pytest.mark.parametrize("method", ["map"])
def test_intervals_cover(method: str) -> None:
    covered = []
    for seed in range(100):
        table = explained_table(seed)
        fit = irt.fit(table.data, method=method, seed=seed, item_covariates=table.known)
        ends = [(*np.quantile(draws, (0.05, 0.95)), truth) for draws, truth in contrasts(fit, table)]
        covered.append([low <= truth <= high for low, high, truth in ends])
    share = np.mean(covered)
    print(f"{method}: {share:.3f} of 90 % intervals cover, {np.mean(covered, axis=0).round(2)}")
    assert 0.86 < share < 0.95


def test_what_covariates_explain_counts_in_the_scales(fit: irt.Fit) -> None:
    whole, left = (fit.draws[f"{kind}item_effect_scale.retriever"] for kind in ("", "unexplained_"))
    unit = logits_per_unit(fit.draws)
    slopes = fit.draws["item_covariate.retriever"][:, :, 0] * unit[:, None]
    variance = (slopes**2).mean(axis=1) * TABLE.covariate.var()
    assert whole**2 - left**2 == pytest.approx(variance, rel=0.1)
    shares = dict(fit.explained_shares())
    assert list(shares) == ["item", *FACETS]
    assert shares["retriever"].estimate == pytest.approx(np.mean(variance / whole**2), abs=0.01)
    assert 0 < shares["retriever"].low < shares["retriever"].high < 1


def test_difficulties_are_closer_to_the_truth_by_what_covariates_explain(fit: irt.Fit) -> None:
    plain = irt.fit(TABLE.data, method="map", seed=0)
    with_covariates, without = (np.corrcoef(each.point["b"], TABLE.difficulty)[0, 1] for each in (fit, plain))
    assert with_covariates > 0.85 > without
    assert fit.point["spread_b"] == pytest.approx(plain.point["spread_b"], rel=0.2)


def test_a_contrast_at_another_mix_is_moved_by_the_slopes(fit: irt.Fit) -> None:
    pair = ("retriever", "retriever0", "retriever1")
    mean, here = float(TABLE.covariate.mean()), fit.contrast(*pair)
    assert fit.contrast(*pair, at={NAME: mean}).estimate == pytest.approx(here.estimate)
    table = fit.covariate_effects().set_index(["facet", "level", "other"])
    row = table.loc[pair]
    for away in (-0.7, 1.1):
        there = fit.contrast(*pair, at={NAME: mean + away})
        assert there.estimate - here.estimate == pytest.approx(away * row["effect"] / row["per"])
    logits = fit.covariate_effects(logits=True).set_index(["facet", "level", "other"]).loc[pair]["effect"]
    there, here = (fit.contrast(*pair, logits=True, at={NAME: value}) for value in (mean + row["per"], mean))
    assert there.estimate - here.estimate == pytest.approx(logits)


def test_a_mix_moves_abilities_with_the_levels_and_makes_all_questions_easier_or_harder(fit: irt.Fit) -> None:
    moved = fit.at({NAME: float(TABLE.covariate.mean()) + 1})
    gap = fit.covariate_effects().query("level == ''").iloc[0]
    easier = (fit.point["b"] - moved.point["b"]) * fit.point["a"] / np.exp(np.log(fit.point["a"]).mean())
    assert easier == pytest.approx(gap["effect"] / gap["per"])
    shift = sum(
        np.asarray(fit.point[f"item_covariate.{name}"])[:, 0][fit.design.term(name).level_of] for name in FACETS
    )
    assert moved.point["theta"] - fit.point["theta"] == pytest.approx(shift)
    assert moved.draws["theta"].shape == fit.draws["theta"].shape


def test_a_sample_of_questions_counts_its_error(fit: irt.Fit) -> None:
    pair = ("retriever", "retriever0", "retriever1")
    few = [-1.0, 1.4]
    one, sample = fit.contrast(*pair, at={NAME: 0.2}), fit.contrast(*pair, at={NAME: few})
    many = fit.contrast(*pair, at={NAME: few * 200})
    assert sample.estimate == pytest.approx(one.estimate, abs=0.03)
    assert sample.sd > 1.05 * one.sd
    assert many.sd == pytest.approx(one.sd, rel=0.03)


def test_labels_are_told_from_the_most_frequent() -> None:
    kinds = {item: "why" if at % 3 else "who" for at, item in enumerate(TABLE.data.items)}
    found = read_item_table({"kind": kinds}, TABLE.data.items)
    assert found.names == ("kind=who",)
    assert found.steps.tolist() == [1.0]
    drawn, estimate = found.away({"kind": "who"}, 3, 0)
    assert estimate == pytest.approx([2 / 3])
    assert drawn == pytest.approx(np.full((3, 1), 2 / 3))
    assert found.away({"kind": "why"}, 1, 0)[1] == pytest.approx([-1 / 3])
    assert found.away({"kind": ["why", "who", "who"]}, 1, 0)[1] == pytest.approx([1 / 3])


@pytest.mark.parametrize(("sd", "step"), [(0.13, 0.1), (0.7, 1.0), (40, 10.0), (60, 100.0)])
def test_effects_are_for_a_round_step(sd: float, step: float) -> None:
    values = sd * np.array([-1.5, -0.5, 0.5, 1.5]) / np.sqrt(1.25)
    table = {"x": dict(zip("abcd", values.tolist(), strict=True))}
    assert read_item_table(table, "abcd").steps == pytest.approx([step])


ITEMS = TABLE.data.items
OTHER = {item: float(at % 7) for at, item in enumerate(ITEMS)}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "constant": (dict.fromkeys(ITEMS, 1.0), "'x' is 1.0 for every item; wanted one that varies"),
    "missing": (dict.fromkeys(ITEMS[1:], 1.0), f"'x': item '{ITEMS[0]}' has no value; wanted one for every item"),
    "infinite": (OTHER | {ITEMS[3]: float("nan")}, f"'x': item '{ITEMS[3]}' is nan; wanted a number"),
    "mixed": (OTHER | {ITEMS[3]: "much"}, f"'x': item '{ITEMS[3]}' is 'much'; wanted a number"),
    "nothing": (OTHER | {ITEMS[3]: None}, f"'x': item '{ITEMS[3]}' is None; wanted a number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_covariate_that_says_nothing_is_refused(name: str) -> None:
    table, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        irt.fit(TABLE.data, method="map", item_covariates={"x": table})


def test_covariates_that_are_one_are_refused() -> None:
    twice = {item: 2 * value + 1 for item, value in OTHER.items()}
    with pytest.raises(ValueError, match="'twice' cannot be told from 'x'; wanted independent covariates"):
        irt.fit(TABLE.data, method="map", item_covariates={"x": OTHER, "twice": twice})
    kinds = {item: f"kind{at}" for at, item in enumerate(ITEMS)}
    with pytest.raises(ValueError, match=f"as few as {len(ITEMS)} items"):
        irt.fit(TABLE.data, method="map", item_covariates={"kind": kinds})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"method": "svi"}, "found method 'svi', model '2pl'"),
        ({"method": "mml"}, "found method 'mml'"),
        ({"backend": "numpyro"}, "backend 'numpyro'"),
        ({"method": "map", "item_effects": False}, "item_effects=False"),
        ({"method": "map", "facets": ()}, "no two students with a level in common"),
    ],
)
def test_they_need_effects_of_levels_on_items(words: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        irt.fit(TABLE.data, item_covariates={"x": OTHER}, **words)


def test_a_mix_that_was_not_seen_is_refused(fit: irt.Fit) -> None:
    low, high = TABLE.covariate.min(), TABLE.covariate.max()
    with pytest.raises(ValueError, match=f"found 'overlap' 9; wanted a mean from {low:.3g} to {high:.3g}"):
        fit.at({NAME: 9})
    with pytest.raises(ValueError, match="unknown item covariate 'length'; the fit has 'overlap'"):
        fit.at({"length": 9})
    with pytest.raises(ValueError, match="'overlap' is 'long'; wanted a number"):
        fit.at({NAME: "long"})
    with pytest.raises(ValueError, match="has no values; wanted at least one"):
        fit.at({NAME: []})
    plain = irt.fit(TABLE.data, method="map", seed=0)
    with pytest.raises(ValueError, match="found a fit without item covariates"):
        plain.at({NAME: 0})
    assert plain.covariate_effects().empty
    assert plain.explained_shares() == []


def test_a_saved_fit_reads_back_with_its_covariates(fit: irt.Fit, tmp_path: Path) -> None:
    fit.save(tmp_path)
    again = irt.load_fit(tmp_path)
    pd.testing.assert_frame_equal(again.covariate_effects(), fit.covariate_effects())
    mix = {NAME: [0.1, 0.4]}
    assert again.contrast("llm", "llm0", "llm1", at=mix) == fit.contrast("llm", "llm0", "llm1", at=mix)
    said = json.loads((tmp_path / "fit.json").read_text())
    assert said["covariate_effects"][0]["covariate"] == NAME


def test_its_prior_is_weighed(fit: irt.Fit) -> None:
    assert "item_covariate_scale" in set(prior_sensitivity(fit)["prior"])


def test_every_use_of_a_fit_takes_one_with_covariates(fit: irt.Fit) -> None:
    assert not fit.predictive_check()["items"]["surprising"].any()
    assert fit.variance_components().table["share"].sum() == pytest.approx(1)
    assert fit.d_study("retriever").table["right_order"].between(0, 1).all()
    assert irt.compare(fit, "retriever0", "retriever1", at={NAME: 0.5}).ability == fit.contrast(
        "retriever", "retriever0", "retriever1", at={NAME: 0.5}
    )


def test_the_commands_read_a_table_of_covariates(tmp_path: Path) -> None:
    irt.write_responses(TABLE.data, tmp_path / "responses.csv")
    pd.DataFrame({"item": ITEMS, NAME: TABLE.covariate}).to_csv(tmp_path / "items.csv", index=False)
    words = ["fit", tmp_path / "responses.csv", "--method", "map", "--item-covariates", tmp_path / "items.csv"]
    status, said, errors = run_irt(*words, "--out", tmp_path / "fit")
    assert status == 0, errors
    assert "explained by item covariates" in said
    assert "what item covariates add, in units of ability:" in said
    pair = ["compare", tmp_path / "fit", "retriever0", "retriever1"]
    at = {value: json.loads(run_irt(*pair, "--at", f"{NAME}={value}", "--json")[1]) for value in (-1, 1)}
    fit = irt.load_fit(tmp_path / "fit")
    found = fit.contrast("retriever", "retriever0", "retriever1", at={NAME: 1})
    assert at[1]["ability"]["estimate"] == pytest.approx(found.estimate)
    assert at[-1]["ability"]["estimate"] != pytest.approx(found.estimate)
    status, _, errors = run_irt(*pair, "--at", NAME)
    assert status == 2
    assert "--at: found 'overlap'; wanted NAME=VALUE, such as overlap=0.6" in errors


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item\nq0\n", "items.csv:1: one column, 'item'; wanted columns separated by commas"),
        ("item,x\nq0,1\nq0,2\n", "items.csv:3: item 'q0' appears twice; wanted each once"),
        ("item,x\nq0,1\n", "item covariate 'x': item 'q1' has no value; wanted one for every item"),
    ],
)
def test_a_table_of_covariates_that_lacks_something_is_refused(text: str, said: str, tmp_path: Path) -> None:
    irt.write_responses(TABLE.data, tmp_path / "responses.csv")
    (tmp_path / "items.csv").write_text(text)
    words = ["fit", tmp_path / "responses.csv", "--method", "map", "--item-covariates", tmp_path / "items.csv"]
    status, _, errors = run_irt(*words)
    assert status == 2
    assert said in errors
