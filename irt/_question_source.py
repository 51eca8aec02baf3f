"""What one question tells about ability where questions are a sample and levels have effects on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from irt._model import ITEM_EFFECT_SCALE, MARGINAL, flattening
from irt._responses import Floats
from irt.kernels import ItemParameters

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
"""Over a normal effect: information averaged over one of 3 logits is then exact to a thousandth."""
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()


class QuestionInformation(NamedTuple):
    """Mean information of a question about one side of a comparison, per unit ability squared, and the share of its
    inverse, the squared error, that effects of levels have; the rest is the answers'.
    """

    mean: float
    effect_share: float


class QuestionSource(NamedTuple):
    """Where an exam's questions come from: its items, each drawn with probability `weights` `[I]`.

    `items` are as a level's own students see them. Every answer has normal effects of its levels in its logit:
    `apart` is the variance of those that the two compared do not share, `shared` of those that they do.
    """

    items: ItemParameters
    weights: Floats
    apart: float = 0.0
    shared: float = 0.0

    def information(self, theta: float | Floats, pipelines: float = 1.0) -> QuestionInformation:
        """Of a question answered by so many pipelines of abilities like `theta` `[T]` with one effect in common.

        An item's squared error is the effect's, `apart / a^2`, plus that of the answers, one over their information;
        shared effects cancel. It is that of the linear crossed design (Brennan 2001, section 4.1) with the information
        of an answer, averaged over the effects, in the place of one over its error variance.
        """
        answers = pipelines * self._answer(np.atleast_1d(np.asarray(theta, dtype=np.float64)))
        effect = self.apart / self.items.a**2
        known = answers / (1.0 + answers * effect)
        mean = float(self.weights @ known)
        return QuestionInformation(mean, float(self.weights @ (known**2 * effect)) / mean)

    def probability(self, theta: float) -> Floats:
        """Probability `[I]` of a right answer by a student of levels not seen before."""
        flat = np.sqrt(1.0 + MARGINAL * (self.apart + self.shared))
        return self.items._replace(a=self.items.a / flat).share(np.asarray(theta))

    def _answer(self, theta: Floats) -> Floats:
        """Information `[I]` of one answer whose effects are known, averaged over them and over `theta`."""
        spread = np.sqrt(self.apart + self.shared)
        if spread == 0:
            return np.asarray(self.items.information(theta[:, None]).mean(axis=0))
        moved = theta[:, None, None] + spread * NODES[:, None] / self.items.a
        return np.asarray(NODE_WEIGHTS @ self.items.information(moved).mean(axis=0))


def drawn_sources(
    draws: Mapping[str, Floats], seed: int, apart: Sequence[str] | None = None
) -> Iterator[QuestionSource]:
    """One source per draw of a fit, whose items are a sample themselves: Dirichlet weights (Rubin 1981).

    `apart` names the facets in which the two compared differ, all by default.
    """
    rng = np.random.default_rng(seed)
    count, total = draws["a"].shape
    differing = np.broadcast_to(effect_variance(draws, apart), count)
    common = np.broadcast_to(effect_variance(draws), count) - differing
    slopes = draws["a"] * np.reshape(flattening(draws), (-1, 1))
    for row in range(count):
        items = ItemParameters(slopes[row], *(draws[name][row] for name in "bcd"))
        yield QuestionSource(items, rng.dirichlet(np.ones(total)), float(differing[row]), float(common[row]))


def effect_variance(values: Mapping[str, Floats], facets: Sequence[str] | None = None) -> Floats | float:
    """Summed variance of the effects on items of these facets' levels (of all by default), in squared logits."""
    found = {name: scale for name, scale in values.items() if name.startswith(ITEM_EFFECT_SCALE)}
    wanted = found if facets is None else [ITEM_EFFECT_SCALE + name for name in facets]
    return sum((np.square(found[name]) for name in wanted if name in found), start=0.0)
