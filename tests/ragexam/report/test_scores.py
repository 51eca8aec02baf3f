"""Averages, intervals, baselines: closed forms and coverage."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from examcore import Question, bootstrap_mean, mean_interval
from examcore.page import points
from ragexam.report._accuracy_tables import accuracy_table, topics_section
from ragexam.report._pipelines_section import pipelines_section
from ragexam.report._response_scores import bound_of, choices_of, facets_of, levels_of, paired_difference, read_scores


def table(rows: list[tuple[str, str, float, str, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["student", "item", "score", "llm", "retriever"])


def test_interval_of_single_answers_is_wilsons() -> None:
    found = mean_interval(np.array([1.0] * 8 + [0.0] * 2), level=0.95)
    # Wilson (1927) for 8 of 10: .4902 to .9433.
    assert found.estimate == pytest.approx(0.8)
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_interval_of_all_right_does_not_claim_certainty() -> None:
    found = mean_interval(np.ones(20), level=0.95)
    assert found.high == pytest.approx(1.0)
    assert found.low == pytest.approx(20 / (20 + 1.959964**2), abs=1e-6)


def test_interval_does_not_shrink_when_the_same_answers_are_counted_three_times() -> None:
    answers = np.random.default_rng(0).random(60) < 0.7
    one = table([("p", f"q{n}", float(right), "m", "bm25") for n, right in enumerate(answers)])
    three = pd.concat([one.assign(student=f"p{copy}") for copy in range(3)])
    from ragexam.report._response_scores import accuracy

    assert accuracy(three) == pytest.approx(accuracy(one))


def test_interval_covers_the_truth_when_pipelines_share_questions() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        ease = rng.beta(4, 2, size=(1, 60))
        found = mean_interval((rng.random((3, 60)) < ease).mean(axis=0), level=0.95)
        covered += found.low <= 4 / 6 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_a_difference_on_one_question_has_no_interval() -> None:
    found = paired_difference(
        table([("a", "q1", 1.0, "m", "bm25"), ("b", "q1", 0.0, "m", "dense")]), "retriever", "bm25", "dense"
    )
    assert found.estimate == 1.0
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert not found.excludes_zero
    assert points(found) == "+100 points (interval unknown)"


def test_bootstrap_interval_agrees_with_the_normal_one() -> None:
    values = np.random.default_rng(2).normal(0.3, 1.0, 400)
    found = bootstrap_mean(values, level=0.95, draws=10_000)
    half = 1.96 * values.std() / math.sqrt(400)
    assert found.low == pytest.approx(values.mean() - half, abs=0.012)
    assert found.high == pytest.approx(values.mean() + half, abs=0.012)


def test_difference_is_paired_over_questions_and_other_facets() -> None:
    rows = []
    for n in range(40):
        right = float(n % 2)
        rows += [("a", f"q{n}", right, "m", "bm25"), ("b", f"q{n}", right, "m", "dense")]
        rows += [("c", f"q{n}", 0.0, "other", "dense")]
    found = paired_difference(table(rows), "retriever", "bm25", "dense")
    assert found == pytest.approx((0.0, 0.0, 0.0))


def test_difference_with_an_absent_level_is_nan() -> None:
    found = paired_difference(table([("a", "q1", 1.0, "m", "bm25")]), "retriever", "bm25", "oracle")
    assert math.isnan(found.estimate)


@pytest.mark.parametrize("name", ["closed_book", "ClosedBook", "closed-book", "ClosedB"])
def test_every_spelling_of_closed_book_is_the_floor(name: str) -> None:
    assert bound_of(name) == "closed book"


def test_bounds_are_no_choices_and_stand_at_the_ends() -> None:
    rows = [("x", "q1", 1.0, "m", name) for name in ("oracle", "dense", "closed_book", "bm25")]
    assert levels_of(table(rows), "retriever") == ["closed_book", "dense", "bm25", "oracle"]
    assert choices_of(table(rows), "retriever") == ["dense", "bm25"]


def test_empty_scores_are_missing_and_trials_divide(tmp_path: Path) -> None:
    path = tmp_path / "responses.csv"
    path.write_text("student,item,score,trials,llm\np,q1,,1,m\np,q2,3,4,m\n")
    scores = read_scores(path)
    assert math.isnan(scores["score"][0])
    assert scores["score"][1] == pytest.approx(0.75)
    assert facets_of(scores) == ("llm",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("student,item,score\np,q1,x\n", r"responses.csv:2: score 'x'; wanted"),
        ("student,score\np,1\n", r"responses.csv:1: no column 'item'"),
        ("", r"wanted a table student,item,score"),
        ("student,item,score\np,q1,3\n", r"responses.csv:2: score '3'; wanted"),
    ],
)
def test_damaged_response_tables_are_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "responses.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_scores(path)
    assert "\n" not in str(caught.value)


def test_accuracy_table_averages_over_the_other_facets() -> None:
    rows = [("a", f"q{n}", float(n < 5), "m", "bm25") for n in range(10)]
    rows += [("b", f"q{n}", 1.0, "m", "oracle") for n in range(10)]
    found = accuracy_table(table(rows), "llm", "retriever").set_index("column")
    assert found["accuracy"].to_dict() == pytest.approx({"bm25": 0.5, "oracle": 1.0})


def test_pipelines_are_listed_best_first() -> None:
    rows = [("a", f"q{n}", float(n < 5), "m", "bm25") for n in range(10)]
    rows += [("b", f"q{n}", 1.0, "m", "oracle") for n in range(10)]
    listed = pipelines_section(table(rows), None, pd.DataFrame()).tables[0]
    assert [[cell.text for cell in row.cells[:2]] for row in listed.rows] == [["m", "oracle"], ["m", "bm25"]]


def test_topics_named_like_bounds_keep_their_name_and_their_place() -> None:
    topics = {"q0": "Oracle", "q1": "Oracle", "q2": "closed book", "q3": "Adobe", "q4": "Adobe", "q5": "Adobe"}
    asked = [Question(item, "Which?", ("yes", "no"), 0, topic=topic) for item, topic in topics.items()]
    scores = table([("p", item, 1.0, "m", "bm25") for item in topics])
    found = topics_section(asked, scores).tables[0]
    assert [row.name for row in found.rows] == ["Adobe (3)", "Oracle (2)", "closed book (1)"]
