"""What the page needs from a fitted model: plain tables, and draws of what the levels of components are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from examcore import INTERVAL_LEVEL, IntervalEstimate, percentile_interval
from irt import Fit, load_fit
from ragexam.report._response_scores import facets_of

_DRAWS = 4000
"""Bootstrap samples: the limits of a 90 % interval then vary by about 2 % of its width from seed to seed."""
THETA = np.linspace(-3.0, 3.0, 61)
"""Abilities at which curves are drawn."""
_NODES = 25
"""Abilities over which information is averaged where there are more pipelines: their quantiles serve as well."""


@dataclass(frozen=True)
class LevelDraws:
    """Draws `[D, L]` of what each level of a facet is worth, on the scale that `unit` names: ability or accuracy.

    `fit` is the fit that the draws belong to; None for draws of accuracy, whose estimates are the means of the draws.
    """

    facet: str
    levels: tuple[str, ...]
    draws: NDArray[np.float64]
    unit: str = "ability"
    fit: Fit | None = None

    @property
    def estimates(self) -> NDArray[np.float64]:
        """The point estimate `[L]` of each level: that of the fit, where there is one."""
        if self.fit is None:
            return np.asarray(self.draws.mean(axis=0))
        return np.asarray(self.fit.point[f"effect.{self.facet}"], float)

    def of(self, levels: Sequence[str]) -> NDArray[np.float64]:
        """The draws `[D, K]` of these levels."""
        return self.draws[:, [self.levels.index(level) for level in levels]]

    def contrast(self, level: str, *others: str) -> IntervalEstimate:
        """`level` minus the mean of `others` (90 %).

        Of two levels of a fit it is `Fit.contrast`, so that the page and `ragexam compare` say the same by every
        method.
        """
        if self.fit is None:
            return interval_of(self._difference(self.draws, level, others))
        if len(others) == 1:
            names = self.fit.design.term(self.facet).levels
            found = self.fit.contrast(self.facet, *(names[self.levels.index(one)] for one in (level, *others)))
        else:
            point = self._difference(self.estimates[None], level, others)
            found = self.fit.summary(self._difference(self.draws, level, others), float(point[0]))
        return IntervalEstimate(found.estimate, found.low, found.high)

    def probability_better(self, level: str, *others: str) -> float:
        """The probability that `level` is worth more than the mean of `others`."""
        return float((self._difference(self.draws, level, others) > 0).mean())

    def _difference(self, values: NDArray[np.float64], level: str, others: Sequence[str]) -> NDArray[np.float64]:
        columns = [self.levels.index(one) for one in others]
        return np.asarray(values[:, self.levels.index(level)] - values[:, columns].mean(axis=1))


def accuracy_draws(scores: pd.DataFrame) -> tuple[LevelDraws, ...]:
    """Bootstrap draws over questions of the accuracy of each level: what stands in when no model was fitted."""
    found = (facet_accuracy_draws(scores, facet) for facet in facets_of(scores))
    return tuple(one for one in found if one is not None)


def facet_accuracy_draws(scores: pd.DataFrame, facet: str) -> LevelDraws | None:
    """The same of one facet; None where no question was answered at all its levels."""
    table = scores.pivot_table(index="item", columns=facet, values="score", aggfunc="mean").dropna()
    n = len(table)
    if n == 0:
        return None
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=_DRAWS)
    return LevelDraws(facet, tuple(map(str, table.columns)), counts @ table.to_numpy(float) / n, "accuracy")


def probabilities_best(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability `[L]` of each column of draws `[D, L]` to be the largest; ties are shared."""
    winners = draws == draws.max(axis=1, keepdims=True)
    return np.asarray((winners / winners.sum(axis=1, keepdims=True)).mean(axis=0))


def interval_of(values: NDArray[np.float64]) -> IntervalEstimate:
    """Mean and 90 % interval of draws `[D]`."""
    return percentile_interval(float(values.mean()), values, INTERVAL_LEVEL)


@dataclass(frozen=True)
class FittedModel:
    """A fit in tables, all intervals 90 %; tables that only the page needs are made when first asked for.

    `draws` are read at the mix of the users' questions where item covariates let them (`mix` says where, `beyond` why
    not), all else at that of the exam's. `components` has `facet, level, effect, low, high`; `residual` is the scale of
    what they do not explain, None where it was not estimated. Levels have the names that the page shows.
    """

    fit: Fit
    draws: tuple[LevelDraws, ...]
    components: pd.DataFrame
    residual: IntervalEstimate | None
    mix: Mapping[str, float] = field(default_factory=dict)
    beyond: str = ""

    @property
    def converged(self) -> bool:
        """False when the answer should not be used."""
        return self.fit.converged

    @property
    def how(self) -> str:
        """The model and the method that fitted it."""
        how = f"{self.fit.method.upper()} on {self.fit.backend}"
        if self.fit.design.item_facets and self.fit.backend != "pymc":
            how = "Gibbs sampling" if self.fit.method == "nuts" else "expectation propagation"
        return f"{self.fit.model.upper()} model, fitted by {how}"

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


def read_fitted_model(
    folder: Path, renamed: Mapping[str, str], users: Mapping[str, Sequence[float]] | None = None
) -> FittedModel:
    """Read a saved fit; `renamed` gives retrievers that are bounds their kind's name, `users` are the values of item
    covariates of the users' questions.
    """
    # The page says 90 % everywhere, whatever interval the files were written with.
    saved = load_fit(folder)
    fit = replace(saved, settings=saved.settings.changed(interval=INTERVAL_LEVEL))
    shown = {term.name: tuple(renamed.get(level, level) for level in term.levels) for term in fit.design.terms}
    judged, mix, beyond = _at_users(fit, users or {})
    draws = tuple(
        LevelDraws(name, levels, judged.draws[f"effect.{name}"], fit=judged) for name, levels in shown.items()
    )
    named = fit.components["level"].astype(str).replace(dict(renamed))
    components = fit.components.assign(level=named)[["facet", "level", "effect", "low", "high"]]
    scale = fit.residual_scale
    residual = None if scale is None else IntervalEstimate(scale.estimate, scale.low, scale.high)
    return FittedModel(fit, draws, components, residual, mix, beyond)


def _at_users(fit: Fit, users: Mapping[str, Sequence[float]]) -> tuple[Fit, dict[str, float], str]:
    """The fit at the mix of the users' questions, as far as it has covariates for it; where that is, or why it is not
    possible.
    """
    known = () if fit.design.item_covariates is None else fit.design.item_covariates.names
    named = {name: values for name, values in users.items() if name in known and values}
    if not named:
        return fit, {}, ""
    try:
        return fit.at(named), {name: float(np.mean(values)) for name, values in named.items()}, ""
    except ValueError as error:
        return fit, {}, str(error).removeprefix("at: ")
