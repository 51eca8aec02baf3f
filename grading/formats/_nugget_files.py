"""Nuggets as their makers write them, read as questions of a bank.

Besides our own banks (see `bank_files`): nuggetizer's lines (`qid, nuggets[{text, importance}]`), the annotation tool's
`nuggets_TOPIC.json` (question -> answer -> documents, as `nugget_list`, `nugget_dict` or bare, optionally with `AND` or
`OR` before the answers), and TREC's nugget banks (`nugget_bank`, or a list with `gold_answers`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from examcore import JsonRecord, json_kind, parse_json_object, read_text, shown_json
from grading._records import BankQuestion, Combine, Importance, KeyAnswer, SystemReport
from grading.formats._bank_files import read_bank
from grading.formats._file_faults import Fault
from grading.formats._report_files import document_of

_Reader = Callable[[JsonRecord, Path, list[Fault]], Iterator[BankQuestion]]
_IMPORTANCE: dict[str, Importance] = {"vital": "vital", "okay": "okay"}
_COMBINE: dict[str, Combine] = {"AND": "and", "OR": "or"}
_TOPIC = re.compile(r"^nuggets_(?P<topic>[^_.]+)")


class NuggetsRead(NamedTuple):
    """The nuggets of a file in its order, and what is remarkable about them."""

    nuggets: tuple[BankQuestion, ...]
    faults: tuple[Fault, ...] = ()


def read_nuggets(path: str | Path) -> NuggetsRead:
    """The nuggets of a file, or of all `nuggets_*.json` in a folder.

    A label of importance that is neither vital nor okay is read as okay and is a fault that does not stop. Raises
    `ValueError` (file:line, found, wanted) for what is no nugget file, a nugget whose id stands twice in its topic, and
    a combination other than AND or OR.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(path.glob("nuggets_*.json"))
        if not files:
            raise ValueError(f"{path}: holds no nuggets_*.json; wanted one per topic")
        read = [_read(file) for file in files]
    else:
        read = [_read(path)]
    nuggets = tuple(nugget for one in read for nugget in one.nuggets)
    _require_unique(nuggets, path)
    return NuggetsRead(nuggets, tuple(fault for one in read for fault in one.faults))


def _read(path: Path) -> NuggetsRead:
    if not path.name.lower().removesuffix(".gz").endswith((".json", ".jsonl")):
        return NuggetsRead(read_bank(path))
    faults: list[Fault] = []
    records = list(_records(path))
    if not records:
        raise ValueError(f"{path}: holds no nuggets; wanted at least one")
    read = [_reader(one.fields) for one in records]
    if None in read:
        return NuggetsRead(read_bank(path))
    nuggets = [
        nugget
        for record, reader in zip(records, read, strict=True)
        if reader is not None
        for nugget in reader(record, path, faults)
    ]
    return NuggetsRead(tuple(nuggets), tuple(faults))


def _records(path: Path) -> Iterator[JsonRecord]:
    """The objects of a JSON value or of JSON lines."""
    text = read_text(path)
    try:
        whole = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        whole = None
    if whole is None:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield JsonRecord(f"{path}:{number}", parse_json_object(line, f"{path}:{number}"))
        return
    for number, one in enumerate(whole if isinstance(whole, list) else [whole], start=1):
        place = f"{path}: record {number}" if isinstance(whole, list) else f"{path}:1"
        if not isinstance(one, dict):
            raise ValueError(f"{place}: found JSON {json_kind(one)}; wanted an object")
        yield JsonRecord(place, one)


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


def _from_nuggetizer(record: JsonRecord, _: Path, faults: list[Fault]) -> Iterator[BankQuestion]:
    topic = str(record.fields.get("qid") or record.fields.get("query") or "")
    if not topic:
        raise ValueError(f"{record.place}: qid is empty; wanted the topic of the nuggets")
    nuggets = record.fields["nuggets"]
    for number, one in enumerate(nuggets if isinstance(nuggets, list) else (), start=1):
        place = f"{record.place}, nugget {number}"
        text = one.get("text") if isinstance(one, dict) else one
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{place}: text is {shown_json(text)}; wanted a text")
        label = one.get("importance") if isinstance(one, dict) else None
        yield BankQuestion(str(number), topic, text, (KeyAnswer(text),), "or", _importance(label, place, faults))


def _from_tool(record: JsonRecord, path: Path, _: list[Fault]) -> Iterator[BankQuestion]:
    """Question -> answer -> documents; the file's name says the topic, the groups are sub-topics."""
    named = _TOPIC.match(path.name)
    if named is None:
        raise ValueError(f"{path}: the name says no topic; wanted nuggets_TOPIC.json")
    found = record.fields.get("nugget_list", record.fields.get("nugget_dict", record.fields))
    pairs = list(found.items()) if isinstance(found, dict) else found
    groups = record.fields.get("group_assignment")
    for number, pair in enumerate(pairs if isinstance(pairs, list) else [pairs], start=1):
        place = f"{record.place}, question {number}"
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError(f"{place}: found JSON {json_kind(pair)}; wanted a question and its answers")
        combine, answers = _combined(pair[1], place)
        subtopic = str(groups.get(pair[0], "")) if isinstance(groups, dict) else ""
        yield BankQuestion(str(number), named["topic"], pair[0], answers, combine, "vital", subtopic)


