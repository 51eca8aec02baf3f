"""The sweep of the Gibbs sampler with effects of levels on items.

    logit_is = a_i (theta_s - b_i) + sum over facets of g[i, level of s],   g ~ Normal(0, w of the facet)
    theta = design (scale z) + r,   z ~ Normal(0, 1),   r ~ Normal(0, tau) summing to zero

Item covariates add `covariates_i slopes carriers_s` to the logit, slopes ~ Normal(0, 1).

Moves of two kinds. Given Polya-Gamma weights everything but the discriminations is normal, and what depends on each
other is drawn together: components with difficulties and effects integrated out. But answers that are nearly sure stay
nearly sure given the weights, so whole groups with their scales, discriminations and effects also move by the
likelihood itself (slices), components and discriminations with what the levels bring to each item held.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irt._responses import Floats
from irt.fitting import _crossed_kernels as kernels

LEAST, STEEPEST = 1e-6, 1e4
"""Scales stay above the first; components this many times as large as the effects on items are not centred on them,
for then all of what the levels bring is the components and the regression is exact to rounding.
"""


@dataclass(frozen=True)
class CrossedTable:
    """What is given, for `I` items, `S` students, `p` free effects of `T` terms of ability, and `J` levels of the `F`
    facets that have effects on items.

    `answers`: right and trials `[I, S]`, 0 where not asked; `column` `[F, S]` of each student's level among the `J`,
    `facet` `[J]` of each level; `levels`: the students of level j are `levels[1][levels[0][j]:levels[0][j + 1]]`.
    `design` `[S, p]`, the `term` `[p]` of each of its columns, the facet `main` `[p]` whose effect on abilities it is
    (-1: none), its `loading` `[J, p]` on that facet's levels. `widths` of the half-normal priors by name, and the
    counts `[4, I]` that the Beta priors of the asymptotes are worth. `covariates` `[I, K]` are those of the items, in
    units of the width of their prior.
    """

    answers: tuple[Floats, Floats]
    column: NDArray[np.int64]
    facet: NDArray[np.int64]
    levels: tuple[NDArray[np.int64], NDArray[np.int64]]
    design: Floats
    term: NDArray[np.int64]
    main: NDArray[np.int64]
    loading: Floats
    widths: dict[str, float]
    asymptotes: Floats
    covariates: Floats
    free_a: bool
    guessing: bool
    shared_guessing: bool
    slipping: bool
    residual: bool

    @cached_property
    def carried(self) -> NDArray[np.int64]:
        """Columns `[q]` of `design`, behind which one of ones is meant, that covariates act through: all answers alike,
        then the free effects of the facets with effects on items.
        """
        return np.concatenate([[len(self.term)], np.flatnonzero(self.main >= 0)])

    @cached_property
    def carriers(self) -> Floats:
        """These columns `[S, q]`."""
        return np.column_stack([self.design, np.ones(len(self.design))])[:, self.carried]

    def explained(self, slopes: Floats) -> Floats:
        """The effects of levels on items `[..., I, J]` that covariates explain, of slopes `[..., K, q]`."""
        return np.asarray(self.covariates @ slopes[..., 1:] @ self.loading[:, self.carried[1:]].T)


@dataclass
class CrossedState:
    """What is drawn: log discriminations, difficulties, asymptotes `[I]` (`delta`: the upper one's place between the
    lower one and 1), effects on items `g` `[I, J]`, their scales `w` `[F]`, weights `z` `[p]` of abilities' terms and
    their scales `[T]`, residuals `r` `[S]`, four numbers, and `slopes` `[K, q]` of the item covariates, by all answers
    and by the free effects of levels.
    """

    log_a: Floats
    b: Floats
    c: Floats
    delta: Floats
    g: Floats
    w: Floats
    z: Floats
    scale: Floats
    r: Floats
    tau: float
    spread_a: float
    spread_b: float
    centre_b: float
    slopes: Floats

    def stretch(self, factor: float) -> None:
        """Multiply abilities and the scales that govern them."""
        self.scale, self.r, self.tau = self.scale * factor, self.r * factor, self.tau * factor

    def stretch_difficulties(self, factor: float) -> None:
        """Multiply difficulties, their mean and their spread."""
        self.b, self.centre_b, self.spread_b = self.b * factor, self.centre_b * factor, self.spread_b * factor

    def settle(self) -> None:
        """Bring the geometric mean of the discriminations to 1, without changing any answer's probability."""
        mean = self.log_a.mean()
        self.log_a = self.log_a - mean
        self.stretch(float(np.exp(mean)))
        self.stretch_difficulties(float(np.exp(mean)))


