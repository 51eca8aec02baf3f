"""Answers in the fewest bytes: one per cell for right, wrong and not asked, two counts per cell for repeated trials."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from irt._responses import Floats, ResponseMatrix, blocks


@dataclass(frozen=True)
class PackedAnswers:
    """Counts of `S` students and `I` items.

    `codes` `[S, I]` is 1 for right, -1 for wrong, 0 for not asked; or None, and `successes` and `failures` `[S, I]`
    hold whole numbers.
    """

    codes: NDArray[np.int8] | None
    successes: NDArray[np.int32] | None = None
    failures: NDArray[np.int32] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of students and items."""
        table = self.successes if self.codes is None else self.codes
        assert table is not None
        return table.shape[0], table.shape[1]

    def counts(self, rows: slice = slice(None)) -> tuple[Floats, Floats]:
        """Successes and failures of these rows, in double precision."""
        if self.codes is not None:
            return (self.codes[rows] > 0).astype(np.float64), (self.codes[rows] < 0).astype(np.float64)
        assert self.successes is not None
        assert self.failures is not None
        return self.successes[rows].astype(np.float64), self.failures[rows].astype(np.float64)

    @cached_property
    def by_student(self) -> tuple[Floats, Floats]:
        """Successes and failures of each student `[S]`."""
        return self._totals(1)

    @cached_property
    def by_item(self) -> tuple[Floats, Floats]:
        """Successes and failures on each item `[I]`."""
        return self._totals(0)

    def _totals(self, axis: int) -> tuple[Floats, Floats]:
        if self.codes is None:
            assert self.successes is not None
            assert self.failures is not None
            return self.successes.sum(axis=axis, dtype=np.float64), self.failures.sum(axis=axis, dtype=np.float64)
        right, asked = self.codes.sum(axis=axis, dtype=np.int64), np.count_nonzero(self.codes, axis=axis)
        return (asked + right) / 2.0, (asked - right) / 2.0


def pack(data: ResponseMatrix) -> PackedAnswers:
    """The answers of a table in compact form."""
    if data.trials is not None or data.top is not None:
        return counted(data.successes, data.attempts)
    codes = np.empty(data.scores.shape, dtype=np.int8)
    for rows in blocks(*data.scores.shape):
        scores = data.scores[rows]
        codes[rows] = np.where(np.isnan(scores), 0.0, 2.0 * scores - 1.0)
    return PackedAnswers(codes)


def counted(successes: Floats, attempts: Floats) -> PackedAnswers:
    """The answers of whole numbers of successes and attempts `[S, I]`."""
    return PackedAnswers(None, successes.astype(np.int32), (attempts - successes).astype(np.int32))
