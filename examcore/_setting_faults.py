"""The first mistake in a mapping of settings that pydantic has refused, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

if TYPE_CHECKING:  # the command line answers `--help` without it
    from pydantic import ValidationError

WANTED = {
    "string_type": "text",
    "string_too_short": "text",
    "bool_type": "true or false",
    "tuple_type": "a list with at least one entry",
}
"""What is wanted, by pydantic's name of the mistake; else its message tells."""
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
"""Pydantic's names for a setting that a model or a dataclass does not have."""
NO_GROUP = ("model_type", "dataclass_type")
"""Pydantic's names for a value in the place of a group of settings."""


class SettingFault(NamedTuple):
    """Where a mistake stands in a mapping of settings, and the line on it: `llms.0.model: 3; wanted text`."""

    where: tuple[str | int, ...]
    line: str


def first_setting_fault(error: ValidationError, kind: type) -> SettingFault:
    """The first mistake in settings of a `kind`. Values of servers, which may hold a key, are not shown."""
    first = error.errors()[0]
    where, given = first["loc"], first["input"]
    name = ".".join(map(str, where))
    if first["type"] in UNKNOWN:
        return SettingFault(where, f"unknown setting {name!r}; {_known(name, kind)}")
    if first["type"] == "missing":
        return SettingFault(where, f"no setting {name!r}; wanted a value for it")
    before = f"{name}: " if name else ""
    if first["type"] in NO_GROUP:
        return SettingFault(where, f"{before}{type(given).__name__}; wanted a mapping of settings")
    message = first["msg"].removeprefix("Value error, ")
    # A group's own message begins with its name, which stands before it here.
    message = message.removeprefix(f"{where[-1]}: ") if where else message
    entry = _entry(given, message)
    if entry and message.startswith((f"{entry[0]} is ", f"{entry[0]}: ")):
        return SettingFault((*where, *entry), f"{name}.{message}" if name else message)
    if first["type"] != "value_error":
        message = f"wanted {WANTED.get(first['type']) or _wanted(message)}"
    # Our own messages say what was found, unless they begin with what is wanted: an address may hold a password.
    whole_group = isinstance(given, dict) or _is_group(type(given))
    shown = message.startswith("wanted") and "server" not in where and not whole_group
    return SettingFault((*where, *entry), f"{before}{f'{given!r}; ' if shown else ''}{message}")


def _wanted(message: str) -> str:
    """What pydantic's message asks for: `Input should be a valid integer, unable to …` wants a valid integer."""
    return message.removeprefix("Input should be ").partition(", unable")[0]


def _entry(group: object, message: str) -> tuple[str | int, ...]:
    """The entry of a group that a message is about: the one it begins with, or the first it quotes."""
    match = re.match(r"([\w-]+)(?: is |: )", message) or re.search(r"'([^']+)'", message)
    if match is None or not isinstance(group, dict):
        return ()
    if match[1] in group:
        return (match[1],)
    listed = (
        (name, value.index(match[1])) for name, value in group.items() if isinstance(value, list) and match[1] in value
    )
    return next(listed, ())


def _known(name: str, kind: type) -> str:
    """The setting that was meant: one of the same last name in another group, else the one spelt most alike, else all.

    Numbers of list entries are no part of a setting's name.
    """
    parents = [part for part in name.split(".")[:-1] if not part.isdecimal()]
    last = name.rpartition(".")[2]
    names = list(dict.fromkeys(_names(kind)))
    same = [one for one in names if one.rpartition(".")[2] == last]
    if meant := [*same, *get_close_matches(".".join([*parents, last]), names, 1, 0.75)]:
        return f"did you mean {meant[0]}?"
    beside = [one.rpartition(".")[2] for one in names if one.split(".")[:-1] == parents]
    return f"wanted {', '.join(beside)}"


def _names(kind: Any, before: str = "") -> Iterator[str]:
    """The dotted names of all settings below a group."""
    for one in get_args(kind):
        yield from _names(one, before)
    if _is_group(kind):
        hints = get_type_hints(kind)
        for name in getattr(kind, "model_fields", None) or [one.name for one in fields(kind)]:
            yield f"{before}{name}"
            yield from _names(hints[name], f"{before}{name}.")


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and (hasattr(kind, "model_fields") or is_dataclass(kind))
