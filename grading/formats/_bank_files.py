"""Files of question banks: our JSON lines, manual tables with keys, and the published banks of EXAM++ and nuggets.

A line is one question, or a query with the list of its questions (`items`, `questions` or `nuggets`). Names that other
tools use are understood (`QUERY`, `QUESTION` and so on); what a question does not say it has from its query.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from examcore import check_format, json_kind, shown_json, write_lines
from grading._file_rows import QUERY, FileRow, holds_json, read_json_records, read_rows
from grading._records import Bank, BankQuestion, Combine, Importance, KeyAnswer, Kind
from grading.formats._file_faults import Fault

ID = ("id", "question_id", "nugget_id", "item")
QUESTION = ("question", "question_text", "nugget", "nugget_text", "text", "stem")
ANSWERS = ("answers", "gold_answers", "gold_answer", "correct_answer", "answer", "key")
STATEMENT = ("nugget", "nugget_text")
"""The names of `QUESTION` that hold a statement, if it has no answers and no question mark."""
SUBTOPIC = ("subtopic", "subtopic_id", "facet", "facet_id")
TEXT = ("text", "answer", "answer_text")
DOCUMENTS = ("documents", "document_ids", "docs", "doc_ids", "docids", "citations", "references")
NUGGETS = ("nuggets", "nugget_bank")
NESTED = ("items", "questions", *NUGGETS)
GRADE = ("grade", "rating", "self_rating")
GRADED = ("passage", "passage_id", "paragraph_id", "docid", "doc_id", "docno")
"""A line with names of both kinds is a grade of a passage, not a question."""
ALL = "all"
"""The query of a bank that names none, as of an exam about one corpus."""
BETWEEN = "|"
"""What divides several answers in a field of a CSV table."""


def read_bank(path: str | Path, faults: list[Fault] | None = None) -> tuple[BankQuestion, ...]:
    """The questions of a bank, in file order; JSON lines, a JSON list, or CSV or TSV, each optionally .gz.

    An answer that is a text, a number or a truth value stays one answer. A question without an id gets one made from
    its query, sub-topic and wording, with a number where those occur several times. Raises `ValueError` (file:line,
    found, wanted) for a missing query or question, an answer of another kind, an unknown `combine` or `importance`, and
    an id that occurs twice in a query. With `faults` an unknown or blank importance, as some published nuggets have,
    counts as `okay` and is added to them.
    """
    bank = bank_of(bank_rows(Path(path)), faults)
    if not bank:
        raise ValueError(f"{path}: the bank is empty; wanted at least one question")
    return bank


def read_bank_questions(path: str | Path, graded: Bank | None = None) -> dict[str, dict[str, str]]:
    """Query -> question id -> text (empty where the bank has none): all that a score's denominator needs.

    The ids are those of `read_bank`. It reads what that reads, and looser files: a question may lack its text, and
    where any lacks its query, as in `exam.jsonl` without topics, all belong to the query `all`. A question without an
    id whose text is among the names that `graded` has for its query goes by its text. Raises `ValueError` (file:line,
    found, wanted) for a question that occurs twice in a query, and for one with neither id nor text.
    """
    rows = list(bank_rows(Path(path)))
    if not rows:
        raise ValueError(f"{path}: the bank is empty; wanted at least one question")
    has_queries = all(text_of(row, QUERY, "") for row in rows)
    bank: dict[str, dict[str, str]] = {}
    for row in rows:
        query = text_of(row, QUERY) if has_queries else ALL
        text = text_of(row, QUESTION, "")
        asked = bank.setdefault(query, {})
        if not text:
            name = text_of(row, (*ID, *QUESTION))
        elif text in (graded or {}).get(query, ()) and not text_of(row, ID, ""):
            name = text
        else:
            name = own_or_made_id(row, query, text, asked)
        if name in asked:
            raise ValueError(
                f"{row.place}: question {shown_json(name)} stands twice for query {shown_json(query)}; wanted once"
            )
        asked[name] = text
    return bank


def bank_of(rows: Iterable[FileRow], faults: list[Fault] | None = None) -> tuple[BankQuestion, ...]:
    """The questions of flat records, one each; `ValueError` and `faults` as for `read_bank`."""
    found: list[BankQuestion] = []
    places: dict[str, dict[str, str]] = {}
    for row in rows:
        one = question_of(row, places, faults)
        before = places.setdefault(one.query, {}).setdefault(one.id, row.place)
        if before != row.place:
            raise ValueError(
                f"{row.place}: question {one.id!r} of query {one.query!r} stands at {before} already; wanted unique ids"
            )
        found.append(one)
    return tuple(found)


def write_bank(path: str | Path, bank: Iterable[BankQuestion]) -> None:
    """Write a bank as JSON lines: `id, query, question, answers, combine, importance, subtopic` per line.

    A nugget stands under `nugget` instead of `question`.
    """
    if not str(path).endswith(".jsonl"):
        raise ValueError(f"{path}: wanted a name that ends in .jsonl for a bank")
    write_lines(path, map(bank_fields, bank))


def bank_fields(question: BankQuestion) -> dict[str, object]:
    """The fields of a bank's line; an answer bound to no document is a plain text."""
    answers = [
        {"text": one.text, "documents": sorted(one.documents)} if one.documents else one.text
        for one in question.answers
    ]
    name = "question" if question.kind == "question" else "nugget"
    fields = {name if one == "question" else one: value for one, value in vars(question).items() if one != "kind"}
    return {**fields, "answers": answers}


