"""Effects whose intervals hold when answers to one item depend on one another beyond ability.

Pipelines that share a retriever read the same passage, those that share a language model know the same facts: given
their abilities, their answers to one item are not independent, and a likelihood that multiplies them counts the same
evidence several times. Items are still independent of each other. Each is therefore taken as one cluster of answers:
whether a facet's students agree within clusters is tested by the items' scores (the middle of the cluster-robust
"sandwich"; Liang & Zeger 1986), and where those of one do, the variance of all effects over items like these is found
by fitting resampled items (Efron 1979). Its ratio to the posterior variance is the design effect (Kish 1965).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from irt._residuals import counts
from irt._responses import Floats, ResponseMatrix
from irt._result import Fit
from irt.kernels import probability

FEWEST_ITEMS = 10
"""Items below which their spread says nothing about a variance."""
ALPHA = 0.05
"""Level of the one-sided test of each term; a false alarm costs width, a miss the truth of every interval."""
TABLES = 200
"""Tables of independent answers the test compares with."""
TEST_CELLS = 500_000
"""Cells of the test's table: its 200 replicas stay within seconds."""
REFITS = 30
"""Resampled tables: the standard deviation over items is then known to about an eighth of itself."""
REFIT_CELLS = 1_000_000
"""Cells of a resampled table: of more items fewer are drawn, and the variance is scaled to all of them."""
Refit = Callable[[ResponseMatrix, NDArray[np.int64]], Mapping[str, Floats]]
"""From a table of resampled items, whose places `[M]` in the first one are given, to point estimates by name."""


class Sharing(NamedTuple):
    """Whether the students of a term's levels agree on items beyond ability.

    `ratio` is the mean square of the items' influences on the effects over its mean where answers are independent, `p`
    the share of tables drawn so that have as large a one.
    """

    term: str
    ratio: float
    p: float

    @property
    def flag(self) -> bool:
        """Whether answers are shared, at the level `ALPHA`."""
        return self.p < ALPHA


