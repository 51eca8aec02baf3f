"""Retrieval measures: trec_eval's own regression outputs, closed forms, and topics that are missing."""

from __future__ import annotations

import math

import pytest

from grading._records import Sampling
from grading.formats._trec import TrecRun, read_qrels, read_run
from grading.leaderboards._paired import differences, standings
from grading.scores._effectiveness import measure_runs, parse_measure
from tests import shared_data

SHARED = shared_data.SHARED / "data" / "trec_eval_tests" / "test"
trec_eval = pytest.mark.skipif(not SHARED.is_dir(), reason="trec_eval's regression files are not here")
NAMES = (
    *("map", "Rprec", "bpref", "recip_rank", "ndcg", "infAP"),
    *(f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
    *(f"ndcg_cut_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
    *(f"recall_{k}" for k in (5, 10, 20, 100, 1000)),
)


def published(name: str) -> dict[tuple[str, str], float]:
    lines = [line.split() for line in (SHARED / name).read_text().splitlines()]
    return {(measure, topic): float(value) for measure, topic, value in lines if measure in NAMES}


@trec_eval
@pytest.mark.parametrize(
    ("output", "qrels", "results", "options"),
    [
        ("out.test.aq", "qrels.test", "results.test", {}),
        ("out.test.aqc", "qrels.test", "results.trunc", {}),
        ("out.test.aqcM", "qrels.test", "results.trunc", {"depth": 100}),
        ("out.test.aql", "qrels.rel_level", "results.test", {"rel": 2}),
    ],
)
def test_every_value_of_trec_evals_regression_files_comes_out(
    output: str, qrels: str, results: str, options: dict[str, int]
) -> None:
    wanted = published(output)
    assert len(wanted) >= 96
    run = read_run(SHARED / results)
    found = measure_runs(read_qrels(SHARED / qrels), [run], NAMES, **options)  # type: ignore[arg-type]
    for (name, topic), value in wanted.items():
        table = found.scores[name]
        mine = standings(table, Sampling(draws=0))[0].score.estimate if topic == "all" else table[run.name][topic]
        assert round(mine, 4) == pytest.approx(value, abs=1.01e-4 if topic == "all" else 5.1e-5), (name, topic)


@trec_eval
def test_the_figures_of_the_readme_come_out_to_their_last_digit() -> None:
    wanted = {"map": 0.1785, "Rprec": 0.2174, "bpref": 0.1981, "recip_rank": 0.4064, "P_5": 0.2667, "P_20": 0.3667}
    wanted |= {"ndcg": 0.4021, "ndcg_cut_10": 0.3016, "ndcg_cut_20": 0.3525}
    found = measure_runs(read_qrels(SHARED / "qrels.test"), [read_run(SHARED / "results.test")], list(wanted))
    assert {name: round(standings(found.scores[name])[0].score.estimate, 4) for name in wanted} == wanted


QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1}, "3": {"z": 0}}


def run_of(name: str, **topics: str) -> TrecRun:
    return TrecRun(
        name, {topic[1:]: [(one, float(-place)) for place, one in enumerate(ids)] for topic, ids in topics.items()}
    )


def test_measures_by_hand() -> None:
    found = measure_runs(QRELS, [run_of("r", t1="bac")], ["MAP", "MRR", "P@2", "nDCG@2", "Rprec"], over="common").scores
    assert found["MAP"]["r"] == {"1": pytest.approx((1 / 2 + 2 / 3) / 2)}
    assert found["MRR"]["r"] == {"1": 0.5}
    assert found["P@2"]["r"] == {"1": 0.5}
    assert found["nDCG@2"]["r"] == {"1": pytest.approx((2 / math.log2(3)) / (2 + 1 / math.log2(3)))}
    assert found["Rprec"]["r"] == {"1": 0.5}


