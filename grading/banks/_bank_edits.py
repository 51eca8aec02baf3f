"""Editing a question bank with history: an append-only log beside the bank, and the bank that results from it.

An edit records a question before and after it; a retired question keeps its place and can be restored. Edits are never
removed: an undo is an edit that reverses the last edit of its question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from examcore import JsonRecord, json_kind, locked_log, read_log, shown_json
from grading._file_rows import FileRow
from grading._printing import counted_notes
from grading._records import BankQuestion, QuestionKey
from grading.formats._bank_files import bank_fields, question_of

Action = Literal["add", "change", "retire", "restore", "undo"]
LONGEST = 100
"""Characters of a value in the history."""
ACTIONS: tuple[Action, ...] = get_args(Action)


@dataclass(frozen=True)
class EditedQuestion:
    """A question after some edits, and whether it is retired."""

    question: BankQuestion
    retired: bool = False

    def record(self) -> dict[str, object]:
        """The fields of the question, and whether it is retired."""
        return {**bank_fields(self.question), "retired": self.retired}


@dataclass(frozen=True)
class BankEdit:
    """One line of the log: the `number`-th edit; `before` or `after` is None if the question did not exist.

    `undoes` is the number of the edit that an undo reverses; `who`, `when` and `why` are remarks of the editor.
    """

    number: int
    action: Action
    query: str
    id: str
    before: EditedQuestion | None
    after: EditedQuestion | None
    undoes: int | None = None
    who: str = ""
    when: str = ""
    why: str = ""

    @property
    def name(self) -> QuestionKey:
        """The query and id of the question."""
        return (self.query, self.id)

    def record(self) -> dict[str, object]:
        """The fields of a line of the log."""
        head = {name: getattr(self, name) for name in ("number", "action", "query", "id")}
        remarks = {name: value for name in ("who", "when", "why") if (value := getattr(self, name))}
        undoes = {} if self.undoes is None else {"undoes": self.undoes}
        return {**head, **undoes, **remarks, "before": self.before, "after": self.after}

    def __str__(self) -> str:
        """One line of the history: number, time, what was done to which question, what changed, who and why."""
        what = f"undo of {self.undoes}" if self.undoes is not None else self.action
        parts = [self.when, what, f"{self.query}/{self.id}", self._difference(), self.who, self.why and f"({self.why})"]
        return f"{self.number:>4}  " + "  ".join(filter(None, parts))

    def _difference(self) -> str:
        if self.before is None or self.after is None:
            state = self.after or self.before
            return _short(state.question.question) if state else ""
        before, after = bank_fields(self.before.question), bank_fields(self.after.question)
        return ", ".join(
            f"{name}: {_short(before[name])} -> {_short(after[name])}" for name in after if before[name] != after[name]
        )


@dataclass(frozen=True)
class EditingResult:
    """What editing made of a bank of so many questions; with `history` all edits of its log are told of.

    `out` is the edited bank, which is not written where nothing but the history is wanted.
    """

    log: Path
    out: Path
    n_before: int
    states: Mapping[QuestionKey, EditedQuestion]
    edits: Sequence[BankEdit]
    made: Sequence[BankEdit]
    history: bool

    @property
    def retired(self) -> int:
        """How many questions are retired."""
        return sum(one.retired for one in self.states.values())

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "log": self.log,
            "out": self.out,
            "n_before": self.n_before,
            "n": len(self.states) - self.retired,
            "retired": self.retired,
            "n_edits": len(self.edits),
            "made": self.made,
            **({"history": self.edits} if self.history else {}),
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        lines = list(map(str, self.edits if self.history else self.made))
        if self.history and not lines:
            lines = [f"{self.log}: no edits"]
        if self.made or not self.history:
            counts = f"{self.n_before} before any edit, {self.retired} retired, {len(self.edits)} edits"
            lines.append(f"{self.out}: {len(self.states) - self.retired} questions ({counts})")
        new = sum(one.action in ("add", "change") for one in self.made)
        return lines + counted_notes({"questions are new or changed and have no grades yet": new})


def read_edits(path: str | Path) -> list[BankEdit]:
    """Read a log, except a last line that a crash left unfinished; a missing file has no edits.

    Raises `ValueError` (file:line, found, wanted) for a line that is not an edit.
    """
    return [_edit_of(record) for record in read_log(path).records]


def edited(bank: Sequence[BankQuestion], edits: Sequence[BankEdit]) -> tuple[BankQuestion, ...]:
    """The bank after its edits, without retired questions, added questions last.

    Raises `ValueError` for an edit of another version of a question.
    """
    return tuple(one.question for one in states(bank, edits).values() if not one.retired)


def record(
    log: str | Path,
    bank: Sequence[BankQuestion],
    action: Action,
    question: BankQuestion,
    *,
    who: str = "",
    when: str = "",
    why: str = "",
) -> BankEdit:
    """Add an edit of `question` to the log and return the edit.

    `add` and `change` store `question`; `retire`, `restore` and `undo` use only its query and id. Raises `ValueError`,
    and writes nothing, for an edit that is not possible, such as retiring a question that is not in the bank.
    """
    with locked_log(log) as pen:
        edits = read_edits(log)
        name = (question.query, question.id)
        before = states(bank, edits).get(name)
        undone = last_edit(edits, name) if action == "undo" else None
        if action == "undo" and undone is None:
            raise ValueError(f"{_shown(question)}: has no edit to undo; wanted a question that was edited")
        after = undone.before if undone else _after(action, before, question)
        number = edits[-1].number + 1 if edits else 1
        undoes = undone.number if undone else None
        made = BankEdit(number, action, *name, before, after, undoes, who=who, when=when, why=why)
        pen.append(made.record())
    return made


def last_edit(edits: Sequence[BankEdit], name: QuestionKey | None = None) -> BankEdit | None:
    """The last edit, of one question if `name` is given, that is not an undo and has not been undone."""
    undone = {one.undoes for one in edits}
    left = (one for one in reversed(edits) if one.action != "undo" and one.number not in undone)
    return next((one for one in left if name in (None, one.name)), None)


def states(bank: Sequence[BankQuestion], edits: Sequence[BankEdit]) -> dict[QuestionKey, EditedQuestion]:
    """Every question after the edits, retired ones included, by query and id; raises `ValueError` as `edited`."""
    found = {(one.query, one.id): EditedQuestion(one) for one in bank}
    for edit in edits:
        if found.get(edit.name) != edit.before:
            raise ValueError(
                f"edit {edit.number} of question {edit.id!r}: was made of another version of the question; "
                "wanted the bank that the log belongs to"
            )
        if edit.after is None:
            del found[edit.name]
        else:
            found[edit.name] = edit.after
    return found


def _after(action: Action, before: EditedQuestion | None, question: BankQuestion) -> EditedQuestion:
    if action == "add":
        if before is not None:
            raise ValueError(f"{_shown(question)}: is already in the bank; wanted another id, or change or restore")
        return EditedQuestion(question)
    if before is None:
        raise ValueError(f"{_shown(question)}: is not in the bank; wanted one that is, to {action} it")
    if before.retired == (action != "restore"):
        found, wanted = ("retired", "restore it first") if before.retired else ("not retired", "a retired question")
        raise ValueError(f"{_shown(question)}: is {found}; wanted {wanted}")
    if action == "change":
        if question == before.question:
            raise ValueError(f"{_shown(question)}: the change has no effect; wanted another value")
        return EditedQuestion(question)
    return replace(before, retired=action == "retire")


def _shown(question: BankQuestion) -> str:
    return f"question {question.id!r} of query {question.query!r}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _edit_of(found: JsonRecord) -> BankEdit:
    fields, place = found.fields, found.place
    number, undoes = fields.get("number"), fields.get("undoes")
    for name, value in (("number", number), ("undoes", 0 if undoes is None else undoes)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{place}: {name} {shown_json(value)}; wanted a whole number")
    if fields.get("action") not in ACTIONS:
        raise ValueError(f"{place}: action {shown_json(fields.get('action'))}; wanted one of {', '.join(ACTIONS)}")
    texts = {name: fields.get(name, "") for name in ("query", "id", "who", "when", "why")}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise ValueError(f"{place}: {name} is JSON {json_kind(value)}; wanted a string")
    return BankEdit(
        number=cast(int, number),
        action=cast(Action, fields["action"]),
        before=_state_of(fields.get("before"), place),
        after=_state_of(fields.get("after"), place),
        undoes=cast("int | None", undoes),
        **cast("Mapping[str, str]", texts),
    )


def _state_of(value: object, place: str) -> EditedQuestion | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("retired"), bool):
        raise ValueError(f"{place}: before or after is JSON {json_kind(value)}; wanted a question with `retired`")
    return EditedQuestion(question_of(FileRow(place, value)), bool(value["retired"]))
