"""`ragexam grade bank edit`: one edit at a time, a log beside the bank, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from grading.formats._bank_files import read_bank
from ragexam.cli import app


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def edit(bank: Path, *words: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["grade", "bank", "edit", str(bank), *words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    return lines(
        tmp_path / "bank.jsonl",
        {"id": "q1", "query": "skin", "question": "Which layer is outermost?", "answers": ["epidermis"]},
        {"id": "q2", "query": "skin", "question": "Is hair dead?", "answers": [True]},
        {"id": "q2", "query": "tides", "question": "What raises tides?", "answers": ["the moon"]},
    )


def after(bank: Path) -> list[str]:
    return [f"{one.query}/{one.id}: {one.question}" for one in read_bank(bank.with_name("bank.edited.jsonl"))]


def test_every_edit_is_made_and_undone_to_the_bank_it_began_with(bank: Path, tmp_path: Path) -> None:
    original = bank.read_bytes()
    new = lines(tmp_path / "new.jsonl", *({"id": f"n{n}", "query": "skin", "question": f"What is {n}?"} for n in "ab"))
    assert edit(bank, "--add", str(new))["n"] == 5
    told = edit(bank, "--change", "q1", "question=Which layer lies on top?", "answers=epidermis|cuticle")
    assert told["made"][0]["before"]["question"] == "Which layer is outermost?"
    assert edit(bank, "--retire", "q2", "--query", "tides", "--reason", "too easy", "--who", "reader")["retired"] == 1
    assert after(bank) == [
        "skin/q1: Which layer lies on top?",
        "skin/q2: Is hair dead?",
        "skin/na: What is a?",
        "skin/nb: What is b?",
    ]
    assert [one.text for one in read_bank(tmp_path / "bank.edited.jsonl")[0].answers] == ["epidermis", "cuticle"]
    assert edit(bank, "--restore", "q2", "--query", "tides")["retired"] == 0
    for _ in range(5):
        edit(bank, "--undo")
    assert read_bank(tmp_path / "bank.edited.jsonl") == read_bank(bank)
    assert bank.read_bytes() == original
    with pytest.raises(ValueError, match=r"bank.edits.jsonl: no edit to undo; wanted one"):
        edit(bank, "--undo")


def test_the_history_says_what_when_who_and_why(bank: Path) -> None:
    edit(bank, "--change", "q1", "importance=okay", "--who", "reader", "--reason", "minor")
    edit(bank, "--undo")
    done = CliRunner().invoke(app, ["grade", "bank", "edit", str(bank), "--history"], catch_exceptions=False)
    first, second = done.stdout.splitlines()
    assert first.split()[0] == "1"
    assert 'change  skin/q1  importance: "vital" -> "okay"  reader  (minor)' in first
    assert 'undo of 1  skin/q1  importance: "okay" -> "vital"' in second
    history = edit(bank, "--history")["history"]
    assert [one["action"] for one in history] == ["change", "undo"]
    assert all(one["when"].endswith("+00:00") for one in history)


def test_without_an_edit_the_edited_bank_is_written_anew(bank: Path, tmp_path: Path) -> None:
    edit(bank, "--retire", "q1")
    told = edit(bank, "--out", str(tmp_path / "other.jsonl"))
    assert (told["n"], told["n_before"], told["made"]) == (2, 3, [])
    assert len(read_bank(tmp_path / "other.jsonl")) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--retire", "q9"), r"question 'q9': does not stand in the bank; wanted one that does"),
        (("--retire", "q2"), r"question 'q2': stands in 2 queries \('skin', 'tides' …\); wanted --query"),
        (("--restore", "q1"), r"question 'q1' of query 'skin': is not retired; wanted a retired question"),
        (("--retire", "q1", "--undo"), r"--retire and --undo: found together; wanted one edit at a time"),
        (("--change", "q1"), r"--change q1: no value; wanted FIELD=VALUE with question or answers"),
        (("question=x",), r"question=x: found without --change; wanted --change ID FIELD=VALUE"),
        (("--change", "q1", "id=x"), r'"id=x": found in --change; wanted FIELD=VALUE with question'),
        (("--change", "q1", "question= "), r"--change q1: question is blank; wanted its words"),
        (("--change", "q1", "combine=xor"), r'--change q1: combine "xor"; wanted or or and'),
        (("--change", "q1", "answers=[1,]"), r"--change q1: answers: malformed JSON"),
        (("--change", "q1", "importance=vital"), r"the change has no effect; wanted another value"),
        (("--add", "{bank}"), r"bank.jsonl: question 'q1' of query 'skin' stands in the bank already; wanted another"),
        (("--retire", "q1", "--out", "{bank}"), r"bank.jsonl: is the bank itself, which edits leave as it is"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(bank: Path, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        edit(bank, *(one.format(bank=bank) for one in words))
    assert not list(bank.parent.glob("bank.edit*.jsonl")) or not (bank.parent / "bank.edits.jsonl").read_text()


def test_a_file_with_one_question_that_stands_adds_none(bank: Path, tmp_path: Path) -> None:
    new = lines(
        tmp_path / "new.jsonl",
        {"id": "n1", "query": "skin", "question": "What is new?"},
        {"id": "q1", "query": "skin", "question": "What is old?"},
    )
    with pytest.raises(ValueError, match=r"new.jsonl: question 'q1' of query 'skin' stands in the bank already"):
        edit(bank, "--add", str(new))
    assert edit(bank)["n"] == 3


def test_the_edited_bank_is_not_edited_itself(bank: Path) -> None:
    edit(bank, "--retire", "q1")
    with pytest.raises(ValueError, match=r"is made of another bank and its edits; wanted that bank, bank.jsonl"):
        edit(bank.with_name("bank.edited.jsonl"), "--retire", "q2", "--query", "skin")


def test_a_bank_changed_under_its_log_is_refused(bank: Path) -> None:
    edit(bank, "--retire", "q1")
    lines(bank, {"id": "q1", "query": "skin", "question": "Something else?"})
    with pytest.raises(ValueError, match=r"edit 1 of question 'q1': was made of another version of the question"):
        edit(bank, "--undo")
