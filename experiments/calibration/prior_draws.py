"""Draws from the priors of `irt._model`, and answers from them: what simulation-based calibration starts from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt import Floats, Priors
from irt.fitting import Design, ItemModel, RawDraws, guessing_centre, prior_densities
from irt.kernels import probability


class Specification(NamedTuple):
    """What the priors need to know: the design, the model's name, 1/options `[I]`, and the priors themselves."""

    design: Design
    model: str
    chance: Floats
    priors: Priors = Priors()


class _NamedModel(ItemModel):
    def __init__(self, model: str) -> None:
        self.model = model


def draw_prior(given: Specification, count: int, seed: int) -> RawDraws:
    """`count` independent draws from the prior, in logits."""
    rng, priors, design, named = np.random.default_rng(seed), given.priors, given.design, _NamedModel(given.model)
    items = len(given.chance)
    scales = tuple(prior_densities.term_scale(priors).draw(rng, count) for _ in design.terms)
    effects = tuple(
        scale[:, None] * (rng.standard_normal((count, len(term.levels))) @ term.root.T)
        for scale, term in zip(scales, design.terms, strict=True)
    )
    residual = np.zeros(count)
    if design.residual:
        residual = prior_densities.residual_scale(priors, bool(design.terms)).draw(rng, count)
    theta = residual[:, None] * _zero_sum(rng, count, design.students)
    for term, each in zip(design.terms, effects, strict=True):
        theta = theta + each[:, term.level_of]
    spread_a = prior_densities.spread_a(priors).draw(rng, count) if named.free_a else np.zeros(count)
    spread_b = prior_densities.spread_b(priors).draw(rng, count)
    centre_b = prior_densities.centre_b(priors).draw(rng, count)
    shape = (count, items)
    c = np.zeros(shape)
    if named.guessing:
        centre = guessing_centre(given.model, given.chance)
        c = c + prior_densities.guessing(priors, centre).draw(rng, count)
    delta = np.ones(shape)
    if named.slipping:
        delta = prior_densities.upper_share(priors, items).draw(rng, count)
    return RawDraws(
        a=np.exp(spread_a[:, None] * _zero_sum(rng, count, items)),
        b=centre_b[:, None] + spread_b[:, None] * _zero_sum(rng, count, items),
        c=c,
        d=c + (1 - c) * delta,
        theta=theta,
        effects=effects,
        scales=scales,
        residual_scale=residual,
        spread_a=spread_a,
        spread_b=spread_b,
        centre_b=centre_b,
    )


def draw_answers(truth: RawDraws, index: int, attempts: Floats, seed: int) -> Floats:
    """Successes `[S, I]` out of `attempts` under draw `index`."""
    p = probability(truth.theta[index][:, None], *(getattr(truth, name)[index] for name in "abcd"))
    return np.random.default_rng([seed, index]).binomial(attempts.astype(int), p).astype(np.float64)


def _zero_sum(rng: np.random.Generator, count: int, size: int) -> Floats:
    noise = rng.standard_normal((count, size))
    return np.asarray(noise - noise.mean(axis=1, keepdims=True))
