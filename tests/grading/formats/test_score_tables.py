"""Score tables: what is read, what is left out, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grading.formats._score_tables import read_scores


def written(tmp_path: Path, text: str, name: str = "scores.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_scores_by_topic_are_laid_out_and_gaps_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "run,qid,value\na,1,0.5\na,2,1\nb,1,0.25\n")
    table = read_scores(path)
    assert table.systems == ("a", "b")
    assert table.topics == ("1", "2")
    assert table.means.tolist() == [0.75, 0.25]
    assert table.missing() == {"b": ["2"]}


def test_an_aggregate_beside_topics_is_left_out_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "system\ttopic\tscore\na\t1\t0\na\tall\t9\nb\t1\t1\nb\tall\t9\n", "scores.tsv")
    table = read_scores(path)
    assert table.means.tolist() == [0, 1]
    assert table.left_out == ("2 rows of an aggregate beside topics",)


def test_a_table_of_aggregates_alone_has_no_topics(tmp_path: Path) -> None:
    table = read_scores(written(tmp_path, "system,topic,score\na,all,1\nb,all,2\n"))
    assert table.topics == ()
    assert table.means.tolist() == [1, 2]


def test_a_rank_of_one_is_the_best_score(tmp_path: Path) -> None:
    table = read_scores(written(tmp_path, '{"system": "a", "rank": 1}\n{"system": "b", "rank": 2.5}\n', "ranks.jsonl"))
    assert np.argmax(table.means) == 0


def test_a_selection_keeps_the_order_asked_for_and_drops_empty_topics(tmp_path: Path) -> None:
    table = read_scores(written(tmp_path, "system,topic,score\na,1,1\nb,2,2\nc,3,3\n")).select(["c", "a"])
    assert table.systems == ("c", "a")
    assert table.topics == ("1", "3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,score\na,1\na,2\n", r"scores.csv:3: system 'a' stands already at .*scores.csv:2; wanted it once"),
        ("system,topic,score\na,1,1\na,1,2\n", r"scores.csv:3: system 'a', topic '1' stands already"),
        ("system,topic,score\na,1,1\na,,2\n", r"scores.csv:3: no 'topic'; wanted one, as in the other rows"),
        ("system,score\na,high\n", r'scores.csv:2: score "high"; wanted a number'),
        ("system,score\na,\n", r"scores.csv:2: no score or rank; found system"),
        ("name,score\na,1\n", r"scores.csv:2: no system or run"),
    ],
)
def test_bad_tables_are_refused_by_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_scores(written(tmp_path, text))
