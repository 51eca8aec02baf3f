"""The JSON-lines files of a run: `corpus.jsonl`, `chunks.jsonl`, `exam.jsonl` and `dropped.jsonl`.

Every line is one object and carries `format`, the version it was written in; a line without it is read as the
current one. Files are written whole or not at all: beside the target first, then moved over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from examcore._file_writing import read_records, write_lines
from examcore._jsonl import JsonRecord, shown_json
from examcore._languages import ENGLISH, LANGUAGES
from examcore._records import STEM, Chunk, Document, Dropped, Exam, Query, Question

_Object = dict[str, object]
_FURTHER = ("document_id", "chunk_id", "topic", "context", "labels", "metadata")
_Identified = TypeVar("_Identified", Document, Chunk, Question)


def write_documents(path: str | Path, documents: Iterable[Document]) -> None:
    """Write `corpus.jsonl`: `id, title, text, source, topic, date` per line; `language` if not English."""
    write_lines(path, map(_without_english, documents))


def read_documents(path: str | Path) -> list[Document]:
    """Read `corpus.jsonl`; `ValueError` (file:line, found, wanted) for bad lines and ids that stand twice."""
    return unique_ids(
        (
            record.place,
            Document(
                **_required(record, "id text"),
                **_optional(record, "title source topic date"),
                language=_language(record),
            ),
        )
        for record in read_records(path)
    )


def write_chunks(path: str | Path, chunks: Iterable[Chunk]) -> None:
    """Write `chunks.jsonl`: `id, document_id, text, start, end, title, topic` per line; `language` if not English."""
    write_lines(path, map(_without_english, chunks))


def read_chunks(path: str | Path) -> list[Chunk]:
    """Read `chunks.jsonl`; `ValueError` (file:line, found, wanted) for bad lines and ids that stand twice."""
    return unique_ids((record.place, _chunk(record)) for record in read_records(path))


def write_exam(path: str | Path, exam: Exam | Iterable[Question]) -> None:
    """Write `exam.jsonl`: `id, question, choices, answer` (index), where from, context, labels, metadata per line.

    `queries`, an object from kind to texts, is written where a question has some.
    """
    questions = exam.questions if isinstance(exam, Exam) else exam
    write_lines(path, map(question_fields, questions))


def read_exam(path: str | Path) -> Exam:
    """Read `exam.jsonl` as one exam.

    Raises `ValueError` (file:line, found, wanted) for malformed JSON, a missing or wrong field, fewer than two or equal
    choices, an answer outside the choices, an id that stands twice and an exam without questions.
    """
    placed = [(record.place, question_of(record)) for record in read_records(path)]
    for place, question in placed:
        check_choices(question.choices, place)
    return Exam(tuple(_some(path, placed)))


def read_pool(path: str | Path) -> tuple[Question, ...]:
    """The questions set aside as examples; a run without a pool has an empty file or none."""
    found = Path(path)
    return read_exam(found).questions if found.is_file() and found.stat().st_size else ()


def read_questions(path: str | Path) -> list[Question]:
    """Read the questions of an `exam.jsonl` as they are, blank and equal choices too, which filters are for.

    Raises `ValueError` as `read_exam` does for everything else.
    """
    return _some(path, [(record.place, question_of(record)) for record in read_records(path)])


def write_dropped(path: str | Path, dropped: Iterable[Dropped]) -> None:
    """Write `dropped.jsonl`: the fields of `exam.jsonl` as far as known, plus `reason` and `raw`."""
    write_lines(path, map(_dropped_fields, dropped))


def read_dropped(path: str | Path) -> list[Dropped]:
    """Read `dropped.jsonl`; a dropped question may have equal choices or any other fault of content."""
    return [
        Dropped(
            **_required(record, "reason"),
            **_optional(record, "raw chunk_id"),
            question=None if record.fields.get("question") is None else question_of(record),
        )
        for record in read_records(path)
    ]


def question_fields(question: Question) -> _Object:
    """The fields of an `exam.jsonl` line."""
    queries: dict[str, list[str]] = {}
    for one in question.queries:
        queries.setdefault(one.kind, []).append(one.text)
    return {
        "id": question.id,
        "question": question.stem,
        "choices": list(question.choices),
        "answer": question.key,
        **{name: getattr(question, name) for name in _FURTHER},
        **({"queries": queries} if queries else {}),
    }


def question_of(record: JsonRecord) -> Question:
    """The question of an `exam.jsonl` line; checks types and the answer's range, not the choices' content."""
    choices = _strings(record.fields.get("choices"), record, "choices")
    key = _integer(record, "answer", "the index of a choice")
    if not 0 <= key < len(choices):
        raise ValueError(f"{record.place}: answer is {key}; wanted an index from 0 to {len(choices) - 1}")
    labels = _mapping(record, "labels")
    return Question(
        id=_string(record, "id"),
        stem=_string(record, "question"),
        choices=choices,
        key=key,
        **_optional(record, "document_id chunk_id topic context"),
        labels={name: _strings(value, record, f"labels.{name}") for name, value in labels.items()},
        metadata=_mapping(record, "metadata"),
        queries=tuple(
            Query(kind, text)
            for kind, texts in _mapping(record, "queries").items()
            for text in _query_texts(kind, texts, record)
        ),
    )


def _query_texts(kind: str, texts: object, record: JsonRecord) -> tuple[str, ...]:
    found = _strings(texts, record, f"queries.{kind}")
    if kind in ("", STEM) or not found or not all(one.strip() for one in found):
        raise ValueError(
            f"{record.place}: queries.{kind} is {shown_json(texts)}; wanted texts of a kind other than stem"
        )
    return found


def check_choices(choices: Sequence[str], place: str) -> None:
    """Refuse what no exam may ask: fewer than two choices, a blank one, two equal ones; `place` begins the error."""
    if len(choices) < 2:
        raise ValueError(f"{place}: choices are {len(choices)}; wanted at least 2")
    for number, choice in enumerate(choices):
        if not choice.strip():
            raise ValueError(f"{place}: choice {number} is blank; wanted some text")
        if choice in choices[:number]:
            raise ValueError(f"{place}: choice {shown_json(choice)} stands twice; wanted distinct choices")


def _dropped_fields(dropped: Dropped) -> _Object:
    question = dropped.question
    fields = question_fields(question) if question else dict.fromkeys(("id", "question", "choices", "answer"))
    chunk_id = dropped.chunk_id or (question.chunk_id if question else "")
    return {**fields, "chunk_id": chunk_id, "reason": dropped.reason, "raw": dropped.raw}


def unique_ids(placed: Iterable[tuple[str, _Identified]]) -> list[_Identified]:
    """The records without their places; `ValueError` for an id that stands twice."""
    places: dict[str, str] = {}
    found: list[_Identified] = []
    for place, one in placed:
        if one.id in places:
            raise ValueError(f"{place}: id {one.id!r} already stands at {places[one.id]}; wanted unique ids")
        places[one.id] = place
        found.append(one)
    return found


def _chunk(record: JsonRecord) -> Chunk:
    start, end = (_integer(record, name) for name in ("start", "end"))
    text = _string(record, "text")
    if start < 0 or end - start != len(text):
        raise ValueError(
            f"{record.place}: start {start} and end {end} span {end - start}; wanted {len(text)} characters"
        )
    named = _required(record, "id document_id") | _optional(record, "title topic")
    return Chunk(**named, text=text, start=start, end=end, language=_language(record))


def _without_english(one: Document | Chunk) -> _Object:
    """The fields of a document or chunk; English is what a line without a language is in."""
    return {name: value for name, value in vars(one).items() if name != "language" or value != ENGLISH}


def _language(record: JsonRecord) -> str:
    code = _string(record, "language", ENGLISH)
    if code not in LANGUAGES:
        raise ValueError(f"{record.place}: language is {code!r}; wanted a code such as en, de or fr")
    return code


def _some(path: str | Path, placed: Sequence[tuple[str, Question]]) -> list[Question]:
    if not placed:
        raise ValueError(f"{path}: the exam is empty; wanted at least one question")
    return unique_ids(placed)


def _string(record: JsonRecord, name: str, default: str | None = None) -> str:
    value = record.fields.get(name)
    if value is None and default is not None:
        return default
    if name not in record.fields:
        raise ValueError(f"{record.place}: no field {name!r}; wanted {name!r}")
    if not isinstance(value, str) or (default is None and not value):
        raise ValueError(f"{record.place}: {name} is {shown_json(value)}; wanted a string that is not empty")
    return value


def _required(record: JsonRecord, names: str) -> dict[str, str]:
    return {name: _string(record, name) for name in names.split()}


def _optional(record: JsonRecord, names: str) -> dict[str, str]:
    return {name: _string(record, name, "") for name in names.split()}


def _integer(record: JsonRecord, name: str, wanted: str = "a whole number") -> int:
    value = record.fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{record.place}: {name} is {shown_json(value)}; wanted {wanted}")
    return value


def _strings(value: object, record: JsonRecord, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{record.place}: {name} is {shown_json(value)}; wanted a list of strings")
    return tuple(value)


def _mapping(record: JsonRecord, name: str) -> dict[str, object]:
    value = record.fields.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{record.place}: {name} is {shown_json(value)}; wanted an object")
    return value