def test_a_topic_that_a_run_skips_counts_zero_and_is_named() -> None:
    found = measure_runs(QRELS, [run_of("r", t1="ac", t9="a")], ["MAP"])
    assert found.scores["MAP"]["r"] == {"1": 1.0, "2": 0.0, "3": 0.0}
    assert found.skipped == {"r": ("2", "3")}
    assert found.unjudged == {"r": ("9",)}
    assert found.without_relevant == ("3",)
    assert standings(found.scores["MAP"])[0].score.estimate == pytest.approx(1 / 3)


def test_only_common_topics_count_where_that_is_asked() -> None:
    runs = [run_of("r", t1="ac", t2="a"), run_of("s", t1="ca")]
    found = measure_runs(QRELS, runs, ["P@1"], over="common")
    assert found.topics == ("1",)
    assert measure_runs(QRELS, [run_of("r", t1="c")], ["P@1"], rel=2).scores["P@1"]["r"]["1"] == 0.0


def test_a_run_without_any_topic_of_the_qrels_is_refused() -> None:
    with pytest.raises(ValueError, match=r"run 'r': topics such as '9'; wanted some of the qrels', such as '1'"):
        measure_runs(QRELS, [run_of("r", t9="a")])
    with pytest.raises(ValueError, match="no topic is in all of them; wanted a common topic"):
        measure_runs(QRELS, [run_of("r", t1="a"), run_of("s", t2="a")], over="common")


@pytest.mark.parametrize("name", ["foo", "AP@", "nDCG@x", "P_", "", "1"])
def test_an_unknown_measure_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="unknown; wanted a name of ir_measures, such as MAP"):
        parse_measure(name)


def test_a_measure_without_its_cutoff_is_refused() -> None:
    with pytest.raises(ValueError, match=r'measure "P": cannot be computed .*; wanted one such as P@10'):
        measure_runs(QRELS, [run_of("r", t1="a")], ["P"])


def test_differences_are_paired_and_the_better_system_stands_first() -> None:
    table = {
        "low": dict(zip("abcdef", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], strict=True)),
        "high": dict(zip("abcdef", [0.2, 0.3, 0.4, 0.5, 0.6, 0.7], strict=True)),
    }
    (pair,) = differences(table)
    assert (pair.first, pair.second, pair.n) == ("high", "low", 6)
    assert pair.difference == pytest.approx((0.1, 0.1, 0.1))
    assert (pair.p, pair.told_apart) == (2 / 64, True)
    assert differences({"alone": table["low"]}) == []
    assert [one.system for one in standings({**table, "none": {"a": math.nan}})] == ["high", "low", "none"]


def test_a_topic_without_a_score_takes_no_part() -> None:
    table = {"x": {"a": 1.0, "b": math.nan, "c": 0.0}, "y": {"a": 0.0, "b": 1.0, "c": 0.0}}
    assert {one.system: (one.score.estimate, one.topics) for one in standings(table)} == {
        "x": (0.5, 2),
        "y": (pytest.approx(1 / 3), 3),
    }
    assert (differences(table)[0].difference.estimate, differences(table)[0].n) == (0.5, 2)


def test_counts_are_named_as_sums() -> None:
    names = ["num_q", "num_ret", "NumRel", "num_rel_ret", "MAP"]
    found = measure_runs(QRELS, [run_of("r", t1="abx", t2="ba", t3="z")], names)
    assert found.summed == ("num_q", "num_ret", "NumRel", "num_rel_ret")
    assert {name: sum(found.scores[name]["r"].values()) for name in found.summed} == {
        "num_q": 3,
        "num_ret": 6,
        "NumRel": 3,
        "num_rel_ret": 2,
    }


@pytest.mark.parametrize("name", ["P@0", "AP@0", "P(rel=0)@5", "P@99999999999999999999", "AP(rel=0)"])
def test_a_cutoff_or_level_that_ends_the_process_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"(cutoff|rel) -?[0-9]+; wanted from 1 to 1000000000"):
        measure_runs(QRELS, [run_of("r", t1="a")], [name])
    with pytest.raises(ValueError, match="rel: 0; wanted at least 1"):
        measure_runs(QRELS, [run_of("r", t1="a")], ["MAP"], rel=0)
