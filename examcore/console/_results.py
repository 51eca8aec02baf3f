"""Results that know how they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from examcore.console._options import show


class PrintableResult(Protocol):
    """A result that a command shows."""

    def record(self) -> Mapping[str, Any]:
        """The result as JSON can hold it."""
        ...

    def lines(self) -> list[str]:
        """The result for a reader."""
        ...


def show_result(result: PrintableResult, *, as_json: bool) -> None:
    """Print a result as JSON, or its lines."""
    show(result.record() if as_json else {}, as_json=as_json, lines="" if as_json else "\n".join(result.lines()))
