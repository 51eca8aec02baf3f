"""The prior of the hierarchical model (`irt._model`), written once: a density per quantity, by the quantity's name.

What needs the prior takes it from here: the numpyro model of `nuts` and `svi`, the modes and evidences of `map` and
`laplace`, draws for calibration, and the check of how much a result rests on it. Only `irt.fitting._pymc_model` writes
it again, on purpose: it is the second implementation that the first is compared with. Groups (effects, residuals, log
discriminations, difficulties) are normal and sum to zero, with these scales.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from irt._model import ItemModel, Priors
from irt._responses import Floats
from irt.kernels import sigmoid

STEP_SCALES: Mapping[bool, tuple[float, float]] = {False: (1.0, 0.5), True: (2.0, 1.0)}
"""Of steps between ratings, in logits: the standard deviation of their means over items, and the scale of how items
differ. False: of logarithms of the gaps between thresholds (gaps of a third to three times 1 are usual), which differ
as discriminations do; True: of the steps of partial credit, whose means differ as difficulties do.
"""


@dataclass(frozen=True)
class HalfNormalScale:
    """Half-normal of this width."""

    width: float

    @property
    def largest(self) -> float:
        """A value that the scale does not reach."""
        return 4.0 * self.width

    def log(self, value: Floats) -> Floats:
        """Log density of values."""
        return np.asarray(-0.5 * (value / self.width) ** 2)

    def on_log(self, v: Floats) -> Floats:
        """Log density of logarithms."""
        return np.asarray(v - 0.5 * np.exp(2 * v) / self.width**2)

    def slope_on_log(self, v: Floats) -> Floats:
        """Derivative of `on_log`."""
        return np.asarray(1 - np.exp(2 * v) / self.width**2)

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Independent draws `[count]`."""
        return np.asarray(self.width * np.abs(rng.standard_normal(count)))

    def distribution(self) -> Any:
        """The numpyro distribution."""
        return _numpyro().HalfNormal(self.width)


@dataclass(frozen=True)
class LogNormalScale:
    """Lognormal around 1, its logarithm of this width."""

    width: float
    largest: float = 20.0

    def log(self, value: Floats) -> Floats:
        """Log density of the logarithm of values, where it is normal."""
        return self.on_log(np.log(value))

    def on_log(self, v: Floats) -> Floats:
        """Log density of logarithms."""
        return np.asarray(-0.5 * (v / self.width) ** 2)

    def slope_on_log(self, v: Floats) -> Floats:
        """Derivative of `on_log`."""
        return np.asarray(-v / self.width**2)

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Independent draws `[count]`."""
        return np.asarray(np.exp(self.width * rng.standard_normal(count)))

    def distribution(self) -> Any:
        """The numpyro distribution."""
        return _numpyro().LogNormal(0.0, self.width)


ScaleDensity = HalfNormalScale | LogNormalScale
"""The density of a scale, on the scale itself and on its logarithm `v` (Jacobian included), up to a constant."""


@dataclass(frozen=True)
class NormalLocation:
    """Normal around 0 of this width."""

    width: float

    def log(self, value: Floats) -> Floats:
        """Log density of values."""
        return np.asarray(-0.5 * (value / self.width) ** 2)

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Independent draws `[count]`."""
        return np.asarray(self.width * rng.standard_normal(count))

    def distribution(self) -> Any:
        """The numpyro distribution."""
        return _numpyro().Normal(0, self.width)


@dataclass(frozen=True)
class BetaShare:
    """Beta of shares, by the counts of either side `[N]`; on logits the Jacobian is included."""

    above: Any
    below: Any

    @staticmethod
    def around(weight: float, centre: Any) -> BetaShare:
        """The one of this weight and mean."""
        return BetaShare(weight * centre, weight * (1 - centre))

    def log(self, value: Floats) -> Floats:
        """Log density `[D]` of values `[D, N]`."""
        inner = np.clip(value, 1e-12, 1 - 1e-12)
        return np.asarray(((self.above - 1) * np.log(inner) + (self.below - 1) * np.log1p(-inner)).sum(axis=1))

    def on_logit(self, z: Any) -> float:
        """Log density of logits `[N]`."""
        return -float(np.sum(self.above * np.logaddexp(0, -z) + self.below * np.logaddexp(0, z)))

    def slope_and_information(self, z: Floats) -> tuple[Floats, Floats]:
        """First and minus second derivatives of `on_logit` `[N]`."""
        share, total = sigmoid(z), self.above + self.below
        return np.asarray(self.above - total * share), np.asarray(total * share * (1 - share))

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Independent draws `[count, N]`."""
        return rng.beta(self.above, self.below, (count, len(self.above)))

    def distribution(self) -> Any:
        """The numpyro distribution."""
        return _numpyro().Beta(self.above, self.below).to_event(1)


def term_scale(priors: Priors) -> ScaleDensity:
    """Of the effects of a facet, an interaction or a covariate."""
    return HalfNormalScale(priors.term_scale)


def residual_scale(priors: Priors, facets: bool) -> ScaleDensity:
    """Of what facets leave of ability; without facets, of ability itself: the common discrimination."""
    return HalfNormalScale(priors.residual_scale) if facets else LogNormalScale(priors.common_a)


def spread_a(priors: Priors) -> ScaleDensity:
    """Of log discriminations."""
    return HalfNormalScale(priors.spread_a)


def spread_b(priors: Priors) -> ScaleDensity:
    """Of difficulties."""
    return HalfNormalScale(priors.spread_b)


def spread_gap(partial_credit: bool) -> ScaleDensity:
    """Of how items' steps between ratings differ."""
    return HalfNormalScale(STEP_SCALES[partial_credit][1])


def item_effect_scale(priors: Priors) -> ScaleDensity:
    """Of the effects of a facet's levels on items."""
    return HalfNormalScale(priors.item_effect_scale)


def centre_b(priors: Priors) -> NormalLocation:
    """Of the mean difficulty."""
    return NormalLocation(priors.centre_b)


def item_covariate(priors: Priors) -> NormalLocation:
    """Of what a standard deviation of an item covariate adds to a logit."""
    return NormalLocation(priors.item_covariate_scale)


def guessing(priors: Priors, centre: Any) -> BetaShare:
    """Of lower asymptotes, around `centre` `[I]` (`[1]` where items share one)."""
    return BetaShare.around(priors.guessing_weight, centre)


def upper_share(priors: Priors, items: int) -> BetaShare:
    """Of where upper asymptotes lie between the lower ones and 1 `[I]`."""
    return BetaShare.around(priors.upper_weight, priors.upper * np.ones(items))


def asymptotes(model: ItemModel, priors: Priors, chance: Floats) -> list[BetaShare]:
    """Of the asymptotes that each item has of its own: the lower one, then the share of the upper one."""
    found = [guessing(priors, chance)] if model.own_guessing else []
    return [*found, upper_share(priors, len(chance))] if model.slipping else found


def _numpyro() -> Any:
    """Numpyro's distributions, imported when needed."""
    from numpyro import distributions

    return distributions
