"""Whether an item's mean squares (`irt._residuals`) are larger or smaller than the model makes them.

At estimated abilities both lie a little below 1, so an item is judged against tables the model itself produced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from irt._graded import Items
from irt._likelihoods import Likelihood, expected_mean_squares, likelihood_of
from irt._quadrature import Posterior
from irt._residuals import MeanSquares
from irt._responses import Floats, ResponseMatrix
from irt.checks._inputs import ALPHA, false_discovery_rates, optional, require_matching
from irt.checks._tails import REACH

REPLICAS = 100
"""Tables drawn: enough for a standard deviation to a fourteenth of itself."""


def item_residuals(
    data: ResponseMatrix,
    items: Items,
    replicas_count: int = REPLICAS,
    seed: int = 0,
) -> pd.DataFrame:
    """`item,answers,infit,infit_z,outfit,outfit_z,z,p,p_adjusted,flag,note,sentence`.

    Infit and outfit are those of `Fit.items`: at the expected abilities a posteriori, as mirt has it. `p` is two-sided
    and takes the more extreme of the two, doubled; each is compared, on the log scale, with its mean and spread over
    `replicas_count` tables that the model produced. That distance in standard deviations is `infit_z` and `outfit_z`
    (0 where the model holds, whatever the length of the exam), and `z` the larger of them. `p_adjusted` is Benjamini
    and Hochberg's.
    """
    require_matching(data, items)
    answered = likelihood_of(data, items)
    found = expected_mean_squares(data, items)
    drawn = [
        each.mean_squares(each.posterior().mean, 0)
        for each in replicas(answered.posterior(), answered, replicas_count, seed)
    ]
    return _item_table(data, judged(found, drawn))


def replicas(found: Posterior, answered: Likelihood, count: int, seed: int) -> Iterator[Likelihood]:
    """`count` tables of the model, each student's ability drawn from `found`, the posterior of `answered`."""
    rng = np.random.default_rng([seed, 3])
    cumulative = np.cumsum(found.weights, axis=1)
    for _ in range(count):
        position = (cumulative < rng.random((len(cumulative), 1)) * cumulative[:, -1:]).sum(axis=1)
        yield answered.redrawn(rng, found.nodes[position])


def judged(found: MeanSquares, replicated: Sequence[MeanSquares]) -> MeanSquares:
    """`found` with both mean squares standardised by those of replicas, on the log scale."""
    drawn = np.stack([_logs(each) for each in replicated])
    z = (_logs(found) - drawn.mean(axis=0)) / np.maximum(drawn.std(axis=0, ddof=1), 1e-9)
    return found._replace(infit_z=z[0], outfit_z=z[1])


def _item_table(data: ResponseMatrix, found: MeanSquares) -> pd.DataFrame:
    """The table of `item_residuals`, from mean squares that are `judged`."""
    known = found.known
    z = np.stack([found.infit_z, found.outfit_z])
    signed = np.take_along_axis(z, np.abs(z).argmax(axis=0)[None], axis=0)[0]
    p = np.minimum(4 * ndtr(-np.abs(signed)), 1.0)
    corrected = false_discovery_rates(p, known)
    flag = known & (corrected < ALPHA)
    said = [
        _item_sentence(item, *row) if bad else ""
        for item, bad, *row in zip(data.items, flag, found.infit, found.outfit, signed, found.infit_z, strict=True)
    ]
    table = pd.DataFrame({"item": list(data.items)}).join(mean_square_columns(found, known))
    table["z"] = optional(signed, known)
    table["p"], table["p_adjusted"] = optional(p, known), optional(corrected, known)
    table["flag"] = flag
    table["note"] = np.where(known, "", "fewer than 2 students were asked")
    table["sentence"] = said
    return table


def mean_square_columns(found: MeanSquares, known: NDArray[np.bool_]) -> pd.DataFrame:
    """The numbers of `found` as columns, empty where not `known`."""
    columns = {name: optional(getattr(found, name), known) for name in ("infit", "infit_z", "outfit", "outfit_z")}
    return pd.DataFrame({"answers": found.answers.astype(int)} | columns)


def _item_sentence(item: str, infit: float, outfit: float, signed: float, infit_z: float) -> str:
    numbers = f"(infit {infit:.2f}, outfit {outfit:.2f})"
    if signed > 0 and infit_z < REACH:
        return (
            f"Item '{item}' has a few unexpected answers by students far from its difficulty {numbers}: look for lucky "
            "guesses, slips or errors of entry."
        )
    if signed > 0:
        return (
            f"Item '{item}' is answered less predictably than its curve says {numbers}: look for ambiguity, a wrong "
            "key, or luck."
        )
    return f"Item '{item}' is answered more predictably than its curve says {numbers}: it may repeat another item."


def _logs(found: MeanSquares) -> Floats:
    return np.log(np.maximum(np.stack([found.infit, found.outfit]), 1e-12))
