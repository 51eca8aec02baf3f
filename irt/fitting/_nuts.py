"""The No-U-Turn sampler (numpyro's): right and wrong answers in whitened coordinates, ratings in the model's own.

One program per table size is compiled and kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from irt import _graded as graded
from irt._fit_settings import FitSettings
from irt._model import SMALLEST_UNIT, ItemEffects, Problem, RawDraws, report_scale
from irt._responses import Floats
from irt.fitting import _laplace as laplace
from irt.fitting import _numpyro_model as models
from irt.fitting._chains import Density, Enough, Program, Sampled, compile_chains, run_chains, some_of
from irt.fitting._compiled_programs import compiled
from irt.fitting._estimation_outcome import Progress
from irt.fitting._rating_curvature import RATING_MODELS
from irt.fitting._rating_steps import rated
from irt.fitting._whitening import Whitening, leaning, origin, whitening_of
from irt.kernels import probability

DETERMINED = 0.45
"""Mean of 4 P (1 - P) over the answers, at the mode, below which abilities nearly determine them (of fair coins it is
1, of Guttman's scale 0): abilities then stand between cliffs."""
DETERMINED_ACCEPT = 0.98
"""Least acceptance aimed at in such tables: one run in three has a divergence at 0.9, one in six at this (3 of 18, with
3 and 6 % of the answers against the scale), and is then repeated."""
FIRST_STEP = 0.3
"""Step size to start from: whitened coordinates take longer ones than the sampler's own 0.1."""


def sample(
    problem: Problem, settings: FitSettings, progress: Progress | None = None, enough: Enough | None = None
) -> Sampled:
    """Run NUTS in double precision around the mode, each chain from its own scattered start.

    `enough` is asked between blocks of draws; True ends the run, else it goes on to `settings.draws` per chain.
    """
    import jax

    structure = models.structure_of(problem)
    with jax.enable_x64(True):
        inputs = models.inputs_of(problem)
        mode = laplace.climb(problem)
        if uncertainty(problem, mode) < DETERMINED:
            settings = replace(settings, target_accept=max(settings.target_accept, DETERMINED_ACCEPT))
        given = whitening_of(problem, mode, structure.layout)
        programs, compile_seconds = _programs(structure, settings, inputs, given)
        given = leaning(given, structure.layout, lambda position, given: programs.gradient(position, inputs, given))

    def reported(sampled: Sampled) -> Sampled:
        return replace(sampled, values=report_scale(models.raw_draws(problem, sampled.values), problem.design))

    centre = origin(given, structure.layout)
    generators = [np.random.default_rng([settings.seed, chain]) for chain in range(settings.chains)]
    starts = [{name: rng.standard_normal(value.shape) for name, value in centre.items()} for rng in generators]
    ends = None if enough is None else lambda sampled: enough(reported(sampled))
    sampled = run_chains(programs.chains, starts, (inputs, given), settings, ends, progress)
    return replace(reported(sampled), compile_seconds=compile_seconds)


def uncertainty(problem: Problem, mode: laplace.LaplaceFit) -> float:
    """Mean of 4 P (1 - P) over the answers of a table, at its mode."""
    at = laplace.mode_of(problem, mode)
    p = probability(at.theta.T, *(values[0] for values in (at.a, at.b, at.c, at.d)))
    return float(np.average(4 * p * (1 - p), weights=(problem.attempts > 0) + SMALLEST_UNIT))


class _Programs(NamedTuple):
    gradient: Callable[..., Any]
    chains: Program


_KEPT: dict[tuple[Any, ...], _Programs] = {}
"""By what a program depends on."""


def _programs(
    structure: models.ModelStructure,
    settings: FitSettings,
    inputs: models.ModelInputs,
    given: Whitening,
) -> tuple[_Programs, float]:
    """The compiled programs of a structure, and the seconds compiling took (0 when they were kept from before)."""
    import jax

    key = (structure, settings.warmup, settings.target_accept)
    if key in _KEPT:
        return _KEPT[key], 0.0
    begin = time.perf_counter()
    potential = models.energy(structure)
    density = Density(
        lambda data: lambda position: potential(position, *data),
        lambda position, data: models.model_values(structure, position, *data),
        ("scales",),
        FIRST_STEP,
    )
    start = origin(given, structure.layout)
    gradient = compiled(jax.grad(potential), start, inputs, given)
    _KEPT[key] = _Programs(gradient, compile_chains(density, start, (inputs, given), settings))
    return _KEPT[key], time.perf_counter() - begin


ACCEPT = 0.95
"""Least acceptance aimed at: thresholds around a rare score have a curved posterior, where longer steps diverge."""
UNREPORTED = {"log_a", "b", "gamma", "step"}
"""The model's values that the reported ones are made of."""
SCALES = ("slope", "spread_b", "spread_a", "spread_gap", "residual_scale")
"""Values whose mass matrix is a full one: they depend on each other most."""


def sample_ratings(
    problem: Problem, settings: FitSettings, progress: Progress | None = None, enough: Enough | None = None
) -> Sampled:
    """The same for ratings, in coordinates that need no mode to start from: chains from scattered starts."""
    import jax
    from numpyro.infer.util import constrain_fn, potential_energy

    settings = replace(settings, target_accept=max(settings.target_accept, ACCEPT))
    structure, inputs = models.structure_of(problem, centring_of(problem)), models.inputs_of(problem)
    model = models.numpyro_model(structure)
    with jax.enable_x64(True):
        shapes = _shapes(model, inputs)

    def potential(given: models.ModelInputs) -> Callable[[Any], Any]:
        return lambda position: potential_energy(model, (given,), {}, position)

    def values(position: Any, given: models.ModelInputs) -> Any:
        everything = constrain_fn(model, (given,), {}, position, return_deterministic=True)
        told = (name for name in everything if name not in UNREPORTED and not name.startswith(models.OWN))
        return {name: everything[name] for name in told}

    numbered = (f"{kind}scale_{term}" for kind in ("", "item_effect_") for term in range(len(structure.shapes)))
    scales = (*SCALES, *numbered)
    density = Density(potential, values, tuple(name for name in scales if name in shapes))
    generators = [np.random.default_rng([settings.seed, chain]) for chain in range(settings.chains)]
    starts = [{name: rng.uniform(-0.5, 0.5, shape) for name, shape in shapes.items()} for rng in generators]
    begin = time.perf_counter()
    with jax.enable_x64(True):
        program = compile_chains(density, starts[0], inputs, settings)
    compile_seconds = time.perf_counter() - begin

    def reported(sampled: Sampled) -> Sampled:
        return replace(sampled, values=_reported_ratings(problem, structure.centring, sampled.values))

    ends = None if enough is None else lambda sampled: enough(reported(sampled))
    sampled = run_chains(program, starts, inputs, settings, ends, progress)
    found = replace(reported(sampled), compile_seconds=compile_seconds)
    return _with_item_effects(problem, sampled.values, found) if structure.item_terms else found


def _shapes(model: Callable[..., Any], inputs: models.ModelInputs) -> dict[str, tuple[int, ...]]:
    """The shapes of the model's coordinates, in its order; nothing is compiled or computed for them."""
    import jax
    from numpyro import handlers
    from numpyro.distributions import biject_to

    shapes: dict[str, tuple[int, ...]] = {}

    def draw(key: Any) -> None:
        sites = handlers.trace(handlers.seed(model, key)).get_trace(inputs).values()
        for site in sites:
            if site["type"] == "sample" and not site["is_observed"]:
                shapes[site["name"]] = biject_to(site["fn"].support).inverse_shape(np.shape(site["value"]))

    jax.eval_shape(draw, jax.random.PRNGKey(0))
    return shapes


def centring_of(problem: Problem) -> models.Centring:
    """Shares from what the numbers of answers alone promise about each group, in logits of a typical item."""
    assert problem.ratings is not None
    scores, top = problem.ratings
    answers = float((~np.isnan(scores)).sum())
    per_student, per_item = answers / len(scores), answers / len(top)

    def known(information: float) -> float:
        return float((information / (1 + information)) ** 4)

    terms = tuple(known(len(scores) / len(term.levels) * 2.0) for term in problem.design.terms)
    gap = known(0.05 * per_item / (1 + float(np.mean(top))))
    levels = [len(problem.design.term(name).levels) for name in problem.design.item_facets]
    on_items = known(0.25 * per_item / max(levels)) if levels else 1.0
    return models.Centring(terms, known(0.025 * per_student), known(0.01 * per_item), gap, on_items)


def _reported_ratings(problem: Problem, centring: models.Centring, values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Draws on the reported scale: those of `irt._model.report_scale`, and `thresholds` or `steps` `[D, I, K]`."""
    assert problem.ratings is not None
    top, terms = problem.ratings.top, problem.design.terms
    count, items = values["a"].shape
    slope = values.get("slope", np.ones(count))
    scales = tuple(values[f"scale_{index}"] for index in range(len(terms)))
    effects = tuple(
        scale[:, None] ** (1 - centred) * (values[f"effect_{index}"].reshape(count, -1) @ term.root.T)
        for index, (term, scale, centred) in enumerate(zip(terms, scales, centring.terms, strict=True))
    )
    middle = graded.mean_threshold(values["thresholds"], top)
    raw = RawDraws(
        a=values["a"],
        b=middle,
        c=np.zeros((count, items)),
        d=np.ones((count, items)),
        theta=values["theta"],
        effects=effects,
        scales=scales,
        residual_scale=values.get("residual_scale", np.zeros(count)),
        spread_a=values.get("spread_a", np.zeros(count)),
        spread_b=slope * values["spread_b"],
        centre_b=slope * values["centre_b"],
        item_effect_scales=tuple(values[f"item_effect_scale_{at}"] for at in range(len(problem.design.item_facets))),
        covariate_effects=models.covariate_effects(problem, values),
        ladders=values["thresholds"] - middle[:, :, None],
    )
    reported = rated(problem, report_scale(raw, problem.design))
    if "spread_gap" in values and not problem.partial_credit:
        reported["spread_gap"] = values["spread_gap"]
    return reported


def _with_item_effects(problem: Problem, values: Mapping[str, Floats], found: Sampled) -> Sampled:
    """What was found, with effects of levels on items, and expected shares and log-likelihood given them."""
    assert problem.ratings is not None
    design, drawn = problem.design, [values[f"item_effect_{at}"] for at in range(len(problem.design.item_facets))]
    shares, total, some = np.zeros(problem.ratings.scores.shape), 0.0, some_of(len(drawn[0]))
    levels, kind = [design.term(name).level_of for name in design.item_facets], RATING_MODELS[problem.model].items
    for draw in some:
        a = values["a"][draw]
        items = kind(a, values["thresholds"][draw], problem.ratings.top)
        brought = [each[draw][level_of] for level_of, each in zip(levels, drawn, strict=True)]
        theta = values["theta"][draw][:, None] + sum(brought) / a
        shares += items.share(theta) / len(some)
        total += float(items.log_likelihood(problem.ratings.scores, theta).sum()) / len(some)
    by_facet = dict(zip(design.item_facets, drawn, strict=True))
    mean, sd = ({name: each(values, axis=0).T for name, values in by_facet.items()} for each in (np.mean, np.std))
    return replace(found, item_effects=ItemEffects(mean, sd, shares), log_likelihood=total)
