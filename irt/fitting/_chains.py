"""Chains of the No-U-Turn sampler (numpyro's) for any log density: compiled once, a thread per chain, ending early.

Threads run truly in parallel, since compiled code holds no lock, and each chain's draws depend on its own seed alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from irt._fit_settings import FitSettings
from irt._model import ItemEffects
from irt._responses import Floats
from irt.fitting._compiled_programs import compiled
from irt.fitting._estimation_outcome import Progress, tell

MAX_DEPTH = 10
"""Greatest tree depth, numpyro's and pymc's default."""
BLOCK = 50
"""Iterations that a program does at a time: an interruption waits for no more."""
CHECK = 250
"""Draws per chain between two times that `enough` is asked."""
MOMENT = 0.2
"""Seconds between two looks for an interruption: one that comes just before a wait would else not end it."""
LIKELIHOOD_DRAWS = 400
"""Draws over which the log-likelihood is averaged; more change its mean by less than its own spread."""

Values = dict[str, Floats]


@dataclass(frozen=True)
class Sampled:
    """Draws by name `[C D, ...]`, chains in order, sampler statistics, and seconds compiling.

    `saturated` counts transitions at the greatest tree depth, `leapfrogs` is their mean number per transition. With
    effects of levels on items: these, and the mean log-likelihood given them.
    """

    values: dict[str, Floats]
    chains: int
    divergences: int
    saturated: int
    leapfrogs: float
    compile_seconds: float = 0.0
    log_likelihood: float | None = None
    item_effects: ItemEffects | None = None

    @property
    def draws(self) -> int:
        """Draws of all chains together."""
        return len(next(iter(self.values.values())))


def some_of(draws: int) -> NDArray[np.int64]:
    """Places of the draws that the log-likelihood is averaged over, evenly spaced."""
    return np.unique(np.linspace(0, draws - 1, min(LIKELIHOOD_DRAWS, draws)).astype(np.int64))


Enough = Callable[[Sampled], bool]
"""Asked between blocks of draws whether a run may end."""


class Density(NamedTuple):
    """What is sampled: data to minus the log density of a position, the values of a position that are wanted, the
    quantities whose mass matrix is a full one, and the step size to start with."""

    potential: Callable[[Any], Callable[[Any], Any]]
    values: Callable[[Any, Any], Any]
    dense: tuple[str, ...] = ()
    first_step: float = 0.1


class Program(NamedTuple):
    """Compiled: to start a chain, and to advance it by a block of iterations."""

    start: Callable[..., Any]
    block: Callable[..., Any]


def compile_chains(density: Density, start: Values, data: Any, settings: FitSettings) -> Program:
    """The programs of a density, for data and positions of these shapes and for this warm-up and acceptance.

    To be called in double precision (`jax.enable_x64`).
    """
    import jax
    from numpyro.infer.hmc import hmc

    initialise, step = hmc(potential_fn_gen=density.potential, algo="NUTS")

    def first(position: Any, given: Any, seed: Any) -> Any:
        return initialise(
            position,
            _blocks(settings.warmup) * BLOCK,
            step_size=density.first_step,
            dense_mass=[density.dense] if density.dense else False,
            target_accept_prob=settings.target_accept,
            max_tree_depth=MAX_DEPTH,
            model_args=(given,),
            rng_key=seed,
        )

    def block(state: Any, given: Any) -> Any:
        def advance(state: Any, _: None) -> Any:
            state = step(state, (given,))
            return state, (density.values(state.z, given), state.diverging, state.num_steps)

        return jax.lax.scan(advance, state, length=BLOCK)

    begun = compiled(first, start, data, jax.random.PRNGKey(0))
    state = begun(start, data, jax.random.PRNGKey(0))
    return Program(begun, compiled(block, state, data))


def run_chains(
    program: Program,
    starts: Sequence[Values],
    data: Any,
    settings: FitSettings,
    enough: Enough | None = None,
    progress: Progress | None = None,
) -> Sampled:
    """One chain from each start, in double precision, until `enough` (asked every `CHECK` draws) or all are drawn."""
    total, done, lock = len(starts) * (_blocks(settings.warmup) + _blocks(settings.draws)), 0, Lock()

    def block_done() -> None:
        nonlocal done
        with lock:
            done += 1
            tell(progress, done * BLOCK, total * BLOCK)

    runs = [_Run(program, start, data, settings, chain, block_done) for chain, start in enumerate(starts)]
    with chain_threads(runs) as pool:
        together(pool, _Run.warm_up, runs)
        for count in itertools.count(CHECK, CHECK):
            kept = min(count, settings.draws)
            values, diverging, steps = zip(*together(pool, _Run.draw, runs, [kept] * len(runs)), strict=True)
            lengths = np.concatenate(steps)
            sampled = Sampled(
                values={name: np.concatenate([each[name] for each in values]) for name in values[0]},
                chains=len(runs),
                divergences=int(np.sum(diverging)),
                saturated=int(np.sum(lengths >= 2**MAX_DEPTH - 1)),
                leapfrogs=float(lengths.mean()),
            )
            if kept >= settings.draws or (enough is not None and enough(sampled)):
                return sampled
    raise AssertionError("the count of draws never ends")


class Stoppable(Protocol):
    """A chain that ends with its block once it is told to stop."""

    stopped: bool


@contextmanager
def chain_threads(runs: Sequence[Stoppable]) -> Iterator[ThreadPoolExecutor]:
    """A thread per chain. Who leaves by an error, or is interrupted, waits for none: each ends with its block."""
    pool = ThreadPoolExecutor(len(runs))
    try:
        yield pool
    except BaseException:
        for run in runs:
            run.stopped = True
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def together(pool: ThreadPoolExecutor, work: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
    """What `work` returns of each chain; an error or an interruption waits for no other chain."""
    chains = [pool.submit(work, *each) for each in zip(*arguments, strict=True)]
    running = set(chains)
    while running:
        ended, running = wait(running, MOMENT, FIRST_EXCEPTION)
        for chain in ended:
            chain.result()
    return [chain.result() for chain in chains]


class _Run:
    """One chain: where it is, and what it has drawn."""

    def __init__(
        self, program: Program, start: Values, data: Any, settings: FitSettings, chain: int, done: Callable[[], None]
    ) -> None:
        self.program, self.start, self.data, self.done = program, start, data, done
        self.settings, self.chain = settings, chain
        self.kept: list[Any] = []
        self.state: Any = None
        self.stopped = False

    def warm_up(self) -> None:
        """Adapt step size and mass matrix."""
        import jax

        with jax.enable_x64(True):
            seed = jax.random.fold_in(jax.random.PRNGKey(self.settings.seed), self.chain)
            self.state = self.program.start(self.start, self.data, seed)
            for _ in range(_blocks(self.settings.warmup)):
                self._advance()

    def draw(self, count: int) -> tuple[Values, Any, Any]:
        """Go on until `count` draws are kept: their values, whether they diverged, and numbers of steps."""
        import jax

        with jax.enable_x64(True):
            while len(self.kept) * BLOCK < count:
                self.kept.append(jax.tree.map(np.asarray, self._advance()))
        found: tuple[Values, Any, Any] = jax.tree.map(lambda *blocks: np.concatenate(blocks)[:count], *self.kept)
        return found

    def _advance(self) -> Any:
        if self.stopped:
            raise CancelledError
        self.state, seen = self.program.block(self.state, self.data)
        self.state.i.block_until_ready()
        self.done()
        return seen


def _blocks(iterations: int) -> int:
    return -(-iterations // BLOCK)
