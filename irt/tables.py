"""Tables read from draws: ranks, and accuracy by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from irt.design import Design
from irt.kernels import sigmoid
from irt.responses import Floats


def best(names: Sequence[str], draws: Floats, label: str) -> pd.DataFrame:
    """`label,probability` of being the largest, over draws `[D, N]`; most probable first, ties in given order."""
    share = np.bincount(np.argmax(draws, axis=1), minlength=len(names)) / len(draws)
    table = pd.DataFrame({label: list(names), "probability": share})
    return table.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def accuracy_by_level(draws: Mapping[str, Floats], design: Design, tails: tuple[float, float]) -> pd.DataFrame:
    """Expected share right of a student at each level whose other effects and residual are 0."""
    frames = []
    for term in design.terms:
        effects = draws[f"effect.{term.name}"]
        shares = np.empty(effects.shape)
        for index in range(effects.shape[1]):
            up = sigmoid(draws["a"] * (effects[:, index, None] - draws["b"]))
            shares[:, index] = (draws["c"] + (draws["d"] - draws["c"]) * up).mean(axis=1)
        low, high = np.quantile(shares, tails, axis=0)
        columns = {"accuracy": shares.mean(axis=0), "low": low, "high": high}
        frames.append(pd.DataFrame({"facet": term.name, "level": list(term.levels)} | columns))
    empty = pd.DataFrame(columns=["facet", "level", "accuracy", "low", "high"])
    return pd.concat(frames, ignore_index=True) if frames else empty
