"""The hierarchical item response model: what is free, and the priors both estimation methods share.

ability (logits)   eta_s = sum over terms scale_t (C_t z_t)[level of s] + residual_scale u_s
discrimination     log a_i = spread_a (alpha_i)                  (1pl: a_i = 1)
difficulty         b_i = centre_b + spread_b beta_i
guessing           c_i ~ Beta centred on 1/options               (3pl, 4pl; one c in 3pl-shared)
upper asymptote    d_i = c_i + (1 - c_i) delta_i, delta_i ~ Beta centred on .95   (4pl)
P(correct)         c_i + (d_i - c_i) sigmoid(a_i (eta_s - b_i) + sum over facets g_i[level of s])
effects on items   g_i ~ Normal(0, w of the facet): what a level has in store for an item, shared by all its students
item covariates    on top x_i (main + sum over facets slope[level of s]), see `irt._item_covariates`

The effects on items are there for facets whose levels students share, where the method has them; `w` is half-normal. An
item's discrimination is then reported for levels not seen before: the logistic curve closest to the mean over `g`,
whose slope is `a_i / sqrt(1 + MARGINAL sum w^2)` (Zeger, Liang & Albert 1988). Difficulty and asymptotes stay. What
covariates explain counts as part of what it explains: of difficulties, of effects on items, and of the scales of both.

The geometric mean of the discriminations is held at 1, so the scale lives in the half-normal scales of ability; every
term sums to zero over its levels, so the location lives in `centre_b`. Results are then put on the reported scale, draw
by draw: abilities have mean 0 over the students of the table; with facets they have standard deviation 1 over them;
without, 1 is the standard deviation of the Normal population, and the common discrimination is `residual_scale`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt._argument_checks import require_numbers
from irt._design import Design
from irt._item_covariates import ItemCovariates
from irt._packed_answers import PackedAnswers, pack
from irt._responses import Floats, ResponseMatrix

SHARED_GUESSING = "3pl-shared"
"""A 3pl with one lower asymptote for all items."""
MODELS = ("1pl", "2pl", "3pl", SHARED_GUESSING, "4pl")
"""Models of right and wrong answers."""
MARGINAL = (16 * np.sqrt(3) / (15 * np.pi)) ** 2
"""By it times their variance, normal effects in the logit flatten the squared slope of a mean logistic curve."""
ITEM_EFFECT_SCALE = "item_effect_scale."
"""Draws whose names begin so, followed by a facet, are the scales of its levels' effects on items."""
ITEM_COVARIATE = "item_covariate"
"""Draws of this name are what a unit of each item covariate adds to the ability that an answer shows; followed by `.`
and a facet, what it adds for each level beyond that.
"""
UNEXPLAINED = "unexplained_"
"""Before a scale that item covariates explain in part: what they leave."""
RATINGS = ("grm", "gpcm", "pcm")
"""Models of ratings: graded responses, and the partial credit models with a discrimination per item or one for all."""
ONE_SLOPE = ("1pl", "pcm")
"""Models in which all items have the same discrimination."""
Options = int | Sequence[int] | Mapping[str, int]
SMALLEST_UNIT = 1e-8
"""Least spread of abilities that a scale is made of."""


@dataclass(frozen=True)
class Priors:
    """Scales of the priors, in logits.

    Raises ValueError for a scale or weight that is not above 0, and for an `upper` that is no probability.
    """

    spread_a: float = 0.5
    centre_b: float = 2.0
    spread_b: float = 2.0
    term_scale: float = 1.0
    residual_scale: float = 1.0
    common_a: float = 0.5
    guessing_weight: float = 20.0
    upper: float = 0.95
    upper_weight: float = 20.0
    item_effect_scale: float = 3.0
    item_covariate_scale: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "upper" and not 0 < value < 1:
                raise ValueError(f"priors: upper is {value}; wanted a probability between 0 and 1")
            if not (0 < value < np.inf):
                raise ValueError(f"priors: {field.name} is {value}; wanted a number above 0")


class Ratings(NamedTuple):
    """Scores `[S, I]` from 0 to each item's highest `top` `[I]`, NaN where not asked."""

    scores: Floats
    top: NDArray[np.int64]


