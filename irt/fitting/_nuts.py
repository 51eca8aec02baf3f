"""The No-U-Turn sampler (numpyro's) for right and wrong answers: draws from the posterior, in whitened coordinates.

One program per table size is compiled and kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from irt._fit_settings import FitSettings
from irt._model import Problem, report_scale
from irt.fitting import _laplace as laplace
from irt.fitting._chains import Density, Enough, Program, Sampled, compile_chains, run_chains
from irt.fitting._compiled_programs import compiled
from irt.fitting._estimation_outcome import Progress
from irt.fitting._numpyro_model import (
    ModelInputs,
    ModelStructure,
    energy,
    inputs_of,
    model_values,
    raw_draws,
    structure_of,
)
from irt.fitting._whitening import Whitening, leaning, origin, whitening_of

FIRST_STEP = 0.3
"""Step size to start from: whitened coordinates take longer ones than the sampler's own 0.1."""


def sample(
    problem: Problem, settings: FitSettings, progress: Progress | None = None, enough: Enough | None = None
) -> Sampled:
    """Run NUTS in double precision around the mode, each chain from its own scattered start.

    `enough` is asked between blocks of draws; True ends the run, else it goes on to `settings.draws` per chain.
    """
    import jax

    begin = time.perf_counter()
    structure = structure_of(problem)
    with jax.enable_x64(True):
        inputs = inputs_of(problem)
        given = whitening_of(problem, laplace.climb(problem), structure.layout)
        programs, compile_seconds = _programs(structure, settings, inputs, given)
        given = leaning(given, structure.layout, lambda position, given: programs.gradient(position, inputs, given))

    def reported(sampled: Sampled) -> Sampled:
        return replace(sampled, values=report_scale(raw_draws(problem, sampled.values), problem.design))

    centre = origin(given, structure.layout)
    generators = [np.random.default_rng([settings.seed, chain]) for chain in range(settings.chains)]
    starts = [{name: rng.standard_normal(value.shape) for name, value in centre.items()} for rng in generators]
    prepared = time.perf_counter() - begin - compile_seconds
    ends = None if enough is None else lambda sampled: enough(reported(sampled))
    sampled = run_chains(programs.chains, starts, (inputs, given), settings, ends, progress)
    return replace(reported(sampled), compile_seconds=compile_seconds, sample_seconds=sampled.sample_seconds + prepared)


class _Programs(NamedTuple):
    gradient: Callable[..., Any]
    chains: Program


_KEPT: dict[tuple[Any, ...], _Programs] = {}
"""By what a program depends on."""


def _programs(
    structure: ModelStructure, settings: FitSettings, inputs: ModelInputs, given: Whitening
) -> tuple[_Programs, float]:
    """The compiled programs of a structure, and the seconds compiling took (0 when they were kept from before)."""
    import jax

    key = (structure, settings.warmup, settings.target_accept)
    if key in _KEPT:
        return _KEPT[key], 0.0
    begin = time.perf_counter()
    potential = energy(structure)
    density = Density(
        lambda data: lambda position: potential(position, *data),
        lambda position, data: model_values(structure, position, *data),
        ("scales",),
        FIRST_STEP,
    )
    start = origin(given, structure.layout)
    gradient = compiled(jax.grad(potential), start, inputs, given)
    _KEPT[key] = _Programs(gradient, compile_chains(density, start, (inputs, given), settings))
    return _KEPT[key], time.perf_counter() - begin
