"""What is wrong with input files: each finding with its place, counted by kind, and refused or lived with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Fault(NamedTuple):
    """One finding: `place` is `file:line`; what `stops` is refused unless reading is lenient, the rest is a remark."""

    place: str
    kind: str
    message: str
    stops: bool = True

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def refuse(faults: Sequence[Fault], *, lenient: bool = False, listing: str = "") -> None:
    """Raise `ValueError` in one line for the first fault that stops, with how many more there are.

    `listing` says where all of them are listed. Lenient reading goes on with what the reader could make of the file.
    """
    stopping = [one for one in faults if one.stops]
    if not stopping or lenient:
        return
    more = f" (and {len(stopping) - 1} more faults{f'; {listing}' if listing else ''})" if len(stopping) > 1 else ""
    raise ValueError(f"{stopping[0]}{more}")


def counted(faults: Iterable[Fault]) -> dict[str, int]:
    """How many faults of each kind there are, the most frequent first."""
    return dict(Counter(one.kind for one in faults).most_common())


def in_words(faults: Sequence[Fault]) -> list[str]:
    """A sentence per kind of fault: how many there are, and the first of them."""
    first = {one.kind: one for one in reversed(faults)}
    return [f"{kind}: {count}, first {first[kind]}" for kind, count in counted(faults).items()]
