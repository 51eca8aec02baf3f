"""Passages from files, pooled over systems and paired with the questions of their query."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grading._records import BankQuestion
from grading.formats._passages import Passage, answer_runs, pair, read_passages

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


def test_passages_that_most_queries_are_without_are_refused() -> None:
    bank = [*BANK, BankQuestion("d", "s", "Where?")]
    assert pair(bank, [Passage("q", "p", "t"), Passage("r", "p", "t")]).without_passages == ("s",)
    with pytest.raises(ValueError, match=r"passages: 2 of 3 queries of the bank \(r, s\) have none; wanted"):
        pair(bank, [Passage("q", "p", "t")])


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


def answer(run: str, topic: str, *texts: str) -> dict[str, Any]:
    """An answer as in TREC RAG 24."""
    sentences = [{"text": text, "citations": [0]} for text in texts]
    return {"run_id": run, "topic_id": topic, "topic": "?", "references": ["d1"], "answer": sentences}


def test_an_answer_of_trec_rag_is_one_passage_named_after_its_run(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", answer("one", "q", "Skin is thin.", "It heals."), answer("two", "q", "Skin?"))
    assert read_passages(path) == [
        Passage("q", "one", "Skin is thin. It heals.", "one"),
        Passage("q", "two", "Skin?", "two"),
    ]


def test_segments_are_whole_sentences_of_at_most_so_many_words(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", answer("one", "q", "a b c", "d e", "f", "g h i j k l", " ", "m"))
    found = read_passages(path, 5)
    assert [one.text for one in found] == ["a b c d e", "f", "g h i j k l", "m"]
    assert [one.id for one in found] == ["one#1", "one#2", "one#3", "one#4"]
    assert answer_runs(found)["one"].top("q") == ("one#1", "one#2", "one#3", "one#4")


def test_no_word_of_an_answer_is_lost_or_doubled_by_segments(tmp_path: Path) -> None:
    texts = ["one two three four.", "five.", "six seven eight nine ten eleven twelve.", "thirteen fourteen."]
    path = lines(tmp_path / "a.jsonl", answer("one", "q", *texts))
    for size in range(1, 16):
        assert " ".join(one.text for one in read_passages(path, size)) == " ".join(texts)


def test_passages_are_not_segmented(tmp_path: Path) -> None:
    path = lines(tmp_path / "p.jsonl", {"query": "q", "passage": "p", "text": "t"})
    with pytest.raises(ValueError, match=r"p\.jsonl: holds passages; wanted answers of systems for --segment 5"):
        read_passages(path, 5)


def test_an_answer_with_a_citation_out_of_range_is_refused(tmp_path: Path) -> None:
    broken = answer("one", "q", "Skin.")
    broken["answer"][0]["citations"] = [7]
    with pytest.raises(ValueError, match=r"a\.jsonl:1: answer\[0\]: citation 7; wanted an index from 0 to 0"):
        read_passages(lines(tmp_path / "a.jsonl", broken))
