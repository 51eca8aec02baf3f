"""Which students take no part in choosing items, so that they can judge the choice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irt._responses import ResponseMatrix, levels


def split_students(
    data: ResponseMatrix, holdout: float, seed: int, facets: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`(calibration, heldout)` in table order; no facet level loses its last calibration student.

    Students are taken one by one at random among those whose levels are best represented in what is left.
    """
    rng = np.random.default_rng([seed, 3])
    count = max(2, round(holdout * len(data.students)))
    count = min(count, len(data.students) - 3)
    codes = [np.array([levels(data, name).index(v) for v in _column(data, name)]) for name in facets]
    remaining = set(range(len(data.students)))
    held: list[int] = []
    for _ in range(count):
        order = rng.permutation(sorted(remaining))
        left = [np.bincount(code[sorted(remaining)], minlength=code.max() + 1) for code in codes]
        taken = (
            [np.bincount(code[held], minlength=code.max() + 1) for code in codes]
            if held
            else [np.zeros_like(n) for n in left]
        )
        free = [s for s in order if all(n[code[s]] > 1 for n, code in zip(left, codes, strict=True))]
        if not free:
            break
        # The share of each of its levels already taken: the lowest sum spreads the held-out students evenly.
        load = [sum(t[c[s]] / (t[c[s]] + n[c[s]]) for t, n, c in zip(taken, left, codes, strict=True)) for s in free]
        pick = int(free[int(np.argmin(load))])
        held.append(pick)
        remaining.discard(pick)
    if len(held) < 2:
        raise ValueError(
            "no 2 students can be held out while every facet level stays in calibration; name fewer facets"
        )
    return (
        tuple(data.students[index] for index in sorted(remaining)),
        tuple(data.students[index] for index in sorted(held)),
    )


def _column(data: ResponseMatrix, name: str) -> Sequence[str]:
    assert data.facets is not None
    return [str(value) for value in data.facets[name]]
