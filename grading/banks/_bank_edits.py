"""A question bank edited with history: an append-only log beside the bank, and the bank that it makes.

An edit says what stood before and what stands after; a retired question keeps its place and can be restored. Edits are
only ever added: an undo is an edit that turns the last one of its question round (`examcore._file_writing`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from examcore import JsonRecord, json_kind, locked_log, read_log, shown_json
from grading._records import BankQuestion
from grading._table_rows import FileRow
from grading.formats._bank_files import bank_fields, question_of

Action = Literal["add", "change", "retire", "restore", "undo"]
ACTIONS: tuple[Action, ...] = ("add", "change", "retire", "restore", "undo")
Name = tuple[str, str]
"""The query and id of a question."""


@dataclass(frozen=True)
class EditedQuestion:
    """A question as it stands, and whether it is retired."""

    question: BankQuestion
    retired: bool = False


@dataclass(frozen=True)
class BankEdit:
    """One line of the log: the `number`-th edit; `before` and `after` are None where nothing stood or stands.

    `undoes` is the number of the edit that an undo turns round; `who`, `when` and `why` are the editor's to say.
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
    def name(self) -> Name:
        """The question's query and id."""
        return (self.query, self.id)

    @property
    def fields(self) -> dict[str, object]:
        """The fields of a line of the log."""
        head = {name: getattr(self, name) for name in ("number", "action", "query", "id")}
        said = {name: value for name in ("who", "when", "why") if (value := getattr(self, name))}
        undoes = {} if self.undoes is None else {"undoes": self.undoes}
        return {**head, **undoes, **said, "before": _state_fields(self.before), "after": _state_fields(self.after)}


def read_edits(path: str | Path) -> list[BankEdit]:
    """Read a log, without a last line that a crash left unfinished; no file is no edits.

    Raises `ValueError` (file:line, found, wanted) for a line that is no edit.
    """
    return [_edit_of(record) for record in read_log(path).records]


def edited(bank: Sequence[BankQuestion], edits: Sequence[BankEdit]) -> tuple[BankQuestion, ...]:
    """The bank after its edits: without retired questions, added ones last.

    Raises `ValueError` for an edit that was made of something else than what stands.
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
    """Add an edit of `question` (by its query and id) to the log and return it.

    `add` and `change` make it what is given; `retire`, `restore` and `undo` look at its query and id only. Raises
    `ValueError`, and writes nothing, for an edit that what stands does not allow.
    """
    with locked_log(log) as pen:
        edits = read_edits(log)
        name = (question.query, question.id)
        stands = states(bank, edits).get(name)
        undone = _last(edits, name) if action == "undo" else None
        after = undone.before if undone else _after(action, stands, question)
        number = edits[-1].number + 1 if edits else 1
        made = BankEdit(
            number, action, *name, stands, after, undone.number if undone else None, who=who, when=when, why=why
        )
        pen.append(made.fields)
    return made


def states(bank: Sequence[BankQuestion], edits: Sequence[BankEdit]) -> dict[Name, EditedQuestion]:
    """Every question after the edits, retired ones too, by query and id; raises `ValueError` as `edited`."""
    found = {(one.query, one.id): EditedQuestion(one) for one in bank}
    for edit in edits:
        if found.get(edit.name) != edit.before:
            raise ValueError(
                f"edit {edit.number} of question {edit.id!r}: was made of another version of the question; "
                "wanted the bank that the log was begun with"
            )
        if edit.after is None:
            del found[edit.name]
        else:
            found[edit.name] = edit.after
    return found


def _after(action: Action, stands: EditedQuestion | None, question: BankQuestion) -> EditedQuestion:
    if action == "add":
        if stands is not None:
            raise ValueError(f"{_shown(question)}: stands in the bank already; wanted another id, or change or restore")
        return EditedQuestion(question)
    if stands is None:
        raise ValueError(f"{_shown(question)}: does not stand in the bank; wanted one that does, to {action} it")
    if stands.retired == (action != "restore"):
        found, wanted = ("retired", "restore it first") if stands.retired else ("not retired", "a retired one")
        raise ValueError(f"{_shown(question)}: is {found}; wanted {wanted}")
    if action == "change":
        if question == stands.question:
            raise ValueError(f"{_shown(question)}: the change changes nothing; wanted something else")
        return EditedQuestion(question)
    return replace(stands, retired=action == "retire")


def _last(edits: Sequence[BankEdit], name: Name) -> BankEdit:
    """The last edit of a question that no undo has turned round."""
    undone = {one.undoes for one in edits}
    mine = [one for one in edits if one.name == name and one.action != "undo" and one.number not in undone]
    if not mine:
        raise ValueError(f"question {name[1]!r} of query {name[0]!r}: no edit to undo; wanted one that was edited")
    return mine[-1]


def _shown(question: BankQuestion) -> str:
    return f"question {question.id!r} of query {question.query!r}"


def _state_fields(state: EditedQuestion | None) -> dict[str, object] | None:
    return None if state is None else {**bank_fields(state.question), "retired": state.retired}


def _edit_of(found: JsonRecord) -> BankEdit:
    given, place = found.fields, found.place
    number, undoes = given.get("number"), given.get("undoes")
    for name, value in (("number", number), ("undoes", 0 if undoes is None else undoes)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{place}: {name} {shown_json(value)}; wanted a whole number")
    if given.get("action") not in ACTIONS:
        raise ValueError(f"{place}: action {shown_json(given.get('action'))}; wanted one of {', '.join(ACTIONS)}")
    texts = {name: given.get(name, "") for name in ("query", "id", "who", "when", "why")}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise ValueError(f"{place}: {name} is JSON {json_kind(value)}; wanted a string")
    return BankEdit(
        number=cast(int, number),
        action=cast(Action, given["action"]),
        before=_state_of(given.get("before"), place),
        after=_state_of(given.get("after"), place),
        undoes=cast("int | None", undoes),
        **cast("Mapping[str, str]", texts),
    )


def _state_of(value: object, place: str) -> EditedQuestion | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("retired"), bool):
        raise ValueError(f"{place}: before or after is JSON {json_kind(value)}; wanted a question with `retired`")
    return EditedQuestion(question_of(FileRow(place, value)), bool(value["retired"]))
