"""Passages from files, pooled over systems and paired with the questions of their query."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grading._records import BankQuestion
from grading.formats._passages import Passage, pair, read_passages

BANK = [BankQuestion("a", "q", "What?"), BankQuestion("b", "q", "Why?"), BankQuestion("c", "r", "When?")]


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


@pytest.mark.parametrize(
    "record",
    [
        {"query": "q", "passage": "p", "text": "t", "system": "s"},
        {"query_id": "q", "paragraph_id": "p", "contents": "t", "run_id": "s"},
        {"qid": "q", "query": "the words", "docid": "p", "passage": "t", "method": "s"},
        {"topic_id": "q", "id": "p", "body": "t", "system_id": "s"},
    ],
)
def test_passages_are_read_under_their_usual_names(record: dict[str, str], tmp_path: Path) -> None:
    assert read_passages(lines(tmp_path / "p.jsonl", record)) == [Passage("q", "p", "t", "s")]


def test_chunks_of_a_corpus_belong_to_every_query(tmp_path: Path) -> None:
    chunk = {"id": "c1", "document_id": "d", "text": "t", "start": 0, "end": 1, "title": "", "topic": "x"}
    found = pair(BANK, read_passages(lines(tmp_path / "chunks.jsonl", chunk)))
    assert [(one.question.id, one.passage.query, one.passage.id) for one in found.pairs] == [
        ("a", "q", "c1"),
        ("b", "q", "c1"),
        ("c", "r", "c1"),
    ]


def test_a_passage_of_several_systems_is_graded_once() -> None:
    found = pair(BANK, [Passage("q", "p", "t", "s1"), Passage("q", "p", "t", "s2"), Passage("q", "p2", "t", "s2")])
    assert [(one.question.id, one.passage.id) for one in found.pairs] == [
        ("a", "p"),
        ("b", "p"),
        ("a", "p2"),
        ("b", "p2"),
    ]


def test_queries_on_one_side_only_are_named() -> None:
    found = pair(BANK, [Passage("q", "p", "t"), Passage("z", "p", "t"), Passage("z", "p2", "t")])
    assert found.without_questions == ("z",)
    assert found.without_passages == ("r",)
    assert found.passages_left_out == 2


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"query": "q", "text": "t"}], r"p.jsonl:1: found query, text; wanted passage_id or"),
        ([{"query": "q", "passage": "p"}], r"p.jsonl:1: found query, passage; wanted text or"),
        ([{"passage": "p", "text": "t"}], r"p.jsonl:1: found passage, text; wanted query_id or"),
        ([{"query": "q", "passage": "p", "text": " "}], r"p.jsonl:1: text is blank; wanted the passage"),
        (
            [{"query": "q", "passage": "p", "text": one} for one in "ab"],
            r"p.jsonl:2: passage 'p' stands above with another text; wanted one text per id",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(records: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_passages(lines(tmp_path / "p.jsonl", *records))


def test_systems_may_not_disagree_about_a_passage() -> None:
    with pytest.raises(ValueError, match=r"passage 'p' of query 'q': systems give it different texts; wanted one text"):
        pair(BANK, [Passage("q", "p", "t", "s1"), Passage("q", "p", "u", "s2")])


def test_a_bank_of_other_queries_is_refused() -> None:
    with pytest.raises(ValueError, match=r"passages: no query of the bank \(q, r\) has one; found z; wanted the same"):
        pair(BANK, [Passage("z", "p", "t")])
