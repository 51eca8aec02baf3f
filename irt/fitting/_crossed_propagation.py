"""Methods `map` and `laplace` where pipelines share components: question x level effects, integrated approximately.

The posterior is that of `irt.fitting._crossed`. Given the scales, expectation propagation (`irt.fitting._propagation`)
gives a Gaussian of everything and an evidence of the scales. That is climbed, and its surroundings are sampled as in a
nested Laplace approximation (`irt.fitting._nested_laplace`): intervals that held the scales at their estimates would be
too short where a facet has few levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logit

from irt import _prior_densities as prior_densities
from irt._fit_settings import FitSettings
from irt._model import ITEM_EFFECT_SCALE, ItemEffects, Problem, RawDraws, report_scale
from irt._responses import Floats
from irt.fitting._crossed import covariate_effects, table_of
from irt.fitting._estimation_outcome import EstimationOutcome, Progress, draws_for, tell
from irt.fitting._nested_laplace import (
    FLATTEST,
    SAMPLES,
    STEP,
    effective_samples,
    joined,
    root_of,
    sampled_scales,
    shares,
)
from irt.fitting._propagation import CrossedScales, Propagated, Propagation, PropagationState
from irt.fitting._rating_steps import rated

CLIMBS, STRIDE, SETTLED = 12, 1.0, 0.1
"""Climbs at most, how far a logarithm of a scale may move in the first, and the change at which they end: sampling
finds the rest.
"""
ROUNDS, GAIN, FLAT = 20, 1e-5, 0.2
"""Of a climb at most, and the relative gain and the slope at which it ends."""
MOST = 100
"""Evaluations that a climb is expected to take at most, for its progress."""
FARTHEST = 0.5
"""Largest move of a scale's logarithm from where climbs end to the centre of what is sampled."""
FEWEST = 2.0
"""Effective samples of the scales, before their weights are truncated, below which a warning says so."""
ALIKE = 5.0
"""Logits of effects on items from which this method's intervals were a tenth to a fifth shorter than the sampler's."""
NARROWEST, WIDEST = np.log(0.01), np.log(30.0)
"""Bounds of the logarithms of the scales, below which they do not matter and above which no logit needs them; those of
the logit of shared guessing, .01 to .97, too.
"""


def find_crossed(problem: Problem, settings: FitSettings, progress: Progress | None) -> EstimationOutcome:
    """Draws over the posterior of the scales, with effects of levels on items."""
    evidence = Evidence(problem)
    settled = evidence.climb(progress)
    vectors, weights = sampled_scales(evidence.height, *evidence.normal(), settings.seed, progress)
    draws = _ApproximateDraws(evidence, np.random.default_rng([settings.seed, 4]))
    # Truncated weights (Ionides 2008): a few sampled scales shall not stand for all.
    truncated = np.minimum(weights, weights.mean() * np.sqrt(len(weights)))
    draws.take(vectors, truncated / truncated.sum(), draws_for(*problem.answers.shape))
    reported = report_scale(draws.joined(), problem.design)
    if problem.ratings is not None:
        reported = rated(problem, reported)
    effective, warnings = effective_samples(weights), []
    if not settled:
        warnings.append("Not converged: the climb to the scales did not settle; use method='nuts'.")
    elif effective < FEWEST:
        warnings.append(
            f"{effective:.1f} of {SAMPLES} sampled scales carry the weight: how sure the scales are is known roughly "
            "(method 'nuts' knows it)."
        )
    return EstimationOutcome(
        draws=reported,
        point={name: values.mean(axis=0) for name, values in reported.items()},
        log_likelihood=draws.log_likelihood,
        converged=settled,
        diagnostics={"rounds": evidence.asked, "scale_samples": effective},
        warnings=tuple(warnings),
        item_effects=draws.item_effects(),
        notes=_alike(problem, reported),
    )