class ItemModel:
    """What a model's name says of its items."""

    model: str

    @property
    def free_a(self) -> bool:
        """Whether items differ in discrimination."""
        return self.model not in ONE_SLOPE

    @property
    def partial_credit(self) -> bool:
        """Whether ratings are scored by partial credit."""
        return self.model in RATINGS[1:]

    @property
    def guessing(self) -> bool:
        """Whether items have a lower asymptote."""
        return self.model in ("3pl", "4pl", SHARED_GUESSING)

    @property
    def shared_guessing(self) -> bool:
        """Whether all items have the same lower asymptote."""
        return self.model == SHARED_GUESSING

    @property
    def own_guessing(self) -> bool:
        """Whether each item has a lower asymptote of its own."""
        return self.guessing and not self.shared_guessing

    @property
    def slipping(self) -> bool:
        """Whether items have an upper asymptote."""
        return self.model == "4pl"


@dataclass(frozen=True)
class Problem(ItemModel):
    """Everything an estimator needs: answers, design, model name, priors, 1/options `[I]`, and the ids of the items.

    `ratings` are there when the model is that of ratings, whose `answers` are points out of the highest score.
    """

    answers: PackedAnswers
    design: Design
    model: str
    chance: Floats
    priors: Priors = Priors()
    items: tuple[str, ...] = ()
    ratings: Ratings | None = None

    @property
    def successes(self) -> Floats:
        """Successes `[S, I]`, 0 where not asked."""
        return self.answers.counts()[0]

    @property
    def guessing_centre(self) -> Floats:
        """What the prior of guessing is centred on, `[I]` or, where it is shared, `[1]`."""
        return guessing_centre(self.model, self.chance)

    @property
    def attempts(self) -> Floats:
        """Trials `[S, I]`, 0 where not asked."""
        right, wrong = self.answers.counts()
        return right + wrong


def build_problem(data: ResponseMatrix, design: Design, model: str, options: Options, priors: Priors) -> Problem:
    """The problem of fitting `model` to `data`."""
    if model in RATINGS:
        assert data.top is not None
        ratings = Ratings(data.scores, data.top)
        return Problem(pack(data), design, model, np.zeros(len(data.items)), priors, data.items, ratings)
    if model not in MODELS:
        raise ValueError(f"unknown model '{model}'; wanted {', '.join(MODELS)} or auto")
    return Problem(pack(data), design, model, chance_level(data, options), priors, data.items)


def chance_level(data: ResponseMatrix, options: Options) -> Floats:
    """Probability `[I]` of guessing right: 1/options, options being one number, a list, or a mapping of item ids."""
    counts: NDArray[np.float64]
    if isinstance(options, Mapping):
        missing = [item for item in data.items if item not in options]
        if missing:
            raise ValueError(f"options are missing for item '{missing[0]}'; wanted one number per item")
        counts = require_numbers("options", [options[item] for item in data.items])
    else:
        counts = require_numbers("options", options)
        counts = counts if np.ndim(options) else counts[0]
        if counts.ndim and len(counts) != len(data.items):
            raise ValueError(f"{len(counts)} option counts for {len(data.items)} items; wanted one number per item")
    if not np.all(counts >= 2):
        raise ValueError(f"options {counts.min():g} is not a number of choices; wanted at least 2")
    return np.broadcast_to(1.0 / counts, (len(data.items),)).copy()


def guessing_centre(model: str, chance: Floats) -> Floats:
    """What the prior of guessing is centred on: 1/options `[I]`, or their mean `[1]` where items share one value."""
    return chance.mean(keepdims=True) if model == SHARED_GUESSING else chance


@dataclass(frozen=True)
class RawDraws:
    """Draws on the model's own scale: first axis `D`; `effects` per term `[D, L]` in logits."""

    a: Floats
    b: Floats
    c: Floats
    d: Floats
    theta: Floats
    effects: tuple[Floats, ...]
    scales: tuple[Floats, ...]
    residual_scale: Floats
    spread_a: Floats
    spread_b: Floats
    centre_b: Floats
    item_effect_scales: tuple[Floats, ...] = ()
    ladders: Floats | None = None
    """Of ratings: thresholds less their mean `[D, I, K]`."""
    covariate_effects: tuple[Floats, ...] = ()
    """What a unit of each item covariate brings to logits: to all `[D, K]`, then by facet to each level `[D, L, K]`."""


