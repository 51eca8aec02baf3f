"""Nuggets of all makers become questions of a bank."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grading._records import BankQuestion, KeyAnswer, Sentence, SystemReport
from grading.formats._bank_files import write_bank
from grading.formats._file_faults import counted
from grading.formats._nugget_files import matched, nugget_claim, of_whole_documents, read_nuggets
from tests import shared_data
from tests.grading import films

SHARED = shared_data.SHARED / "data"


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def test_a_bank_is_read_as_a_bank(tmp_path: Path) -> None:
    write_bank(tmp_path / "bank.jsonl", films.NUGGETS)
    assert read_nuggets(tmp_path / "bank.jsonl").nuggets == films.NUGGETS


@pytest.mark.parametrize(
    ("nugget", "claim"),
    [
        (BankQuestion("1", "7", "It is old", (KeyAnswer("It is old"),)), "It is old"),
        (BankQuestion("1", "7", "It is old", kind="nugget"), "It is old"),
        (BankQuestion("1", "7", "How old?", (KeyAnswer("a year"), KeyAnswer("12 months"))), "How old? a year"),
        (BankQuestion("1", "7", "Who?", (KeyAnswer("Lee"), KeyAnswer("Kim")), combine="and"), "Who? Lee; Kim"),
    ],
)
def test_a_nugget_claims_its_statement_or_its_answer(nugget: BankQuestion, claim: str) -> None:
    assert nugget_claim(nugget) == claim


def test_a_question_without_an_answer_claims_nothing() -> None:
    with pytest.raises(ValueError, match="nugget '1' of '7': no answers; wanted a statement, or a key"):
        nugget_claim(BankQuestion("1", "7", "How old?"))


def test_nuggetizers_lines_become_nuggets_that_any_document_may_support(tmp_path: Path) -> None:
    items = [{"text": "It is old", "importance": "vital"}, {"text": "It is red", "importance": "historical"}]
    read = read_nuggets(written(tmp_path / "nuggets.jsonl", {"query": "what", "qid": "7", "nuggets": items}))
    assert read.nuggets == (
        BankQuestion("1", "7", "It is old", (KeyAnswer("It is old"),)),
        BankQuestion("2", "7", "It is red", (KeyAnswer("It is red"),), importance="okay"),
    )
    assert counted(read.faults) == {"unknown importance": 1}
    assert not read.faults[0].stops


@pytest.mark.parametrize("shape", ["nugget_list", "nugget_dict", "bare"])
def test_the_annotation_tools_files_name_their_topic(tmp_path: Path, shape: str) -> None:
    found = {"When?": {"2010": ["D1"], "last year": []}, "Why?": ["AND", {"cost": ["D2"], "time": ["D3"]}], "Who?": {}}
    whole = {"nugget_list": list(found.items()), "group_assignment": {"Why?": "causes"}}
    content = whole if shape == "nugget_list" else {"nugget_dict": found} if shape == "nugget_dict" else found
    (tmp_path / "nuggets_300.revised.json").write_text(json.dumps(content))
    when, why, who = read_nuggets(tmp_path).nuggets
    assert when == BankQuestion("1", "300", "When?", (KeyAnswer("2010", frozenset({"D1"})), KeyAnswer("last year")))
    assert (why.combine, why.subtopic) == ("and", "causes" if shape == "nugget_list" else "")
    assert who.answers == ()


def test_trecs_banks_keep_their_combination(tmp_path: Path) -> None:
    answers = {"2010": {"answer": "2010", "references": [{"doc_id": "D1"}]}}
    question = {"question": "When?", "question_id": "q1", "aggregator_type": "AND", "answers": answers}
    bank = {"query_id": "300", "title_query": "t", "nugget_bank": {"When?": question}}
    old = {
        "query_id": "301",
        "question_text": "When?",
        "question_id": "q1",
        "info": {"aggregator_type": "OR", "importance": "okay"},
        "gold_answers": [{"answer": "2010", "citations": ["D1"]}],
    }
    key = (KeyAnswer("2010", frozenset({"D1"})),)
    assert read_nuggets(written(tmp_path / "nuggets.jsonl", bank, old)).nuggets == (
        BankQuestion("q1", "300", "When?", key, "and"),
        BankQuestion("q1", "301", "When?", key, "or", "okay"),
    )


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("n.jsonl", "", "n.jsonl: holds no nuggets; wanted at least one"),
        (
            "n.jsonl",
            '{"qid": "1", "nuggets": [{"text": ""}]}',
            "n.jsonl:1, nugget 1: found id, query; wanted question or",
        ),
        (
            "n.jsonl",
            '{"qid": null, "nuggets": [{"text": "x"}]}',
            "found id, question, answers; wanted query_id or",
        ),
        ("n.json", '{"nugget_dict": {"Q": {}}}', "the name says no topic; wanted nuggets_TOPIC.json"),
        ("nuggets_1.json", '{"nugget_dict": {"Q": ["XOR", {}]}}', 'combine "XOR"; wanted or or and'),
        ("nuggets_1.json", '{"nugget_dict": {"Q": {"a": 1.5}}}', "documents 1.5; wanted a list of document ids"),
        ("nuggets_1.json", '{"nugget_dict": {"Q": "a"}}', "found JSON string; wanted answers with their documents"),
        ("n.jsonl", '{"question_text": "Q"}', "found id, question; wanted query_id or"),
        ("n.jsonl", "[1]", "record 1: found JSON number; wanted an object"),
        ("n.jsonl", "{", "n.jsonl:1: malformed JSON"),
    ],
)
def test_what_is_no_nugget_file_is_refused_by_its_place(tmp_path: Path, name: str, content: str, match: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=match):
        read_nuggets(tmp_path / name)


def test_an_id_that_stands_twice_and_a_folder_without_nuggets_are_refused(tmp_path: Path) -> None:
    line = {"query_id": "1", "question_text": "Q?", "question_id": "q"}
    with pytest.raises(ValueError, match=r"question 'q' of query '1' stands at .* already; wanted unique"):
        read_nuggets(written(tmp_path / "n.jsonl", line, line))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"holds no nuggets_\*\.json; wanted one per topic"):
        read_nuggets(tmp_path / "empty")


def test_topics_that_only_one_side_has_are_named() -> None:
    reports = [SystemReport("r", topic, (Sentence("A."),)) for topic in ("a", "b")]
    nuggets = [BankQuestion("n", topic, "Q?") for topic in ("b", "c")]
    kept, bank, remarks = matched(reports, nuggets, "nuggets.jsonl")
    assert [one.topic for one in kept] == [one.query for one in bank] == ["b"]
    assert "1 topics with reports but without nuggets" in remarks[0]
    assert "(a)" in remarks[0]
    assert "(c)" in remarks[1]
    with pytest.raises(ValueError, match=r"nuggets.jsonl: its topics \(c\) are none of the reports'; wanted a"):
        matched(reports[:1], nuggets[1:], "nuggets.jsonl")


def test_segments_of_nuggets_become_documents() -> None:
    one = BankQuestion("n", "t", "Q?", (KeyAnswer("x", frozenset({"d#1_2", "d#3_4"})),))
    assert of_whole_documents([one])[0].answers[0].documents == {"d"}


@pytest.mark.skipif(not (SHARED / "rag24_nuggets").is_dir(), reason="the nuggets of TREC RAG 2024 are not here")
def test_the_published_nuggets_are_read_whole() -> None:
    read = read_nuggets(SHARED / "rag24_nuggets" / "data" / "nuggets" / "rag24_nuggets_mistral.jsonl")
    assert len(read.nuggets) == 6145
    assert len({one.query for one in read.nuggets}) == 301
    assert counted(read.faults) == {"unknown importance": 40}
    tool = read_nuggets(SHARED / "neuclir24_reports" / "outputs" / "mini-test.zho")
    assert [one.subtopic for one in tool.nuggets] == ["Japan", "Japan", "", "US", "US", "US"]
