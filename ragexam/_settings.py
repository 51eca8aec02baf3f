"""Reading a YAML configuration into checked settings, with the file and line of every mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from examcore import first_setting_fault

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
        fault = first_setting_fault(error, kind)
        place = _place(source, lines, fault.where, [name for name, _ in changes])
        raise ValueError(f"{place}: {fault.line}") from None


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
