"""The No-U-Turn sampler (numpyro's): draws from the exact posterior, a thread per chain.

One program per table size is compiled and kept; chains run it in blocks of iterations, so progress can be told. Threads
run truly in parallel, since compiled code holds no lock, and each chain's draws depend on its own seed alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from irt.fitting import laplace
from irt.fitting.numpyro_model import (
    Inputs,
    Structure,
    constrained,
    inputs_of,
    numpyro_model,
    raw_draws,
    starting_point,
    structure_of,
)
from irt.fitting.outcome import Progress, Settings
from irt.model import Problem, RawDraws
from irt.responses import Floats

MAX_DEPTH = 10
BLOCK = 50


@dataclass(frozen=True)
class Sampled:
    """Draws (chains in order along the first axis), sampler statistics, and seconds compiling and sampling."""

    raw: RawDraws
    chains: int
    divergences: int
    saturated: int
    compile_seconds: float
    sample_seconds: float


def sample(problem: Problem, settings: Settings, progress: Progress | None = None) -> Sampled:
    """Run NUTS in double precision from around the mode, each chain from its own scattered start."""
    begin = time.perf_counter()
    structure = structure_of(problem)
    with _quiet():
        centring, start = starting_point(problem, laplace.climb(problem))
        inputs = inputs_of(problem, centring)
        program, compile_seconds = _program(structure, settings.warmup, settings.target_accept, start, inputs)
        report = _Report(progress, settings)
        with ThreadPoolExecutor(settings.chains) as pool:
            jobs = [
                pool.submit(_chain, program, start, inputs, settings, chain, report) for chain in range(settings.chains)
            ]
            chains = [job.result() for job in jobs]
        joined = {name: np.concatenate([chain.draws[name] for chain in chains]) for name in start}
        raw = raw_draws(problem, constrained(structure, joined), centring)
    return Sampled(
        raw=raw,
        chains=settings.chains,
        divergences=sum(chain.divergences for chain in chains),
        saturated=sum(chain.saturated for chain in chains),
        compile_seconds=compile_seconds,
        sample_seconds=time.perf_counter() - begin - compile_seconds,
    )


class _Chain(NamedTuple):
    draws: dict[str, Floats]
    divergences: int
    saturated: int


class _Program(NamedTuple):
    start: Callable[..., Any]
    block: Callable[..., Any]


class _Report:
    """Counts the iterations of all chains for one callback."""

    def __init__(self, progress: Progress | None, settings: Settings) -> None:
        self.progress, self.done, self.lock = progress, 0, Lock()
        self.total = settings.chains * (_blocks(settings.warmup) + _blocks(settings.draws)) * BLOCK

    def add(self, iterations: int) -> None:
        """Tell that a chain has gone on."""
        if self.progress is not None:
            with self.lock:
                self.done += iterations
                self.progress(self.done, self.total)


def _quiet() -> Any:
    """Double precision on this thread only."""
    import jax

    return jax.enable_x64(True)


def _blocks(iterations: int) -> int:
    return -(-iterations // BLOCK)


@lru_cache(maxsize=1)
def _cache() -> dict[tuple[Any, ...], _Program]:
    return {}


def _program(
    structure: Structure, warmup: int, target_accept: float, start: dict[str, Floats], inputs: Inputs
) -> tuple[_Program, float]:
    """The compiled program of a structure, and the seconds compiling it took (0 when it was kept from before)."""
    import jax
    from numpyro.infer.hmc import hmc
    from numpyro.infer.util import potential_energy

    key = (structure, warmup, target_accept)
    if key in _cache():
        return _cache()[key], 0.0
    begin = time.perf_counter()
    model = numpyro_model(structure)

    def potential(given: Inputs) -> Callable[[Any], Any]:
        return lambda position: potential_energy(model, (given,), {}, position)

    initialise, step = hmc(potential_fn_gen=potential, algo="NUTS")

    def first(position: Any, given: Inputs, seed: Any) -> Any:
        return initialise(
            position,
            _blocks(warmup) * BLOCK,
            target_accept_prob=target_accept,
            max_tree_depth=MAX_DEPTH,
            model_args=(given,),
            rng_key=seed,
        )

    def block(state: Any, given: Inputs) -> Any:
        def advance(state: Any, _: None) -> Any:
            state = step(state, (given,))
            return state, (state.z, state.diverging, state.num_steps)

        return jax.lax.scan(advance, state, length=BLOCK)

    compiled_first = jax.jit(first).lower(start, inputs, jax.random.PRNGKey(0)).compile()
    state = compiled_first(start, inputs, jax.random.PRNGKey(0))
    program = _Program(compiled_first, jax.jit(block).lower(state, inputs).compile())
    _cache()[key] = program
    return program, time.perf_counter() - begin


def _chain(
    program: _Program, start: dict[str, Floats], inputs: Inputs, settings: Settings, chain: int, report: _Report
) -> _Chain:
    import jax

    with _quiet():
        position = _scattered(start, np.random.default_rng([settings.seed, chain]))
        seed = jax.random.fold_in(jax.random.PRNGKey(settings.seed), chain)
        state = program.start(position, inputs, seed)
        for _ in range(_blocks(settings.warmup)):
            state, _ = program.block(state, inputs)
            state.i.block_until_ready()
            report.add(BLOCK)
        kept = []
        for _ in range(_blocks(settings.draws)):
            state, told = program.block(state, inputs)
            kept.append(jax.tree.map(np.asarray, told))
            report.add(BLOCK)
    draws = {
        name: np.concatenate([block[0][name] for block in kept])[: settings.draws].astype(np.float64) for name in start
    }
    diverging = np.concatenate([block[1] for block in kept])[: settings.draws]
    steps = np.concatenate([block[2] for block in kept])[: settings.draws]
    return _Chain(draws, int(diverging.sum()), int(np.sum(steps >= 2**MAX_DEPTH - 1)))


def _scattered(start: dict[str, Floats], rng: np.random.Generator) -> dict[str, Floats]:
    """A start of its own for each chain: every coordinate moved by about a third of its group's size."""
    return {
        name: value + 0.3 * max(float(np.sqrt(np.mean(value**2))), 0.3) * rng.standard_normal(value.shape)
        for name, value in start.items()
    }
