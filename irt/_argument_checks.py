"""What a caller gives: numbers and names of the kind wanted, or refused by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from irt._responses import Floats


def require_whole(name: str, value: object, least: int) -> None:
    """ValueError unless `value` is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} is {value!r}; wanted a whole number of at least {least}")


def require_number(name: str, value: object) -> None:
    """ValueError unless `value` is a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} is {value!r}; wanted a number")


def require_numbers(name: str, values: object) -> Floats:
    """One number or several as a row `[N]`; ValueError unless all are finite, and for none."""
    try:
        row = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        row = np.empty(0)
    if row.ndim > 1 or not row.size or not np.isfinite(row).all():
        raise ValueError(f"{name} is {values!r}; wanted finite numbers")
    return row


def require_probability(name: str, value: object, kind: str = "probability") -> None:
    """ValueError unless `value` is a number between 0 and 1, both excluded; `kind` says what it is."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        shown = f"{float(value):g}" if isinstance(value, Real) and not isinstance(value, bool) else repr(value)
        raise ValueError(f"{name} {shown} is not a {kind} between 0 and 1")


def require_names(word: str, given: object) -> tuple[str, ...]:
    """The names of `word` (facets, covariates), of which one may be given alone; ValueError for anything else."""
    if isinstance(given, str):
        return (given,)
    names: tuple[Any, ...] = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"{word} are {given!r}; wanted a list of names")
    return names


def require_pairs(given: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Interactions, each of several facets; ValueError for names that are not in tuples."""
    if isinstance(given, str) or any(isinstance(each, str) for each in given):
        raise ValueError(f"interactions are {given!r}; wanted a list of tuples such as [('llm', 'icl')]")
    found = tuple(require_names("interactions", each) for each in given)
    for position, each in enumerate(found):
        if any(set(each) == set(other) for other in found[:position]):
            raise ValueError(f"interaction {each} is there twice")
    return found