def sharing(fit: Fit) -> tuple[Sharing, ...]:
    """One per term of the fit; ValueError with fewer than 10 items, whose spread says nothing, or for ratings.

    Tables of independent answers are drawn at the point estimates; of a large table a random part of the items is read.
    What `widened` found is kept with the fit, whose draws are no longer the posterior's.
    """
    fit.require_right_or_wrong("the test of shared answers")
    kept = {name: float(value) for name, value in fit.diagnostics.items() if name.startswith("shared_answers")}
    terms = [term.name for term in fit.design.terms]
    if all(f"shared_answers_p.{term}" in kept for term in terms):
        return tuple(Sharing(term, kept[f"shared_answers.{term}"], kept[f"shared_answers_p.{term}"]) for term in terms)
    count = len(fit.data.items)
    if count < FEWEST_ITEMS:
        raise ValueError(
            f"{count} items; at least {FEWEST_ITEMS} are wanted to see how far effects depend on the items"
        )
    rng = np.random.default_rng(fit.seed)
    part = min(count, max(FEWEST_ITEMS, TEST_CELLS // len(fit.data.students)))
    answers = _answers(fit, np.sort(rng.choice(count, part, replace=False)))
    gains = [_gain(fit, term.name) for term in fit.design.terms]
    observed = _squares(gains, answers.orthogonal(answers.successes))
    drawn = np.array([_squares(gains, answers.orthogonal(answers.drawn(rng))) for _ in range(TABLES)])
    exceeding = (1 + (drawn >= observed).sum(axis=0)) / (TABLES + 1)
    ratios = observed / np.maximum(drawn.mean(axis=0), 1e-300)
    return tuple(
        Sharing(term.name, float(ratio), float(p))
        for term, ratio, p in zip(fit.design.terms, ratios, exceeding, strict=True)
    )


def shared_answers(fit: Fit) -> pd.DataFrame:
    """`facet,ratio,p,flag,note,sentence`: the test of each term as a table of the checks."""
    rows = [
        {
            "facet": each.term,
            "ratio": each.ratio,
            "p": each.p,
            "flag": each.flag,
            "note": "",
            "sentence": f"Students with the same level of '{each.term}' answer the same items alike beyond their "
            f"abilities ({each.ratio:.1f} times what independent answers give): intervals of its effects "
            f"{'are widened, but' if f'design_effect.{each.term}' in fit.diagnostics else 'are too narrow,'} "
            f"discriminations and information are too high."
            if each.flag
            else "",
        }
        for each in sharing(fit)
    ]
    return pd.DataFrame(rows)


def widened(fit: Fit, refit: Refit) -> Fit:
    """The fit with draws of effects and abilities spread to their variance over items where answers are shared.

    Where one term is flagged items are the unit, for all terms: items may take up what the levels of another share, so
    that a difference resting on two of them looks sure. What the variance over items has beyond the posterior's is
    added to the draws as normal noise, in all directions of the effects at once; no interval becomes narrower, and
    point estimates stay. The diagnostics keep the ratio of each term, and its design effect. A fit without facets, of
    ratings or with fewer than 10 items is given back.
    """
    if not fit.design.terms or len(fit.data.items) < FEWEST_ITEMS or fit.graded is not None:
        return fit
    found = sharing(fit)
    numbers = {f"shared_answers.{each.term}": each.ratio for each in found}
    numbers |= {f"shared_answers_p.{each.term}": each.p for each in found}
    flagged = [each.term for each in found if each.flag]
    if not flagged:
        return replace(fit, diagnostics={**fit.diagnostics, **numbers})
    names = [each.term for each in found]
    over_items = np.atleast_2d(np.cov(_refitted(fit, refit, names).T)) * _part(fit) / len(fit.data.items)
    effects = np.hstack([fit.draws[f"effect.{name}"] for name in names])
    known = np.cov(effects.T)
    starts = np.cumsum([0, *(fit.draws[f"effect.{name}"].shape[1] for name in names[:-1])])
    sizes = (np.add.reduceat(np.diag(covariance), starts) for covariance in (over_items, known))
    ratios = {name: float(now / before) for name, now, before in zip(names, *sizes, strict=True)}
    numbers |= {f"design_effect.{name}": ratio for name, ratio in ratios.items()}
    noise = np.split(_noise(over_items - known, len(effects), fit.seed), starts[1:], axis=1)
    return replace(
        fit,
        draws=_spread(fit, dict(zip(names, noise, strict=True))),
        diagnostics={**fit.diagnostics, **numbers},
        warnings=(*fit.warnings, _sentence({name: ratios[name] for name in flagged})),
    )


def _sentence(ratios: Mapping[str, float]) -> str:
    listed = " and ".join(
        f"'{name}' (variance over items {ratio:.1f} times as large)" for name, ratio in ratios.items()
    )
    return (
        f"Students with the same level of {listed} answer the same items alike beyond their abilities. The intervals "
        "of all effects and of abilities were widened for it; those of items were not: discriminations and "
        "information are too high."
    )


def _part(fit: Fit) -> int:
    """Items of a resampled table."""
    return min(len(fit.data.items), max(FEWEST_ITEMS, REFIT_CELLS // len(fit.data.students)))


def _refitted(fit: Fit, refit: Refit, names: Sequence[str]) -> Floats:
    """Point estimates of the effects from resampled items `[R, L]`."""
    rng, count = np.random.default_rng(fit.seed), len(fit.data.items)
    rows = []
    for _ in range(REFITS):
        drawn = rng.integers(0, count, _part(fit))
        trials = None if fit.data.trials is None else fit.data.trials[:, drawn]
        ids = tuple(f"{fit.data.items[place]}.{turn}" for turn, place in enumerate(drawn))
        point = refit(replace(fit.data, scores=fit.data.scores[:, drawn], trials=trials, items=ids), drawn)
        rows.append(np.hstack([point[f"effect.{name}"] for name in names]))
    return np.array(rows)


def _noise(missing: Floats, count: int, seed: int) -> Floats:
    """Normal draws `[count, L]` about 0 with the positive part of the covariance that is missing."""
    variance, direction = np.linalg.eigh(missing)
    root = direction * np.sqrt(np.where(variance > 1e-9 * np.abs(variance).max(), variance, 0.0))
    noise = np.random.default_rng(seed).standard_normal((count, len(root)))
    return np.asarray((noise - noise.mean(axis=0)) @ root.T)


def _spread(fit: Fit, noise: Mapping[str, Floats]) -> Mapping[str, Floats]:
    """The draws with noise on effects, and on the abilities made of them."""
    draws = dict(fit.draws)
    for name, part in noise.items():
        draws[f"effect.{name}"] = draws[f"effect.{name}"] + part
        draws["theta"] = draws["theta"] + part[:, fit.design.term(name).level_of]
    return draws


def _gain(fit: Fit, term: str) -> Floats:
    """Posterior covariance of a term's effects and the abilities `[L, S]`: how scores about abilities move effects."""
    theta, effects = fit.draws["theta"], fit.draws[f"effect.{term}"]
    return np.asarray((effects - effects.mean(axis=0)).T @ (theta - theta.mean(axis=0)) / (len(theta) - 1))


def _squares(gains: Sequence[Floats], scores: Floats) -> Floats:
    """Sum over items of the squared influences on each term's effects."""
    return np.array([((gain @ scores) ** 2).sum() for gain in gains])


class _Answers(NamedTuple):
    """Answers to some items at the point estimates: trials, probability, scores' slope and information, `[S, I]`."""

    successes: Floats
    trials: Floats
    p: Floats
    slope: Floats
    weights: Floats
    own: Floats
    inverse: Floats

    def drawn(self, rng: np.random.Generator) -> Floats:
        """Independent answers with the same probabilities."""
        return rng.binomial(self.trials.astype(np.int64), self.p).astype(np.float64)

    def orthogonal(self, successes: Floats) -> Floats:
        """Scores about abilities `[S, I]` less what fitting the items' own slopes and intercepts takes up."""
        scores = self.slope * (successes - self.trials * self.p)
        taken = np.einsum("ikm,mi->ki", self.inverse, self.own.T @ scores)
        return np.asarray(scores - self.weights * (self.own @ taken))


def _answers(fit: Fit, items: NDArray[np.int64]) -> _Answers:
    """The score of an answer is `a (P - c) (d - P) / ((d - c) P (1 - P)) (successes - trials P)`."""
    theta, (a, b, c, d) = np.asarray(fit.point["theta"]), (values[items] for values in fit.parameters)
    p = np.asarray(probability(theta[:, None], a, b, c, d))
    within = np.clip(p, 1e-12, 1 - 1e-12)
    slope = a * np.where((c > 0) | (d < 1), (p - c) * (d - p) / ((d - c) * within * (1 - within)), 1.0)
    successes, trials = counts(fit.data, slice(None), items)
    weights = trials * slope**2 * p * (1 - p)
    own = np.stack([np.ones_like(theta), theta], axis=1)
    inverse = np.linalg.inv(np.einsum("sk,si,sm->ikm", own, weights, own) + 1e-9 * np.eye(2))
    return _Answers(successes, trials, p, slope, weights, own, inverse)
