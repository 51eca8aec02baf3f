"""Mean squares of residuals of items and of students: infit weighs by information, outfit does not.

Wright & Masters (1982). 1 is expected; above, answers are noisier than the model says, below, too regular. At estimated
abilities both lie a little below 1, so an item is judged against tables the model itself produced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from irt.checks.inputs import ALPHA, adjusted, optional, require_matching
from irt.checks.replicas import Residuals, replicas, residuals
from irt.checks.tails import benjamini_hochberg, normal_tail
from irt.kernels import ItemParameters
from irt.quadrature import posterior
from irt.responses import Floats, ResponseMatrix

REPLICAS = 100


class MeanSquares(NamedTuple):
    """Infit and outfit with their standardised values; `answers` counts the cells, 0 where nothing is defined."""

    infit: Floats
    infit_z: Floats
    outfit: Floats
    outfit_z: Floats
    answers: Floats


def mean_squares(found: Residuals, attempts: Floats, axis: int) -> MeanSquares:
    """Mean squares over students (`axis=0`, per item) or over items (`axis=1`, per student).

    Standardised by the cube root (Wilson & Hilferty 1931; Wright & Masters 1982, p. 100 f.), with the fourth moment of
    a binomial count.
    """
    fourth = found.variance * (1 + 3 * (attempts - 2) * found.p * (1 - found.p))
    return mean_squares_of(found.residual, found.variance, fourth, axis)


def mean_squares_of(residual: Floats, variance: Floats, fourth: Floats, axis: int) -> MeanSquares:
    """The same from residuals `[S, I]` with their variance and fourth central moment, 0 where not asked."""
    used = variance > 1e-12
    variance, fourth = np.where(used, variance, 1.0), np.where(used, fourth, 0.0)
    squares = np.where(used, residual**2, 0.0)
    count = used.sum(axis=axis).astype(np.float64)
    safe = np.maximum(count, 1.0)
    weight = np.where(used, variance, 0.0).sum(axis=axis)
    heavy = np.where(weight > 0, weight, 1.0)
    outfit = (squares / variance).sum(axis=axis) / safe
    infit = squares.sum(axis=axis) / heavy
    outfit_sd = np.sqrt(np.maximum((fourth / variance**2).sum(axis=axis) / safe**2 - 1 / safe, 1e-12))
    infit_sd = np.sqrt(np.maximum((fourth - np.where(used, variance**2, 0.0)).sum(axis=axis), 1e-12)) / heavy
    return MeanSquares(infit, _cube_root(infit, infit_sd), outfit, _cube_root(outfit, outfit_sd), count)


def item_residuals(
    data: ResponseMatrix,
    items: ItemParameters,
    replicas_count: int = REPLICAS,
    seed: int = 0,
) -> pd.DataFrame:
    """`item,answers,infit,infit_z,outfit,outfit_z,p,p_adjusted,flag,note,sentence`.

    Residuals at the expected abilities a posteriori, as mirt has it. `p` is two-sided and takes the more
    extreme of the two, doubled; each is compared, on the log scale, with its mean and spread over `replicas_count`
    tables that the model produced. `p_adjusted` is Benjamini and Hochberg's.
    """
    require_matching(data, items)
    successes, attempts = data.successes, data.attempts
    own = posterior(successes, attempts, items)
    found = mean_squares(residuals(successes, attempts, items, own.mean), attempts, 0)
    drawn = [
        mean_squares(residuals(table, attempts, items), attempts, 0)
        for table in replicas(own, attempts, items, replicas_count, seed)
    ]
    return item_table(data, found, *judged(found, drawn))


def judged(found: MeanSquares, replicated: Sequence[MeanSquares]) -> tuple[Floats, Floats]:
    """Two-sided p `[I]` of the more extreme mean square, and its standardised value, against those of replicas."""
    drawn = np.stack([_logs(each) for each in replicated])
    z = (_logs(found) - drawn.mean(axis=0)) / np.maximum(drawn.std(axis=0, ddof=1), 1e-9)
    worst = np.abs(z).max(axis=0)
    p = np.minimum(4 * normal_tail(worst), 1.0)
    return p, np.take_along_axis(z, np.abs(z).argmax(axis=0)[None], axis=0)[0]


def item_table(data: ResponseMatrix, found: MeanSquares, p: Floats, signed: Floats) -> pd.DataFrame:
    """The table of `item_residuals`."""
    known = found.answers >= 2
    corrected = adjusted(p, known, benjamini_hochberg)
    flag = known & (corrected < ALPHA)
    said = [
        _item_sentence(item, *row) if bad else ""
        for item, bad, *row in zip(data.items, flag, found.infit, found.outfit, signed, strict=True)
    ]
    table = pd.DataFrame({"item": list(data.items)}).join(mean_square_columns(found, known))
    table["p"], table["p_adjusted"] = optional(p, known), optional(corrected, known)
    table["flag"] = flag
    table["note"] = np.where(known, "", "fewer than 2 students were asked")
    table["sentence"] = said
    return table


def mean_square_columns(found: MeanSquares, known: NDArray[np.bool_]) -> pd.DataFrame:
    """The numbers of `found` as columns, empty where not `known`."""
    columns = {name: optional(getattr(found, name), known) for name in ("infit", "infit_z", "outfit", "outfit_z")}
    return pd.DataFrame({"answers": found.answers.astype(int)} | columns)


def _item_sentence(item: str, infit: float, outfit: float, signed: float) -> str:
    numbers = f"(infit {infit:.2f}, outfit {outfit:.2f})"
    if signed > 0:
        return (
            f"Item '{item}' is answered less predictably than its curve says {numbers}: look for ambiguity, a wrong "
            "key, or luck."
        )
    return f"Item '{item}' is answered more predictably than its curve says {numbers}: it may repeat another item."


def _logs(found: MeanSquares) -> Floats:
    return np.log(np.maximum(np.stack([found.infit, found.outfit]), 1e-12))


def _cube_root(value: Floats, sd: Floats) -> Floats:
    return np.asarray((np.cbrt(value) - 1) * 3 / sd + sd / 3)
