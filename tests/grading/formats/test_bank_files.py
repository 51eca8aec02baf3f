"""Banks from files: ours, manual tables, and the published forms; and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from grading._records import BankQuestion, KeyAnswer
from grading.banks._bank_lint import lint
from grading.formats._bank_files import by_query, made_id, read_bank, write_bank
from grading.formats._file_faults import Fault
from tests import shared_data

SHARED = shared_data.SHARED / "data/rag24_nuggets/data/nuggets"
WORKBENCH = {
    "query_id": "tqa2:L_0384",
    "facet_id": "tqa2:L_0384/f1",
    "facet_text": "Structure of the skin",
    "test_collection": "car",
    "query_text": "The integumentary system",
    "hash": 7,
    "info": None,
    "items": [
        {
            "query_id": "tqa2:L_0384",
            "facet_id": "tqa2:L_0384/f1",
            "question_id": "NDQ_1",
            "question_text": "Outer layer of the skin?",
            "gold_answers": ["epidermis"],
            "info": None,
        }
    ],
}


def lines(path: Path, *records: Any) -> Path:
    text = "".join(json.dumps(one) + "\n" for one in records)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_a_bank_comes_back_as_it_was_written(tmp_path: Path) -> None:
    bank = (
        BankQuestion("a", "q", "Which?", (KeyAnswer("x", frozenset({"d2", "d1"})), KeyAnswer("y")), "and", "okay", "s"),
        BankQuestion("b", "q", "When?"),
    )
    write_bank(tmp_path / "bank.jsonl", bank)
    assert read_bank(tmp_path / "bank.jsonl") == bank


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"query": "q", "nugget": "Skin has layers"}, "nugget"),
        ({"query": "q", "nugget_text": "Skin has layers."}, "nugget"),
        ({"qid": "q", "nuggets": [{"text": "Skin has layers", "importance": "vital"}]}, "nugget"),
        ({"qid": "q", "nuggets": ["Skin has layers"]}, "nugget"),
        ({"query": "q", "question": "Name the layers"}, "question"),
        ({"query": "q", "text": "Name the layers"}, "question"),
        ({"query": "q", "items": ["Name the layers"]}, "question"),
        ({"query": "q", "nugget": "How many layers has skin?"}, "question"),
        ({"query": "q", "nugget_text": "The layers", "answers": ["three"]}, "question"),
        ({"qid": "q", "nuggets": [{"question": "Name the layers"}]}, "question"),
    ],
)
def test_a_statement_without_a_key_is_a_nugget_and_stays_one(record: Any, kind: str, tmp_path: Path) -> None:
    bank = read_bank(lines(tmp_path / "bank.jsonl", record))
    assert [one.kind for one in bank] == [kind]
    write_bank(tmp_path / "again.jsonl", bank)
    assert read_bank(tmp_path / "again.jsonl") == bank


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("epidermis", ["epidermis"]),
        (["epidermis"], ["epidermis"]),
        (True, ["true"]),
        (False, ["false"]),
        (["true", "false"], ["true", "false"]),
        (4, ["4"]),
        ({"text": "sand"}, ["sand"]),
        ([{"answer": "sand", "docs": ["d"]}], ["sand"]),
        ({"sand": ["d1"], "glass": []}, ["sand", "glass"]),
    ],
)
@pytest.mark.parametrize("name", ["answers", "gold_answers", "gold_answer", "correct_answer", "answer", "key"])
def test_a_key_stays_whole_whatever_it_is_called(value: object, texts: list[str], name: str, tmp_path: Path) -> None:
    """Published code read a gold answer as the set of its characters, and stumbled over truth values."""
    path = lines(tmp_path / "bank.jsonl", {"id": "a", "query": "q", "question": "Which?", name: value})
    assert [one.text for one in read_bank(path)[0].answers] == texts


@pytest.mark.parametrize("nested", ["items", "questions", "nuggets"])
@pytest.mark.parametrize("name", ["bank.jsonl", "bank.jsonl.gz"])
def test_a_published_bank_is_read_with_its_query_and_facet(nested: str, name: str, tmp_path: Path) -> None:
    record = {key: value for key, value in WORKBENCH.items() if key != "items"}
    (one,) = read_bank(lines(tmp_path / name, {**record, nested: WORKBENCH["items"]}))
    key = (KeyAnswer("epidermis"),)
    assert one == BankQuestion("NDQ_1", "tqa2:L_0384", "Outer layer of the skin?", key, subtopic="tqa2:L_0384/f1")


def test_nuggets_without_ids_are_named_by_what_they_say(tmp_path: Path) -> None:
    record = {"query": "how?", "qid": "7", "nuggets": [{"text": "Boil it", "importance": "okay"}, "Let it cool"]}
    bank = read_bank(lines(tmp_path / "nuggets.jsonl", record))
    assert [(one.query, one.question, one.importance) for one in bank] == [
        ("7", "Boil it", "okay"),
        ("7", "Let it cool", "vital"),
    ]
    assert bank[0].id == made_id("7", "", "Boil it") != bank[1].id


def test_nuggets_that_say_the_same_are_told_apart_by_number(tmp_path: Path) -> None:
    bank = read_bank(lines(tmp_path / "nuggets.jsonl", {"qid": "7", "nuggets": ["Boil it", "Boil it", "Cool it"]}))
    name = made_id("7", "", "Boil it")
    assert [one.id for one in bank[:2]] == [name, f"{name}-2"]


def test_an_unknown_importance_is_a_fault_where_faults_are_taken(tmp_path: Path) -> None:
    faults: list[Fault] = []
    path = lines(tmp_path / "bank.jsonl", GOOD, {**GOOD, "id": "b", "importance": "failed"})
    assert [one.importance for one in read_bank(path, faults)] == ["vital", "okay"]
    message = 'importance "failed" is neither vital nor okay; read as okay'
    assert faults == [Fault(f"{path}:2", "unknown importance", message, stops=False)]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the nuggets of TREC RAG 2024 are not here")
def test_the_nuggets_of_trec_rag_are_read_and_linted() -> None:
    faults: list[Fault] = []
    (path,) = SHARED.glob("*.jsonl")
    bank = read_bank(path, faults)
    with path.open() as file:
        counted = [len(json.loads(line)["nuggets"]) for line in file]
    assert len(bank) == sum(counted)
    assert len(by_query(bank)) == len(counted)
    assert len({(one.query, one.id) for one in bank}) == len(bank)
    assert {one.kind for one in faults} == {"unknown importance"}
    rules = {one.rule for one in lint(bank)}
    assert {"not-a-question", "duplicate"} <= rules
    assert not rules & {"contradiction", "unsatisfiable-and", "no-answer"}


def test_a_manual_table_and_a_list_say_the_same_as_lines(tmp_path: Path) -> None:
    table = tmp_path / "bank.csv"
    table.write_text("topic,question_id,question_text,gold_answer\nskin,a,Outer layer?,epidermis | cuticle\n")
    listed = tmp_path / "bank.json"
    fields = {"id": "a", "query": "skin", "question": "Outer layer?", "answers": ["epidermis", "cuticle"]}
    listed.write_text(json.dumps([fields], indent=2))
    assert read_bank(table) == read_bank(listed) == read_bank(lines(tmp_path / "b.jsonl", fields))


def test_the_same_id_may_stand_in_two_queries(tmp_path: Path) -> None:
    records = [{"id": "a", "query": query, "question": "Which?"} for query in ("q", "r")]
    assert len(read_bank(lines(tmp_path / "bank.jsonl", *records))) == 2


GOOD: dict[str, Any] = {"id": "a", "query": "q", "question": "Which?"}


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([GOOD, GOOD], r"bank.jsonl:2: question 'a' of query 'q' stands at .*bank.jsonl:1 already; wanted unique ids"),
        ([{"id": "a", "question": "Which?"}], r"bank.jsonl:1: found id, question; wanted query_id or"),
        ([{"id": "a", "query": "", "question": "Which?"}], r"bank.jsonl:1: found id, question; wanted query_id or"),
        ([{"id": "a", "query": "q"}], r"bank.jsonl:1: found id, query; wanted question or question_text"),
        ([{**GOOD, "combine": "xor"}], r'bank.jsonl:1: combine "xor"; wanted or or and'),
        ([{**GOOD, "importance": "historical"}], r'bank.jsonl:1: importance "historical"; wanted vital or okay'),
        ([{**GOOD, "answers": [["x"]]}], r"bank.jsonl:1: answers a list; wanted a text"),
        ([{**GOOD, "answers": " "}], r"bank.jsonl:1: answers is blank; wanted a text"),
        ([{**GOOD, "answers": [{"text": "x", "documents": 1.5}]}], r"documents 1.5; wanted a list of document ids"),
        ([{"query": "q", "items": [3]}], r"bank.jsonl:1, items 1: found JSON number; wanted an object or a text"),
        ([], r"bank.jsonl: the bank is empty; wanted at least one question"),
        ([{**GOOD, "format": 9}], r"bank.jsonl:1: format is 9; wanted at most 1"),
    ],
)
def test_a_fault_is_named_with_its_place(records: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_bank(lines(tmp_path / "bank.jsonl", *records))


def test_a_bank_is_only_written_as_json_lines(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"bank.csv: wanted a name that ends in .jsonl"):
        write_bank(tmp_path / "bank.csv", [BankQuestion("a", "q", "Which?")])


def test_grades_are_no_bank(tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("query,passage,question,grade\nq1,d1,r1,5\n")
    with pytest.raises(ValueError, match=r"grades\.csv:2: a grade of a passage \(.*\); wanted a question of a bank"):
        read_bank(path)
