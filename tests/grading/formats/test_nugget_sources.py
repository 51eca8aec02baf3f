"""What nuggets are made from and assigned to: passages, pools and answers in the forms that they come in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from examcore import Question, write_exam
from grading.formats._nugget_sources import AnswerText, read_answer_texts, read_nugget_sources
from tests.shared_data import SHARED

RAG24 = SHARED / "data" / "rag24_nuggets" / "data"


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def report(run: str, topic: str, *sentences: str) -> dict[str, Any]:
    """An answer as TREC RAG 2024 has it."""
    answer = [{"text": one, "citations": [0]} for one in sentences]
    return {"run_id": run, "topic_id": topic, "topic": f"text of {topic}", "references": ["d"], "answer": answer}


def test_passages_belong_to_topics_in_order_and_each_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "passages.csv"
    path.write_text("query,passage,system,text\nt2,p1,A,one\nt1,p2,A,two\nt2,p1,B,one\nt2,p3,B,three\n")
    assert read_nugget_sources(path).passages == {"t2": ["one", "three"], "t1": ["two"]}


def test_the_passage_of_a_question_is_what_its_nuggets_are_made_from(tmp_path: Path) -> None:
    asked = [Question(one, f"What of {one}?", ("a", "b"), 0, context=f"text of {one}") for one in ("q1", "q2")]
    write_exam(tmp_path / "exam.jsonl", asked)
    found = read_nugget_sources(tmp_path / "exam.jsonl")
    assert found.passages == {"q1": ["text of q1"], "q2": ["text of q2"]}
    assert found.queries == {"q1": "What of q1?", "q2": "What of q2?"}


def test_pools_of_candidates_are_read_with_the_texts_of_their_queries(tmp_path: Path) -> None:
    candidates = [{"docid": "d1", "score": 2.5, "doc": {"segment": "one"}}, {"docid": "d2", "doc": {"text": "two"}}]
    pool = {"query": {"qid": "q1", "text": "what?"}, "candidates": [*candidates, "three", {"text": "four"}]}
    found = read_nugget_sources(lines(tmp_path / "pool.jsonl", pool, {"query": "who?", "candidates": ["five"]}))
    assert found.passages == {"q1": ["one", "two", "three", "four"], "who?": ["five"]}
    assert found.queries == {"q1": "what?", "who?": "who?"}


def test_answers_of_systems_are_pooled_as_passages(tmp_path: Path) -> None:
    reports = lines(tmp_path / "reports.jsonl", report("A", "t", "One.", "Two."), report("B", "t", "Three."))
    assert read_nugget_sources(reports) == ({"t": ["One. Two.", "Three."]}, {"t": "text of t"})
    table = tmp_path / "answers.csv"
    table.write_text("system,query,text\nA,t,One.\nB,t,One.\nB,u,\n")
    assert read_nugget_sources(table).passages == {"t": ["One."]}


def test_answers_are_rows_or_reports(tmp_path: Path) -> None:
    wanted = [AnswerText("A", "t", "One. Two."), AnswerText("A", "u", "")]
    rows = tmp_path / "A.csv"
    rows.write_text("query,answer\nt,One. Two.\nu,\n")
    assert read_answer_texts(rows).answers == wanted
    rows = lines(tmp_path / "rows.jsonl", *({"run_id": a, "qid": q, "answer_text": text} for a, q, text in wanted))
    assert read_answer_texts(rows).answers == wanted
    found = read_answer_texts(lines(tmp_path / "reports.jsonl", report("A", "t", " One. ", "", "Two.")))
    assert (found.answers, found.queries) == (wanted[:1], {"t": "text of t"})


def test_a_report_without_sentences_stops_or_is_an_empty_answer(tmp_path: Path) -> None:
    path = lines(tmp_path / "reports.jsonl", report("A", "t", "One."), report("A", "u"))
    with pytest.raises(ValueError, match=r"reports\.jsonl:2: answer is empty; wanted at least one sentence"):
        read_answer_texts(path)
    found = read_answer_texts(path, lenient=True)
    assert found.answers == [AnswerText("A", "t", "One."), AnswerText("A", "u", "")]
    assert [one.kind for one in found.faults if one.stops] == ["no sentences"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows; wanted at least one"),
        ('{"query": "q", "candidates": "one"}\n', "s:1: candidates are JSON string; wanted a list of passages"),
        ('{"query": "q", "candidates": [{"docid": "d"}]}\n', "s:1, candidate 1: found docid; wanted segment or text"),
        ('{"query": "q", "candidates": []}\n', "no passage has a word; wanted passages or answers"),
        ('{"query": "q", "candidates": ["a"]}\n{"query": \n', "s:2: malformed JSON"),
        (
            '{"id": "c", "document_id": "d", "start": 0, "end": 3, "text": "one"}\n',
            "passages of a corpus, which belong",
        ),
        ("query,system\nq,A\n", "s:2: no answer_text or response"),
        ("query,system,text\nq,A,one\nq,A,two\n", "s:3: system 'A' answers topic 'q' at .*s:2 already"),
        ("system,text\nA,one\n", "s:2: found system, text; wanted query_id"),
    ],
)
def test_what_is_no_source_is_refused_by_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "s"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_nugget_sources(path)


@pytest.mark.skipif(not RAG24.is_dir(), reason="the answers of TREC RAG 2024 are not here")
def test_the_answers_of_trec_are_the_texts_that_nuggets_were_assigned_to() -> None:
    for answers, assigned in (("gpt-4o", "gpt4o"), ("command-r-plus", "command-r-plus")):
        found = read_answer_texts(RAG24 / "answers" / f"baseline_rag24.test_{answers}_top20.jsonl")
        text = (RAG24 / "assignments" / f"baseline_rag24.test_{assigned}_top20.jsonl").read_text(encoding="utf-8")
        published = {one["qid"]: one for one in map(json.loads, text.splitlines())}
        assert len(found.answers) == len(published) == 301
        for one in found.answers:
            assert one.text.split() == published[one.topic]["answer_text"].split()
            assert found.queries[one.topic] == published[one.topic]["query"]
