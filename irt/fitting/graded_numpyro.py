"""Method `nuts` for graded answers: the hierarchical model of `irt.model` with ordered thresholds.

Abilities, discriminations and difficulties have the priors of the 2pl, of which this is an extension: an item's mean
threshold is its difficulty, and the gaps between neighbouring thresholds are lognormal around a mean per step that
all items share (so that items borrow from each other what a scale's steps are worth). In logits

log gap_ik = step_k + spread_gap gamma_ik,   step_k, gamma_ik ~ Normal(0, 1),   spread_gap ~ HalfNormal(0.5)

The cumulative curves make the likelihood one of right and wrong answers: score k reached threshold k and fell short of
k + 1, each a 2pl answer to an item (i, k); what remains is a term of the gaps alone, `counts log(1 - exp(-a gap))`.
Without facets it is sampled in units of these students' own spread `r`, and with the common slope `r residual_scale` in
its place: where answers leave the overall steepness uncertain, only that slope grows, not abilities and thresholds too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from irt import graded
from irt.design import Design
from irt.fit_settings import FitSettings
from irt.fitting.chains import Density, compile_chains, run_chains
from irt.fitting.outcome import Outcome, Progress
from irt.fitting.sampled import Enough, Sampled
from irt.fitting.sampling import behind_gate
from irt.model import Priors, RawDraws, report_scale
from irt.responses import Floats, ResponseMatrix

STEP_CENTRE = 0.0
STEP_SPREAD = 1.0
SPREAD_GAP = 0.5
ACCEPT = 0.95
"""Least acceptance aimed at: thresholds around a rare score have a curved posterior, where longer steps diverge."""
UNREPORTED = {"residual", "log_a", "b", "gamma", "step"}
SCALES = ("slope", "spread_b", "spread_a", "spread_gap", "residual_scale")


@dataclass(frozen=True)
class Structure:
    """What the model depends on besides data: sizes, facets, thresholds, priors, and how far groups are centred."""

    students: int
    shapes: tuple[tuple[int, ...], ...]
    residual: bool
    top: Any
    priors: Priors
    centring: Centring

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.top)


class Centring(NamedTuple):
    """From 0 (a group on its unit scale) to 1 (on its own): answers that tell much about a group want 1."""

    terms: tuple[float, ...]
    residual: float
    a: float
    gap: float


class Inputs(NamedTuple):
    """Thresholds reached and fallen short of `[S, I K]`, answers per inner category `[I, K - 1]`, and per term the
    levels `[S]` and the root `[L, L]`."""

    reached: Any
    short: Any
    inner: Any
    level_of: tuple[Any, ...]
    roots: tuple[Any, ...]


def sample_graded(
    data: ResponseMatrix, design: Design, priors: Priors, settings: FitSettings, progress: Progress | None
) -> Outcome:
    """The posterior of a table of ratings, behind the gate of `irt.fitting.sampling`."""
    settings = replace(settings, target_accept=max(settings.target_accept, ACCEPT))

    def log_likelihood(draw: Mapping[str, Floats]) -> float:
        return float(graded.log_likelihood(data.scores, draw["theta"], draw["a"], draw["thresholds"], data.top).sum())

    sampler = _Sampler(structure_of(data, design, priors), inputs_of(data, design), design)
    return behind_gate(sampler, log_likelihood, settings, progress)


def structure_of(data: ResponseMatrix, design: Design, priors: Priors) -> Structure:
    """The structure of a table of ratings."""
    assert data.top is not None
    shapes = tuple(term.shape for term in design.terms)
    return Structure(len(data.students), shapes, design.residual, data.top, priors, _centring(data, design))


def inputs_of(data: ResponseMatrix, design: Design) -> Inputs:
    """The inputs of a table of ratings."""
    assert data.top is not None
    k = np.arange(1, int(data.top.max()) + 1)
    scores, real = data.scores[:, :, None], k <= data.top[:, None]
    reached, short = (scores == k) & real, (scores == k - 1) & real
    inner = np.stack([(data.scores == value).sum(axis=0) for value in k[:-1]] or [np.zeros(0)], axis=-1)
    inner = np.where(real[:, 1:], inner, 0) if len(k) > 1 else np.zeros((len(data.items), 0))
    flat = len(data.students), -1
    return Inputs(
        reached.reshape(flat).astype(np.float64),
        short.reshape(flat).astype(np.float64),
        inner.astype(np.float64),
        tuple(term.level_of for term in design.terms),
        tuple(term.root for term in design.terms),
    )


def numpyro_model(structure: Structure) -> Callable[[Inputs], None]:
    """The model; `thresholds` `[I, K]`, `a`, `theta` and `effects_t` are recorded in logits."""
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    from irt.fitting.numpyro_model import _cell_likelihood

    priors, centring = structure.priors, structure.centring
    items, most = structure.items, int(structure.top.max())
    real = graded.real_thresholds(structure.top)

    def zero_sum(name: str, scale: Any, share: float, shape: tuple[int, ...]) -> Any:
        return scale ** (1 - share) * numpyro.sample(name, dist.ZeroSumNormal(scale**share, shape))

    def ability(inputs: Inputs) -> tuple[Any, Any]:
        """Abilities and the slope that turns them into logits."""
        if not structure.shapes:
            raw = numpyro.sample("residual", dist.ZeroSumNormal(1.0, (structure.students,)))
            spread = jnp.sqrt(jnp.mean(raw**2))
            slope = numpyro.sample("slope", dist.LogNormal(jnp.log(spread), priors.common_a))
            numpyro.deterministic("residual_scale", slope / spread)
            return raw / spread, slope
        theta = jnp.zeros(structure.students)
        for index, shape in enumerate(structure.shapes):
            scale = numpyro.sample(f"scale_{index}", dist.HalfNormal(priors.term_scale))
            raw = zero_sum(f"effect_{index}", scale, centring.terms[index], shape)
            effects = inputs.roots[index] @ raw.reshape(-1)
            numpyro.deterministic(f"effects_{index}", effects)
            theta = theta + effects[inputs.level_of[index]]
        if not structure.residual:
            return theta, 1.0
        tau = numpyro.sample("residual_scale", dist.HalfNormal(priors.residual_scale))
        return theta + zero_sum("residual", tau, centring.residual, (structure.students,)), 1.0

    def thresholds(slope: Any) -> Any:
        centre = numpyro.sample("centre_b", dist.Normal(0, priors.centre_b / slope))
        spread_b = numpyro.sample("spread_b", dist.HalfNormal(priors.spread_b / slope))
        b = centre + zero_sum("b", spread_b, 1.0, (items,))
        if most == 1:
            return b[:, None]
        step = numpyro.sample("step", dist.Normal(STEP_CENTRE - jnp.log(slope), STEP_SPREAD).expand([most - 1]))
        spread = numpyro.sample("spread_gap", dist.HalfNormal(SPREAD_GAP))
        share = centring.gap
        gamma = numpyro.sample("gamma", dist.Normal(step * share, spread**share).expand([items, most - 1]))
        log_gap = step * (1 - share) + spread ** (1 - share) * gamma
        gaps = jnp.where(real[:, 1:], jnp.exp(log_gap), 0.0)
        place = jnp.concatenate([jnp.zeros((items, 1)), jnp.cumsum(gaps, axis=1)], axis=1)
        middle = jnp.where(real, place, 0.0).sum(axis=1) / structure.top
        return b[:, None] + place - middle[:, None]

    def model(inputs: Inputs) -> None:
        theta, slope = ability(inputs)
        spread_a = numpyro.sample("spread_a", dist.HalfNormal(priors.spread_a))
        log_a = zero_sum("log_a", spread_a, centring.a, (items,))
        b = thresholds(slope)
        numpyro.deterministic("a", jnp.exp(log_a))
        numpyro.deterministic("thresholds", slope * b)
        numpyro.deterministic("theta", slope * theta)
        steep = log_a + jnp.log(slope)
        cells = _cell_likelihood(inputs.reached, inputs.short, True)
        flat = b.reshape(-1)
        none, all_ = jnp.zeros_like(flat), jnp.ones_like(flat)
        numpyro.factor("answers", cells(theta, jnp.repeat(steep, most), flat, none, all_))
        if most > 1:
            gap = jnp.where(real[:, 1:], jnp.exp(steep)[:, None] * (b[:, 1:] - b[:, :-1]), 1.0)
            numpyro.factor("between", (inputs.inner * jnp.log(jnp.maximum(-jnp.expm1(-gap), graded.TINY))).sum())

    return model


def _centring(data: ResponseMatrix, design: Design) -> Centring:
    """Shares from what the numbers of answers alone promise about each group, in logits of a typical item."""
    answers = data.asked.sum()
    per_student, per_item = answers / len(data.students), answers / len(data.items)
    categories = 1 + float(np.mean(data.top)) if data.top is not None else 2.0

    def known(information: float) -> float:
        return float((information / (1 + information)) ** 4)

    terms = tuple(known(len(data.students) / len(term.levels) * 2.0) for term in design.terms)
    item, gap = known(0.01 * per_item), known(0.05 * per_item / categories)
    return Centring(terms, known(0.025 * per_student), item, gap)


@dataclass(frozen=True)
class _Sampler:
    """One problem, to be sampled once or twice."""

    structure: Structure
    inputs: Inputs
    design: Design

    def __call__(
        self, settings: FitSettings, progress: Progress | None = None, enough: Enough | None = None
    ) -> Sampled:
        """Chains from scattered starts."""
        import jax
        from numpyro.infer.util import constrain_fn, initialize_model, potential_energy

        model = numpyro_model(self.structure)
        with jax.enable_x64(True):
            key = jax.random.PRNGKey(settings.seed)
            found = initialize_model(key, model, model_args=(self.inputs,), validate_grad=False)
            shapes = {str(name): np.shape(value) for name, value in found.param_info.z.items()}

        def potential(given: Inputs) -> Callable[[Any], Any]:
            return lambda position: potential_energy(model, (given,), {}, position)

        def values(position: Any, given: Inputs) -> Any:
            everything = constrain_fn(model, (given,), {}, position, return_deterministic=True)
            return {name: value for name, value in everything.items() if name not in UNREPORTED}

        scales = (*SCALES, *(f"scale_{term}" for term in range(len(self.structure.shapes))))
        density = Density(potential, values, tuple(name for name in scales if name in shapes))
        starts = [_scattered(shapes, np.random.default_rng([settings.seed, chain])) for chain in range(settings.chains)]
        begin = time.perf_counter()
        with jax.enable_x64(True):
            program = compile_chains(density, starts[0], self.inputs, settings)
        compile_seconds = time.perf_counter() - begin
        ends = None if enough is None else lambda sampled: enough(self._reported(sampled))
        sampled = run_chains(program, starts, self.inputs, settings, ends, progress)
        return replace(self._reported(sampled), compile_seconds=compile_seconds)

    def _reported(self, sampled: Sampled) -> Sampled:
        """Draws on the reported scale: those of `irt.model.report_scale`, and `thresholds` `[D, I, K]`."""
        values, terms, top = sampled.values, range(len(self.design.terms)), self.structure.top
        count, items = values["a"].shape
        slope = values.get("slope", np.ones(count))
        raw = RawDraws(
            a=values["a"],
            b=values["thresholds"].reshape(count, -1),
            c=np.zeros((count, items)),
            d=np.ones((count, items)),
            theta=values["theta"],
            effects=tuple(values[f"effects_{term}"] for term in terms),
            scales=tuple(values[f"scale_{term}"] for term in terms),
            residual_scale=values.get("residual_scale", np.zeros(count)),
            spread_a=values["spread_a"],
            spread_b=slope * values["spread_b"],
            centre_b=slope * values["centre_b"],
        )
        reported = report_scale(raw, self.design)
        thresholds = graded.padded(reported["b"].reshape(count, items, -1), top)
        reported |= {"b": graded.mean_threshold(thresholds, top), "thresholds": thresholds}
        if "spread_gap" in values:
            reported["spread_gap"] = values["spread_gap"]
        return replace(sampled, values={name: draws for name, draws in reported.items() if name not in ("c", "d")})


def _scattered(shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator) -> dict[str, Floats]:
    """A start of its own for each chain, in unconstrained coordinates."""
    return {name: rng.uniform(-0.5, 0.5, shape) for name, shape in shapes.items()}
