"""The No-U-Turn sampler (numpyro's): draws from the exact posterior, a thread per chain.

One program per table size is compiled and kept; chains run it in blocks of iterations, so progress can be told and the
run can end as soon as enough is known. Threads run truly in parallel, since compiled code holds no lock, and each
chain's draws depend on its own seed alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from irt.fitting import laplace
from irt.fitting.numpyro_model import Inputs, Structure, energy, inputs_of, model_values, raw_draws, structure_of
from irt.fitting.outcome import Progress, Settings
from irt.fitting.programs import compiled
from irt.fitting.sampled import Enough, Sampled
from irt.fitting.whitening import Whitening, leaning, origin, whitening_of
from irt.model import Problem
from irt.responses import Floats

MAX_DEPTH = 10
BLOCK = 50
CHECK = 250
"""Draws per chain between two looks at the gate."""
FIRST_STEP = 0.3


def sample(
    problem: Problem, settings: Settings, progress: Progress | None = None, enough: Enough | None = None
) -> Sampled:
    """Run NUTS in double precision around the mode, each chain from its own scattered start.

    `enough` is asked after every `CHECK` draws; True ends the run, else it goes on to `settings.draws` per chain.
    """
    begin = time.perf_counter()
    structure = structure_of(problem)
    with _quiet():
        layout, inputs = structure.layout, inputs_of(problem)
        given = whitening_of(problem, laplace.climb(problem), layout)
        program, compile_seconds = _program(structure, settings.warmup, settings.target_accept, inputs, given)
        given = leaning(given, layout, lambda position, given: program.gradient(position, inputs, given))
        report, centre = _Report(progress, settings), origin(given, layout)
        runs = [_Run(program, (inputs, given), centre, settings, chain, report) for chain in range(settings.chains)]

        def gathered() -> Sampled:
            seconds = time.perf_counter() - begin - compile_seconds
            return _gathered(problem, [run.chain_so_far() for run in runs], compile_seconds, seconds)

        with ThreadPoolExecutor(settings.chains) as pool:
            list(pool.map(_Run.warm_up, runs))
            for _ in range(0, settings.draws, CHECK):
                list(pool.map(_Run.draw, runs))
                if enough is not None and len(runs[0].kept) * BLOCK < settings.draws and enough(gathered()):
                    break
        return gathered()


class _Chain(NamedTuple):
    draws: dict[str, Floats]
    diverging: Any
    steps: Any


def _gathered(problem: Problem, chains: Sequence[_Chain], compile_seconds: float, sample_seconds: float) -> Sampled:
    joined = {name: np.concatenate([chain.draws[name] for chain in chains]) for name in chains[0].draws}
    return Sampled(
        raw=raw_draws(problem, joined),
        chains=len(chains),
        divergences=sum(int(chain.diverging.sum()) for chain in chains),
        saturated=sum(int(np.sum(chain.steps >= 2**MAX_DEPTH - 1)) for chain in chains),
        leapfrogs=float(np.mean([chain.steps.mean() for chain in chains])),
        compile_seconds=compile_seconds,
        sample_seconds=sample_seconds,
    )


class _Program(NamedTuple):
    gradient: Callable[..., Any]
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
    structure: Structure, warmup: int, target_accept: float, inputs: Inputs, given: Whitening
) -> tuple[_Program, float]:
    """The compiled program of a structure, and the seconds compiling it took (0 when it was kept from before)."""
    import jax
    from numpyro.infer.hmc import hmc

    key = (structure, warmup, target_accept)
    if key in _cache():
        return _cache()[key], 0.0
    begin = time.perf_counter()
    potential = energy(structure)

    def of(inputs: Inputs, given: Whitening) -> Callable[[Any], Any]:
        return lambda position: potential(position, inputs, given)

    initialise, step = hmc(potential_fn_gen=of, algo="NUTS")

    def first(position: Any, inputs: Inputs, given: Whitening, seed: Any) -> Any:
        return initialise(
            position,
            _blocks(warmup) * BLOCK,
            step_size=FIRST_STEP,
            dense_mass=[("scales",)],
            target_accept_prob=target_accept,
            max_tree_depth=MAX_DEPTH,
            model_args=(inputs, given),
            rng_key=seed,
        )

    def block(state: Any, inputs: Inputs, given: Whitening) -> Any:
        def advance(state: Any, _: None) -> Any:
            state = step(state, (inputs, given))
            return state, (model_values(structure, state.z, given), state.diverging, state.num_steps)

        return jax.lax.scan(advance, state, length=BLOCK)

    start = origin(given, structure.layout)
    gradient = compiled(jax.grad(potential), start, inputs, given)
    begun = compiled(first, start, inputs, given, jax.random.PRNGKey(0))
    state = begun(start, inputs, given, jax.random.PRNGKey(0))
    program = _Program(gradient, begun, compiled(block, state, inputs, given))
    _cache()[key] = program
    return program, time.perf_counter() - begin


class _Run:
    """One chain: where it is, and what it has drawn."""

    def __init__(
        self, program: _Program, data: Any, centre: dict[str, Floats], settings: Settings, chain: int, report: _Report
    ) -> None:
        self.program, self.data, self.centre, self.settings = program, data, centre, settings
        self.chain, self.report, self.kept = chain, report, list[Any]()
        self.state: Any = None

    def warm_up(self) -> None:
        """Adapt step size and mass matrix."""
        import jax

        with _quiet():
            rng = np.random.default_rng([self.settings.seed, self.chain])
            scattered = {name: rng.standard_normal(value.shape) for name, value in self.centre.items()}
            seed = jax.random.fold_in(jax.random.PRNGKey(self.settings.seed), self.chain)
            self.state = self.program.start(scattered, *self.data, seed)
            for _ in range(_blocks(self.settings.warmup)):
                self._advance()

    def draw(self) -> None:
        """Keep `CHECK` more draws, or as many as are left."""
        import jax

        with _quiet():
            for _ in range(CHECK // BLOCK):
                if len(self.kept) * BLOCK < self.settings.draws:
                    self.kept.append(jax.tree.map(np.asarray, self._advance()))

    def chain_so_far(self) -> _Chain:
        """What is kept, at most `settings.draws`."""
        most = self.settings.draws
        draws = {name: np.concatenate([block[0][name] for block in self.kept])[:most] for name in self.kept[0][0]}
        diverging, steps = (np.concatenate([block[part] for block in self.kept])[:most] for part in (1, 2))
        return _Chain(draws, diverging, steps)

    def _advance(self) -> Any:
        self.state, told = self.program.block(self.state, *self.data)
        self.state.i.block_until_ready()
        self.report.add(BLOCK)
        return told
