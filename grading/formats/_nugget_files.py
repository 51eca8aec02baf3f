"""Nuggets as their makers write them, read as questions of a bank.

Besides our own banks (see `bank_files`): nuggetizer's lines (`qid, nuggets[{text, importance}]`), the annotation tool's
`nuggets_TOPIC.json` (question -> answer -> documents, as `nugget_list`, `nugget_dict` or bare, optionally with `AND` or
`OR` before the answers), and TREC's nugget banks (`nugget_bank`, or a list with `gold_answers`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from examcore import json_kind
from grading._file_rows import FileRow, holds_json, read_json_records
from grading._records import BankQuestion, KeyAnswer, SystemReport
from grading.formats._bank_files import bank_of, bank_rows
from grading.formats._file_faults import Fault
from grading.formats._report_files import document_of

_Reader = Callable[[FileRow, Path], Iterator[FileRow]]
"""From a record of some shape to the records of a bank."""
_TOPIC = re.compile(r"^nuggets_(?P<topic>[^_.]+)")


class NuggetsRead(NamedTuple):
    """The nuggets of a file in its order, and what is remarkable about them."""

    nuggets: tuple[BankQuestion, ...]
    faults: tuple[Fault, ...] = ()


def read_nuggets(path: str | Path) -> NuggetsRead:
    """The nuggets of a file, or of all `nuggets_*.json` in a folder.

    A label of importance that is neither vital nor okay is read as okay and is a fault that does not stop. Raises
    `ValueError` (file:line, found, wanted) for a file that holds no nuggets, an id that occurs twice in a topic, and a
    combination other than AND or OR.
    """
    path = Path(path)
    files = sorted(path.glob("nuggets_*.json")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"{path}: holds no nuggets_*.json; wanted one per topic")
    faults: list[Fault] = []
    nuggets = bank_of((row for file in files for row in _rows(file)), faults)
    if not nuggets:
        raise ValueError(f"{path}: holds no nuggets; wanted at least one")
    return NuggetsRead(nuggets, tuple(faults))


def _rows(path: Path) -> Iterator[FileRow]:
    """One record of a bank for each nugget of a file."""
    records = list(read_json_records(path)) if holds_json(path) else []
    readers = [_reader(one.fields) for one in records]
    if not records or None in readers:
        yield from bank_rows(path)
    for record, reader in zip(records, readers, strict=True):
        if reader is not None and None not in readers:
            yield from reader(record, path)


def _reader(fields: Mapping[str, object]) -> _Reader | None:
    """The reader of a record's shape; None for a bank's line."""
    if "nugget_bank" in fields or "claim_bank" in fields:
        return _from_bank
    if "gold_answers" in fields or "question_text" in fields:
        return _from_question
    if "nugget_list" in fields or "nugget_dict" in fields:
        return _from_tool
    if isinstance(fields.get("nuggets"), list) and ("qid" in fields or "query" in fields):
        return _from_nuggetizer
    if fields and all(isinstance(one, dict | list) for one in fields.values()) and "questions" not in fields:
        return _from_tool
    return None


def _from_nuggetizer(record: FileRow, _: Path) -> Iterator[FileRow]:
    """Texts with an importance; a text is its own answer, and its number in the topic is its id."""
    topic = record.fields.get("qid") or record.fields.get("query")
    for number, one in enumerate(_listed(record.fields["nuggets"]), start=1):
        nugget = one if isinstance(one, dict) else {"text": one}
        fields = {"id": number, "query": topic, "question": nugget.get("text"), "answers": nugget.get("text")}
        yield FileRow(f"{record.place}, nugget {number}", {**fields, "importance": nugget.get("importance")})


def _from_tool(record: FileRow, path: Path) -> Iterator[FileRow]:
    """Question -> answer -> documents; the file's name says the topic, the groups are sub-topics."""
    topic = _TOPIC.match(path.name)
    if topic is None:
        raise ValueError(f"{path}: the name says no topic; wanted nuggets_TOPIC.json")
    found = record.fields.get("nugget_list", record.fields.get("nugget_dict", record.fields))
    groups = record.fields.get("group_assignment")
    for number, pair in enumerate(list(found.items()) if isinstance(found, Mapping) else _listed(found), start=1):
        place = f"{record.place}, question {number}"
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError(f"{place}: found JSON {json_kind(pair)}; wanted a question and its answers")
        question, answers = pair
        # A list of two is how the answers combine, then the answers.
        combine, answers = answers if isinstance(answers, list) and len(answers) == 2 else (None, answers)
        if not isinstance(answers, dict):
            raise ValueError(f"{place}: found JSON {json_kind(answers)}; wanted answers with their documents")
        fields = {"id": number, "query": topic["topic"], "question": question, "combine": _combine(combine)}
        each = [{"text": text, "documents": documents} for text, documents in answers.items()]
        subtopic = groups.get(question, "") if isinstance(groups, dict) else ""
        yield FileRow(place, {**fields, "answers": each, "subtopic": subtopic})