def question_of(
    row: FileRow, taken: Mapping[str, Container[str]] | None = None, faults: list[Fault] | None = None
) -> BankQuestion:
    """The question of one flat record; `ValueError` and `faults` as for `read_bank`; `taken` are ids by query."""
    query, question, answers = text_of(row, QUERY), text_of(row, QUESTION), tuple(_answers(row))
    is_statement = row.present(QUESTION) in STATEMENT and not answers and not question.endswith("?")
    kind: Kind = "nugget" if is_statement else "question"
    return BankQuestion(
        id=own_or_made_id(row, query, question, (taken or {}).get(query, ())),
        query=query,
        question=question,
        answers=answers,
        combine=cast(Combine, _one_of(row, "combine", ("or", "and"))),
        importance=cast(Importance, _one_of(row, "importance", ("vital", "okay"), faults)),
        subtopic=text_of(row, SUBTOPIC, ""),
        kind=kind,
    )


def text_of(row: FileRow, names: Sequence[str], default: str | None = None) -> str:
    """The text under the first of the names that has one, without white space around it; as `FileRow.first_text`."""
    return row.first_text(names, default).strip()


def own_or_made_id(row: FileRow, query: str, question: str, taken: Container[str]) -> str:
    """The id of a question: its own, or one made of what it says, with a number where that is among those `taken`."""
    own = text_of(row, ID, "")
    if own:
        return own
    made = made_id(query, text_of(row, SUBTOPIC, ""), question)
    names = itertools.chain([made], (f"{made}-{number}" for number in itertools.count(2)))
    return next(one for one in names if one not in taken)


def made_id(query: str, subtopic: str, question: str) -> str:
    """Ten hex digits of a question's query, sub-topic and wording."""
    return hashlib.sha256(f"{query}\n{subtopic}\n{question}".encode()).hexdigest()[:10]


def by_query(bank: Iterable[BankQuestion]) -> dict[str, list[BankQuestion]]:
    """The questions of each query, both in the bank's order."""
    found: dict[str, list[BankQuestion]] = {}
    for one in bank:
        found.setdefault(one.query, []).append(one)
    return found


def divided(answers: str, place: str) -> list[object]:
    """The answers in one field of a table, divided by `BETWEEN` or a JSON list; `ValueError` for malformed JSON."""
    text = answers.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return [one.strip() for one in text.split(BETWEEN) if one.strip()]
    try:
        return list(json.loads(text))
    except json.JSONDecodeError as error:
        raise ValueError(f"{place}: answers: malformed JSON ({error.msg}); wanted a list, or a text") from None


