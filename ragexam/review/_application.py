"""The seam between the server and what it serves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

Query = Mapping[str, str]
Body = Mapping[str, Any]


class ConflictError(Exception):
    """Somebody else has gone on in the meantime: what was asked belongs to an earlier state."""


class Application(Protocol):
    """What a page can ask: questions by GET, changes by POST, each answered with a JSON value.

    A `ValueError` of an answer is the caller's fault, told in one line; after a `ConflictError` the page looks again.
    """

    @property
    def page(self) -> str:
        """The name of the page's file."""

    @property
    def reads(self) -> Mapping[str, Callable[[Query], object]]:
        """Questions by name."""

    @property
    def writes(self) -> Mapping[str, Callable[[Body], object]]:
        """Changes by name."""


def text_of(body: Body, name: str, default: str | None = None) -> str:
    """A string of a request; `ValueError` when it is none."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f"request: {name} is no string; wanted one")
    return value


def number_of(body: Body, name: str) -> int:
    """A whole number of a request; `ValueError` when it is none."""
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"request: {name} is no whole number; wanted one")
    return value


def place_of(query: Query, count: int) -> int:
    """The number `n` of a query, from 1 to `count`; `ValueError` for another."""
    text = query.get("n", "")[:20]
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= count):
        raise ValueError(f"number {text!r}: nothing has it; wanted 1 to {count}")
    return int(text)