class CrossedChain:
    """One chain: a table, where it is, what item covariates bring to the logits there, and room to work in."""

    def __init__(self, table: CrossedTable, state: CrossedState, rng: np.random.Generator) -> None:
        self.table, self.state, self.rng = table, state, rng
        items, students = table.answers[0].shape
        levels, width = len(table.facet), len(table.term) + 3
        self.x, self.part = np.zeros((items, students)), np.zeros((items, students))
        self.offset = table.covariates @ state.slopes @ table.carriers.T
        self.weights = np.zeros((items, students)), np.zeros((items, students))
        self.moments = (
            np.zeros((items, levels, levels)),
            np.zeros((items, levels, width)),
            np.zeros((items, width, width)),
        )

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The asymptotes."""
        return self.state.c, self.state.delta

    @property
    def theta(self) -> Floats:
        """Abilities `[S]`."""
        return np.asarray(self.table.design @ self._base + self.state.r)

    @property
    def _base(self) -> Floats:
        return np.asarray(self.state.z * self.state.scale[self.table.term])

    def fill_logits(self) -> None:
        """Compute the logits of all answers."""
        state = self.state
        np.multiply(np.exp(state.log_a)[:, None], self.theta - state.b[:, None], out=self.x)
        for column in self.table.column:
            self.x += state.g[:, column]
        self.x += self.offset

    def sweep(self) -> None:
        """Draw everything once."""
        self._move_groups()
        self._move_slopes()
        levels = (self.state.g, self.state.w[self.table.facet])
        kernels.move_effects(self.rng, self.table.answers, self.bounds, self.table.levels, self.x, levels)
        self._move_under_effects()
        self._shift_difficulties()
        self._weigh()
        self._draw_slopes()
        self._draw_components()
        self._draw_items()
        if self.table.residual:
            self._draw_residuals()
            self._redivide()
        self._draw_scales()
        self._draw_scales_of_units()

    def log_likelihood(self) -> float:
        """Of all answers, at the logits as they are."""
        return float(kernels.log_likelihood(self.table.answers, self.bounds, self.x))

    def _move_groups(self) -> None:
        """Factors of all logits, of each facet's effects on items, of abilities, of residuals, and of the spread of the
        log discriminations, each with its scales.
        """
        state, table, widths = self.state, self.table, self.table.widths
        self.fill_logits()
        a, effects = np.exp(state.log_a)[:, None], (state.w / widths["effect"]) ** 2
        unit, units = self._unit_prior()
        terms, tau = float(np.sum((state.scale / widths["term"]) ** 2)), self._square("tau")
        parts: list[Any] = [
            self.x - self.offset,
            *(state.g[:, column] for column in table.column),
            a * self.theta,
            a * state.r,
        ]
        prior = [(unit + effects.sum(), units + len(effects)), *((each, 1) for each in effects)]
        prior += [(terms + tau, len(state.scale) + table.residual), (tau, 1)]
        count = len(parts) if table.residual else len(parts) - 1
        follows = np.zeros((count, count), dtype=bool)
        follows[0] = follows[-2 if table.residual else -1] = True
        prior_array, all_parts = np.array(prior[:count], dtype=np.float64), np.stack(parts[:count])
        factors = kernels.move_groups(self.rng, table.answers, self.bounds, self.x, all_parts, prior_array, follows)
        state.stretch(factors[0])
        state.stretch_difficulties(factors[0])
        own = factors[1 : 1 + len(effects)]
        state.g, state.w = state.g * (factors[0] * own)[table.facet], state.w * factors[0] * own
        state.stretch(factors[1 + len(effects)])
        if table.residual:
            state.r, state.tau = state.r * factors[-1], state.tau * factors[-1]
        state.scale, state.w = np.maximum(state.scale, LEAST), np.maximum(state.w, LEAST)
        state.tau = max(state.tau, LEAST)
        if table.free_a:
            self._load(self.theta)
            self.part -= (np.exp(state.log_a) * state.b)[:, None]
            self._move_spread(np.zeros((len(self.x), 0)), np.zeros(0))

    def _move_spread(self, sums: Floats, weight: Floats) -> None:
        """The log discriminations with their spread, see `move_spread`."""
        state, under = self.state, (sums, weight, self._place())
        width, logits = state.spread_a / self.table.widths["spread_a"], (self.x, self.part)
        state.spread_a *= kernels.move_spread(
            self.rng, self.table.answers, self.bounds, logits, (state.log_a, state.b), width, under
        )

    def _load(self, theta: Floats) -> None:
        """Take the logits that abilities `[S]` bring as the part that moves."""
        np.multiply(np.exp(self.state.log_a)[:, None], theta, out=self.part)

    def _square(self, name: str) -> float:
        """Square of a scale over the width of its prior, 0 for the residual's where there is none."""
        if name == "tau" and not self.table.residual:
            return 0.0
        return float((getattr(self.state, name) / self.table.widths[name]) ** 2)

    def _unit_prior(self) -> tuple[float, int]:
        """Squares over the widths of their priors of the scales that carry the abilities' unit, and their number."""
        total = float(np.sum((self.state.scale / self.table.widths["term"]) ** 2))
        total += sum(self._square(name) for name in ("tau", "spread_b", "centre_b"))
        return total, len(self.state.scale) + 2 + int(self.table.residual)

    def _shape(self) -> Floats:
        """What the prior of the discriminations depends on (`irt.fitting._crossed_kernels`)."""
        log_a, (unit, units) = self.state.log_a, self._unit_prior()
        mean = log_a.mean()
        return np.array([mean, np.sum((log_a - mean) ** 2), self.state.spread_a, unit, units])

    def _place(self) -> tuple[float, float]:
        return self.state.centre_b, self.state.spread_b

    def _move_slopes(self) -> None:
        """Each log discrimination given everything else."""
        if not self.table.free_a:
            return
        self._load(self.theta)
        self.part -= (np.exp(self.state.log_a) * self.state.b)[:, None]
        kernels.move_slopes(
            self.rng, self.table.answers, self.bounds, self.x, self.part, self.state.log_a, self._shape()
        )
        self.state.settle()

    def _move_under_effects(self) -> None:
        """Discriminations, their spread and components given what each level brings to each item, component and effect
        together (hierarchical centring). Given that, components are a regression on the discriminations, so they are
        integrated out for these, and then drawn.
        """
        table, state = self.table, self.state
        ratio = state.scale[table.term] / state.w[table.main]
        main = np.flatnonzero((table.main >= 0) & (ratio < STEEPEST))
        if not len(main):
            return
        owner, scale = table.main[main], state.scale[table.term[main]]
        loading = table.loading[:, main]
        state.g += np.outer(np.exp(state.log_a), loading @ self._base[main])
        self._load(self.theta - table.design[:, main] @ self._base[main])
        sums, weight = state.g @ loading / state.w[owner], (scale / state.w[owner]) ** 2
        if table.free_a:
            logits, brought, items = (self.x, self.part), (sums, weight), (state.log_a, state.b)
            priors = (self._shape(), self._place())
            kernels.move_slopes_under(self.rng, table.answers, self.bounds, logits, items, brought, priors)
            weight = weight * np.exp(2 * state.log_a.mean())
            state.settle()
            self._move_spread(sums, weight)
        a, scale = np.exp(state.log_a), state.scale[table.term[main]]
        precision = 1 + weight * np.sum(a**2)
        mean = np.sqrt(weight) * (a @ sums) / precision
        state.z[main] = mean + self.rng.standard_normal(len(main)) / np.sqrt(precision)
        state.g -= np.outer(a, loading @ (scale * state.z[main]))

    def _shift_difficulties(self) -> None:
        """Each difficulty with all effects of a facet on its item, no logit being changed."""
        state, a = self.state, np.exp(self.state.log_a)
        for index, w in enumerate(state.w):
            own = self.table.facet == index
            precision = 1 / state.spread_b**2 + a**2 * own.sum() / w**2
            linear = -(state.b - state.centre_b) / state.spread_b**2 - a * state.g[:, own].sum(axis=1) / w**2
            step = linear / precision + self.rng.standard_normal(len(a)) / np.sqrt(precision)
            state.b = state.b + step
            state.g[:, own] += (a * step)[:, None]

    def _weigh(self) -> None:
        """Polya-Gamma weights of the answers, the asymptotes anew, and the moments that normal draws need."""
        table, state = self.table, self.state
        self.fill_logits()
        seen = np.zeros((len(self.x), 4))
        kernels.weigh(self.rng, table.answers, self.bounds, self.x, self.weights, seen)
        guessed, other, kept, slipped = table.asymptotes + seen.T
        if table.shared_guessing:
            prior = table.asymptotes[:2, 0]
            state.c = np.full(len(state.c), self.rng.beta(*(prior + seen[:, :2].sum(axis=0))))
        elif table.guessing:
            state.c = self.rng.beta(guessed, other)
        if table.slipping:
            state.delta = self.rng.beta(kept, slipped)
        rows = np.column_stack([table.design, np.ones(len(state.r)), state.r])
        precision = 1 / state.w[table.facet] ** 2
        self.weights[1][:] -= self.weights[0] * self.offset  # answers as they are without the covariates
        kernels.take_moments(table.column, rows, self.weights, precision, self.moments)

    def _draw_slopes(self) -> None:
        """Slopes of the item covariates, difficulties and effects on items integrated out."""
        table, state, p = self.table, self.state, len(self.table.term)
        if not state.slopes.size:
            return
        (_, linear, left), a = self.moments, np.exp(state.log_a)
        ahead = left[:, :, p + 2] - a[:, None] * (left[:, :, :p] @ self._base + left[:, :, p + 1])
        own = a**2 * left[:, p, p] + 1 / state.spread_b**2
        difficulty = (state.centre_b / state.spread_b**2 - a * ahead[:, p]) / own
        pull = (ahead + (a * difficulty)[:, None] * left[:, :, p])[:, table.carried]
        across = left[:, p, table.carried]
        known = left[:, table.carried[:, None], table.carried] - np.einsum("i,iq,ir->iqr", a**2 / own, across, across)
        x, size = table.covariates, state.slopes.size
        precision = np.einsum("ik,il,iqr->kqlr", x, x, known).reshape(size, size)
        # Moments are of answers without what the slopes bring now: they draw the change.
        old = state.slopes
        moved = self._normal(precision + np.eye(size), (x.T @ pull).ravel() + precision @ old.ravel())
        state.slopes = moved.reshape(old.shape)
        change = x @ (state.slopes - old)
        less = np.einsum("inq,iq->in", left[:, : p + 2, table.carried], change)
        left[:, : p + 2, p + 2] -= less
        left[:, p + 2, : p + 2] -= less
        linear[:, :, p + 2] -= np.einsum("ijq,iq->ij", linear[:, :, table.carried], change)
        brought = change @ table.carriers.T
        self.offset += brought
        self.weights[1][:] -= self.weights[0] * brought

    def _draw_components(self) -> None:
        """Weights of the abilities' terms, difficulties and effects on items integrated out."""
        state, p = self.state, len(self.table.term)
        left, a = self.moments[2], np.exp(state.log_a)
        own = a**2 * left[:, p, p] + 1 / state.spread_b**2
        shift = -a * left[:, p, p + 2] + a**2 * left[:, p, p + 1] + state.centre_b / state.spread_b**2
        pull = (a**2)[:, None] * left[:, :p, p]
        linear = a @ left[:, :p, p + 2] - a**2 @ left[:, :p, p + 1] + (shift / own) @ pull
        precision = np.tensordot(a**2, left[:, :p, :p], 1) - (pull / own[:, None]).T @ pull
        scale = state.scale[self.table.term]
        state.z = self._normal(precision * np.outer(scale, scale) + np.eye(p), linear * scale)

    def _normal(self, precision: Floats, linear: Floats) -> Floats:
        root = np.linalg.cholesky(precision)
        noise = self.rng.standard_normal(len(linear))
        return np.asarray(np.linalg.solve(root.T, np.linalg.solve(root, linear) + noise))

    def _draw_items(self) -> None:
        """Discriminations, difficulties and effects on items."""
        state = self.state
        ability = np.concatenate([self._base, [0.0, 1.0]])
        priors = (self._shape(), self._place())
        items = (state.log_a, state.b, state.g)
        kernels.draw_items(self.rng, items, self.moments, ability, priors, self.table.free_a)
        state.settle()

    def _draw_residuals(self) -> None:
        """What the components leave of abilities, summing to zero."""
        state, (omega, kappa) = self.state, self.weights
        self.fill_logits()
        a = np.exp(state.log_a)
        self.x -= a[:, None] * state.r
        precision = 1 / state.tau**2 + a**2 @ omega
        linear = a @ (kappa - omega * (self.x - self.offset))
        r = linear / precision + self.rng.standard_normal(len(linear)) / np.sqrt(precision)
        state.r = r - r.sum() / precision / np.sum(1 / precision)

    def _redivide(self) -> None:
        """Components and residuals given the abilities. Where students are not balanced over levels all abilities and
        difficulties move together by what keeps the residuals' sum at zero, which only the prior of the centre resists.
        """
        state = self.state
        loading = self.table.design * state.scale[self.table.term]
        theta = self.theta - self.theta.mean()
        means = loading.mean(axis=0)
        loading = loading - means
        weight = 1 / state.tau**2
        proposed = self._normal(weight * loading.T @ loading + np.eye(len(means)), weight * (theta @ loading))
        shift = float(means @ (proposed - state.z))
        moved = (state.centre_b + shift) ** 2 - state.centre_b**2
        if np.log(self.rng.random()) < -0.5 * moved / self.table.widths["centre_b"] ** 2:
            r = theta - loading @ proposed
            state.z, state.r = proposed, r - r.mean()
            state.b, state.centre_b = state.b + shift, state.centre_b + shift

    def _draw_scales(self) -> None:
        """Every scale, and the mean difficulty, given what it governs."""
        table, state, widths = self.table, self.state, self.table.widths
        items, terms = len(state.b), len(state.scale)
        precision = items / state.spread_b**2 + 1 / widths["centre_b"] ** 2
        mean = float(state.b.sum()) / state.spread_b**2 / precision
        state.centre_b = mean + self.rng.standard_normal() / np.sqrt(precision)
        levels, groups = np.bincount(table.facet), (state.g**2).sum(axis=0)
        scales = np.array([*state.scale, *state.w, state.tau, state.spread_a, state.spread_b])
        free = [*np.bincount(table.term), *(items * levels), len(state.r) - 1, items - 1, items]
        squares = [
            *(state.scale**2 * np.bincount(table.term, state.z**2)),
            *np.bincount(table.facet, groups),
            np.sum(state.r**2),
            np.sum((state.log_a - state.log_a.mean()) ** 2),
            np.sum((state.b - state.centre_b) ** 2),
        ]
        names = ["term"] * terms + ["effect"] * len(levels) + ["tau", "spread_a", "spread_b"]
        width = np.array([widths[name] for name in names])
        skip = [*[False] * (terms + len(levels)), not table.residual, not table.free_a, False]
        known = np.where(skip, 1.0, squares)  # what the model does not have is drawn and not used
        kernels.draw_scales(self.rng, scales, np.array(free, dtype=np.float64), known, width)
        state.z = state.z * (state.scale / scales[:terms])[table.term]
        state.scale, state.w = scales[:terms], scales[terms : terms + len(levels)]
        state.tau, state.spread_a, state.spread_b = scales[-3:].tolist()

    def _draw_scales_of_units(self) -> None:
        """All scales but that of the log discriminations at once, given what they govern in units of them: coefficients
        of a normal regression (Yu & Meng 2011). Their signs are free, for what they multiply is symmetric.
        """
        table, state, widths, (omega, kappa) = self.table, self.state, self.table.widths, self.weights
        a, terms = np.exp(state.log_a)[:, None], len(state.scale)
        beta = (state.b - state.centre_b) / state.spread_b
        parts: list[Any] = [a * (table.design[:, table.term == t] @ state.z[table.term == t]) for t in range(terms)]
        names = ["term"] * terms
        if table.residual:
            parts, names = [*parts, a * (state.r / state.tau)], [*names, "tau"]
        parts += [np.broadcast_to(-a * beta[:, None], omega.shape), np.broadcast_to(-a, omega.shape)]
        parts += [state.g[:, column] / w for column, w in zip(table.column, state.w, strict=True)]
        names += ["spread_b", "centre_b"] + ["effect"] * len(state.w)
        rows = np.stack([part.ravel() for part in parts])
        prior = np.diag([1 / widths[name] ** 2 for name in names])
        drawn = self._normal((rows * omega.ravel()) @ rows.T + prior, rows @ kappa.ravel())
        scale, rest, effects = drawn[:terms], drawn[terms : -len(state.w)], drawn[-len(state.w) :]
        state.z = np.where(scale[table.term] < 0, -state.z, state.z)
        state.scale = np.maximum(np.abs(scale), LEAST)
        if table.residual:
            state.r = state.r / state.tau * rest[0]
            state.tau = max(abs(float(rest[0])), LEAST)
        state.b, state.centre_b = rest[-1] + rest[-2] * beta, float(rest[-1])
        state.spread_b = max(abs(float(rest[-2])), LEAST)
        state.g = state.g * (effects / state.w)[table.facet]
        state.w = np.maximum(np.abs(effects), LEAST)