class ItemEffects(NamedTuple):
    """Effects of levels on items in logits, by facet `[I, L]`: posterior means, shrunk as they are, and standard
    deviations; and the mean probability of a right answer `[S, I]` given them.
    """

    mean: Mapping[str, Floats]
    sd: Mapping[str, Floats]
    expected: Floats


def flattening(draws: Mapping[str, Floats]) -> Floats | float:
    """By what the discriminations of a level's own students are steeper than those reported, `[D]` (1: no effects)."""
    scales = [values for name, values in draws.items() if name.startswith(ITEM_EFFECT_SCALE)]
    return np.sqrt(1 + MARGINAL * np.sum(np.square(scales), axis=0)) if scales else 1.0


def centre_and_unit(theta: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation `[D]` of abilities `[D, S]` over the students: the reported scale's 0 and 1."""
    centre = theta.mean(axis=1)
    unit = np.sqrt(np.mean((theta - centre[:, None]) ** 2, axis=1))
    return centre, np.maximum(unit, SMALLEST_UNIT)


def report_scale(raw: RawDraws, design: Design) -> dict[str, Floats]:
    """Draws on the reported scale by name: `a b c d` `[D, I]`, `theta` `[D, S]`, `effect.NAME` `[D, L]`, `scale.NAME`,
    `residual_scale`, `spread_a`, `spread_b`, `centre_b` and, in logits, `item_effect_scale.FACET` `[D]`. With item
    covariates: `item_covariate` `[D, K]`, `item_covariate.FACET` `[D, L, K]` and what they leave of the scales. Of
    ratings: `ladders` `[D, I, K]`.
    """
    if design.terms:
        centre, unit = centre_and_unit(raw.theta)
    else:
        centre, unit = np.zeros(len(raw.theta)), np.maximum(raw.residual_scale, SMALLEST_UNIT)
    column = unit[:, None]
    b, theta = raw.b - centre[:, None], raw.theta - centre[:, None]
    b /= column
    theta /= column
    draws = {
        "a": raw.a * column,
        "b": b,
        "c": raw.c,
        "d": raw.d,
        "theta": theta,
        "spread_a": raw.spread_a,
        "spread_b": raw.spread_b / unit,
        "centre_b": (raw.centre_b - centre) / unit,
    }
    for term, effects, scale in zip(design.terms, raw.effects, raw.scales, strict=True):
        draws[f"effect.{term.name}"] = effects / column
        draws[f"scale.{term.name}"] = scale / unit
    if design.residual:
        draws["residual_scale"] = raw.residual_scale / unit
    for name, scale in zip(design.item_facets, raw.item_effect_scales, strict=True):
        draws[f"{ITEM_EFFECT_SCALE}{name}"] = scale
    if design.item_covariates is not None:
        draws |= _explained(draws, raw, design, design.item_covariates, unit)
    if raw.ladders is not None:
        draws["ladders"] = raw.ladders / column[:, :, None]
    if design.item_facets:
        draws["a"] = draws["a"] / np.reshape(flattening(draws), (-1, 1))
    return draws


def _explained(
    draws: Mapping[str, Floats], raw: RawDraws, design: Design, known: ItemCovariates, unit: Floats
) -> dict[str, Floats]:
    """Effects of item covariates on the reported scale, and what they make of difficulties and of scales."""
    main, *of_levels = raw.covariate_effects
    found = {
        ITEM_COVARIATE: main / unit[:, None],
        "b": draws["b"] - main @ known.deviations.T / raw.a / unit[:, None],
        f"{UNEXPLAINED}spread_b": draws["spread_b"],
        "spread_b": np.sqrt(draws["spread_b"] ** 2 + known.variance(main) / unit**2),
    }
    for name, slopes in zip(design.item_facets, of_levels, strict=True):
        scale = f"{ITEM_EFFECT_SCALE}{name}"
        found[f"{ITEM_COVARIATE}.{name}"] = slopes / unit[:, None, None]
        found[UNEXPLAINED + scale] = draws[scale]
        found[scale] = np.sqrt(draws[scale] ** 2 + known.variance(slopes).mean(axis=1))
    return found