def _from_bank(record: FileRow, path: Path) -> Iterator[FileRow]:
    for name in ("nugget_bank", "claim_bank"):
        for number, one in enumerate(_listed(record.fields.get(name) or []), start=1):
            place = f"{record.place}, {name} {number}"
            if not isinstance(one, dict):
                raise ValueError(f"{place}: found JSON {json_kind(one)}; wanted a nugget")
            shared = {"query_id": record.fields.get("query_id")}
            yield from _from_question(FileRow(place, {**shared, **one}), path)


def _from_question(record: FileRow, _: Path) -> Iterator[FileRow]:
    info = record.fields.get("info")
    found = {**(info if isinstance(info, dict) else {}), **record.fields}
    names = ("question_text", "question", "claim_text", "claim")
    text = next((found[name] for name in names if found.get(name)), None)
    fields = {
        "id": found.get("question_id") or found.get("claim_id") or text,
        "query_id": found.get("query_id"),
        "question": text,
        "answers": _listed(found.get("gold_answers", found.get("answers")) or []),
        "combine": _combine(found.get("aggregator_type")),
        "importance": found.get("importance"),
    }
    yield FileRow(record.place, fields)


def _listed(value: object) -> list[object]:
    """The members of a list or the values of an object; anything else is the only member."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


def _combine(value: object) -> object:
    return "or" if value == "Default" else value


def nugget_claim(nugget: BankQuestion) -> str:
    """What a nugget states: its statement, or its question with an answer, or with all that it needs.

    Raises `ValueError` for a question without an answer, which states nothing.
    """
    texts = [one.text for one in nugget.answers]
    if nugget.kind == "nugget" or texts == [nugget.question]:
        return nugget.question
    if not texts:
        raise ValueError(f"nugget {nugget.id!r} of {nugget.query!r}: no answers; wanted a statement, or a key")
    return f"{nugget.question} {'; '.join(texts if nugget.combine == 'and' else texts[:1])}"


def of_whole_documents(nuggets: Sequence[BankQuestion]) -> tuple[BankQuestion, ...]:
    """The nuggets with the segment ids that their answers are bound to cut at the `#`."""
    return tuple(
        replace(
            one,
            answers=tuple(
                KeyAnswer(answer.text, frozenset(document_of(name) for name in answer.documents))
                for answer in one.answers
            ),
        )
        for one in nuggets
    )


def matched(
    reports: Sequence[SystemReport], nuggets: Sequence[BankQuestion], name: str
) -> tuple[tuple[SystemReport, ...], tuple[BankQuestion, ...], list[str]]:
    """The reports and nuggets whose topics both have, and a sentence on each side's topics that were left out.

    Raises `ValueError` when they have no topic in common, and when fewer than half of the topics with nuggets have a
    report; `name` is that of the nugget file.
    """
    asked, reported = ({one.query for one in nuggets}, {one.topic for one in reports})
    if not asked & reported:
        found, wanted = (", ".join(sorted(one)[:3]) for one in (asked, reported))
        raise ValueError(f"{name}: its topics ({found}) are none of the reports'; wanted {wanted}")
    lacking = sorted(asked - reported)
    if 2 * len(lacking) > len(asked):
        raise ValueError(
            f"{name}: {len(lacking)} of {len(asked)} topics (such as {lacking[0]!r}) have no report; wanted one for at "
            "least half of the topics"
        )
    remarks: list[str] = []
    for topics, what in (
        (reported - asked, "with reports but without nuggets: their reports are not scored"),
        (asked - reported, "with nuggets but without any report: nothing is scored there"),
    ):
        if topics:
            shown = ", ".join(sorted(topics)[:5])
            remarks.append(f"{len(topics)} topics {what} ({shown}{', ...' if len(topics) > 5 else ''})")
    both = asked & reported
    return (
        tuple(one for one in reports if one.topic in both),
        tuple(one for one in nuggets if one.query in both),
        remarks,
    )
