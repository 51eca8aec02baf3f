"""What the page needs from a fitted model, as plain tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from examcore import IntervalEstimate
from ragexam.report._component_verdicts import INTERVAL, LevelDraws

if TYPE_CHECKING:
    from irt import Fit

THETA = np.linspace(-3.0, 3.0, 61)
"""Abilities at which curves are drawn."""
_NODES = 25


@dataclass(frozen=True)
class FittedModel:
    """A fit in tables, all intervals 90 %; tables that only the page needs are made when first asked for.

    `components` has `facet, level, effect, low, high`; `residual` is the scale of what they do not explain, None
    where it was not estimated.
    """

    fit: Fit
    draws: tuple[LevelDraws, ...]
    components: pd.DataFrame
    residual: IntervalEstimate | None

    @property
    def converged(self) -> bool:
        """False when the answer should not be used."""
        return self.fit.converged

    @property
    def how(self) -> str:
        """The model and the method that fitted it."""
        return f"{self.fit.model.upper()} model, fitted by {self.fit.method.upper()} on {self.fit.backend}"

    @property
    def diagnostics(self) -> Mapping[str, Any]:
        """What the fit says about itself."""
        more = {"reliability of abilities": self.fit.reliability, "elpd_loo": self.fit.elpd_loo}
        return {**self.fit.diagnostics, **more}

    @cached_property
    def items(self) -> pd.DataFrame:
        """The fit's items by question id, with `information` averaged over the pipelines' abilities."""
        abilities = self.fit.abilities["theta"].to_numpy(float)
        if len(abilities) > _NODES:
            abilities = np.quantile(abilities, (np.arange(_NODES) + 0.5) / _NODES)
        information = self.fit.information(abilities).mean.mean(axis=1)
        return self.fit.items.assign(information=information).set_index("item")

    @cached_property
    def abilities(self) -> pd.DataFrame:
        """`student, theta, theta_low, theta_high`."""
        low, high = _limits(self.fit.draws["theta"])
        return self.fit.abilities[["student", "theta"]].assign(theta_low=low, theta_high=high)

    @cached_property
    def curve(self) -> pd.DataFrame:
        """`theta, total, total_low, total_high`: information of the whole exam."""
        found = self.fit.information(THETA)
        columns = {"total": found.total, "total_low": found.total_low, "total_high": found.total_high}
        return pd.DataFrame({"theta": found.theta, **columns})


def read_fitted_model(folder: Path, renamed: Mapping[str, str]) -> FittedModel:
    """Read a saved fit; `renamed` gives retrievers that are bounds their kind's name."""
    from irt import load_fit

    # The page says 90 % everywhere, whatever share the files' intervals were asked for.
    fit = replace(load_fit(folder), interval=INTERVAL)
    draws = tuple(
        LevelDraws(
            term.name, tuple(renamed.get(level, level) for level in term.levels), fit.draws[f"effect.{term.name}"]
        )
        for term in fit.design.terms
    )
    estimated = bool(fit.design.terms) and fit.design.residual
    residual = _interval(fit.draws["residual_scale"]) if estimated else None
    return FittedModel(fit, draws, _components(fit, draws), residual)


def _components(fit: Fit, draws: tuple[LevelDraws, ...]) -> pd.DataFrame:
    rows: list[tuple[object, ...]] = []
    for one in draws:
        effects = fit.components.loc[fit.components["facet"] == one.facet, "effect"]
        rows += zip([one.facet] * len(one.levels), one.levels, effects, *_limits(one.draws), strict=True)
    return pd.DataFrame(rows, columns=["facet", "level", "effect", "low", "high"])


def _limits(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lower and upper limits over the first axis."""
    return np.asarray(np.quantile(draws, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2], axis=0))


def _interval(draws: NDArray[np.float64]) -> IntervalEstimate:
    low, high = _limits(draws)
    return IntervalEstimate(float(draws.mean()), float(low), float(high))
