"""The fields of a grid, checked: each mistake is one line that names the place, what was found and what was wanted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any


def some(data: Mapping[str, Any], key: str, source: str) -> Sequence[Any]:
    """A list with at least one entry."""
    value = data.get(key)
    if not isinstance(value, list) or not value:
        raise ValueError(f"{source}: {key}: {value!r}; wanted a list with at least one entry")
    return value


def texts(entry: Any, main: str, known: Sequence[str], where: str) -> dict[str, str]:
    """A mapping of known names to texts, `main` among them; a text alone stands for `main`."""
    fields = {main: entry} if isinstance(entry, str) else entry
    if not isinstance(fields, Mapping):
        raise ValueError(f"{where}: {entry!r}; wanted a name or a mapping of {', '.join(known)}")
    for key, value in fields.items():
        if key not in known:
            raise ValueError(f"{where}: unknown key {key!r}; wanted {', '.join(known)}")
        if not isinstance(value, str) or not value:
            raise ValueError(f"{where}: {key}: {value!r}; wanted text")
    if main not in fields:
        raise ValueError(f"{where}: no {main!r}; wanted {', '.join(known)}")
    return dict(fields)


def level(name: str, where: str) -> str:
    """A name that can be a facet's level."""
    # The plus sign joins the parts of a pipeline's id; commas and blanks would make its CSV hard to read.
    if not re.fullmatch(r"[^\s+,\"']+", name):
        raise ValueError(f"{where}: name {name!r}; wanted text without blanks, commas, quotes or '+'")
    return name


def numbers(value: Any, where: str, least: int = 1) -> tuple[int, ...]:
    """Distinct whole numbers; one alone stands for a list of one."""
    values = value if isinstance(value, list) else [value]
    if not values or any(isinstance(one, bool) or not isinstance(one, int) or one < least for one in values):
        raise ValueError(f"{where}: {value!r}; wanted whole numbers from {least}")
    if len(set(values)) < len(values):
        raise ValueError(f"{where}: {value!r}; wanted distinct numbers")
    return tuple(values)
