"""Files of question banks: our JSON lines, manual tables with keys, and the published banks of EXAM++ and nuggets.

A line is one question, or a query with the list of its questions (`items`, `questions` or `nuggets`). Names that other
tools use are understood (`fields.QUERY`, `QUESTION` and so on); what a question does not say it has from its query.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from examcore import JsonRecord, check_format, json_kind, read_json_lines, read_text, shown_json, write_lines
from grading._records import BankQuestion, Combine, Importance, KeyAnswer
from grading._table_rows import read_rows
from grading.formats import _fields as fields

ID = ("id", "question_id", "nugget_id", "item")
QUESTION = ("question", "question_text", "nugget", "nugget_text", "text", "stem")
ANSWERS = ("answers", "gold_answers", "gold_answer", "correct_answer", "answer", "key")
SUBTOPIC = ("subtopic", "subtopic_id", "facet", "facet_id")
TEXT = ("text", "answer", "answer_text")
DOCUMENTS = ("documents", "document_ids", "docs", "doc_ids", "docids", "citations")
NESTED = ("items", "questions", "nuggets", "nugget_bank")
GRADE = ("grade", "rating", "self_rating")
GRADED = ("passage", "passage_id", "paragraph_id", "docid", "doc_id", "docno")
"""A line with names of both kinds is a grade of a passage, no question."""
BETWEEN = "|"
"""What stands between several answers in a field of a CSV table."""

Fields = Mapping[str, object]


def read_bank(path: str | Path, notes: list[str] | None = None) -> tuple[BankQuestion, ...]:
    """The questions of a bank, in file order; JSON lines, a JSON list, or CSV or TSV, each optionally .gz.

    An answer that is a text, a number or a truth value stays one answer. A question without an id has one made from its
    query, sub-topic and wording, with its number where those stand several times. Raises `ValueError` (file:line,
    found, wanted) for a missing query or question, an answer of another kind, an unknown `combine` or `importance`, and
    an id that stands twice in a query. With `notes` an unknown importance, as published nuggets have some, counts as
    `okay`, and a sentence about it is added to them.
    """
    path = Path(path)
    labels: Counter[str] | None = None if notes is None else Counter()
    placed = _named((one, _question(one, labels)) for one in bank_records(path))
    if not placed:
        raise ValueError(f"{path}: the bank is empty; wanted at least one question")
    if notes is not None and labels:
        told = ", ".join(f"{label!r} {count} times" for label, count in labels.most_common(3))
        notes.append(f"{path}: {labels.total()} questions are neither vital nor okay ({told}); taken as okay")
    places: dict[tuple[str, str], str] = {}
    for place, one in placed:
        before = places.setdefault((one.query, one.id), place)
        if before != place:
            raise ValueError(
                f"{place}: question {one.id!r} of query {one.query!r} stands at {before} already; wanted unique ids"
            )
    return tuple(one for _, one in placed)


def write_bank(path: str | Path, bank: Iterable[BankQuestion]) -> None:
    """Write a bank as JSON lines: `id, query, question, answers, combine, importance, subtopic` per line."""
    if not str(path).endswith(".jsonl"):
        raise ValueError(f"{path}: wanted a name that ends in .jsonl for a bank")
    write_lines(path, map(bank_fields, bank))


def bank_fields(question: BankQuestion) -> dict[str, object]:
    """The fields of a bank's line; an answer bound to no document is a plain text."""
    answers = [
        {"text": one.text, "documents": sorted(one.documents)} if one.documents else one.text
        for one in question.answers
    ]
    names = ("id", "query", "question", "answers", "combine", "importance", "subtopic")
    return {name: answers if name == "answers" else getattr(question, name) for name in names}


def question_of(record: JsonRecord) -> BankQuestion:
    """The question of one flat record; `ValueError` (place, found, wanted) as `read_bank`."""
    return _question(record)


def by_query(bank: Sequence[BankQuestion]) -> dict[str, list[BankQuestion]]:
    """The questions of each query, both in the bank's order."""
    found: dict[str, list[BankQuestion]] = {}
    for one in bank:
        found.setdefault(one.query, []).append(one)
    return found


def made_id(query: str, subtopic: str, question: str) -> str:
    """The id of a question that has none: ten hex digits of its query, sub-topic and wording."""
    return hashlib.sha256(f"{query}\n{subtopic}\n{question}".encode()).hexdigest()[:10]


def divided(answers: str, place: str) -> list[object]:
    """The answers in one field of a table, divided by `BETWEEN` or a JSON list; `ValueError` for malformed JSON."""
    text = answers.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return [one.strip() for one in text.split(BETWEEN) if one.strip()]
    try:
        return list(json.loads(text))
    except json.JSONDecodeError as error:
        raise ValueError(f"{place}: answers: malformed JSON ({error.msg}); wanted a list, or a text") from None


def _named(questions: Iterable[tuple[JsonRecord, BankQuestion]]) -> list[tuple[str, BankQuestion]]:
    """The questions with their places; those without an id of their own that say the same are told apart by number."""
    counts: Counter[tuple[str, str]] = Counter()
    found = []
    for record, one in questions:
        if not text_of(record, ID, ""):
            counts[(one.query, one.id)] += 1
            number = counts[(one.query, one.id)]
            one = one if number == 1 else replace(one, id=f"{one.id}-{number}")
        found.append((record.place, one))
    return found


