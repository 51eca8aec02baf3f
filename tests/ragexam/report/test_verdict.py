"""The verdict recommends what the numbers support, and nothing else."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from ragexam.report._component_verdicts import describe, judge_all, sentences
from ragexam.report._fitted_model import LevelDraws, accuracy_draws
from ragexam.report._run_findings import draws_to_judge_by

RETRIEVERS = ("closed_book", "bm25", "dense", "hybrid", "oracle")


def scores(retrievers: tuple[str, ...] = RETRIEVERS, llms: tuple[str, ...] = ("m",)) -> pd.DataFrame:
    rows = [
        (f"{llm}|{retriever}", f"q{n}", float(n % 3 > 0), llm, retriever)
        for llm, retriever, n in itertools.product(llms, retrievers, range(30))
    ]
    return pd.DataFrame(rows, columns=["student", "item", "score", "llm", "retriever"])


def draws(facet: str, means: dict[str, float], sd: float) -> LevelDraws:
    rng = np.random.default_rng(0)
    values = np.array(list(means.values())) + rng.normal(0, sd, (4000, len(means)))
    return LevelDraws(facet, tuple(means), values)


APART = {"closed_book": -1.0, "bm25": 0.1, "dense": -0.4, "hybrid": 0.8, "oracle": 1.5}


def test_a_clear_winner_is_named_with_its_lead() -> None:
    verdict = judge_all(scores(), [draws("retriever", APART, 0.1)])[0]
    assert (verdict.best, verdict.runner_up) == ("hybrid", "bm25")
    assert verdict.told_apart
    assert verdict.probability > 0.99
    assert verdict.gap.estimate == pytest.approx(0.7, abs=0.02)
    assert verdict.gap.low == pytest.approx(0.7 - 1.645 * 0.1 * 2**0.5, abs=0.02)
    assert "hybrid as retriever (over\u00a099\u00a0%)" in sentences([verdict])[0]


def test_for_questions_in_the_passages_own_words_no_retriever_is_recommended() -> None:
    verdict = judge_all(scores(), [draws("retriever", APART, 0.1)])[0]
    (line, *rest) = sentences([verdict], own_words=True)
    assert line.startswith("No retriever is recommended")
    assert not any("hybrid" in one for one in rest)


def test_what_people_type_is_no_component_to_choose() -> None:
    table = pd.concat([scores().assign(queries=kind, student=scores()["student"] + kind) for kind in "ab"])
    found = judge_all(table, [draws("retriever", APART, 0.1), draws("queries", {"a": 1.0, "b": 0.0}, 0.1)])
    assert [one.facet for one in found] == ["retriever", "llm"]


def test_bounds_never_win_and_take_no_probability_away() -> None:
    verdict = judge_all(scores(), [draws("retriever", APART, 0.3)])[0]
    assert verdict.best == "hybrid"
    assert {level for level, _ in verdict.chances} == {"bm25", "dense", "hybrid"}
    assert sum(share for _, share in verdict.chances) == pytest.approx(1.0)


def test_levels_the_data_cannot_tell_apart_are_said_to_be_so() -> None:
    means = APART | {"hybrid": 0.15}
    verdict = judge_all(scores(), [draws("retriever", means, 0.15)])[0]
    assert not verdict.told_apart
    assert set(verdict.ties) == {"hybrid", "bm25"}
    assert (
        "The data cannot tell apart the retrievers hybrid and bm25 (hybrid is best with probability"
        in sentences([verdict])[0]
    )
    assert describe(verdict).endswith("not enough to tell them apart.")


def test_a_high_probability_with_an_interval_around_zero_recommends_nothing() -> None:
    means = {"closed_book": -1.0, "bm25": 0.0, "hybrid": 0.2, "oracle": 1.0}
    verdict = judge_all(scores(tuple(means)), [draws("retriever", means, 0.11)])[0]
    assert verdict.probability > 0.85
    assert verdict.gap.low < 0
    assert not verdict.told_apart


def test_a_facet_with_one_level_is_not_compared() -> None:
    found = [draws("llm", {"m": 0.0}, 0.1), draws("retriever", APART, 0.1)]
    by_facet = {verdict.facet: verdict for verdict in judge_all(scores(), found)}
    assert not by_facet["llm"].compared
    assert describe(by_facet["llm"]) == "Not compared: m is the only language model tried."
    assert not any("language model" in line for line in sentences(list(by_facet.values())))


def test_only_bounds_leave_nothing_to_compare() -> None:
    means = {"closed_book": -1.0, "oracle": 1.0}
    verdict = judge_all(scores(tuple(means)), [draws("retriever", means, 0.1)])[0]
    assert describe(verdict) == "Not compared: the bounds are the only retrievers tried."
    assert sentences([verdict]) == ["Nothing was compared: no component has two levels to choose from."]


def test_the_retriever_stands_first() -> None:
    found = [draws("llm", {"m": 0.0, "n": 1.0}, 0.1), draws("retriever", APART, 0.1)]
    verdicts = judge_all(scores(llms=("m", "n")), found)
    assert [verdict.facet for verdict in verdicts] == ["retriever", "llm"]


def test_without_a_fit_accuracies_decide() -> None:
    table = scores(("bm25", "dense"))
    table.loc[table["retriever"] == "dense", "score"] = 0.0
    by_facet = {verdict.facet: verdict for verdict in judge_all(table, accuracy_draws(table))}
    assert by_facet["retriever"].best == "bm25"
    assert by_facet["retriever"].told_apart
    assert by_facet["retriever"].gap.estimate == pytest.approx(2 / 3, abs=0.02)


def test_equal_accuracies_are_not_told_apart() -> None:
    table = scores(("bm25", "dense"))
    verdict = judge_all(table, accuracy_draws(table))[0]
    assert not verdict.told_apart
    assert set(verdict.ties) == {"bm25", "dense"}
    assert verdict.probability == pytest.approx(0.5)


def test_each_missed_component_is_judged_among_what_could_be_chosen_beside_it() -> None:
    """Accuracies of one component leave out the bounds of the others, whichever others are missed, too."""
    table = scores(llms=("large", "small"))
    fitted = (draws("retriever", APART, 0.1), draws("llm", {"large": 0.0, "small": 0.0}, 0.3))
    missed = pd.DataFrame(
        [
            {"facet": name, "level": "x", "estimate": 0.1, "low": 0.05, "high": 0.15, "p_adjusted": 0.01}
            for name in ("llm", "retriever")
        ]
    )
    table.loc[(table["llm"] == "large") & (table["retriever"] == "oracle"), "score"] = 0.0
    found = {one.facet: one for one in judge_all(table, draws_to_judge_by(table, fitted, missed))}
    assert found["llm"].gap.estimate == found["llm"].accuracy_gap.estimate == 0
    assert {one.unit for one in found.values()} == {"accuracy"}


def test_a_component_whose_accuracy_the_fit_misses_is_judged_by_accuracy() -> None:
    table = scores(llms=("large", "small"))
    table.loc[table["llm"] == "large", "score"] = 1.0
    fitted = (draws("retriever", APART, 0.1), draws("llm", {"large": 0.02, "small": 0.0}, 0.3))
    missed = pd.DataFrame(
        [{"facet": "llm", "level": "large", "estimate": 0.1, "low": 0.05, "high": 0.15, "p_adjusted": 0.01}]
    )
    for departures, unit, told in ((None, "ability", False), (missed, "accuracy", True)):
        found = {one.facet: one for one in judge_all(table, draws_to_judge_by(table, fitted, departures))}
        assert (found["llm"].unit, found["llm"].told_apart) == (unit, told)
        assert found["retriever"].unit == "ability"
    assert describe(found["llm"]).startswith("Lead of large over small: +34 points (+20 to +47) in accuracy")
