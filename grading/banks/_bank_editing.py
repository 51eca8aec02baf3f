"""Editing the bank of a file: one edit more in the log beside it, and the bank that the log makes.

The log is `NAME.edits.jsonl` and the edited bank `NAME.edited.jsonl` (or `out`), both beside `NAME.jsonl`.
Nothing is written for several edits at once, values without a change, and an edit that what stands does not allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from examcore import shown_json
from grading._file_rows import FileRow
from grading._records import BankQuestion, QuestionKey
from grading.banks._bank_edits import (
    ACTIONS,
    Action,
    BankEdit,
    EditedQuestion,
    EditingResult,
    edited,
    last_edit,
    read_edits,
    record,
    states,
)
from grading.formats._bank_files import bank_fields, divided, question_of, read_bank, write_bank

FIELDS = ("question", "answers", "combine", "importance", "subtopic")
"""What `--change` can set; an id and its query are what edits are known by."""


@dataclass(frozen=True)
class EditOptions:
    """One edit of a bank, and what its log says of it."""

    add: Annotated[Path | None, typer.Option(metavar="FILE", help="Add the questions of a bank.")] = None
    change: Annotated[str | None, typer.Option(metavar="ID", help="Change fields of a question.")] = None
    retire: Annotated[str | None, typer.Option(metavar="ID", help="Take a question out.")] = None
    restore: Annotated[str | None, typer.Option(metavar="ID", help="Put it back.")] = None
    undo: Annotated[bool, typer.Option("--undo", help="Turn the last edit round.")] = False
    query: Annotated[str | None, typer.Option(help="The question's query, where several have the id.")] = None
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = ""
    who: Annotated[str, typer.Option(help="Who edits, for the log.")] = ""


def edit_bank(
    bank: Path, edit: EditOptions, values: Sequence[str], out: Path | None, *, history: bool
) -> EditingResult:
    """Add an edit to the log, if there is one, and write the edited bank; `values` are `FIELD=VALUE` of a change."""
    action = _action(edit, values)
    name = bank.name.removesuffix(".gz").rpartition(".")[0] or bank.name
    log = bank.with_name(f"{name}.edits.jsonl")
    target = out or bank.with_name(f"{name}.edited.jsonl")
    _require_original(bank, name, target)
    questions = read_bank(bank)
    made = [] if action is None else _made(log, questions, action, edit, values)
    edits = read_edits(log)
    stand = states(questions, edits)
    if made or not history:
        write_bank(target, edited(questions, edits))
    return EditingResult(log, target, len(questions), stand, edits, made, history)


def _action(edit: EditOptions, values: Sequence[str]) -> Action | None:
    wanted = [one for one in ACTIONS if getattr(edit, one) not in (None, False)]
    if len(wanted) > 1:
        raise ValueError(f"--{' and --'.join(wanted)}: found together; wanted one edit at a time")
    if values and edit.change is None:
        raise ValueError(f"{values[0]}: found without --change; wanted --change ID FIELD=VALUE")
    if edit.change is not None and not values:
        raise ValueError(f"--change {edit.change}: no value; wanted FIELD=VALUE with {' or '.join(FIELDS)}")
    return wanted[0] if wanted else None


def _require_original(bank: Path, name: str, target: Path) -> None:
    first = name.removesuffix(".edited")
    if first != name and bank.with_name(f"{first}.edits.jsonl").is_file():
        raise ValueError(f"{bank}: is made of another bank and its edits; wanted that bank, {first}.jsonl")
    if target.resolve() == bank.resolve():
        raise ValueError(f"{target}: is the bank itself, which edits leave as it is; wanted another --out")


def _made(
    log: Path, bank: Sequence[BankQuestion], action: Action, edit: EditOptions, values: Sequence[str]
) -> list[BankEdit]:
    """Add the edit of each question that it concerns to the log."""
    edits = read_edits(log)
    stand = states(bank, edits)
    questions: Sequence[BankQuestion]
    if edit.add is not None:
        questions = _new(edit.add, stand)
    elif action == "undo":
        last = last_edit(edits)
        if last is None:
            raise ValueError(f"{log}: no edit to undo; wanted one")
        questions = [BankQuestion(last.id, last.query, "")]
    else:
        question = stand[_named(edit.change or edit.retire or edit.restore or "", stand, edit.query)].question
        questions = [_changed(question, values) if action == "change" else question]
    when = datetime.now(UTC).isoformat(timespec="seconds")
    return [record(log, bank, action, one, who=edit.who, when=when, why=edit.reason) for one in questions]


def _new(path: Path, stand: Mapping[QuestionKey, EditedQuestion]) -> Sequence[BankQuestion]:
    """All questions of the file, or none: the first that stands already is refused before any is written."""
    found = read_bank(path)
    twice = next((one for one in found if (one.query, one.id) in stand), None)
    if twice is not None:
        raise ValueError(
            f"{path}: question {twice.id!r} of query {twice.query!r} stands in the bank already; wanted another id, "
            "or --change or --restore"
        )
    return found


def _named(wanted: str, stand: Mapping[QuestionKey, EditedQuestion], query: str | None) -> QuestionKey:
    found = [name for name in stand if name[1] == wanted and query in (None, name[0])]
    if not found:
        of = "" if query is None else f" of query {query!r}"
        raise ValueError(f"question {wanted!r}{of}: does not stand in the bank; wanted one that does")
    if len(found) > 1:
        queries = ", ".join(repr(name[0]) for name in found[:3])
        raise ValueError(f"question {wanted!r}: stands in {len(found)} queries ({queries} …); wanted --query")
    return found[0]


def _changed(question: BankQuestion, values: Sequence[str]) -> BankQuestion:
    fields = bank_fields(question)
    for one in values:
        name, found, value = one.partition("=")
        if not found or name not in FIELDS:
            raise ValueError(f"{shown_json(one)}: found in --change; wanted FIELD=VALUE with {' or '.join(FIELDS)}")
        fields[name] = divided(value, f"--change {question.id}") if name == "answers" else value
    if not str(fields["question"]).strip():
        raise ValueError(f"--change {question.id}: question is blank; wanted its words")
    return question_of(FileRow(f"--change {question.id}", fields))
