"""What nuggets are made from and assigned to: passages of topics, and the answers of systems, with their queries.

Passages are those that graders read, nuggetizer's pools (`query, candidates`), and answers; answers are reports of TREC
RAG and its kin, whose sentences are joined, or rows `query, text[, system]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from examcore import json_kind, read_exam
from grading._file_rows import QUERY, SYSTEM, FileRow, column_of, holds_json, read_json_records, read_rows
from grading.formats._annotated_reports import is_annotated
from grading.formats._file_faults import Fault, refuse
from grading.formats._passages import PASSAGE, TEXT, read_passages
from grading.formats._report_files import SENTENCES, read_reports

ANSWER = ("answer_text", "response", "answer", *TEXT)
"""Names of the column of an answer's text."""
_SEGMENT = ("segment", *TEXT)
_CANDIDATES, _CHOICES = "candidates", "choices"
_TOPIC_ID = ("topic_id", "request_id", "narrative_id")
_TOPIC_TEXT = ("topic", "query", "title", "narrative")


class AnswerText(NamedTuple):
    """The answer of a system on a topic, as one text."""

    run: str
    topic: str
    text: str


class NuggetSources(NamedTuple):
    """Topic -> its passages, in order and each once; `queries` has the texts of the queries that the file has."""

    passages: Mapping[str, list[str]]
    queries: Mapping[str, str]


class AnswersRead(NamedTuple):
    """The answers of a file, in order; `queries` has the texts of the queries that the file has, `faults` remarks."""

    answers: list[AnswerText]
    queries: Mapping[str, str]
    faults: tuple[Fault, ...] = ()


def read_nugget_sources(path: str | Path) -> NuggetSources:
    """The passages of each topic: `query, passage, text`, nuggetizer's pools, or the answers that systems gave.

    Of an exam (`exam.jsonl`) each question is a topic, and the passage that it was written from is its passage.

    Raises `ValueError` (file:line, found, wanted) for what cannot be read, for passages of a corpus, which belong to
    no query, and for a file none of whose texts has a word.
    """
    path = Path(path)
    records, faults = _records(path)
    queries: dict[str, str] = {}
    if records and all(_CANDIDATES in one.fields for one in records):
        refuse(faults)
        found = [pair for one in records for pair in _pooled(one, queries)]
    elif records and all(_CHOICES in one.fields for one in records):
        exam = read_exam(path).questions
        queries.update((one.id, one.stem) for one in exam)
        found = [(one.id, one.context) for one in exam]
    elif _are_reports(records) or not any(one.present(PASSAGE) for one in read_rows(path, {})):
        read = read_answer_texts(path)
        queries.update(read.queries)
        found = [(one.topic, one.text) for one in read.answers]
    else:
        found = [(one.query, one.text) for one in read_passages(path)]
    passages: dict[str, dict[str, None]] = {}
    for topic, text in found:
        if not topic:
            raise ValueError(f"{path}: passages of a corpus, which belong to no query; wanted query, passage, text")
        if text.strip():
            passages.setdefault(topic, {})[text] = None
    if not passages:
        raise ValueError(f"{path}: no passage has a word; wanted passages or answers to make nuggets from")
    return NuggetSources({topic: list(texts) for topic, texts in passages.items()}, queries)


def read_answer_texts(path: str | Path, *, lenient: bool = False) -> AnswersRead:
    """The answers of systems: reports, whose sentences are joined, or rows `query, text[, system]`.

    Rows without a system are those of one that is named after the file. What is wrong with reports raises `ValueError`,
    or with `lenient` is a remark; a system that answers a topic twice raises it, too.
    """
    path = Path(path)
    records, _ = _records(path)
    if _are_reports(records):
        reports = read_reports(path)
        refuse(reports.faults, lenient=lenient, listing=f"ragexam grade validate {path} lists them")
        texts = [" ".join(text for each in one.sentences if (text := each.text.strip())) for one in reports.reports]
        answers = [AnswerText(one.run, one.topic, text) for one, text in zip(reports.reports, texts, strict=True)]
        return AnswersRead(answers, dict(_queries(records)), reports.faults)
    return AnswersRead(_rows_of_answers(path), {})


def _records(path: Path) -> tuple[list[FileRow], list[Fault]]:
    """The JSON objects of a file, none for a table, and what is malformed."""
    faults: list[Fault] = []
    return (list(read_json_records(path, faults)) if holds_json(path) else []), faults


def _are_reports(records: Sequence[FileRow]) -> bool:
    return any(
        is_annotated(one.fields) or any(isinstance(one.fields.get(name), list) for name in SENTENCES) for one in records
    )


def _queries(records: Sequence[FileRow]) -> Iterator[tuple[str, str]]:
    """The topics that reports name with their texts."""
    for record in records:
        metadata = record.fields.get("metadata")
        fields = FileRow(record.place, {**(metadata if isinstance(metadata, dict) else {}), **record.fields})
        topic, text = fields.present(_TOPIC_ID), fields.present(_TOPIC_TEXT)
        if topic is not None and text is not None and isinstance(fields.fields[text], str):
            yield fields.text(topic), fields.text(text)


def _rows_of_answers(path: Path) -> list[AnswerText]:
    rows = read_rows(path, {})
    column_of(rows, ANSWER, "the answers: query, text[, system]")
    name = path.name.partition(".")[0]
    places: dict[tuple[str, str], str] = {}
    answers = []
    for row in rows:
        one = AnswerText(row.first_text(SYSTEM, name), row.first_text(QUERY), row.first_text(ANSWER, ""))
        before = places.setdefault((one.run, one.topic), row.place)
        if before != row.place:
            raise ValueError(
                f"{row.place}: system {one.run!r} answers topic {one.topic!r} at {before} already; wanted one answer"
            )
        answers.append(one)
    return answers


def _pooled(record: FileRow, queries: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The topic and text of each candidate of a pool; the text of its query is added to `queries`."""
    query, candidates = record.fields.get("query"), record.fields[_CANDIDATES]
    named = FileRow(record.place, query if isinstance(query, dict) else {"text": query, **record.fields})
    text = named.first_text(("text", "query", "qid"))
    topic = named.first_text(("qid", "query_id", "topic_id"), text)
    if not isinstance(candidates, list):
        raise ValueError(f"{record.place}: {_CANDIDATES} are JSON {json_kind(candidates)}; wanted a list of passages")
    queries[topic] = text
    for number, one in enumerate(candidates, start=1):
        place = f"{record.place}, candidate {number}"
        document = one.get("doc", one) if isinstance(one, dict) else one
        found = document if isinstance(document, dict) else {"text": document}
        yield topic, FileRow(place, found).first_text(_SEGMENT)
