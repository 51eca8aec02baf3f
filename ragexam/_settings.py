"""Reading a YAML configuration into checked settings, with the file and line of every mistake."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import yaml
from pydantic import BaseModel, ValidationError

Settings = TypeVar("Settings", bound=BaseModel)
Lines = Mapping[tuple[str | int, ...], int]
"""Where each key stands in its file."""
SettingChanges = Mapping[str, object] | Sequence[str]
"""Values of settings by dotted name, `{"a.b": 1}`; or as `--set` takes them, `["a.b=1"]`, with YAML values."""


def read(path: Path, kind: type[Settings], overrides: SettingChanges = ()) -> Settings:
    """Read and check a configuration file, after the overrides.

    Raises `ValueError` naming file, line, what was found and what was wanted.
    """
    text = _text(path)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(_yaml_fault(path, error)) from None
    if not isinstance(content, dict):
        raise ValueError(f"{path}:1: {type(content).__name__}; wanted a mapping of settings")
    return check(path, content, kind, overrides, _lines(node))


def check(
    source: Path | str,
    content: dict[str, Any],
    kind: type[Settings],
    overrides: SettingChanges = (),
    lines: Lines | None = None,
) -> Settings:
    """Check a mapping of settings from `source`, after the overrides."""
    changes = parsed_overrides(overrides)
    for name, value in changes:
        _override(content, name, value)
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise ValueError(_fault(source, lines, error, [name for name, _ in changes], kind)) from None


def parsed_overrides(overrides: SettingChanges) -> list[tuple[str, object]]:
    """The name and the value of each override."""
    return list(overrides.items()) if isinstance(overrides, Mapping) else [_parsed(one) for one in overrides]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path}: no such file; wanted a YAML configuration (ragexam init writes one)"
        ) from None
    except IsADirectoryError:
        raise ValueError(
            f"{path}: is a folder; wanted a YAML configuration (ragexam init writes one; generate takes folders)"
        ) from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start} is not UTF-8; wanted a YAML configuration") from None


def _yaml_fault(path: Path, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "cannot be read"
    return f"{path}:{mark.line + 1 if mark else 1}: {problem}; wanted YAML"


def _lines(node: yaml.Node | None, at: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], int]:
    """The line, from 1, of every key and list element below a node."""
    found: dict[tuple[str | int, ...], int] = {}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            found[(*at, str(key.value))] = key.start_mark.line + 1
            found.update(_lines(value, (*at, str(key.value))))
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            found[(*at, place)] = value.start_mark.line + 1
            found.update(_lines(value, (*at, place)))
    return found


def _parsed(override: str) -> tuple[str, object]:
    name, equals, value = override.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"--set {override}: no '='; wanted name=value, such as exam.questions=80")
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError:
        raise ValueError(f"--set {override}: {value!r} is not YAML; quote it") from None


def _override(content: dict[str, Any], name: str, value: object) -> None:
    *parents, last = name.split(".")
    place = content
    for parent in parents:
        place = place.setdefault(parent, {})
        if not isinstance(place, dict):
            raise ValueError(f"--set {name}={value}: {parent!r} is not a group of settings; wanted group.name=value")
    place[last] = deepcopy(value)  # a later change of a part leaves the caller's mapping as it is


def _fault(
    source: Path | str, lines: Lines | None, error: ValidationError, given: Sequence[str], kind: type[BaseModel]
) -> str:
    """The first mistake, placed at the nearest line that stands in the file."""
    first = error.errors()[0]
    where = tuple(first["loc"])
    # A group's own message begins with its name, which stands before it here.
    message = first["msg"].removeprefix("Value error, ").removeprefix(f"{where[-1]}: " if where else "")
    inner = _entry(first["input"], message)
    name = ".".join(str(part) for part in where) or "settings"
    place = _place(source, lines, (*where, *inner), given)
    if first["type"] in {"extra_forbidden", "unexpected_keyword_argument"}:
        nearest = _nearest(name, kind)
        hint = f"did you mean {nearest}?" if nearest else "see the names that `ragexam init` writes"
        return f"{place}: unknown setting {name!r}; {hint}"
    if first["type"] == "missing":
        return f"{place}: no setting {name!r}; wanted a value for it"
    if inner and message.startswith((f"{inner[0]} is ", f"{inner[0]}: ")):
        return f"{place}: {name}.{message}"
    # Our own messages say what was found, unless they begin with what is wanted: an address may hold a password.
    complete = first["type"] == "value_error" and not message.startswith("wanted")
    found = "" if complete or isinstance(first["input"], dict | BaseModel) else f"{first['input']!r}; "
    return f"{place}: {name}: {found}{message[:1].lower() + message[1:]}"


def _place(source: Path | str, lines: Lines | None, where: tuple[str | int, ...], given: Sequence[str]) -> str:
    """The override that a mistake came from, else its file and line."""
    name = ".".join(str(part) for part in where) or "settings"
    told = next((one for one in given if f"{name}.".startswith(f"{one}.") or f"{one}.".startswith(f"{name}.")), None)
    if told is not None:
        return f"--set {told}"
    if lines is None:
        return str(source)
    known = next((where[:n] for n in range(len(where), 0, -1) if where[:n] in lines), ())
    return f"{source}:{lines.get(known, 1)}"


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


def _nearest(name: str, kind: type[BaseModel]) -> str | None:
    """The setting that was meant: one of the same last name in another group, else the one spelt most alike."""
    names = list(_names(kind))
    same = [one for one in names if one.rpartition(".")[2] == name.rpartition(".")[2]]
    return next(iter([*same, *get_close_matches(name, names, 1, 0.75)]), None)


def _names(kind: object, before: str = "") -> Iterator[str]:
    """The dotted names of all settings below a group."""
    if get_args(kind):
        for one in get_args(kind):
            yield from _names(one, before)
    elif isinstance(kind, type) and (issubclass(kind, BaseModel) or is_dataclass(kind)):
        for name, inner in get_type_hints(kind).items():
            if not name.startswith("_") and name != "model_config":
                yield f"{before}{name}"
                yield from _names(inner, f"{before}{name}.")
