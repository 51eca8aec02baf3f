"""A reader's decisions about questions, one line each of the append-only log `edits.jsonl`.

A decision is an `Edit`: it names a question and says what stood before and what stands after. Edits are only ever
added; an undo is an edit that turns the last one of its question round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from examcore import JsonRecord, json_kind, read_log, shown_json

ACTIONS = ("accept", "edit", "retire", "restore", "undo")
CONTENT = ("question", "choices", "answer")
"""The fields an edit may change; the passage is evidence and stays."""
Fields = Mapping[str, object]
"""Some fields of what stands: `question`, `choices`, `answer`, `reason`, `read`."""


@dataclass(frozen=True)
class Edit:
    """One line of the log: the `number`-th decision; `before` and `after` hold the fields that it changes."""

    number: int
    time: str
    question: str
    action: str
    before: Fields
    after: Fields
    undoes: int | None = None

    @property
    def fields(self) -> dict[str, object]:
        """The fields of an `edits.jsonl` line."""
        undoes = {} if self.undoes is None else {"undoes": self.undoes}
        head = {"number": self.number, "time": self.time, "question": self.question, "action": self.action}
        return {**head, **undoes, "before": self.before, "after": self.after}


def read_edits(path: str | Path) -> list[Edit]:
    """Read `edits.jsonl`, without a last line that a crash left unfinished; no file is no edits."""
    return [edit_of(record) for record in read_log(path).records]


def edit_of(record: JsonRecord) -> Edit:
    """The edit of a line of the log; `ValueError` (file:line, found, wanted) for another line."""
    given = record.fields
    for name, types in _TYPES.items():
        value = given.get(name)
        if not isinstance(value, types) or isinstance(value, bool):
            raise ValueError(f"{record.place}: {name} is JSON {json_kind(value)}; wanted {_WANTED[types]}")
    if given["action"] not in ACTIONS:
        raise ValueError(f"{record.place}: action is {shown_json(given['action'])}; wanted one of {', '.join(ACTIONS)}")
    values: dict[str, object] = {name: given[name] for name in _TYPES}
    undoes = given.get("undoes")
    if (given["action"] == "undo") != isinstance(undoes, int):
        raise ValueError(f"{record.place}: undoes is {shown_json(undoes)}; wanted the number of an edit, for undo only")
    return Edit(**values, undoes=undoes)  # type: ignore[arg-type]


_TYPES: Mapping[str, type] = {"number": int, "time": str, "question": str, "action": str, "before": dict, "after": dict}
_WANTED: Mapping[type, str] = {int: "a whole number", str: "a string", dict: "an object"}
_CHANGES: Mapping[str, frozenset[str]] = {
    "accept": frozenset({"read"}),
    "edit": frozenset({*CONTENT, "read"}),
    "retire": frozenset({"reason", "read"}),
    "restore": frozenset({"reason", "read"}),
}


def check_change(edit: Edit, where: str) -> None:
    """Fields and types that an action may change; the log may come from any program."""
    unknown = [name for name in {*edit.before, *edit.after} if name not in _CHANGES[edit.action]]
    if unknown or set(edit.before) != set(edit.after):
        wanted = ", ".join(sorted(_CHANGES[edit.action]))
        raise ValueError(f"{where}: {edit.action} changes {', '.join(sorted(edit.after))}; wanted some of {wanted}")
    types = {"question": str, "answer": int, "read": bool, "choices": list}
    for name, value in edit.after.items():
        if name in types and type(value) is not types[name]:
            raise ValueError(f"{where}: {name} is JSON {json_kind(value)}; wanted {types[name].__name__}")
    choices = edit.after.get("choices", [])
    if isinstance(choices, list) and not all(isinstance(choice, str) for choice in choices):
        raise ValueError(f"{where}: choices hold something else; wanted strings")
    if "reason" in edit.after and (edit.after["reason"] is None) != (edit.action == "restore"):
        raise ValueError(
            f"{where}: reason is {shown_json(edit.after['reason'])}; wanted none to restore, some to retire"
        )
