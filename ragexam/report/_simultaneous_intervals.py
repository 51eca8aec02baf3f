"""Many means over the same questions, tested together.

The largest standardised deviation of all, drawn with the correlations of the questions' values (a Gaussian multiplier
bootstrap, Chernozhukov, Chetverikov and Kato 2013; divided by the error of the error, which for normal values makes it
the maximum of a multivariate t), gives intervals and p-values that hold for all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

LEVEL = 0.90
DRAWS = 4000
MEASURES = ("estimate", "low", "high", "z", "p_adjusted")


def simultaneous_means(
    names: Sequence[tuple[str, ...]], values: NDArray[np.float64], named: Sequence[str], seed: int = 0
) -> pd.DataFrame:
    """Means of the columns `[I, C]` over questions, the clearest first: the `named` columns, then `MEASURES`.

    `low` and `high` (90 %) hold for all columns at once, and `p_adjusted` is the chance that any of them would be as
    far from 0 with nothing behind them. A column that does not vary but is not 0 has no limits.
    """
    n = len(values)
    means = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(means))
    still = error < 1e-12
    error = np.where(still, 1.0, error)
    rng = np.random.default_rng(seed)
    away = rng.standard_normal((DRAWS, n)) @ (values - means) / np.sqrt(n * max(n - 1, 1))
    unknown_error = np.sqrt(rng.chisquare(max(n - 1, 1), DRAWS) / max(n - 1, 1))
    extreme = np.abs(np.where(still, 0.0, away / error)).max(axis=1) / unknown_error
    z = np.where(still, 0.0, means / error)
    unknown = still & (np.abs(means) > 1e-12)
    reach = np.where(unknown, np.nan, float(np.quantile(extreme, LEVEL)) * np.where(still, 0.0, error))
    p = (1 + len(extreme) - np.searchsorted(np.sort(extreme), np.abs(z))) / (1 + len(extreme))
    table = pd.DataFrame(names, columns=list(named))
    table = table.assign(estimate=means, low=means - reach, high=means + reach, z=z, p_adjusted=p)
    return table.iloc[np.argsort(-np.abs(z), kind="stable")].reset_index(drop=True)
