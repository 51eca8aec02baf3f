"""Auto-ARGUE's `judgments.jsonl`: a line is a report, in RAGTIME's shape, and what was judged of each of its sentences.

`{report, judgments: [{text, citations: [{doc_id}], judgments: [{judgment_type_id, response, provenance: {doc_id}}]}]}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from examcore import json_object, shown_json
from grading._file_rows import FileRow, first_record, read_json_records
from grading._records import SystemReport

ATTESTED, RELEVANT, ANSWERS = "SENTENCE_ATTESTED", "CITED_DOCUMENT_RELEVANCE", "SENTENCE_ANSWERS_QUESTION"
UNCITED = (("NEGATIVE", "claims_absence"), ("FIRST", "first"), ("CITATION", "needs_citation"))
"""Words in the types of judgements of sentences that cite nothing, and what is judged. The published example has no
such sentence, so that the words and not whole names are compared."""


class SentenceJudgments(NamedTuple):
    """What Auto-ARGUE judged of one sentence.

    `attested` and `relevant` say of each cited document whether it supports the sentence and whether it supports a
    nugget. `answers` are pairs of a nugget's question and an answer that the sentence states. `uncited` may hold
    `needs_citation`, `first` and `claims_absence`.
    """

    attested: Mapping[str, bool]
    relevant: Mapping[str, bool]
    answers: frozenset[tuple[str, str]]
    uncited: Mapping[str, bool]


AutoArgueJudgments = Mapping[tuple[str, str], Sequence[SentenceJudgments]]
"""Run and topic -> what was judged of each sentence of the report."""


def has_auto_argue(fields: Mapping[str, object]) -> bool:
    """Whether a JSON object is a line of Auto-ARGUE's judgements."""
    return isinstance(fields.get("report"), dict) and isinstance(fields.get("judgments"), list)


def is_auto_argue(path: str | Path) -> bool:
    """Whether a file holds Auto-ARGUE's judgements; a folder does not."""
    first = first_record(Path(path))
    return first is not None and has_auto_argue(first.fields)


def read_auto_argue(
    path: str | Path, reports: Sequence[SystemReport]
) -> dict[tuple[str, str], list[SentenceJudgments]]:
    """What was judged of the reports that `read_reports` found in the same file.

    Raises `ValueError` (file:line, found, wanted) for judgements of another number of sentences than the report has, a
    text that is not the sentence's, a judgement of an unknown type, and one without its document or verdict.
    """
    known = {(one.run, one.topic): one for one in reports}
    found: dict[tuple[str, str], list[SentenceJudgments]] = {}
    for row in read_json_records(Path(path)):
        head = json_object(json_object(row.fields.get("report"), row.place).get("metadata"), f"{row.place}: metadata")
        key = (str(head.get("run_id")).strip(), str(head.get("topic_id")).strip())
        if key in known and key not in found:
            found[key] = list(_sentences(row, known[key]))
    return found


def _sentences(row: FileRow, report: SystemReport) -> Iterator[SentenceJudgments]:
    judged = row.fields.get("judgments")
    if not isinstance(judged, list) or len(judged) != len(report.sentences):
        count = len(judged) if isinstance(judged, list) else "no list of"
        raise ValueError(f"{row.place}: {count} judged sentences; wanted {len(report.sentences)}, as in the report")
    for number, (value, sentence) in enumerate(zip(judged, report.sentences, strict=True)):
        place = f"{row.place}: judgments[{number}]"
        fields = json_object(value, place)
        if fields.get("text") != sentence.text:
            raise ValueError(f"{place}: text {shown_json(fields.get('text'))}; wanted {shown_json(sentence.text)}")
        yield _sentence(fields, place)


def _sentence(fields: Mapping[str, object], place: str) -> SentenceJudgments:
    attested: dict[str, bool] = {}
    relevant: dict[str, bool] = {}
    uncited: dict[str, bool] = {}
    answers: set[tuple[str, str]] = set()
    each = fields.get("judgments")
    for value in each if isinstance(each, list) else []:
        one = json_object(value, place)
        kind = str(one.get("judgment_type_id"))
        response = json_object(one.get("response"), f"{place}: response of {kind}")
        if kind == ATTESTED:
            attested[_document(one, response, place, kind)] = _verdict(response, place, kind)
        elif kind == RELEVANT:
            relevant[_document(one, response, place, kind)] = _verdict(response, place, kind)
        elif kind == ANSWERS:
            answers.update(_answers(response, place))
        else:
            name = next((meaning for word, meaning in UNCITED if word in kind.upper()), None)
            if name is None:
                wanted = (
                    f"{ATTESTED}, {RELEVANT}, {ANSWERS}, or one of a citation, first instance or negative assertion"
                )
                raise ValueError(f"{place}: judgment_type_id {shown_json(kind)}; wanted {wanted}")
            uncited[name] = _verdict(response, place, kind)
    return SentenceJudgments(attested, relevant, frozenset(answers), uncited)


def _document(one: Mapping[str, object], response: Mapping[str, object], place: str, kind: str) -> str:
    source = one.get("provenance")
    found = response.get("doc_id") or (source.get("doc_id") if isinstance(source, dict) else None)
    if not isinstance(found, str):
        raise ValueError(f"{place}: {kind} has doc_id {shown_json(found)}; wanted the document it is about")
    return found


def _verdict(response: Mapping[str, object], place: str, kind: str) -> bool:
    """The one truth value of a response, whatever its field is called."""
    found = [value for value in response.values() if isinstance(value, bool)]
    if len(found) != 1:
        raise ValueError(f"{place}: {kind} has {len(found)} truth values; wanted one, such as is_attested")
    return found[0]


def _answers(response: Mapping[str, object], place: str) -> Iterator[tuple[str, str]]:
    matched = response.get("matched_nuggets")
    if not isinstance(matched, list):
        raise ValueError(f"{place}: matched_nuggets {shown_json(matched)}; wanted a list")
    for value in matched:
        one = json_object(value, f"{place}: matched_nuggets")
        question, answers = one.get("question_text"), one.get("matched_answer")
        if not isinstance(question, str) or not isinstance(answers, list):
            raise ValueError(f"{place}: a matched nugget {shown_json(value)}; wanted question_text and matched_answer")
        yield from ((question, str(answer)) for answer in answers)
