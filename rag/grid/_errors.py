"""A mistake in a grid as one line: place, what was found, what was wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ValidationError

WANTED: Mapping[str, str] = {
    "string_type": "text",
    "string_too_short": "text",
    "bool_type": "true or false",
    "tuple_type": "a list with at least one entry",
}
"""What is wanted, by pydantic's name of the mistake."""
UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
"""Pydantic's names for a key that a model or a dataclass does not have."""


def grid_error(error: ValidationError, kind: type[BaseModel]) -> str:
    """The first mistake: `llms[0]: model: 3; wanted text`. Values of servers, which may hold a key, are not shown."""
    first = error.errors()[0]
    where, found, secret = first["loc"], f"{first['input']!r}; ", "server" in first["loc"]
    if first["type"] in UNKNOWN:
        return f"{_place(where[:-1])}unknown key {str(where[-1])!r}; wanted {', '.join(_keys(kind, where[:-1]))}"
    if first["type"] == "missing":
        return f"{_place(where[:-1])}no {str(where[-1])!r}; wanted {', '.join(_keys(kind, where[:-1]))}"
    if first["type"] == "value_error":
        message = first["msg"].removeprefix("Value error, ")
        message = message.removeprefix("server: ") if secret else message
        return f"{_place(where)}{found if message.startswith('wanted') and not secret else ''}{message}"
    if first["type"] == "model_type":
        return f"{_place(where)}{type(first['input']).__name__}; wanted a mapping of {', '.join(_keys(kind, where))}"
    wanted = WANTED.get(first["type"]) or first.get("ctx", {}).get("expected", "").replace("'", "")
    if not wanted or secret:
        return f"{_place(where)}{first['msg']}"
    return f"{_place(where)}{found}wanted {wanted}"


def _place(where: Sequence[int | str]) -> str:
    """`llms[0]: server: `; empty at the top."""
    shown = "".join(f"[{one}]" if isinstance(one, int) else f": {one}" for one in where)
    return f"{shown.removeprefix(': ')}: " if shown else ""


def _keys(kind: Any, where: Sequence[int | str]) -> list[str]:
    """The known keys of the model or dataclass at a place below `kind`."""
    for step in where:
        if isinstance(step, str):
            kind = _group(get_type_hints(kind)[step])
    return list(kind.model_fields) if issubclass(kind, BaseModel) else [one.name for one in fields(kind)]


def _group(hint: Any) -> Any:
    """The model or dataclass inside a type such as `tuple[LlmSpec, ...]` or `ServerOptions | None`."""
    if isinstance(hint, type) and (issubclass(hint, BaseModel) or is_dataclass(hint)):
        return hint
    return next((found for one in get_args(hint) if (found := _group(one)) is not None), None)
