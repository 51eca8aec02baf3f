"""Reading a YAML configuration into checked settings, with the file and line of every mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from examcore import first_error_line, first_setting_fault

Settings = TypeVar("Settings", bound=BaseModel)
Lines = Mapping[tuple[str | int, ...], int]
"""Where each key stands in its file."""
SettingChanges = Mapping[str, object] | Sequence[str]
"""Values of settings by dotted name, `{"a.b": 1}`; or as `--set` takes them, `["a.b=1"]`, with YAML values."""


MOST_ALIASED = 100_000
"""Values that the aliases of a file may repeat."""


def read(path: Path, kind: type[Settings], overrides: SettingChanges = ()) -> Settings:
    """Read and check a configuration file, after the overrides.

    Raises `ValueError` naming file, line, what was found and what was wanted.
    """
    text = _text(path)
    try:
        content = yaml_value(text)
        lines = _lines(yaml.compose(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError(_yaml_fault(path, error)) from None
    if not isinstance(content, dict):
        raise ValueError(f"{path}:1: {type(content).__name__}; wanted a mapping of settings")
    return check(path, content, kind, overrides, lines)


def yaml_value(text: str) -> object:
    """The value of a YAML text; `YAMLError` for any fault, too deep nesting and too many aliases among them."""
    try:
        _require_few_aliased(yaml.compose(text, Loader=yaml.SafeLoader))
        return yaml.safe_load(text)
    except RecursionError:
        raise yaml.MarkedYAMLError(problem="nested too deep") from None
    except ValueError as error:  # such as of a date in month 13
        raise yaml.MarkedYAMLError(problem=first_error_line(error)) from None


def _require_few_aliased(node: yaml.Node | None) -> None:
    """Refuse aliases that stand for very many values: a few lines of aliases of aliases make billions."""
    sizes: dict[int, int] = {}

    def size(one: yaml.Node, above: frozenset[int]) -> int:
        if id(one) in above:
            raise yaml.MarkedYAMLError(problem="found an alias inside what it stands for", problem_mark=one.start_mark)
        if id(one) not in sizes:
            within = above | {id(one)}
            parts = one.value if isinstance(one, yaml.CollectionNode) else ()
            parts = [part for pair in parts for part in pair] if isinstance(one, yaml.MappingNode) else parts
            sizes[id(one)] = 1 + sum(size(part, within) for part in parts)
        if sizes[id(one)] - len(sizes) > MOST_ALIASED:
            problem = f"found aliases that stand for more than {MOST_ALIASED:,} values"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=one.start_mark)
        return sizes[id(one)]

    if node is not None:
        size(node, frozenset())


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
        return name.strip(), yaml_value(value)
    except yaml.YAMLError:
        raise ValueError(f"--set {override}: {value!r} is not YAML; wanted it in quotes") from None


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
