"""The leave-one-out accuracy of a sampled fit, with a word when it cannot be trusted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from irt._result import Fit
from irt.checks._loo import loo

SAMPLERS = ("nuts",)
MOST_CELLS = 400_000
"""Larger tables go without: it takes every draw of every answer."""
DRAWS = 1000
POOR, POOR_SHARE = 0.7, 0.01
"""Pareto k above which an answer's weight is not to be trusted, and the share of such answers that is worth a word."""


def with_loo(fit: Fit) -> Fit:
    """The fit with PSIS-LOO over its answers, where draws are from the posterior and the table is not too large."""
    if fit.method not in SAMPLERS or fit.data.asked.sum() > MOST_CELLS:
        return fit
    scored = loo(fit.data, fit.thinned(DRAWS))
    poor = float(np.mean(scored.k > POOR))
    note = f"PSIS-LOO is unreliable for {poor:.1%} of the answers (Pareto k above {POOR})."
    return replace(
        fit,
        elpd_loo=scored.elpd,
        elpd_loo_se=scored.se,
        diagnostics={**fit.diagnostics, "pareto_k_above_0.7": poor},
        warnings=(*fit.warnings, note) if poor > POOR_SHARE else fit.warnings,
    )
