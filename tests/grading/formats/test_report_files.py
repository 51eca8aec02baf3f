"""Files of reports: each track's shape, every fault by its place, the published files and their schema."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grading._records import Sentence, SystemReport
from grading.formats._file_faults import counted, in_words, refuse
from grading.formats._report_files import read_reports, whole_documents
from tests import shared_data

SHARED = shared_data.SHARED / "data"
NEUCLIR, TREC = SHARED / "neuclir24_reports", SHARED / "rag24_nuggets" / "data" / "answers"
RAGTIME = {
    "metadata": {"team_id": "team", "run_id": "r", "topic_id": "300"},
    "responses": [
        {"text": "One.", "citations": {"D1": 0.9, "D2": 0.1}},
        {"text": "Two.", "citations": ["D2"]},
        {"text": "Three.", "citations": []},
    ],
    "references": ["D1", "D2"],
}
RAG24 = {
    "run_id": "r",
    "topic_id": "2024-1",
    "topic": "what is it",
    "references": ["doc#1_5", "doc#2_7"],
    "answer": [{"text": "One.", "citations": [1, 0]}, {"text": "Two.", "citations": []}],
}


def written(tmp_path: Path, *records: object, name: str = "reports.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records))
    return path


def changed(record: dict[str, Any], *path: str | int, to: object = None, drop: bool = False) -> dict[str, Any]:
    found = copy.deepcopy(record)
    inner: Any = found
    for step in path[:-1]:
        inner = inner[step]
    if drop:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return found


def test_the_three_tracks_are_read_alike(tmp_path: Path) -> None:
    neuclir = {"request_id": "300", "run_id": "r", "sentences": [{"text": "One.", "citations": ["D1"]}]}
    read = read_reports(written(tmp_path, RAGTIME, RAG24))
    assert read.reports == (
        SystemReport("r", "300", (Sentence("One.", ("D1", "D2")), Sentence("Two.", ("D2",)), Sentence("Three."))),
        SystemReport("r", "2024-1", (Sentence("One.", ("doc#2_7", "doc#1_5")), Sentence("Two."))),
    )
    assert counted(read.faults) == {"segment ids": 1}
    assert read_reports(written(tmp_path, neuclir)).reports == (SystemReport("r", "300", (Sentence("One.", ("D1",)),)),)


def test_a_list_an_object_an_archive_and_a_folder_hold_the_same_reports(tmp_path: Path) -> None:
    lines = read_reports(written(tmp_path, RAGTIME, RAG24)).reports
    (tmp_path / "list.json").write_text(json.dumps([RAGTIME, RAG24], indent=1))
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress((tmp_path / "reports.jsonl").read_bytes()))
    assert read_reports(tmp_path / "list.json").reports == lines
    assert read_reports(tmp_path / "packed.jsonl.gz").reports == lines
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(RAGTIME, indent=1))
    (folder / "b.jsonl").write_text(json.dumps(RAG24))
    assert read_reports(folder).reports == lines


def test_segments_become_documents_when_wanted(tmp_path: Path) -> None:
    (one,) = whole_documents(read_reports(written(tmp_path, RAG24)).reports)
    assert one.sentences[0].citations == ("doc",)


@pytest.mark.parametrize(
    ("record", "kind", "message", "stops"),
    [
        (
            changed(RAG24, "answer", 0, "citations", to=[2]),
            "citation out of range",
            "citation 2; wanted an index from 0 to 1",
            True,
        ),
        (
            changed(RAG24, "answer", 0, "citations", to=[-1]),
            "citation out of range",
            "citation -1; wanted an index",
            True,
        ),
        (changed(RAG24, "references", to=[]), "citation out of range", "wanted none, for references is empty", True),
        (changed(RAG24, "answer", 0, "citations", to=[0.5]), "wrong type", "citation 0.5; wanted an index", True),
        (changed(RAG24, "answer", 0, "citations", to=[True]), "wrong type", "citation true; wanted an index", True),
        (changed(RAG24, "answer", 0, "citations", to=[0, 0]), "duplicate citation", "cites 'doc#1_5' twice", False),
        (changed(RAG24, "answer", 1, "text", to="  "), "empty sentence", "answer[1]: the text is empty", False),
        (changed(RAG24, "answer", to=[]), "no sentences", "answer is empty", True),
        (changed(RAG24, "references", to=["doc#1_5", "doc#1_5"]), "duplicate reference", "already stands at 0", False),
        (changed(RAG24, "references", to=["doc#1_5", ""]), "empty id", "references[1] is empty", True),
        (changed(RAG24, "run_id", to=""), "empty id", "run_id is empty", True),
        (changed(RAG24, "topic_id", drop=True), "missing field", "no field 'topic_id'", True),
        (
            changed(RAGTIME, "responses", 1, "citations", to=["D9"]),
            "unknown document",
            "'D9' is not among the references",
            True,
        ),
        (changed(RAGTIME, "responses", 1, "citations", to=[1]), "wrong type", "citation 1; wanted a document id", True),
        (
            changed(RAGTIME, "responses", 1, "citations", to={"D1": "high"}),
            "wrong type",
            '"high"; wanted a number',
            True,
        ),
        (changed(RAGTIME, "metadata", "team_id", drop=True), "missing field", "metadata: no field 'team_id'", True),
        (changed(RAGTIME, "metadata", "topic_id", to=300), "wrong type", "topic_id is 300; wanted a text", True),
        (
            changed(RAGTIME, "responses", 2, "citations", drop=True),
            "missing field",
            "responses[2]: no field 'citations'",
            True,
        ),
    ],
)
def test_a_fault_is_named_with_its_line(
    tmp_path: Path, record: dict[str, Any], kind: str, message: str, stops: bool
) -> None:
    path = written(tmp_path, changed(RAGTIME, "metadata", "run_id", to="sound"), record)
    read = read_reports(path)
    (found,) = [one for one in read.faults if one.kind == kind][:1]
    assert found.place == f"{path}:2"
    assert message in found.message
    assert found.stops is stops
    assert f"{path}:2" in " ".join(in_words(read.faults))
    if stops:
        with pytest.raises(ValueError, match=r"reports\.jsonl:2: "):
            refuse(read.faults)
    refuse(read.faults, lenient=True)


def test_lenient_reading_keeps_what_is_sound(tmp_path: Path) -> None:
    spoilt = changed(RAG24, "answer", 0, "citations", to=[7, 1])
    read = read_reports(written(tmp_path, spoilt, "{not json", RAG24, RAGTIME))
    assert [(one.run, one.topic) for one in read.reports] == [("r", "2024-1"), ("r", "300")]
    assert read.reports[0].sentences[0].citations == ("doc#2_7",)
    assert counted(one for one in read.faults if one.stops) == {
        "citation out of range": 1,
        "malformed line": 1,
        "duplicate report": 1,
    }
    with pytest.raises(ValueError, match=r"reports\.jsonl:1: answer\[0\]: citation 7; .* \(and 2 more faults; see\)"):
        refuse(read.faults, listing="see")


@pytest.mark.parametrize("content", ["", "\n\n", "[]"])
def test_a_file_without_reports_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "reports.jsonl").write_text(content)
    with pytest.raises(ValueError, match="holds no report; wanted at least one"):
        read_reports(tmp_path / "reports.jsonl")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty: holds no \.jsonl or \.json file; wanted reports"):
        read_reports(tmp_path / "empty")


def test_the_annotation_tool_keeps_citations_in_a_second_file(tmp_path: Path) -> None:
    sentences = {"300": {"r": {"0": "One.", "1": "Two.", "10": "Far."}, "s": {"0": ""}}}
    cited = {"300": {"D1": {"r": {"0": "One."}}, "D2": {"r": {"0": "One.", "1": "Two!"}, "x": {"0": "Lost."}}}}
    (tmp_path / "sentences.json").write_text(json.dumps(sentences))
    (tmp_path / "cited.json").write_text(json.dumps(cited))
    read = read_reports(tmp_path / "sentences.json", tmp_path / "cited.json")
    first, second = read.reports
    assert [one.citations for one in first.sentences] == [("D1", "D2"), (), ()]
    assert second.sentences == (Sentence(""),)
    messages = [str(one) for one in read.faults]
    assert any("numbers 0, 1, 10; wanted 0, 1, 2" in one for one in messages)
    assert any("sentence 1 of run 'r' reads otherwise" in one for one in messages)
    assert any("run 'x' has no sentence 0" in one for one in messages)
    assert counted(read_reports(tmp_path / "sentences.json").faults)["no citations"] == 2
    with pytest.raises(ValueError, match="holds citations of its own"):
        read_reports(written(tmp_path, RAGTIME), tmp_path / "cited.json")


@pytest.mark.skipif(not NEUCLIR.is_dir(), reason="the reports of NeuCLIR 2024 are not here")
def test_all_reports_of_neuclir_are_sound() -> None:
    names = ("report-sentences", "citation-to-sentences")
    read = read_reports(*(NEUCLIR / "resources" / f"mini-test.{name}.json" for name in names))
    assert not read.faults
    assert len({one.topic for one in read.reports}) == 59
    assert len(read.reports) == 59 * 3
    assert sum(len(one.citations) for report in read.reports for one in report.sentences) == 1881


@pytest.mark.skipif(not TREC.is_dir(), reason="the answers of TREC RAG 2024 are not here")
def test_the_published_answers_of_trec_rag_have_no_fault_that_stops() -> None:
    read = read_reports(TREC / "baseline_rag24.test_gpt-4o_top20.jsonl")
    assert counted(read.faults) == {
        "segment ids": 297,
        "duplicate citation": 5,
        "empty references": 4,
        "no citations": 4,
    }
    assert not any(one.stops for one in read.faults)
    every = [one for report in read.reports for one in report.sentences]
    assert (len(read.reports), len(every)) == (301, 4029)
    # Of 4,195 citations five are given twice.
    assert sum(len(one.citations) for one in every) == 4190


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False) | st.sampled_from(["", " ", "D1", "0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "citations", "run_id", "topic_id", "team_id", "0", "D1"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
RECORDS = st.dictionaries(
    st.sampled_from(["metadata", "run_id", "topic_id", "references", "answer", "responses", "sentences"]),
    JSON,
    max_size=5,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(records=st.lists(RECORDS | JSON, min_size=1, max_size=3))
def test_whatever_stands_in_a_line_is_a_report_or_a_fault(tmp_path: Path, records: list[object]) -> None:
    read = read_reports(written(tmp_path, RAGTIME, *map(json.dumps, records)))
    assert read.reports[0].run == "r"
    assert all(one.place.startswith(str(tmp_path)) and "\n" not in one.message for one in read.faults)
    assert len(read.reports) - 1 + len(read.faults) >= len(records)


CHANGES: list[Callable[[], dict[str, Any]]] = [
    lambda: RAGTIME,
    lambda: changed(RAGTIME, "metadata", drop=True),
    lambda: changed(RAGTIME, "metadata", to=[]),
    lambda: changed(RAGTIME, "references", drop=True),
    lambda: changed(RAGTIME, "references", to=["D1", "D2", 3]),
    lambda: changed(RAGTIME, "references", to="D1"),
    lambda: changed(RAGTIME, "responses", drop=True),
    lambda: changed(RAGTIME, "responses", to={}),
    lambda: changed(RAGTIME, "responses", 0, to="One."),
    lambda: changed(RAGTIME, "responses", 0, "text", drop=True),
    lambda: changed(RAGTIME, "responses", 0, "text", to=None),
    lambda: changed(RAGTIME, "responses", 0, "citations", drop=True),
    lambda: changed(RAGTIME, "responses", 0, "citations", to="D1"),
    lambda: changed(RAGTIME, "responses", 0, "citations", to={"D1": None}),
    lambda: changed(RAGTIME, "responses", 0, "citations", to={"D1": True}),
    lambda: changed(RAGTIME, "responses", 0, "citations", to={"D1": 1}),
    lambda: changed(RAGTIME, "responses", 0, "citations", to=["D1", 2]),
    lambda: changed(RAGTIME, "metadata", "extra", to=1),
    *(lambda name=name: changed(RAGTIME, "metadata", name, drop=True) for name in ("team_id", "run_id", "topic_id")),
    *(lambda name=name: changed(RAGTIME, "metadata", name, to=3) for name in ("team_id", "run_id", "topic_id")),
]


@pytest.mark.skipif(not NEUCLIR.is_dir(), reason="the schema of RAGTIME runs is not here")
@pytest.mark.parametrize("make", CHANGES)
def test_what_the_schema_refuses_is_a_fault_and_nothing_else_is_of_its_kind(
    tmp_path: Path, make: Callable[[], dict[str, Any]]
) -> None:
    schema = json.loads((NEUCLIR / "ragtime_run_schema.json").read_text())
    valid = jsonschema.Draft7Validator(schema).is_valid(make())
    faults = read_reports(written(tmp_path, make())).faults
    assert valid is not any(one.kind in {"missing field", "wrong type"} for one in faults), faults


def test_a_file_of_another_kind_is_said_to_hold_no_report(tmp_path: Path) -> None:
    bank = {"id": "n1", "query": "300", "question": "When?", "answers": []}
    found = read_reports(written(tmp_path, bank, {"request_id": "300", "title": "Bridges"})).faults
    assert [str(one).partition(": ")[2] for one in found] == [
        "found id, query, question, answers; wanted run, topic and responses or answer or sentences",
        "found request_id, title; wanted run, topic and responses or answer or sentences",
    ]
    assert counted(found) == {"no report": 2}
