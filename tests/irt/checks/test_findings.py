"""The report runs what applies, says what it skipped, never has a NaN, and puts the gravest first."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import irt
from irt import kernels
from irt.checks import report, sentences


@pytest.fixture(scope="module")
def fit() -> irt.Fit:
    sim = irt.simulate(None, 60, facets={"llm": 3, "icl": 20}, seed=1)
    data, scores = sim.data, sim.data.scores.copy()
    steep = int(np.argmax(sim.truth.a * (np.abs(sim.truth.b) < 0.7)))
    scores[:, steep] = 1 - scores[:, steep]
    scores[12] = scores[3]
    return irt.fit(irt.ResponseMatrix(scores, data.students, data.items, None, data.facets), method="map")


def test_no_table_holds_a_nan_and_every_row_that_is_empty_says_why(fit: irt.Fit) -> None:
    found = report(fit, groups={item: f"doc{index // 5}" for index, item in enumerate(fit.data.items)})
    assert set(found.tables) == {
        "keys", "duplicates", "duplicate groups", "overall", "item groups", "item pairs", "dif llm", "item fit",
        "item residuals", "students", "predictive students", "predictive items", "priors",
    }  # fmt: skip
    for name, table in found.tables.items():
        for column in [column for column in table if table[column].dtype == np.dtype(float)]:
            assert not table[column].isna().any(), (name, column)
        if {"flag", "sentence"} <= set(table):
            assert (table["flag"] == (table["sentence"] != "")).all(), name
        if "p" in table:
            assert (table.loc[table["p"].isna(), "note"] != "").all(), name


def test_sentences_name_the_planted_faults_gravest_first_and_skipped_checks_their_reason(fit: irt.Fit) -> None:
    found = report(replace(fit, converged=False))
    text = str(found)
    assert found.sentences[0] == "The fit did not converge: nothing below is certain until it does."
    assert "is answered worse by better students: check its key" in found.sentences[1]
    assert f"Students {fit.data.students[3]}, {fit.data.students[12]} answer alike" in text
    assert found.skipped == {"dif icl": "no level of facet 'icl' has 5 students to compare with 5 others"}
    assert "Not checked: dif icl (no level of facet 'icl' has 5 students" in text
    assert sentences(found.tables["keys"]) == [found.sentences[1]]


def test_counts_skip_what_needs_single_answers_and_a_clean_fit_says_so() -> None:
    data = irt.simulate(30, 20, seed=2, trials=3, missing=0.1).data
    found = report(irt.fit(data, method="map"))
    assert {"overall", "item fit"} == set(found.skipped)
    assert "students" in found.tables
    empty = replace(found, sentences=(), skipped={}, limits="")
    assert str(empty) == "Nothing to act on was found."


def test_finding_nothing_on_few_students_says_what_could_not_have_been_found() -> None:
    clean = irt.simulate(40, 8, "1pl", seed=3, log_a_sd=0).data
    found = report(irt.fit(clean, "1pl", "map"))
    assert found.sentences == ()
    assert "With 40 students only gross faults show" in str(found)
    many = report(irt.fit(irt.simulate(260, 8, "1pl", seed=3, log_a_sd=0).data, "1pl", "map"))
    assert many.limits == ""


def test_an_item_that_hardly_discriminates_is_flagged_and_said() -> None:
    found = irt.simulate(300, 15, seed=6).data
    scores = found.scores.copy()
    scores[np.argsort(np.delete(scores, 4, axis=1).sum(axis=1)), 4] = np.arange(300) % 2
    fit = irt.fit(irt.ResponseMatrix(scores, found.students, found.items), method="mml")
    flagged = fit.items.set_index("item")["flags"]
    assert flagged["q4"] == "hardly discriminates; sign uncertain"
    assert (flagged == "").sum() >= 13
    said = report(fit)
    (sentence,) = (each for each in said.sentences if "flagged hardly discriminates" in each)
    assert sentence.startswith(
        "1 item flagged hardly discriminates: q4. It hardly tells strong students from weak ones"
    )
    assert said.limits == (
        "Of 1 item (q4) these answers do not show whether stronger students do better or worse; intervals of "
        "discrimination and difficulty take the sign of the estimate as known."
    )


def test_a_slope_that_may_be_that_of_a_step_is_not_told_from_0_where_its_sign_is_open() -> None:
    fit = irt.fit(irt.simulate(60, 4, seed=1).data, method="mml")
    steep, flags = "slope not bounded above", fit.items.assign(flags="")
    flags["flags"] = [steep, f"sign uncertain; {steep}", f"hardly discriminates; {steep}", ""]
    fit.__dict__["items"] = flags
    told, sign, steep_ones = "tell the discrimination from 0, but not", "(q1) these answers do not show", "(q1, q2)"
    limits = report(fit).limits.splitlines()
    assert [line for line in limits if told in line] == [line for line in limits if line.startswith("Of 1 item (q0)")]
    assert sum(sign in line for line in limits) == 1
    (both,) = (line for line in limits if steep_ones in line)
    assert "do not tell the discrimination from that of a step either" in both


def test_items_are_called_flat_by_their_answers_and_endless_by_their_slope() -> None:
    """By errors of slopes a steep item of a small table would be flat: its error is as large as the slope."""
    flat, steep, ordinary = [], [], []
    for seed in range(25):
        a = np.array([0.0, 12.0] + [1.2] * 18)
        rng = np.random.default_rng(seed)
        theta, b = rng.standard_normal((60, 1)), np.r_[0.0, 0.0, rng.standard_normal(18)]
        scores = (rng.random((60, 20)) < kernels.probability(theta, a, b)).astype(float)
        names = tuple(f"s{n}" for n in range(60)), tuple(f"q{n}" for n in range(20))
        table = irt.fit(irt.ResponseMatrix(scores, *names), method="mml", seed=0).items
        flat.append(table["flags"][0])
        steep.append(table["flags"][1])
        ordinary += table["flags"][2:].tolist()
    assert np.mean(["hardly discriminates" in flags for flags in flat]) > 0.75
    assert np.mean(["sign uncertain" in flags for flags in flat]) > 0.6
    assert not any("hardly discriminates" in flags for flags in steep)
    assert np.mean(["slope not bounded above" in flags for flags in steep]) > 0.6
    assert np.mean(["slope not bounded above" in flags for flags in ordinary]) < 0.1
    assert np.mean(["sign uncertain" in flags for flags in ordinary]) < 0.1


@pytest.mark.parametrize("how", [{"method": "map"}, {"method": "mml", "priors": irt.Priors()}])
def test_a_positive_discrimination_that_the_answers_do_not_show_is_said_to_be_the_priors(how: dict[str, Any]) -> None:
    data = irt.simulate(150, 12, seed=6, mean_a=1.5, log_a_sd=0.1).data
    scores = data.scores.copy()
    scores[:, 4] = np.random.default_rng(3).permutation(scores[:, 4])
    scores[:, 7] = 1
    fit = irt.fit(irt.ResponseMatrix(scores, data.students, data.items), **how)
    unseen = fit.items["point_biserial"] < 1.28 / np.sqrt(149)
    assert fit.items["item"][unseen].tolist() == ["q4", "q7"]
    assert (fit.items["a"][unseen] > 0).all()
    assert fit.items["item"][fit.items["flags"].str.contains("sign from the prior")].tolist() == ["q4"]
    assert "Of 1 item (q4) these answers alone do not show that stronger students do better" in str(report(fit))
    free = irt.fit(fit.data, method="mml")
    assert not free.items["flags"].str.contains("sign from the prior").any()


def test_long_exams_are_judged_as_a_whole_on_some_of_their_items() -> None:
    data = irt.simulate(60, 90, seed=3).data
    overall = report(irt.fit(data, method="map")).tables["overall"]
    assert overall.loc[0, "items"] == 60
    assert overall.loc[0, "note"].startswith("60 items, evenly spaced, stand for 90")
    assert isinstance(overall, pd.DataFrame)


def test_of_many_findings_of_one_kind_the_first_five_are_said() -> None:
    data = irt.simulate(60, 40, seed=4).data
    scores = data.scores.copy()
    scores[1::2] = scores[::2]
    found = report(irt.fit(irt.ResponseMatrix(scores, data.students, data.items), method="map"))
    groups = found.tables["duplicate groups"]
    assert len(groups) > 20
    assert f"{len(groups) - 5} more findings of this kind are in the table 'duplicate groups'." in found.sentences
