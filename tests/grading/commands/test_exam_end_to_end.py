"""EXAM of 2021 from what systems wrote to their scores: the exam's own reader, then EXAM and n-EXAM."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from examcore import Question, read_exam, write_exam
from rag import Answer, AnswerStore, Pipeline
from tests.command_line import ragexam_here

MODEL = ("--grader", "choices", "--model", "python:assessors:seeker")
QUESTIONS = [
    Question("x1", "What lifts bread?", ("yeast", "sand", "salt"), 0, topic="bread"),
    Question("x2", "What is bread baked of?", ("glass", "flour", "clay"), 1, topic="bread"),
    Question("x3", "What is glass made of?", ("yeast", "sand", "wool"), 1, topic="glass"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_exam(tmp_path / "exam.jsonl", QUESTIONS)
    return tmp_path


def said(folder: Path, *words: str) -> dict[str, Any]:
    done = ragexam_here("grade", *words, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def refused(folder: Path, *words: str) -> str:
    done = ragexam_here("grade", *words, folder=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    return str(done.stderr)


def test_articles_are_read_by_the_choices_and_scored_beside_gold_articles(folder: Path) -> None:
    (folder / "written.csv").write_text(
        "system,query,article\n"
        "A,bread,Flour is lifted by yeast.\nA,glass,It comes from sand.\n"
        "B,bread,Sand and flour.\nB,glass,\n"
    )
    (folder / "gold.csv").write_text("system,query,text\ngold,bread,Yeast and flour.\ngold,glass,Of wool.\n")
    told = said(folder, "run", "exam.jsonl", "written.csv", *MODEL, "--out", "read")
    assert told["rules"] == {"right choice": 4, "wrong choice": 1, "abstained": 1}
    rows = [json.loads(line) for line in (folder / "read" / "grades.jsonl").read_text().splitlines()]
    assert next(row["reply"] for row in rows if (row["system"], row["query"]) == ("B", "glass")) == (
        "no passage supports a choice; the article is empty"
    )
    said(folder, "run", "exam.jsonl", "gold.csv", *MODEL, "--out", "goldread")
    gold = ("--gold", "goldread/grades.jsonl")
    found = said(folder, "exam", "read/grades.jsonl", *gold, "--bank", "exam.jsonl")
    assert found["systems"]["A"]["per_query"] == {"bread": 1.0, "glass": 1.0}
    assert found["systems"]["B"]["per_query"] == {"bread": 0.5, "glass": 0.0}
    assert found["gold"]["per_query"] == {"bread": 1.0, "glass": 0.0}
    assert found["systems"]["A"]["n_exam"]["estimate"] == 2.0
    assert found["systems"]["B"]["n_exam"]["estimate"] == 0.5


def store_of(path: Path, folder: Path, settings: dict[str, Any], replies: dict[str, str]) -> None:
    exam = read_exam(folder / "exam.jsonl")
    pipeline = Pipeline("box", "own")
    with AnswerStore(path) as store:
        store.begin(exam, {pipeline: settings})
        for name, text in replies.items():
            store.add(Answer(pipeline.id, name, -1, False, "", (), (), (), (), 1, 0.1, text))


REPLIES = {"x1": "Yeast does.", "x2": "I do not know.", "x3": "It is wool."}
BOX = {"model": {"answers": "endpoint", "choices": False}}


def test_the_free_text_answers_of_a_sitting_are_each_asked_their_own_question(folder: Path) -> None:
    store_of(folder / "answers.sqlite", folder, BOX, REPLIES)
    told = said(folder, "run", "exam.jsonl", "answers.sqlite", *MODEL, "--out", "read")
    assert (told["n"], told["rules"]) == (3, {"right choice": 1, "abstained": 1, "wrong choice": 1})
    for bank in ((), ("--bank", "exam.jsonl")):
        found = said(folder, "exam", "read/grades.jsonl", *bank)
        assert found["systems"]["box+own+icl0"]["per_query"] == {"bread": 0.5, "glass": 0.0}
    said(folder, "report", "read")
    page = (folder / "read" / "report.html").read_text(encoding="utf-8")
    assert "The answers in answers.sqlite are not shown" in page
    assert "box+own+icl0" in page
    table = [{"system": "box", "question_id": name, "answer": text} for name, text in REPLIES.items()]
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    again = said(folder, "run", "exam.jsonl", "answers.jsonl", *MODEL, "--out", "read2")
    assert again["rules"] == told["rules"]


def test_an_exam_without_topics_is_one_query(folder: Path) -> None:
    write_exam(folder / "exam.jsonl", [Question(one.id, one.stem, one.choices, one.key) for one in QUESTIONS])
    store_of(folder / "answers.sqlite", folder, BOX, REPLIES)
    said(folder, "run", "exam.jsonl", "answers.sqlite", *MODEL, "--out", "read")
    found = said(folder, "exam", "read/grades.jsonl", "--bank", "exam.jsonl")
    assert found["systems"]["box+own+icl0"]["per_query"] == {"all": pytest.approx(1 / 3)}


def test_a_sitting_that_cannot_be_read_is_refused(folder: Path) -> None:
    words = ("run", "exam.jsonl", "answers.sqlite", *MODEL, "--out", "read")
    assert "answers.sqlite: no such file" in refused(folder, *words)
    assert not (folder / "answers.sqlite").exists()
    letters = {"model": {"answers": "endpoint", "choices": True}}
    store_of(folder / "answers.sqlite", folder, letters, REPLIES)
    assert "answers.sqlite: no free-text answers; wanted a grid with answers: text" in refused(folder, *words)
    write_exam(folder / "other.jsonl", QUESTIONS[:2])
    other = ("run", "other.jsonl", "answers.sqlite", *MODEL, "--out", "read")
    assert "answers.sqlite: holds answers to exam" in refused(folder, *other)
    rating = ("run", "exam.jsonl", "answers.sqlite", "--grader", "rating", *MODEL[2:], "--out", "read")
    assert "answers.sqlite: answers of a sitting; wanted --grader choices" in refused(folder, *rating)
    (folder / "strange.csv").write_text("system,query,text\nA,moss,It grows.\n")
    strange = ("run", "exam.jsonl", "strange.csv", *MODEL, "--out", "read")
    (folder / "textless.csv").write_text("system,query,words\nA,bread,It grows.\n")
    textless = ("run", "exam.jsonl", "textless.csv", *MODEL, "--out", "read")
    assert "textless.csv: no row has a text; wanted a column text or body" in refused(folder, *textless)
    (folder / "half.csv").write_text("system,query,text\nA,bread,It grows.\nB,bread,\n")
    half = ("run", "exam.jsonl", "half.csv", *rating[3:])
    assert "half.csv: the article of 'B' on query 'bread' is blank; wanted a text" in refused(folder, *half)
    assert "passages: their queries (moss) are no topic or document of the exam's questions" in refused(
        folder, *strange
    )