def _alike(problem: Problem, reported: Mapping[str, Floats]) -> tuple[str, ...]:
    """A note where the students of a level answer nearly alike."""
    names = [one for one in problem.design.item_facets if np.median(reported[f"{ITEM_EFFECT_SCALE}{one}"]) > ALIKE]
    if not names:
        return ()
    return (
        f"Students with a level of {' or '.join(names)} in common answer nearly alike: intervals by this method may be "
        "a tenth to a fifth too short (method 'nuts' has them whole).",
    )


class Evidence:
    """The approximate log p(answers | scales) plus the scales' log prior.

    Its argument are the logarithms of the scales that the model has, and the logit of the guessing that items share:
    terms, residuals, discriminations, guessing, steps between ratings, difficulties, effects. The highest that was
    found is `top`, propagation begins at `near`, and `asked` counts evaluations.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.table, self.asked = problem, table_of(problem), 0
        priors, terms, facets = problem.priors, len(problem.design.terms), len(self.table.column)
        self.densities: list[prior_densities.ScaleDensity | prior_densities.BetaShare] = []
        self.densities += [prior_densities.term_scale(priors)] * terms
        self.densities += [prior_densities.residual_scale(priors, terms > 0)] * self.table.residual
        self.densities += [prior_densities.spread_a(priors)] * self.table.free_a
        if self.table.shared_guessing:
            self.densities.append(prior_densities.guessing(priors, problem.guessing_centre))
        self.gaps = problem.ratings is not None and bool(problem.ratings.top.max() > 1)
        self.densities += [prior_densities.spread_gap(problem.partial_credit)] * self.gaps
        self.densities += [prior_densities.spread_b(priors), *[prior_densities.item_effect_scale(priors)] * facets]
        self.top = np.full(len(self.densities), np.log(0.5))
        self.top[-facets - 1 :] = 0.0
        if self.table.shared_guessing:
            self.top[-facets - 2] = logit(problem.guessing_centre[0])
        self.near = self.at(self.top).start()
        self.states: dict[bytes, PropagationState] = {}

    def scales(self, vector: Floats) -> CrossedScales:
        """The scales of a vector."""
        terms, facets = len(self.problem.design.terms), len(self.table.column)
        of_terms, middle, effects = np.split(np.exp(vector), [terms, len(vector) - facets])
        values = iter(middle.tolist())
        tau, spread_a = (next(values) if has else 0.0 for has in (self.table.residual, self.table.free_a))
        guessing = float(np.log(next(values))) if self.table.shared_guessing else 0.0
        gap = next(values) if self.gaps else 1.0
        return CrossedScales(of_terms, tau, spread_a, next(values), effects, guessing, gap)

    def at(self, vector: Floats) -> Propagation:
        """The problem at these scales."""
        return Propagation.of(self.problem, self.table, self.scales(vector))

    def found(self, vector: Floats) -> tuple[Propagation, Propagated] | None:
        """Propagation at these scales, None where it breaks down."""
        self.asked += 1
        try:
            propagation = self.at(vector)
            found = propagation.run(self.states.get(vector.tobytes(), self.near))
        except np.linalg.LinAlgError:
            return None
        return propagation, found

    def height(self, vector: Floats) -> float:
        """The log evidence plus log prior, whose propagation is kept; -inf where it cannot be computed."""
        found = self.found(vector)
        if found is None:
            return -np.inf
        self.states[vector.tobytes()] = found[1].state
        return self._height(vector, found[1], found[0].known(found[1]))

    def climb(self, progress: Progress | None) -> bool:
        """Move `top`, and where propagation begins, to the highest vector; whether that was reached.

        What the answers tell of the discriminations is held during a climb, which goes no further than `STRIDE`.
        """
        options: Any = {"maxiter": ROUNDS, "ftol": GAIN, "gtol": FLAT}
        for turn in range(1, CLIMBS + 1):
            low, high = (np.clip(self.top + side * STRIDE / turn, NARROWEST, WIDEST) for side in (-1, 1))
            limits = list(zip(low.tolist(), high.tolist(), strict=True))
            propagation, found = self._whole(self.top)
            given = (propagation.known(found), progress)
            reached = minimize(self._descent, self.top, given, "L-BFGS-B", True, bounds=limits, options=options)
            moved = float(np.max(np.abs(reached.x - self.top)))
            self.top, self.near = reached.x, self._whole(reached.x)[1].state
            if moved < SETTLED:
                return True
        return False

    def _descent(self, vector: Floats, known: Floats, progress: Progress | None) -> tuple[float, Floats]:
        """Minus the height and its slope, and a word on how far we are."""
        tell(progress, min(self.asked, MOST - 1), MOST)
        found = self.found(vector)
        if found is None:
            return np.inf, np.zeros_like(vector)
        self.near = found[1].state
        return -self._height(vector, found[1], known), -self._slope(vector, found[1], known)

    def normal(self) -> tuple[Floats, Floats]:
        """Centre and root of the covariance of a Normal like the density, from either side of `top` along each axis."""
        sides = []
        for side in (1, -1):
            ends = [self.top + side * step for step in STEP * np.eye(len(self.top))]
            found = [self._whole(end) for end in ends]
            known = [one.known(of) for one, of in found]
            heights = [self._height(*each) for each in zip(ends, (one for _, one in found), known, strict=True)]
            slopes = [self._slope(*each) for each in zip(ends, (one for _, one in found), known, strict=True)]
            sides.append((np.array(heights), np.array(slopes)))
        (above, up), (below, down) = sides
        # Slopes say how scales go together, heights how sure each is: they know what discriminations have to say of it.
        curvature = (down - up + (down - up).T) / (4 * STEP)
        own = (2 * self.height(self.top) - above - below) / STEP**2
        ratio = np.sqrt(np.maximum(own, FLATTEST) / np.maximum(np.diag(curvature), FLATTEST))
        root = root_of(curvature * np.outer(ratio, ratio))
        step = root @ (root.T @ ((above - below) / (2 * STEP)))
        return self.top + np.clip(step, -FARTHEST, FARTHEST), root

    def _whole(self, vector: Floats) -> tuple[Propagation, Propagated]:
        """Propagation at these scales; ValueError where it breaks down."""
        found = self.found(vector)
        if found is None:
            raise ValueError(
                "effects of levels on items cannot be told in this table by this method; use method 'nuts'"
            )
        return found

    def _height(self, vector: Floats, found: Propagated, known: Floats) -> float:
        """At the information about log discriminations, whose sum is held."""
        total = sum(_prior_at(density, value)[0] for density, value in zip(self.densities, vector, strict=True))
        precision = 1 + self.scales(vector).spread_a ** 2 * known
        volume = float(np.log(precision).sum() + np.log(np.sum(1 / precision))) if len(known) else 0.0
        return found.log_evidence + total - 0.5 * volume

    def _slope(self, vector: Floats, found: Propagated, known: Floats) -> Floats:
        """By each scale's logarithm, what the squares of the coordinates that it governs are above their prior mean."""
        table, gaussian = self.table, found.gaussian
        v, x = (mean**2 + variance - 1 for mean, variance in zip(gaussian.mean, gaussian.variances, strict=True))
        free = len(table.term)
        parts: list[Any] = [np.bincount(table.term, v[:free], len(self.problem.design.terms))]
        if table.residual:
            parts.append([v[free : free + len(table.design)].sum()])
        if table.free_a:
            shares = 1 / (1 + self.scales(vector).spread_a ** 2 * known)
            held = np.sum(shares * (1 - shares)) / shares.sum()
            parts.append([np.sum(found.state.alpha**2 + shares - 1) + held])
        if table.shared_guessing:
            parts.append([found.guessing_slope])
        if self.gaps and found.thresholds is not None:
            parts.append([found.thresholds.by_spread()])
        parts += [[x[:, 0].sum()], np.bincount(table.facet, x[:, 1:].sum(axis=0))]
        prior = [_prior_at(density, value)[1] for density, value in zip(self.densities, vector, strict=True)]
        return np.concatenate(parts) + prior


