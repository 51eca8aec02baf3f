"""Abilities from counts on known items, for the tests of scoring."""

from collections.abc import Sequence

from irt._likelihoods import likelihood
from irt._responses import Floats
from irt._scoring import AbilityEstimates, score_likelihoods
from irt.kernels import ItemParameters


def score_counts(
    successes: Floats,
    attempts: Floats,
    items: ItemParameters,
    method: str = "eap",
    interval: float = 0.9,
    draws: Sequence[ItemParameters] = (),
) -> AbilityEstimates:
    """Abilities from counts `[S, I]` on items `[I]`; `draws` are equally likely item parameters (none: exact ones)."""
    point, *varied = (likelihood(successes, attempts, each) for each in (items, *draws))
    return score_likelihoods(point, method, interval, varied)
