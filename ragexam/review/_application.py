"""What the server serves: the protocol of an application, and the fields of its requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

Query = Mapping[str, str]
Body = Mapping[str, Any]


class ConflictError(Exception):
    """The request was made on a state that somebody else has changed since."""


class Application(Protocol):
    """What a page can ask for: reads by GET, writes by POST, each answered with a JSON value.

    A `ValueError` is the caller's fault, told in one line; after a `ConflictError` the page reloads.
    """

    @property
    def page(self) -> str:
        """The name of the page's file."""

    @property
    def reads(self) -> Mapping[str, Callable[[Query], object]]:
        """Reads by name."""

    @property
    def writes(self) -> Mapping[str, Callable[[Body], object]]:
        """Writes by name."""


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
