"""Nugget scores against the published files of TREC RAG 2024, and each rule by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from grading._records import Sampling
from grading.leaderboards._paired import compare_systems
from grading.scores._nuggets import (
    METRICS,
    Assignments,
    Nugget,
    read_assignments,
    score_run,
    shared_nuggets,
    table_of_scores,
    topic_scores,
)
from tests.shared_data import SHARED

RAG24 = SHARED / "data" / "rag24_nuggets" / "data"
RUNS = {
    "baseline_rag24.test_command-r-plus_top20": "baseline_rag24.test_command-r-plus_top20",
    "baseline_rag24.test_gpt4o_top20": "baseline_rag24.test_gpt_4o_top20",
    "baseline_rag24.test_l31_70b_instruct_top20": "baseline_rag24.test_l31_70b_instruct_top20",
}
real = pytest.mark.skipif(not RAG24.exists(), reason="the shared data are not here")


@pytest.fixture(scope="module")
def runs() -> list[Assignments]:
    return [run for name in RUNS for run in read_assignments(RAG24 / "assignments" / f"{name}.jsonl")]


@real
def test_every_published_score_of_three_runs(runs: list[Assignments]) -> None:
    compared = 0
    for run, name in zip(runs, RUNS.values(), strict=True):
        scores = score_run(run, Sampling(draws=10))
        lines = (RAG24 / "metrics" / f"{name}.jsonl").read_text().splitlines()
        published = {row.pop("qid"): row for row in map(json.loads, lines)}
        overall = published.pop("all")
        assert {metric: scores.overall[metric].estimate for metric in METRICS} == pytest.approx(overall, abs=1e-9)
        assert published.keys() == scores.topics.keys()
        for topic, values in published.items():
            assert dict(scores.topics[topic]) == pytest.approx(values, abs=1e-9)
            compared += len(values)
    assert compared == 5418


@real
def test_the_nuggets_that_no_one_two_or_all_systems_support(runs: list[Assignments]) -> None:
    found = shared_nuggets(runs)
    assert found.supported_by == (3508, 804, 667, 1148)
    assert len(found.repeated) == 7
    assert len(found.partly_judged) == 3


@real
def test_strange_labels_of_real_assignments_are_counted_by_name(runs: list[Assignments]) -> None:
    unknown = runs[0].unknown()
    assert unknown["importance"]["failed"] == 10
    assert unknown["support"]["historical"] == 1
    assert sum(unknown["importance"].values()) == 40


@real
def test_the_three_systems_cannot_be_told_apart_by_the_vital_score(runs: list[Assignments]) -> None:
    table = table_of_scores([score_run(run, Sampling(draws=10)) for run in runs], "vital_score")
    found = compare_systems(table)
    assert "the 3 systems cannot be told apart over 301 topics" in found.sentence
    assert all(pair.difference.low < 0 < pair.difference.high for pair in found.pairs)


def test_scores_by_hand() -> None:
    nuggets = [
        Nugget("a", "vital", "support"),
        Nugget("b", "vital", "partial_support"),
        Nugget("c", "okay", "support"),
        Nugget("d", "okay", "not_support"),
        Nugget("e", "failed", "support"),
        Nugget("f", "vital", "historical"),
    ]
    assert topic_scores(nuggets) == pytest.approx(
        {
            "strict_vital_score": 1 / 3,
            "vital_score": 1.5 / 3,
            "strict_weighted_score": 1.5 / 4,
            "weighted_score": 2 / 4,
            "strict_all_score": 3 / 6,
            "all_score": 3.5 / 6,
        }
    )


def test_a_topic_without_vital_nuggets_is_undefined_and_left_out_of_the_mean_by_name() -> None:
    run = Assignments("r", {"1": (Nugget("a", "okay", "support"),), "2": (Nugget("b", "vital", "support"),), "3": ()})
    found = score_run(run)
    assert np.isnan(found.topics["1"]["vital_score"])
    assert found.overall["vital_score"].estimate == 1
    assert found.undefined["vital_score"] == ["1", "3"]
    assert found.undefined["all_score"] == ["3"]


def test_a_file_of_several_runs_is_divided_and_one_without_runs_is_named_like_the_file(tmp_path: Path) -> None:
    line = {"qid": "1", "nuggets": [{"text": "a", "importance": "vital", "assignment": "support"}]}
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps({**line, "run_id": run}) + "\n" for run in ("x", "y")))
    assert [run.run for run in read_assignments(path)] == ["x", "y"]
    path.write_text(json.dumps({**line, "query": "what?"}))
    assert [run.run for run in read_assignments(path)] == ["mine"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"nuggets": []}, r"a.jsonl:2: no qid or topic"),
        ({"qid": "2"}, r"a.jsonl:2: no nuggets; found qid"),
        ({"qid": "2", "nuggets": {}}, r"a.jsonl:2: nuggets are JSON object; wanted a list"),
        ({"qid": "2", "nuggets": ["text"]}, r'a.jsonl:2: nugget 1: is "text"; wanted an object'),
        ({"qid": "2", "nuggets": [{"text": "a", "importance": "okay"}]}, r"a.jsonl:2: nugget 1: assignment is null"),
        ({"qid": "1", "nuggets": []}, r"a.jsonl:2: topic '1' occurs twice in run 'a'"),
    ],
)
def test_bad_assignments_are_refused_by_line(tmp_path: Path, line: dict[str, object], message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"qid": "1", "nuggets": []}) + "\n" + json.dumps(line))
    with pytest.raises(ValueError, match=message):
        read_assignments(path)


def test_nuggets_are_matched_by_topic_and_text() -> None:
    def run(name: str, *labels: str) -> Assignments:
        nuggets = tuple(Nugget(text, "vital", label) for text, label in zip("abcc", labels, strict=False))
        return Assignments(name, {"1": nuggets, "2": (Nugget("a", "okay", "not_support"),)})

    found = shared_nuggets([run("x", "support", "support", "support", "support"), run("y", "support")])
    assert found.supported_by == (1, 0, 1)
    assert found.repeated == (("1", "c"),)
    assert found.partly_judged == (("1", "b"),)
