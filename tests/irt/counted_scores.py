"""Abilities from counts on known items, for the tests of scoring."""

from collections.abc import Sequence

from irt.kernels import ItemParameters
from irt.likelihoods import Counted
from irt.responses import Floats
from irt.scoring import AbilityEstimates, score_likelihoods


def score_counts(
    successes: Floats,
    attempts: Floats,
    items: ItemParameters,
    method: str = "eap",
    interval: float = 0.9,
    draws: Sequence[ItemParameters] = (),
) -> AbilityEstimates:
    """Abilities from counts `[S, I]` on items `[I]`; `draws` are equally likely item parameters (none: exact ones)."""
    point, *varied = (Counted(successes, attempts, each) for each in (items, *draws))
    return score_likelihoods(point, method, interval, varied)
