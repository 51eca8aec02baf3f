"""Log-likelihood, gradient and expected information of a table in one pass, without temporaries of its size.

The passes are compiled by numba (`irt.fitting._numba_passes`). Rows are divided in a way that depends on the table's
size only and partial sums are added in order, so that the number of threads (`NUMBA_NUM_THREADS`, `OMP_NUM_THREADS`)
never changes a result.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from irt._packed_answers import PackedAnswers
from irt._responses import Floats
from irt.kernels import ItemParameters

CELLS = 200_000
"""Cells a thread takes at a time, at least."""
COPIED = 4_000_000
"""Numbers of each parameter that are copied at a time."""
MOST = 32
"""Portions at most."""


class TableGradient(NamedTuple):
    """Log-likelihood of each student `[S]`, and its derivatives by ability `[S]` and by item parameters `[I]`."""

    value: Floats
    theta: Floats
    a: Floats
    b: Floats
    c: Floats
    d: Floats


class CellInformation(NamedTuple):
    """Expected information of each cell `[S, I]` about x = a (theta - b): with itself, with c, and with d.

    The last two are None when c = 0 and d = 1.
    """

    x: Any
    c: Any = None
    d: Any = None


class TableInformation(NamedTuple):
    """Expected information about abilities `[S]`, about each item's (a, b, c, d) `[I, 4, 4]`, and cell by cell."""

    theta: Floats
    items: Floats
    weights: CellInformation


def gradient(answers: PackedAnswers, theta: Floats, items: ItemParameters) -> TableGradient:
    """Log-likelihood and gradient at abilities `[S]`; binomial coefficients are left out."""
    rows, sums = _run(answers, theta, items, None)
    return _as_gradient(rows, sums, items)


def curvature(
    answers: PackedAnswers, theta: Floats, items: ItemParameters, precision: type[np.floating[Any]] = np.float64
) -> tuple[TableGradient, TableInformation]:
    """`gradient` with the expected information; `precision` is that of the cell weights."""
    weights = np.empty((1 if _is_plain(answers, items) else 3, *answers.shape), dtype=precision)
    rows, sums = _run(answers, theta, items, weights)
    return _as_gradient(rows, sums, items), TableInformation(rows[2], _blocks(sums, items), CellInformation(*weights))


def mean_probability(theta: Floats, a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Mean probability `[S, I]` of a right answer over draws of abilities `[D, S]` and of item parameters `[D, I]`."""
    from irt.fitting import _numba_passes as compiled  # loads numba

    total = np.zeros((theta.shape[1], a.shape[1]))
    step = max(1, COPIED // sum(total.shape))
    for first in range(0, len(theta), step):
        arrays = [np.ascontiguousarray(each[first : first + step], np.float64) for each in (theta, a, b, c, d)]
        run = functools.partial(compiled.probabilities, *arrays)
        _spread(total.shape, lambda _, start, stop, run=run: run(start, stop, total))  # type: ignore[misc]
    return total / len(theta)


def _is_plain(answers: PackedAnswers, items: ItemParameters) -> bool:
    """Whether the pass for single answers without asymptotes serves."""
    return answers.codes is not None and not np.any(items.c) and bool(np.all(items.d == 1.0))


def _run(answers: PackedAnswers, theta: Floats, items: ItemParameters, weights: Any) -> tuple[Floats, Floats]:
    """The sums over items `[2 or 3, S]` and over students `[2 to 14, I]` of one pass."""
    from irt.fitting import _numba_passes as compiled  # loads numba

    plain, curved = _is_plain(answers, items), weights is not None
    kind = "counts" if answers.codes is None else "plain" if plain else "full"
    function = getattr(compiled, f"{kind}_{'curvature' if curved else 'gradient'}")
    tables = (answers.successes, answers.failures) if answers.codes is None else (answers.codes, answers.codes)
    theta, *parameters = (np.ascontiguousarray(values, dtype=np.float64) for values in (theta, *items))
    given, weights = (*tables, theta, tuple(parameters)), weights if curved else np.empty((0, 0, 0))
    students, count = answers.shape
    rows = np.zeros((2 + curved, students))
    height = (5 if plain else 14) if curved else (2 if plain else 4)
    partial: dict[int, Floats] = {}

    def part(index: int, start: int, stop: int) -> None:
        partial[index] = np.zeros((height, count))
        function(*given, start, stop, rows, partial[index], weights)

    _spread(answers.shape, part)
    total = partial[0]
    for index in range(1, len(partial)):
        total += partial[index]
    return rows, total


def _as_gradient(rows: Floats, sums: Floats, items: ItemParameters) -> TableGradient:
    by_c, by_d = (sums[2], sums[3]) if len(sums) in (4, 14) else (np.zeros_like(items.a), np.zeros_like(items.a))
    return TableGradient(rows[0], rows[1], sums[0], -items.a * sums[1], by_c, by_d)


def _blocks(sums: Floats, items: ItemParameters) -> Floats:
    """Information `[I, 4, 4]` about (a, b, c, d) from the sums over students."""
    a = items.a
    blocks = np.zeros((len(a), 4, 4))
    huu, hu, h = sums[2:5] if len(sums) == 5 else sums[4:7]
    entries = {(0, 0): huu, (0, 1): -a * hu, (1, 1): a * a * h}
    if len(sums) == 14:
        hcu, hc, hdu, hd, cc, cd, dd = sums[7:]
        entries |= {(0, 2): hcu, (1, 2): -a * hc, (0, 3): hdu, (1, 3): -a * hd, (2, 2): cc, (2, 3): cd, (3, 3): dd}
    for (row, column), values in entries.items():
        blocks[:, row, column] = blocks[:, column, row] = values
    return blocks


def _spread(shape: tuple[int, int], part: Callable[[int, int, int], None]) -> None:
    """Calls `part(index, start, stop)` for every portion of the rows, in threads where there is enough to do."""
    students, items = shape
    portions = max(1, min(students, MOST, students * items // CELLS))
    edges = np.linspace(0, students, portions + 1).astype(int).tolist()
    tasks = [(index, edges[index], edges[index + 1]) for index in range(portions)]
    named = [os.environ.get(name, "") for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")]
    threads = min([portions, os.cpu_count() or 1, *(int(value) for value in named if value.isdigit())])
    if threads <= 1:
        for task in tasks:
            part(*task)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, *zip(*tasks, strict=True)))