def bank_records(path: Path) -> Iterator[JsonRecord]:
    """One record per question of a bank, with what its query says of all of them.

    Raises `ValueError` (file:line, found, wanted) for malformed records, a query with an empty list of questions, and
    grades of passages.
    """
    for record in _lines(path):
        check_format(record)
        nested = next((name for name in NESTED if isinstance(record.fields.get(name), list)), None)
        if nested is None:
            _require_question(record)
            yield record
            continue
        shared = {
            name: record.fields[name] for name in (*fields.QUERY, *SUBTOPIC) if record.fields.get(name) is not None
        }
        items = cast("list[object]", record.fields[nested])
        if not items:
            raise ValueError(f"{record.place}: {nested} is empty; wanted at least one question")
        for number, item in enumerate(items, start=1):
            place = f"{record.place}, {nested} {number}"
            if not isinstance(item, dict | str):
                raise ValueError(f"{place}: found JSON {json_kind(item)}; wanted an object or a text")
            yield JsonRecord(place, {**shared, **({"question": item} if isinstance(item, str) else item)})


def _require_question(record: JsonRecord) -> None:
    """Refuse a grade of a passage, which names a query and a question as well."""
    if any(one in record.fields for one in GRADE) and any(one in record.fields for one in GRADED):
        found = ", ".join(record.fields)
        raise ValueError(f"{record.place}: a grade of a passage ({found}); wanted a question of a bank")


def _lines(path: Path) -> Iterator[JsonRecord]:
    name = path.name.lower().removesuffix(".gz")
    if not name.endswith((".json", ".jsonl")):
        yield from (JsonRecord(row.place, _divided(row.fields, row.place)) for row in read_rows(path, {}))
    elif read_text(path).lstrip().startswith("["):
        yield from _listed(path)
    else:
        yield from read_json_lines(path)


def _listed(path: Path) -> Iterator[JsonRecord]:
    try:
        found = json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise ValueError(f"{path}:{line}: malformed JSON; wanted a list of questions") from None
    for number, one in enumerate(found, start=1):
        if not isinstance(one, dict):
            raise ValueError(f"{path}: record {number}: found JSON {json_kind(one)}; wanted an object")
        yield JsonRecord(f"{path}: record {number}", one)


def _divided(found: Fields, place: str) -> dict[str, object]:
    """A table's fields; several answers stand in one field, divided by `BETWEEN` or as a JSON list."""
    name = next((one for one in ANSWERS if one in found), "answers")
    answers = divided(str(found.get(name, "")), place)
    return {**found, name: answers} if answers else dict(found)


def _question(record: JsonRecord, labels: Counter[str] | None = None) -> BankQuestion:
    query, question = text_of(record, fields.QUERY), text_of(record, QUESTION)
    if not query:
        raise ValueError(f"{record.place}: no {' or '.join(fields.QUERY)}; wanted the query of the question")
    subtopic = text_of(record, SUBTOPIC, "")
    return BankQuestion(
        id=text_of(record, ID, "") or made_id(query, subtopic, question),
        query=query,
        question=question,
        answers=tuple(_answers(record)),
        combine=cast(Combine, _one_of(record, "combine", ("or", "and"))),
        importance=_importance(record, labels),
        subtopic=subtopic,
    )


def text_of(record: JsonRecord, names: Sequence[str], default: str | None = None) -> str:
    """The first named field there is, as text; an id may be a number. `ValueError` without one and without default."""
    name = next((one for one in names if record.fields.get(one) is not None), None)
    if name is None:
        if default is None:
            raise ValueError(f"{record.place}: no {' or '.join(names)}; found {', '.join(record.fields) or 'nothing'}")
        return default
    value = record.fields[name]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{record.place}: {name} {shown_json(value)}; wanted text")
    return str(value).strip()


def _answers(record: JsonRecord) -> Iterator[KeyAnswer]:
    name = next((one for one in ANSWERS if record.fields.get(one) is not None), None)
    value = record.fields[name] if name else []
    if isinstance(value, dict) and not set(value) & set(TEXT):
        # Nuggets by answer: the text leads to its documents.
        value = [{"text": text, "documents": documents} for text, documents in value.items()]
    # A text is one answer: read as a sequence it would become its characters.
    for one in value if isinstance(value, list) else [value]:
        yield _answer(one, f"{record.place}: {name}")


def _answer(value: object, place: str) -> KeyAnswer:
    if not isinstance(value, dict):
        return KeyAnswer(_plain(value, place))
    text = next((value[name] for name in TEXT if value.get(name) is not None), None)
    documents: object = next((value[name] for name in DOCUMENTS if value.get(name) is not None), [])
    if isinstance(documents, str | int):
        documents = [documents]
    if not isinstance(documents, list | dict):
        raise ValueError(f"{place}: documents {shown_json(documents)}; wanted a list of document ids")
    return KeyAnswer(_plain(text, place), frozenset(_plain(one, f"{place}: documents") for one in documents))


def _plain(value: object, place: str) -> str:
    """A text, number or truth value as text: `true` is a key like any other."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise ValueError(f"{place} {shown_json(value)}; wanted a text")
    text = str(value).strip()
    if not text:
        raise ValueError(f"{place} is blank; wanted a text")
    return text


def _importance(record: JsonRecord, labels: Counter[str] | None) -> Importance:
    value = record.fields.get("importance")
    known = ("vital", "okay")
    if labels is not None and isinstance(value, str) and value.strip() and value.strip().lower() not in known:
        labels[value] += 1
        return "okay"
    return cast(Importance, _one_of(record, "importance", known))


def _one_of(record: JsonRecord, name: str, known: Sequence[str]) -> str:
    value = record.fields.get(name)
    found = known[0] if value is None or value == "" else str(value).strip().lower()
    if found not in known:
        raise ValueError(f"{record.place}: {name} {shown_json(value)}; wanted {' or '.join(known)}")
    return found