def bank_rows(path: Path) -> Iterator[FileRow]:
    """One record per question of a bank, with what its query says of all of them.

    Raises `ValueError` (file:line, found, wanted) for malformed records, a query with an empty list of questions, and
    grades of passages.
    """
    rows = read_json_records(path) if holds_json(path) else map(_with_answers, read_rows(path, {}))
    for row in rows:
        check_format(row)
        nested = next((name for name in NESTED if isinstance(row.fields.get(name), list)), None)
        if nested is not None:
            yield from _nested(row, nested)
            continue
        if any(one in row.fields for one in GRADE) and any(one in row.fields for one in GRADED):
            found = ", ".join(row.fields)
            raise ValueError(f"{row.place}: a grade of a passage ({found}); wanted a question of a bank")
        yield row


def _nested(row: FileRow, name: str) -> Iterator[FileRow]:
    """The questions in a query's list, each with the query's own fields."""
    shared = {one: row.fields[one] for one in (*QUERY, *SUBTOPIC) if row.fields.get(one) is not None}
    items = cast("list[object]", row.fields[name])
    if not items:
        raise ValueError(f"{row.place}: {name} is empty; wanted at least one question")
    for number, item in enumerate(items, start=1):
        place = f"{row.place}, {name} {number}"
        if not isinstance(item, dict | str):
            raise ValueError(f"{place}: found JSON {json_kind(item)}; wanted an object or a text")
        fields = {"text": item} if isinstance(item, str) else item
        if name in NUGGETS and FileRow(place, fields).present(QUESTION) == "text":
            fields = {("nugget" if one == "text" else one): value for one, value in fields.items()}
        yield FileRow(place, {**shared, **fields})


def _with_answers(row: FileRow) -> FileRow:
    """A row of a table with the several answers of one field as a list."""
    name = next((one for one in ANSWERS if one in row.fields), "answers")
    answers = divided(str(row.fields.get(name, "")), row.place)
    return FileRow(row.place, {**row.fields, name: answers}) if answers else row


def _answers(row: FileRow) -> Iterator[KeyAnswer]:
    name = next((one for one in ANSWERS if row.fields.get(one) is not None), None)
    value = row.fields[name] if name else []
    if isinstance(value, dict) and not set(value) & set(TEXT):
        # Nuggets by answer: the text leads to its documents.
        value = [{"text": text, "documents": documents} for text, documents in value.items()]
    # A text is one answer: read as a sequence it would become its characters.
    for one in value if isinstance(value, list) else [value]:
        yield _answer(one, f"{row.place}: {name}")


def _answer(value: object, place: str) -> KeyAnswer:
    if not isinstance(value, dict):
        return KeyAnswer(_plain(value, place))
    text = next((value[name] for name in TEXT if value.get(name) is not None), None)
    documents: object = next((value[name] for name in DOCUMENTS if value.get(name) is not None), [])
    if isinstance(documents, str | int):
        documents = [documents]
    if not isinstance(documents, list | dict):
        raise ValueError(f"{place}: documents {shown_json(documents)}; wanted a list of document ids")
    ids = [one.get("doc_id") if isinstance(one, dict) else one for one in documents]
    return KeyAnswer(_plain(text, place), frozenset(_plain(one, f"{place}: documents") for one in ids))


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


def _one_of(row: FileRow, name: str, known: Sequence[str], faults: list[Fault] | None = None) -> str:
    """A word of a small vocabulary, the first without one; with `faults` the last instead of an unknown one."""
    value = row.fields.get(name)
    # A label that a model left blank is as unknown as a wrong one.
    found = known[0] if value is None or (value == "" and faults is None) else str(value).strip().lower()
    if found in known:
        return found
    if faults is None:
        raise ValueError(f"{row.place}: {name} {shown_json(value)}; wanted {' or '.join(known)}")
    message = f"{name} {shown_json(value)} is neither {' nor '.join(known)}; read as {known[-1]}"
    faults.append(Fault(row.place, f"unknown {name}", message, stops=False))
    return known[-1]
