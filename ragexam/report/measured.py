"""What the page needs from a fitted model, as plain tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragexam.report.scores import Interval
from ragexam.report.verdict import INTERVAL, FacetDraws

if TYPE_CHECKING:
    from irt import Fit

THETA = np.linspace(-3.0, 3.0, 61)
"""Abilities at which curves are drawn."""


@dataclass(frozen=True)
class Measured:
    """A fit in tables, all intervals 90 %.

    `items` (index: question id) has `a, b, c, infit, outfit, point_biserial, flags, information`, the last averaged
    over the pipelines' abilities; `abilities` has `student, theta, theta_low, theta_high`; `components` has `facet,
    level, effect, low, high`; `curve` has `theta, total, total_low, total_high`; `residual` is the scale of what the
    components do not explain, None where it was not estimated.
    """

    fit: Fit
    converged: bool
    warnings: tuple[str, ...]
    diagnostics: Mapping[str, Any]
    items: pd.DataFrame
    abilities: pd.DataFrame
    components: pd.DataFrame
    draws: tuple[FacetDraws, ...]
    residual: Interval | None
    curve: pd.DataFrame

    @property
    def how(self) -> str:
        """The model and the method that fitted it."""
        return f"{self.fit.model.upper()} model, fitted by {self.fit.method.upper()} on {self.fit.backend}"


def read_measured(folder: Path, renamed: Mapping[str, str]) -> Measured:
    """Read a saved fit; `renamed` gives retrievers that are bounds their kind's name."""
    from irt import load_fit

    fit = load_fit(folder)
    draws = tuple(
        FacetDraws(
            term.name, tuple(renamed.get(level, level) for level in term.levels), fit.draws[f"effect.{term.name}"]
        )
        for term in fit.design.terms
    )
    return Measured(
        fit=fit,
        converged=fit.converged,
        warnings=fit.warnings,
        diagnostics={**fit.diagnostics, "reliability of abilities": fit.reliability, "elpd_loo": fit.elpd_loo},
        items=_items(fit),
        abilities=_abilities(fit),
        components=_components(fit, draws),
        draws=draws,
        residual=_interval(fit.draws["residual_scale"]) if fit.design.terms and fit.design.residual else None,
        curve=_curve(fit),
    )


def _items(fit: Fit) -> pd.DataFrame:
    information = fit.information(fit.abilities["theta"].to_numpy(float)).mean.mean(axis=1)
    return fit.items.assign(information=information).set_index("item")


def _abilities(fit: Fit) -> pd.DataFrame:
    low, high = _limits(fit.draws["theta"])
    return fit.abilities[["student", "theta"]].assign(theta_low=low, theta_high=high)


def _components(fit: Fit, draws: tuple[FacetDraws, ...]) -> pd.DataFrame:
    rows: list[tuple[object, ...]] = []
    for one in draws:
        effects = fit.components.loc[fit.components["facet"] == one.facet, "effect"]
        rows += zip([one.facet] * len(one.levels), one.levels, effects, *_limits(one.draws), strict=True)
    return pd.DataFrame(rows, columns=["facet", "level", "effect", "low", "high"])


def _curve(fit: Fit) -> pd.DataFrame:
    found = fit.information(THETA)
    columns = {"total": found.total, "total_low": found.total_low, "total_high": found.total_high}
    return pd.DataFrame({"theta": found.theta, **columns})


def _limits(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lower and upper limits over the first axis."""
    return np.asarray(np.quantile(draws, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2], axis=0))


def _interval(draws: NDArray[np.float64]) -> Interval:
    low, high = _limits(draws)
    return Interval(float(draws.mean()), float(low), float(high))
