"""The values of a run record as a page shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from examcore.page._number_formats import clipped


def flattened(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested mappings, named `a.b`."""
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield from flattened(one, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", one


def shown_value(value: Any) -> str:
    """A value of a record as it is shown: numbers with four digits, lists divided by commas, long texts clipped."""
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    if isinstance(value, list | tuple):
        return clipped(
            ", ".join(shown_value(one) if not isinstance(one, Mapping) else _inline(one) for one in value), 600
        )
    return "–" if value is None else clipped(str(value), 600)


def _inline(value: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={shown_value(one)}" for name, one in flattened(value))
