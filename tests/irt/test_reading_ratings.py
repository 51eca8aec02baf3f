"""Ratings in memory and on disk: what is kept, and the one line that refuses the rest."""

from pathlib import Path

import numpy as np
import pytest

import irt
from irt._simulation import simulate_graded

LONG = "student,item,score,llm\nx,q1,3,a\nx,q2,0,a\ny,q1,,b\ny,q2,5,b\n"


def written(folder: Path, text: str, name: str = "r.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rated(**changes: object) -> irt.ResponseMatrix:
    content: dict[str, object] = {
        "scores": np.array([[3.0, 0.0], [np.nan, 2.0]]),
        "students": ("x", "y"),
        "items": ("p", "q"),
        "top": np.array([5, 2]),
    }
    return irt.ResponseMatrix(**(content | changes))  # type: ignore[arg-type]


def test_proportions_are_shares_of_the_highest_score() -> None:
    data = rated()
    np.testing.assert_allclose(data.proportions, [[0.6, 0], [np.nan, 1]])
    np.testing.assert_array_equal(data.successes, [[3, 0], [0, 2]])
    np.testing.assert_array_equal(data.attempts, [[5, 2], [0, 2]])


def test_selection_keeps_the_highest_score_of_each_item() -> None:
    data = simulate_graded(None, 6, [1, 2, 3, 4, 5, 6], facets={"llm": 3}, seed=0).data
    part = data.select(["q5", "q1"]).select_students(["llm1"]).with_facets(["llm"])
    assert part.top is not None
    assert part.top.tolist() == [6, 2]
    assert rated(top=5).top.tolist() == [5, 5]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"top": [2, 2]}, r"student 'x', item 'p': score 3 is not a whole number from 0 to its top \(2\)"),
        ({"top": [5, 0]}, "item 'q': top 0 is not a whole number of at least 1"),
        ({"top": [5, 2.5]}, "item 'q': top 2.5 is not a whole number"),
        ({"top": [5]}, r"top has shape \(1,\); wanted one highest score per item \(2,\)"),
        ({"trials": np.full((2, 2), 5.0)}, "both trials and graded scores"),
        ({"scores": np.array([[2.5, 0], [1, 1]])}, "score 2.5 is not a whole number from 0 to its top"),
    ],
)
def test_impossible_ratings_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rated(**changes)


def test_ratings_are_read_from_long_and_wide_tables(tmp_path: Path) -> None:
    long = irt.read_responses(written(tmp_path, LONG), graded=True)
    wide = irt.read_responses(written(tmp_path, "student,q1,q2\nx,3,0\ny,,5\n", "w.csv"), graded=True)
    np.testing.assert_array_equal(long.scores, [[3, 0], [np.nan, 5]])
    np.testing.assert_array_equal(wide.scores, long.scores)
    for data in (long, wide):
        assert data.top is not None
        assert data.top.tolist() == [3, 5]
    assert irt.facet_names(long) == ("llm",)


def test_the_highest_score_may_be_told(tmp_path: Path) -> None:
    path = written(tmp_path, LONG)
    for top, wanted in ((7, [7, 7]), ({"q1": 3, "q2": 5}, [3, 5])):
        data = irt.read_responses(path, top=top)
        assert data.top is not None
        assert data.top.tolist() == wanted


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_written_ratings_read_back_the_same(tmp_path: Path, suffix: str) -> None:
    data = simulate_graded(None, 5, [1, 2, 3, 4, 5], facets={"llm": 2, "retriever": 3}, seed=1, missing=0.2).data
    irt.write_responses(data, tmp_path / f"r.{suffix}")
    again = irt.read_responses(tmp_path / f"r.{suffix}", graded=True)
    np.testing.assert_array_equal(again.scores, data.scores)
    np.testing.assert_array_equal(again.top, data.top)
    assert again.facets is not None
    assert data.facets is not None
    assert again.facets.equals(data.facets)


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        (LONG, {}, r"r\.csv:2: score '3' is not 0, 1 or empty \(ratings are read with graded=True, --graded\)"),
        (LONG, {"top": 4}, r"r\.csv:5: score '5' is not a whole number from 0 to 4, or empty"),
        (LONG, {"top": {"q1": 5}}, r"r\.csv: top is missing for item 'q2'"),
        (LONG.replace(",3,", ",3.5,"), {"graded": True}, r":2: score '3.5' is not a whole number from 0, or empty"),
        (LONG.replace(",3,", ",-1,"), {"graded": True}, r"r\.csv:2: score '-1' is not a whole number from 0"),
        (LONG.replace(",3,", ",inf,"), {"graded": True}, r"r\.csv:2: score 'inf' is not"),
        (LONG.replace("llm", "trials").replace(",a", ",3"), {"graded": True}, r"r\.csv:1: column 'trials' counts"),
        ("student,item,score,top\nx,p,1,2\nx,q,1,2\ny,p,1,3\ny,q,0,2\n", {"graded": True}, r":4: top '3' of item 'p'"),
        ("student,p,q\nx,1,9\ny,0,1\n", {"top": 5}, r"r\.csv:2: column 'q': score '9' is not a whole .* 0 to 5"),
    ],
)  # fmt: skip
def test_bad_ratings_are_refused_in_one_line(
    tmp_path: Path, text: str, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        irt.read_responses(written(tmp_path, text), **settings)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_the_same_seed_gives_the_same_ratings_and_a_wrong_number_of_tops_is_refused() -> None:
    first, second = (simulate_graded(30, 5, 3, seed=2).data.scores for _ in range(2))
    np.testing.assert_array_equal(first, second)
    with pytest.raises(
        ValueError, match=r"top \[2, 3\] was given; wanted a highest score of at least 1 for each of 3 items"
    ):
        simulate_graded(30, 3, [2, 3], seed=0)


@pytest.mark.parametrize(
    "text",
    ["student,q1,q2\nx,4,1\ny,0,2\n", "student,item,score\nx,q1,4\nx,q2,1\ny,q1,0\ny,q2,2\n"],
)
def test_the_highest_score_of_an_item_is_its_own_unless_told(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    np.testing.assert_array_equal(irt.read_responses(path, graded=True).top, [4, 2])
    np.testing.assert_array_equal(irt.read_responses(path, top=4).top, [4, 4])