def _combined(value: object, place: str) -> tuple[Combine, tuple[KeyAnswer, ...]]:
    """`{answer: documents}`, or `["AND" or "OR", {answer: documents}]`."""
    combine: Combine = "or"
    if isinstance(value, list) and len(value) == 2:
        combine, value = _combine(value[0], place), value[1]
    if not isinstance(value, dict):
        raise ValueError(f"{place}: found JSON {json_kind(value)}; wanted answers with their documents")
    return combine, tuple(KeyAnswer(text, _documents(one, place)) for text, one in value.items())


def _from_bank(record: JsonRecord, path: Path, faults: list[Fault]) -> Iterator[BankQuestion]:
    for name in ("nugget_bank", "claim_bank"):
        found = record.fields.get(name) or {}
        values = list(found.values()) if isinstance(found, dict) else found
        for number, one in enumerate(values if isinstance(values, list) else [values], start=1):
            place = f"{record.place}, {name} {number}"
            if not isinstance(one, dict):
                raise ValueError(f"{place}: found JSON {json_kind(one)}; wanted a nugget")
            shared = {"query_id": record.fields.get("query_id")}
            yield from _from_question(JsonRecord(place, {**shared, **one}), path, faults)


def _from_question(record: JsonRecord, _: Path, faults: list[Fault]) -> Iterator[BankQuestion]:
    fields = record.fields
    info = fields.get("info")
    more: Mapping[str, object] = {**info, **fields} if isinstance(info, dict) else fields
    names = ("question_text", "question", "claim_text", "claim")
    text = next((more[name] for name in names if more.get(name)), None)
    topic = more.get("query_id")
    if not isinstance(text, str) or not isinstance(topic, str | int):
        raise ValueError(f"{record.place}: no question or no query_id; wanted both")
    answers = more.get("gold_answers", more.get("answers")) or []
    listed = list(answers.values()) if isinstance(answers, dict) else answers
    yield BankQuestion(
        str(more.get("question_id") or more.get("claim_id") or text),
        str(topic),
        text,
        tuple(_answer(one, record.place) for one in (listed if isinstance(listed, list) else [listed])),
        _combine(more.get("aggregator_type"), record.place),
        _importance(more.get("importance"), record.place, faults),
    )


def _answer(value: object, place: str) -> KeyAnswer:
    if isinstance(value, str):
        return KeyAnswer(value)
    text = value.get("answer") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(text, str):
        raise ValueError(f"{place}: answer {shown_json(value)}; wanted a text with its documents")
    return KeyAnswer(text, _documents(value.get("citations", value.get("references")), place))


def _documents(value: object, place: str) -> frozenset[str]:
    ids = [one.get("doc_id") if isinstance(one, dict) else one for one in (value if isinstance(value, list) else [])]
    if (value is not None and not isinstance(value, list)) or not all(isinstance(one, str) and one for one in ids):
        raise ValueError(f"{place}: documents {shown_json(value)}; wanted a list of document ids")
    return frozenset(str(one) for one in ids)


def _combine(value: object, place: str) -> Combine:
    if value is None or value == "Default":
        return "or"
    found = _COMBINE.get(str(value).upper())
    if found is None:
        raise ValueError(f"{place}: answers combined by {shown_json(value)}; wanted AND or OR")
    return found


def _importance(value: object, place: str, faults: list[Fault]) -> Importance:
    if value is None:
        return "vital"
    found = _IMPORTANCE.get(str(value).strip().lower())
    if found is None:
        message = f"importance {shown_json(value)} is neither vital nor okay; read as okay"
        faults.append(Fault(place, "unknown importance", message, stops=False))
        return "okay"
    return found


def _require_unique(nuggets: Sequence[BankQuestion], path: Path) -> None:
    seen: set[tuple[str, str]] = set()
    for one in nuggets:
        if (one.query, one.id) in seen:
            raise ValueError(f"{path}: nugget {one.id!r} of topic {one.query!r} stands twice; wanted unique ids")
        seen.add((one.query, one.id))


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

    Raises `ValueError` when they have no topic in common; `name` is that of the nugget file.
    """
    asked, reported = ({one.query for one in nuggets}, {one.topic for one in reports})
    if not asked & reported:
        found, wanted = (", ".join(sorted(one)[:3]) for one in (asked, reported))
        raise ValueError(f"{name}: its topics ({found}) are none of the reports'; wanted {wanted}")
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