def _prior_at(density: prior_densities.ScaleDensity | prior_densities.BetaShare, value: float) -> tuple[float, float]:
    """The log prior of a scale's logarithm or of a share's logit, and its slope."""
    if isinstance(density, prior_densities.BetaShare):
        return density.on_logit(value), float(density.slope_and_information(np.array([value]))[0][0])
    return float(density.on_log(np.asarray(value))), float(density.slope_on_log(np.asarray(value)))


class _ApproximateDraws:
    """Draws from the Gaussians at sampled scales, and what they say of answers and of the effects on items."""

    def __init__(self, evidence: Evidence, rng: np.random.Generator) -> None:
        self.evidence, self.rng = evidence, rng
        self.parts: list[RawDraws] = []
        self.sums: list[Any] = [0.0] * 4
        """Of probabilities `[I, S]`, log-likelihoods, effects on items and their squares `[I, J]`, over draws."""
        self.count = 0

    def take(self, vectors: Floats, weights: Floats, count: int) -> None:
        """`count` draws, shared out over the vectors by their weights."""
        for vector, share in zip(vectors, shares(weights, count, self.rng), strict=True):
            if share and (found := self.evidence.found(vector)):
                self._add(*found, share)

    def _add(self, propagation: Propagation, found: Propagated, count: int) -> None:
        scales, table, design = propagation.scales, propagation.table, propagation.problem.design
        drawn = propagation.sample(found, propagation.known(found), self.rng, count)
        v, x, c = drawn.v, drawn.x, drawn.c
        ability = propagation.parts[0].stop - 1
        base, full = v[:, : len(table.term)] * scales.terms[table.term], np.ones(count)
        slopes = v[:, ability + 1 :].reshape(count, -1, len(table.carried))
        effects = x[:, :, 1:] * scales.effects[table.facet] + table.explained(slopes)
        self.parts.append(
            RawDraws(
                a=np.exp(scales.spread_a * drawn.alpha),
                b=v[:, ability, None] + scales.spread_b * x[:, :, 0],
                c=c,
                d=c + (1 - c) * drawn.delta,
                theta=v[:, :ability] @ propagation.loadings[:, :ability].T,
                effects=tuple(base[:, table.term == at] @ term.free_root.T for at, term in enumerate(design.terms)),
                scales=tuple(scale * full for scale in scales.terms),
                residual_scale=scales.tau * full,
                spread_a=scales.spread_a * full,
                spread_b=scales.spread_b * full,
                centre_b=v[:, ability],
                item_effect_scales=tuple(scale * full for scale in scales.effects),
                covariate_effects=covariate_effects(design, table, slopes),
                ladders=drawn.ladders,
            )
        )
        sums = (count * propagation.chances(found), count * propagation.log_likelihood(found))
        for place, value in enumerate((*sums, effects.sum(axis=0), (effects**2).sum(axis=0))):
            self.sums[place] = self.sums[place] + value
        self.count += count

    def joined(self) -> RawDraws:
        """All draws, in random order; what the model fixes is one number broadcast."""
        raw, table = joined(self.parts, self.rng.permutation(self.count)), self.evidence.table
        c = raw.c if table.guessing else np.broadcast_to(0.0, raw.c.shape)
        return replace(raw, c=c, d=raw.d if table.slipping else np.broadcast_to(1.0, raw.d.shape))

    @property
    def log_likelihood(self) -> float:
        """At the means of the logits, mean over the scales."""
        return float(self.sums[1] / self.count)

    def item_effects(self) -> ItemEffects:
        """Means and standard deviations over draws, and mean probabilities."""
        table, names = self.evidence.table, self.evidence.problem.design.item_facets
        mean = self.sums[2] / self.count
        sd = np.sqrt(np.maximum(self.sums[3] / self.count - mean**2, 0.0))
        by_facet = [{name: values[:, table.facet == at] for at, name in enumerate(names)} for values in (mean, sd)]
        return ItemEffects(by_facet[0], by_facet[1], (self.sums[0] / self.count).T)
