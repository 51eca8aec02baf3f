"""Edits of a bank: what they make of it, what they refuse, undone, torn and written by several."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading._records import BankQuestion, KeyAnswer
from grading.banks._bank_edits import ACTIONS, edited, read_edits, record

BANK = tuple(BankQuestion(f"q{n}", "skin", f"What is {n}?", (KeyAnswer(str(n)),)) for n in range(3))
NEW = BankQuestion("new", "skin", "What else?")


def test_each_edit_makes_of_the_bank_what_it_says(tmp_path: Path) -> None:
    log = tmp_path / "edits.jsonl"
    changed = replace(BANK[1], question="What is one?")
    record(log, BANK, "add", NEW)
    record(log, BANK, "change", changed, who="reader", when="2024-07-18", why="clearer")
    record(log, BANK, "retire", BANK[0])
    assert edited(BANK, read_edits(log)) == (changed, BANK[2], NEW)
    record(log, BANK, "restore", BANK[0])
    assert edited(BANK, read_edits(log)) == (BANK[0], changed, BANK[2], NEW)
    kept = read_edits(log)[1]
    assert (kept.number, kept.who, kept.when, kept.why) == (2, "reader", "2024-07-18", "clearer")
    assert (kept.before, kept.after) != (None, None)


def test_undo_turns_round_the_last_edit_of_its_question_and_then_the_one_before(tmp_path: Path) -> None:
    log = tmp_path / "edits.jsonl"
    record(log, BANK, "change", replace(BANK[0], question="What is zero?"))
    record(log, BANK, "retire", BANK[0])
    record(log, BANK, "add", NEW)
    assert record(log, BANK, "undo", BANK[0]).undoes == 2
    assert edited(BANK, read_edits(log))[0].question == "What is zero?"
    record(log, BANK, "undo", BANK[0])
    record(log, BANK, "undo", NEW)
    assert edited(BANK, read_edits(log)) == BANK
    with pytest.raises(ValueError, match=r"question 'q0' of query 'skin': has no edit to undo; wanted"):
        record(log, BANK, "undo", BANK[0])
    assert len(read_edits(log)) == 6


@pytest.mark.parametrize(
    ("action", "question", "message"),
    [
        ("add", BANK[0], r"question 'q0' of query 'skin': is already in the bank; wanted another id"),
        ("change", NEW, r"question 'new' of query 'skin': is not in the bank; wanted one that is, to change"),
        ("change", BANK[0], r"the change has no effect; wanted another value"),
        ("restore", BANK[0], r"is not retired; wanted a retired question"),
        ("retire", BANK[2], r"is retired; wanted restore it first"),
        ("change", replace(BANK[2], question="x?"), r"is retired; wanted restore it first"),
    ],
)
def test_what_does_not_fit_is_refused_and_not_written(
    action: str, question: BankQuestion, message: str, tmp_path: Path
) -> None:
    log = tmp_path / "edits.jsonl"
    record(log, BANK, "retire", BANK[2])
    with pytest.raises(ValueError, match=message):
        record(log, BANK, action, question)  # type: ignore[arg-type]
    assert len(read_edits(log)) == 1


def test_edits_of_another_bank_are_refused(tmp_path: Path) -> None:
    log = tmp_path / "edits.jsonl"
    record(log, BANK, "retire", BANK[2])
    other = (*BANK[:2], replace(BANK[2], question="Something else?"))
    with pytest.raises(ValueError, match=r"edit 1 of question 'q2': was made of another version of the question"):
        edited(other, read_edits(log))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"number": "1"}', r'edits.jsonl:1: number "1"; wanted a whole number'),
        ('{"number": 1, "action": "paint"}', r'edits.jsonl:1: action "paint"; wanted one of add, change'),
        ('{"number": 1, "action": "add", "query": 3}', r"edits.jsonl:1: query is JSON number; wanted a string"),
        (
            '{"number": 1, "action": "add", "query": "q", "id": "a", "after": {"id": "a"}}',
            r"edits.jsonl:1: before or after is JSON object; wanted a question with `retired`",
        ),
    ],
)
def test_a_line_that_is_no_edit_is_named(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "edits.jsonl").write_text(line + "\n")
    with pytest.raises(ValueError, match=message):
        read_edits(tmp_path / "edits.jsonl")


def test_a_torn_last_line_was_never_an_edit(tmp_path: Path) -> None:
    log = tmp_path / "edits.jsonl"
    record(log, BANK, "retire", BANK[2])
    with log.open("a") as file:
        file.write('{"number": 2, "act')
    assert len(read_edits(log)) == 1
    record(log, BANK, "retire", BANK[1])
    assert [one.number for one in read_edits(log)] == [1, 2]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 3), st.sampled_from("abc")), max_size=14))
def test_any_history_can_be_undone_to_the_bank_it_began_with(
    tmp_path_factory: pytest.TempPathFactory, tried: list[tuple[str, int, str]]
) -> None:
    log = tmp_path_factory.mktemp("log") / "edits.jsonl"
    names = [*BANK, NEW]
    done = []
    for action, number, word in tried:
        try:
            done.append(record(log, BANK, action, replace(names[number], question=f"What is {word}?")))  # type: ignore[arg-type]
        except ValueError:
            continue
    for one in [question for question in names for _ in done]:
        try:
            record(log, BANK, "undo", one)
        except ValueError:
            continue
    assert edited(BANK, read_edits(log)) == BANK


def test_several_processes_lose_no_edit(tmp_path: Path) -> None:
    code = (
        "import sys; from grading.banks._bank_edits import record; from grading._records import BankQuestion\n"
        "for n in range(6): record(sys.argv[1], (), 'add', BankQuestion(f'{sys.argv[2]}-{n}', 'skin', 'What?'))"
    )
    log = tmp_path / "edits.jsonl"
    jobs = [
        subprocess.Popen([sys.executable, "-c", code, str(log), name], cwd=Path(__file__).parents[2]) for name in "ab"
    ]
    assert [job.wait() for job in jobs] == [0, 0]
    edits = read_edits(log)
    assert [one.number for one in edits] == list(range(1, 13))
    assert len(edited((), edits)) == 12
