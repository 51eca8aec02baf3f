"""What the page needs from a fitted model, as plain tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from examcore import IntervalEstimate
from irt import Fit, load_fit
from ragexam.report._level_draws import INTERVAL, LevelDraws

THETA = np.linspace(-3.0, 3.0, 61)
"""Abilities at which curves are drawn."""
_NODES = 25
"""Abilities over which information is averaged where there are more pipelines: their quantiles serve as well."""


@dataclass(frozen=True)
class FittedModel:
    """A fit in tables, all intervals 90 %; tables that only the page needs are made when first asked for.

    `components` has `facet, level, effect, low, high`; `residual` is the scale of what they do not explain, None
    where it was not estimated. Levels have the names that the page shows.
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
    def diagnostics(self) -> Mapping[str, float | int | str | None]:
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
        return self.fit.abilities[["student", "theta", "theta_low", "theta_high"]]

    @cached_property
    def curve(self) -> pd.DataFrame:
        """`theta, total, total_low, total_high`: information of the whole exam."""
        found = self.fit.information(THETA)
        columns = {"total": found.total, "total_low": found.total_low, "total_high": found.total_high}
        return pd.DataFrame({"theta": found.theta, **columns})


def read_fitted_model(folder: Path, renamed: Mapping[str, str]) -> FittedModel:
    """Read a saved fit; `renamed` gives retrievers that are bounds their kind's name."""
    # The page says 90 % everywhere, whatever interval the files were written with.
    fit = replace(load_fit(folder), interval=INTERVAL)
    shown = {term.name: tuple(renamed.get(level, level) for level in term.levels) for term in fit.design.terms}
    draws = tuple(LevelDraws(name, levels, fit.draws[f"effect.{name}"], fit=fit) for name, levels in shown.items())
    named = fit.components["level"].astype(str).replace(dict(renamed))
    components = fit.components.assign(level=named)[["facet", "level", "effect", "low", "high"]]
    scale = fit.residual_scale
    residual = None if scale is None else IntervalEstimate(scale.estimate, scale.low, scale.high)
    return FittedModel(fit, draws, components, residual)
