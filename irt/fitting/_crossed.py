"""Method `nuts` where pipelines share components: question x level effects in the model, by Gibbs sampling.

The posterior is that of `irt._model` with effects of every level of some facets on every item. NUTS needs some 130
gradients a draw there, and mixes no better.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from threading import Lock
from typing import Any

import numpy as np

from irt._design import Design
from irt._fit_settings import FitSettings
from irt._model import ItemEffects, Problem, RawDraws, report_scale
from irt._responses import Floats
from irt.fitting import _crossed_kernels as kernels
from irt.fitting._chains import CHECK, Enough, Sampled, chain_threads, together
from irt.fitting._crossed_moves import CrossedChain, CrossedState, CrossedTable
from irt.fitting._estimation_outcome import Progress, tell
from irt.kernels import smoothed_logit

SWEEPS = 8
"""Sweeps per draw: neighbouring ones are much alike."""
KEPT = ("log_a", "b", "c", "delta", "w", "z", "scale", "r", "tau", "spread_a", "spread_b", "slopes")
"""What is kept of each draw; effects on items, too many in a long exam, are summed."""
SCATTER = 0.3
"""How far chains start apart, in logits."""


def sample(
    problem: Problem, settings: FitSettings, progress: Progress | None = None, enough: Enough | None = None
) -> Sampled:
    """Run the sampler, each chain in a thread from its own scattered start; `settings.warmup` counts sweeps.

    `enough` is asked between blocks of draws; True ends the run, else it goes on to `settings.draws` per chain.
    """
    table = table_of(problem)
    begin = time.perf_counter()
    _Draws(problem, table, np.random.default_rng(0)).advance(1)  # compiles
    compile_seconds = time.perf_counter() - begin
    runs = [_Draws(problem, table, np.random.default_rng([settings.seed, chain])) for chain in range(settings.chains)]
    warmup = -(-settings.warmup // SWEEPS)
    total, done, lock = len(runs) * (warmup + settings.draws), 0, Lock()

    def drawn(run: _Draws, count: int) -> None:
        nonlocal done
        for _ in range(count):
            if run.stopped:
                raise CancelledError
            run.advance(SWEEPS)
            with lock:
                done += 1
                tell(progress, done, total)

    with chain_threads(runs) as pool:
        together(pool, drawn, runs, [warmup] * len(runs))
        for run in runs:
            run.forget()
        for count in itertools.count(CHECK, CHECK):
            kept = min(count, settings.draws)
            together(pool, drawn, runs, [kept - len(run) for run in runs])
            sampled = _sampled(problem, table, runs, compile_seconds)
            if kept >= settings.draws or (enough is not None and enough(sampled)):
                return sampled
    raise AssertionError("the count of draws never ends")


def table_of(problem: Problem) -> CrossedTable:
    """What the sampler is given of a problem."""
    design, priors, items = problem.design, problem.priors, len(problem.chance)
    facets = [design.term(name) for name in design.item_facets]
    starts = np.cumsum([0, *(len(facet.levels) for facet in facets)])
    terms = [(index, term, term.free_root) for index, term in enumerate(design.terms)]
    main: list[int] = []
    loading = np.zeros((starts[-1], sum(root.shape[1] for _, _, root in terms)))
    for _, term, root in terms:
        at = design.item_facets.index(term.name) if term.name in design.item_facets else -1
        if at >= 0:
            loading[starts[at] : starts[at + 1], len(main) : len(main) + root.shape[1]] = root
        main += [at] * root.shape[1]
    none = np.zeros(0, dtype=np.int64)
    counts = np.concatenate([none, *(np.bincount(one.level_of, minlength=len(one.levels)) for one in facets)])
    weight, upper = priors.guessing_weight, priors.upper_weight * priors.upper
    centre = np.broadcast_to(problem.guessing_centre, items)
    beta = [weight * centre, weight * (1 - centre), np.full(items, upper), np.full(items, priors.upper_weight - upper)]
    design_rows = np.hstack([np.zeros((design.students, 0)), *(root[term.level_of] for _, term, root in terms)])
    known = design.item_covariates
    covariates = np.zeros((items, 0)) if known is None else priors.item_covariate_scale * known.standard
    widths = [priors.residual_scale, priors.spread_a, priors.spread_b, priors.centre_b, priors.term_scale]
    names = ("tau", "spread_a", "spread_b", "centre_b", "term", "effect")
    return CrossedTable(
        answers=(np.ascontiguousarray(problem.successes.T), np.ascontiguousarray(problem.attempts.T)),
        column=np.array(
            [facet.level_of + start for facet, start in zip(facets, starts[:-1], strict=True)], dtype=np.int64
        ).reshape(-1, design.students),
        facet=np.repeat(np.arange(len(facets)), np.diff(starts)),
        levels=(
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([none, *(np.argsort(facet.level_of, kind="stable") for facet in facets)]),
        ),
        design=np.ascontiguousarray(design_rows),
        term=np.repeat(np.arange(len(terms)), [root.shape[1] for _, _, root in terms]),
        main=np.array(main),
        loading=loading,
        widths=dict(zip(names, [*widths, priors.item_effect_scale], strict=True)),
        asymptotes=np.array(beta),
        covariates=covariates,
        free_a=problem.free_a,
        guessing=problem.guessing,
        shared_guessing=problem.shared_guessing,
        slipping=problem.slipping,
        residual=design.residual,
    )


def _start(problem: Problem, table: CrossedTable, rng: np.random.Generator) -> CrossedState:
    """A scattered start from smoothed logits of the proportions correct."""
    items, students = table.answers[0].shape
    student, item = (smoothed_logit(*totals) for totals in (problem.answers.by_student, problem.answers.by_item))

    def scattered(count: int, width: float = SCATTER) -> Floats:
        return width * rng.standard_normal(count)

    log_a = scattered(items) if table.free_a else np.zeros(items)
    r = scattered(students) if table.residual else np.zeros(students)
    z = np.linalg.lstsq(table.design, student - student.mean(), rcond=None)[0]
    return CrossedState(
        log_a=log_a - log_a.mean(),
        b=-item + scattered(items),
        c=np.broadcast_to(problem.guessing_centre if table.guessing else 0.0, items).copy(),
        delta=np.full(items, problem.priors.upper if table.slipping else 1.0),
        g=scattered(items * len(table.facet)).reshape(items, -1),
        w=np.exp(scattered(len(table.column), 2 * SCATTER)),
        z=z + scattered(len(z)),
        scale=np.exp(scattered(len(problem.design.terms))),
        r=r - r.mean(),
        tau=SCATTER,
        spread_a=SCATTER,
        spread_b=max(float(np.std(item)), SCATTER),
        centre_b=float(np.mean(-item)),
        slopes=scattered(table.covariates.shape[1] * len(table.carried)).reshape(-1, len(table.carried)),
    )


class _Draws:
    """The draws of one chain: what is kept of each, and sums over them of probabilities `[I, S]`, effects on items and
    their squares `[I, J]`, and log-likelihoods.
    """

    def __init__(self, problem: Problem, table: CrossedTable, rng: np.random.Generator) -> None:
        self.chain, self.stopped = CrossedChain(table, _start(problem, table, rng), rng), False
        self.forget()

    def forget(self) -> None:
        """Keep nothing of what was drawn so far."""
        self.kept: dict[str, list[Any]] = {name: [] for name in KEPT}
        effects = np.zeros_like(self.chain.state.g)
        self.sums: list[Any] = [np.zeros_like(self.chain.x), effects, effects.copy(), np.zeros(())]

    def __len__(self) -> int:
        return len(self.kept["b"])

    def advance(self, sweeps: int) -> None:
        """Draw once more, after so many sweeps."""
        for _ in range(sweeps):
            self.chain.sweep()
        state = self.chain.state
        for name, values in self.kept.items():
            values.append(np.copy(getattr(state, name)))
        self.chain.fill_logits()
        kernels.add_chances(self.chain.bounds, self.chain.x, self.sums[0])
        effects = state.g + self.chain.table.explained(state.slopes)
        for total, value in zip(self.sums[1:], (effects, effects**2, self.chain.log_likelihood()), strict=True):
            total += value


def _sampled(problem: Problem, table: CrossedTable, runs: Sequence[_Draws], compile_seconds: float) -> Sampled:
    drawn = {name: np.array([value for run in runs for value in run.kept[name]]) for name in KEPT}
    count, names = len(drawn["b"]), problem.design.item_facets
    chance, effect, square, likelihood = (
        np.asarray(sum(each) / count) for each in zip(*(run.sums for run in runs), strict=True)
    )
    sd = np.sqrt(np.maximum(square - effect**2, 0.0))
    by_facet = [{name: values[:, table.facet == at] for at, name in enumerate(names)} for values in (effect, sd)]
    return Sampled(
        values=report_scale(_raw(problem.design, table, drawn), problem.design),
        chains=len(runs),
        divergences=0,
        saturated=0,
        leapfrogs=0.0,
        compile_seconds=compile_seconds,
        log_likelihood=float(likelihood),
        item_effects=ItemEffects(by_facet[0], by_facet[1], np.asarray(chance).T),
    )


def _raw(design: Design, table: CrossedTable, drawn: Mapping[str, Floats]) -> RawDraws:
    """The draws in logits."""
    base = drawn["z"] * drawn["scale"][:, table.term]
    return RawDraws(
        a=np.exp(drawn["log_a"]),
        b=drawn["b"],
        c=drawn["c"],
        d=drawn["c"] + (1 - drawn["c"]) * drawn["delta"],
        theta=base @ table.design.T + drawn["r"],
        effects=tuple(base[:, table.term == at] @ term.free_root.T for at, term in enumerate(design.terms)),
        scales=tuple(drawn["scale"].T),
        residual_scale=drawn["tau"],
        spread_a=drawn["spread_a"] * table.free_a,
        spread_b=drawn["spread_b"],
        centre_b=drawn["b"].mean(axis=1),
        item_effect_scales=tuple(drawn["w"].T),
        covariate_effects=covariate_effects(design, table, drawn["slopes"]),
    )


def covariate_effects(design: Design, table: CrossedTable, slopes: Floats) -> tuple[Floats, ...]:
    """What a unit of each item covariate brings to a logit: to all `[D, K]`, then to each level of a facet beyond that
    `[D, L, K]`, of draws of `CrossedState.slopes` `[D, K, q]`; empty without covariates.
    """
    if design.item_covariates is None:
        return ()
    # Columns of covariates carry the width of the prior.
    unit = table.covariates.std(axis=0) / design.item_covariates.unit
    levels = np.einsum("dkq,jq->djk", slopes[:, :, 1:], table.loading[:, table.carried[1:]]) * unit
    return slopes[:, :, 0] * unit, *(levels[:, table.facet == at] for at in range(len(design.item_facets)))
