"""Draws from the priors of `irt.model`, and answers from them: what simulation-based calibration starts from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt.design import Design
from irt.kernels import probability
from irt.model import Named, Priors, RawDraws, guessing_centre
from irt.responses import Floats


class Specification(NamedTuple):
    """What the priors need to know: the design, the model's name, 1/options `[I]`, and the priors themselves."""

    design: Design
    model: str
    chance: Floats
    priors: Priors = Priors()


class _Named(Named):
    def __init__(self, model: str) -> None:
        self.model = model


def draw_prior(given: Specification, count: int, seed: int) -> RawDraws:
    """`count` independent draws from the prior, in logits."""
    rng, priors, design, named = np.random.default_rng(seed), given.priors, given.design, _Named(given.model)
    items = len(given.chance)
    scales = tuple(priors.term_scale * np.abs(rng.standard_normal(count)) for _ in design.terms)
    effects = tuple(
        scale[:, None] * (rng.standard_normal((count, len(term.levels))) @ term.root.T)
        for scale, term in zip(scales, design.terms, strict=True)
    )
    residual = np.zeros(count)
    if design.residual:
        noise = rng.standard_normal(count)
        residual = priors.residual_scale * np.abs(noise) if design.terms else np.exp(priors.common_a * noise)
    theta = residual[:, None] * _zero_sum(rng, count, design.students)
    for term, each in zip(design.terms, effects, strict=True):
        theta = theta + each[:, term.level_of]
    spread_a = priors.spread_a * np.abs(rng.standard_normal(count)) if named.free_a else np.zeros(count)
    spread_b = priors.spread_b * np.abs(rng.standard_normal(count))
    centre_b = priors.centre_b * rng.standard_normal(count)
    weight, slips = priors.guessing_weight, priors.upper_weight
    shape = (count, items)
    c = np.zeros(shape)
    if named.guessing:
        centre = guessing_centre(given.model, given.chance)
        c = c + rng.beta(weight * centre, weight * (1 - centre), (count, len(centre)))
    delta = np.ones(shape)
    if named.slipping:
        delta = rng.beta(slips * priors.upper, slips * (1 - priors.upper), shape)
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
