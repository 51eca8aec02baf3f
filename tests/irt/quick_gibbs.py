"""A short fit with effects of levels on items, made once."""

from __future__ import annotations

from functools import cache

import irt

FACETS = {"llm": 3, "retriever": 4}
SHARED_SD = {"retriever": 2.0}
SIMULATED = irt.simulate(items=40, facets=FACETS, shared_sd=SHARED_SD, effect_sd=1.0, seed=2)


@cache
def quick_fit() -> irt.Fit:
    """Enough draws for a median, not for conclusions."""
    return irt.fit(SIMULATED.data, seed=0, draws=150, warmup=200, chains=2)
