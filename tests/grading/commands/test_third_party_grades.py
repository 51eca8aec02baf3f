"""Grades that other tools made: RUBRIC's .qrel in tau, nuggetizer's create and retrieval-mode files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grading.formats._bank_files import read_bank
from grading.formats._grades import read_grades
from grading.formats._nugget_files import read_nuggets
from tests.command_line import ragexam_here

OFFICIAL = "".join(f"q{at} 0 p{number} {int(number > 2)}\n" for at in (1, 2, 3, 4) for number in (1, 2, 3, 4))
PREDICTED = "".join(f"q{at} 0 p{number} {number + 1}\n" for at in (1, 2, 3, 4) for number in (1, 2, 3, 4))
"""Predicted grades 2 to 5, of which those from 4 on are officially relevant."""


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def result(*words: object) -> Any:
    found = ragexam_here(*words, "--json")
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_predicted_grades_of_rubric_choose_the_tau_that_agrees_with_the_assessors(tmp_path: Path) -> None:
    files = written(tmp_path / "rubric.qrel", PREDICTED), written(tmp_path / "official.qrels", OFFICIAL)
    found = result("grade", "tau", *files)
    assert found["tau"] == 4
    assert found["held_out"]["estimate"] == 1
    # By hand: from 3 on, 12 of 16 are taken and 8 are relevant: (12/16 - 1/2) / (1 - 1/2).
    assert found["curve"]["3"]["estimate"] == pytest.approx(0.5)


def test_the_same_grades_as_a_table_choose_the_same_tau(tmp_path: Path) -> None:
    rows = [line.split() for line in PREDICTED.splitlines()]
    table = "query,passage,question,grade\n" + "".join(f"{one[0]},{one[2]},x,{one[3]}\n" for one in rows)
    official = written(tmp_path / "official.qrels", OFFICIAL)
    by_qrel = result("grade", "tau", written(tmp_path / "rubric.qrel", PREDICTED), official)
    assert by_qrel == result("grade", "tau", written(tmp_path / "grades.csv", table), official)


def test_runs_are_compared_by_a_measure_and_not_by_questions_that_a_qrel_lacks(tmp_path: Path) -> None:
    orders = ((4, 3, 2, 1), (3, 1, 4, 2), (1, 2, 3, 4))
    runs = [
        written(
            tmp_path / f"run{at}",
            "".join(f"q{q} Q0 p{one} 0 {4 - rank} run{at}\n" for q in (1, 2, 3, 4) for rank, one in enumerate(order)),
        )
        for at, order in enumerate(orders)
    ]
    files = written(tmp_path / "rubric.qrel", PREDICTED), written(tmp_path / "official.qrels", OFFICIAL)
    found = result("grade", "tau", *files, *runs, "--by", "MAP")
    assert found["curve"]["4"]["estimate"] == 1
    refused = ragexam_here("grade", "tau", *files, *runs)
    assert refused.returncode == 2
    assert "no questions to cover; wanted --by with a measure" in refused.stderr


def retrieved(topic: str, passage: str, *labels: str) -> str:
    """A line of nuggetizer's assignment to retrieved passages."""
    nuggets = [
        {"text": f"fact {number}", "importance": "vital", "assignment": label}
        for number, label in enumerate(labels, start=1)
    ]
    return json.dumps(
        {"text": f"words of {topic}", "qid": topic, "candidate_text": "…", "docid": passage, "nuggets": nuggets}
    )


def test_nuggets_of_retrieved_passages_are_grades_that_cover_counts(tmp_path: Path) -> None:
    lines = [retrieved("1", "d1", "support", "partial_support"), retrieved("1", "d2", "not_support", "support")]
    path = written(tmp_path / "retrieved.jsonl", "\n".join([*lines, retrieved("2", "d3", "partial_support")]) + "\n")
    assert [one.grade for one in read_grades(path).grades] == [1, 0.5, 0, 1, 0.5]
    run = written(tmp_path / "run", "1 Q0 d1 1 2 bm25\n1 Q0 d2 2 1 bm25\n2 Q0 d3 1 1 bm25\n")
    for tau, shallow, deep in ((1, [0.5, 0.0], [1.0, 0.0]), (0.5, [1.0, 1.0], [1.0, 1.0])):
        for k, wanted in ((1, shallow), (2, deep)):
            found = result("grade", "cover", path, run, "--tau", tau, "--k", k)
            assert [one["cover"] for one in found["runs"]["bm25"]["per_query"].values()] == wanted


def test_a_label_outside_the_vocabulary_is_unparsed(tmp_path: Path) -> None:
    path = written(tmp_path / "retrieved.jsonl", retrieved("1", "d1", "support", "failed") + "\n")
    assert read_grades(path).unparsed == 1


def test_nuggets_of_passages_are_no_answers(tmp_path: Path) -> None:
    path = written(tmp_path / "retrieved.jsonl", retrieved("1", "d1", "support") + "\n")
    found = ragexam_here("grade", "nuggets", path)
    assert found.returncode == 2
    assert "nuggets of passage 'd1'; wanted those of answers" in found.stderr


def test_what_nuggetizer_creates_is_a_bank_and_nuggets(tmp_path: Path) -> None:
    nuggets = [{"text": "Skin heals.", "importance": "vital"}, {"text": "Skin is thin.", "importance": "okay"}]
    record = {"query": "what is skin?", "qid": "2024-1", "nuggets": nuggets, "creator_reasoning_traces": ["…"]}
    path = written(tmp_path / "nuggets.jsonl", json.dumps(record) + "\n")
    bank = read_bank(path)
    assert [(one.query, one.question, one.importance) for one in bank] == [
        ("2024-1", "Skin heals.", "vital"),
        ("2024-1", "Skin is thin.", "okay"),
    ]
    assert [one.answers[0].text for one in read_nuggets(path).nuggets] == ["Skin heals.", "Skin is thin."]
