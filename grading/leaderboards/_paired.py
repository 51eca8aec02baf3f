"""Systems in order of their means, and in pairs: differences, intervals, tests, probability of being best."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from examcore import BOOTSTRAP_DRAWS, IntervalEstimate, percentile_interval
from grading._printing import noted, signed, table_lines
from grading._records import SAMPLING, Floats, Sampling, SystemScores
from grading.formats._score_tables import ScoreTable, table_of

PERMUTATIONS = 10_000
"""Sign patterns drawn when there are more than this: the standard error of a p of .05 is then .002."""
BLOCK = 1000
"""Sign patterns held in memory at a time."""
ALPHA = 0.05
"""Two systems differ significantly when their adjusted p is below this."""
POWER = 0.8
"""The usual probability of finding a difference that exists (Cohen 1988)."""
Pairs = Literal["neighbours", "all"]
"""The pairs of systems that are printed."""


class SystemPair(NamedTuple):
    """Two systems on `n` common topics: the mean of the first's score minus the second's, and its two-sided test.

    `p` comes from the sign-flip permutation test (Fisher 1935), `p_adjusted` is adjusted for all pairs compared;
    `detectable` is the difference that an unadjusted test at .05 finds on `n` topics with a power of .8.
    """

    first: str
    second: str
    n: int
    difference: IntervalEstimate
    p: float
    p_adjusted: float
    detectable: float

    @property
    def told_apart(self) -> bool:
        """Whether the adjusted p is below .05."""
        return bool(self.p_adjusted < ALPHA)

    def record(self) -> dict[str, object]:
        """The fields and `told_apart`, for JSON."""
        return {**self._asdict(), "told_apart": self.told_apart}


class Standing(NamedTuple):
    """A system's mean over the `topics` that have a score, with its interval."""

    system: str
    score: IntervalEstimate
    topics: int


class Comparison(NamedTuple):
    """All pairs of a table's systems, and each system's probability of being the best over resampled topics."""

    name: str
    pairs: tuple[SystemPair, ...]
    best: dict[str, float]

    @property
    def significant(self) -> list[SystemPair]:
        """The pairs whose adjusted p is below .05."""
        return [pair for pair in self.pairs if pair.told_apart]

    @property
    def sentence(self) -> str:
        """Which pairs of systems differ."""
        topics = sorted({pair.n for pair in self.pairs})
        over = f"over {topics[0]} topics" if len(topics) == 1 else f"over {topics[0]} to {topics[-1]} topics"
        known = [pair.p_adjusted for pair in self.pairs if np.isfinite(pair.p_adjusted)]
        if not known:
            return f"{self.name}: no pair of systems shares two topics, so nothing can be said of their differences."
        if not self.significant:
            return (
                f"{self.name}: the {len(self.best)} systems cannot be told apart {over} "
                f"(smallest adjusted {p_in_words(min(known))} of {len(self.pairs)} pairs, level {ALPHA:.2f})."
            )
        shown = "; ".join(f"{_ordered(pair)} ({p_in_words(pair.p_adjusted)})" for pair in self.significant[:5])
        more = f"; and {len(self.significant) - 5} more" if len(self.significant) > 5 else ""
        differ = f"{len(self.significant)} of {len(self.pairs)} pairs differ"
        return f"{self.name}: {differ} {over} (p adjusted): {shown}{more}."

    def record(self) -> dict[str, Any]:
        """The comparison as JSON types, with a sentence on what it says."""
        return {"pairs": self.pairs, "best": self.best, "sentence": self.sentence}

    def lines(self, shown: Pairs) -> list[str]:
        """The sentence on all pairs, and each of them where that is wanted."""
        if shown == "all":
            return [self.sentence, *(f"  {line}" for line in pair_lines(self.pairs, shown))]
        return [f"{self.sentence} Each difference: --pairs all." if len(self.pairs) > 1 else self.sentence]


class Ranking(NamedTuple):
    """Systems by their means, the best first, and in pairs where two have scores; `scores` are those of each topic.

    `notes` are sentences on what the scores rest on, `shown` the pairs that are printed.
    """

    scores: SystemScores
    standings: list[Standing]
    comparison: Comparison | None
    notes: Sequence[str] = ()
    shown: Pairs = "neighbours"

    @property
    def means(self) -> dict[str, IntervalEstimate]:
        """Each system's mean, the best first."""
        return {one.system: one.score for one in self.standings}

    @property
    def pairs(self) -> tuple[SystemPair, ...]:
        """Every pair of systems with scores, the better one first."""
        return () if self.comparison is None else self.comparison.pairs

    def record(self) -> dict[str, Any]:
        """The pairs and the notes, which end the record of a result."""
        return {"pairs": self.pairs, "warnings": self.notes}

    def lines(self, columns: Mapping[str, Mapping[str, object]], first: str = "system") -> list[str]:
        """A table of the systems as `table_lines`, the pairs to show, and the notes."""
        return [*table_lines(first, columns), *pair_lines(self.pairs, self.shown), *noted(self.notes)]


class RankedSystems(NamedTuple):
    """Systems ranked by their scores on so many `units`, as `{"queries": 12}`, with the means of each by some measures.

    A measure leads from its name in JSON to its title and the mean of each system.
    """

    units: Mapping[str, int]
    measures: Mapping[str, tuple[str, Mapping[str, IntervalEstimate]]]
    ranking: Ranking

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        systems = {
            system: {**{name: means[system] for name, (_, means) in self.measures.items()}, "per_query": scores}
            for system, scores in self.ranking.scores.items()
        }
        return {**self.units, "systems": systems, **self.ranking.record()}

    def lines(self) -> list[str]:
        """The result for a reader."""
        return self.ranking.lines(dict(self.measures.values()))


def standings(table: SystemScores, sampling: Sampling = SAMPLING) -> list[Standing]:
    """The systems by their means, the best first; those without a score last."""
    found = []
    for system, scores in table.items():
        values = np.array(list(scores.values()), dtype=np.float64)
        values = values[~np.isnan(values)]
        found.append(Standing(system, sampling.mean(values), len(values)))
    return sorted(found, key=lambda one: -np.inf if np.isnan(one.score.estimate) else one.score.estimate, reverse=True)


def ranking(
    table: SystemScores, sampling: Sampling = SAMPLING, notes: Sequence[str] = (), shown: Pairs = "neighbours"
) -> Ranking:
    """The systems in order, and compared over the topics that both of a pair have."""
    ordered = standings(table, sampling)
    scores = {one.system: table[one.system] for one in ordered}
    cells = {(system, topic): score for system, each in scores.items() for topic, score in each.items()}
    several = len({system for system, _ in cells}) > 1
    compared = compare_systems(table_of(cells), sampling) if several else None
    return Ranking(scores, ordered, compared, notes, shown)


def differences(table: SystemScores, sampling: Sampling = SAMPLING) -> list[SystemPair]:
    """Compare every pair of systems that have scores over the topics both have, the better system first."""
    return list(ranking(table, sampling).pairs)


def compare_systems(
    table: ScoreTable, sampling: Sampling = SAMPLING, *, permutations: int = PERMUTATIONS
) -> Comparison:
    """Compare every pair of systems over the topics that both have; NaN for a pair with fewer than two."""
    first, second = (np.array(one) for one in zip(*itertools.combinations(range(len(table.systems)), 2), strict=True))
    differences = table.values[first] - table.values[second]
    rng = np.random.default_rng(sampling.seed)
    ends = _intervals(differences, sampling.interval, sampling.draws, rng)
    p, adjusted = sign_flip(differences, permutations, rng)
    detectable = _detectable(differences)
    pairs = tuple(
        SystemPair(
            table.systems[one],
            table.systems[two],
            int(np.isfinite(differences[at]).sum()),
            ends[at],
            float(p[at]),
            float(adjusted[at]),
            float(detectable[at]),
        )
        for at, (one, two) in enumerate(zip(first, second, strict=True))
    )
    return Comparison(table.name, pairs, probability_best(table, draws=sampling.draws, seed=sampling.seed))


def sign_flip(differences: Floats, permutations: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Two-sided p `[P]` of the differences `[P, T]` and p adjusted for all of them, by flipping the topics' signs.

    p is the share of sign vectors that give a mean as far from 0: of all vectors if there are at most `permutations`,
    otherwise of that many random ones and the observed one (Phipson and Smyth 2010). It is adjusted by the step-down
    maximum of t (Westfall and Young 1993), which uses the correlation of the pairs and, unlike Bonferroni's or Holm's
    method, is not limited by the number of permutations. NaN cells are ignored; p is NaN where fewer than two are left.
    """
    counted = np.isfinite(differences).sum(axis=1)
    p, adjusted = np.full((2, len(differences)), np.nan)
    tested = np.flatnonzero(counted > 1)
    if not tested.size:
        return p, adjusted
    known, sizes = np.nan_to_num(differences[tested]), counted[tested]
    observed = _t_squared(known.sum(axis=1), known, sizes)
    order = np.argsort(-observed, kind="stable")
    bound = observed * (1 - 1e-9)
    flips, exact = _flips(known.shape[1], permutations, rng)
    far, farthest, total = np.zeros(len(tested)), np.zeros(len(tested)), 0
    for signs in flips:
        found = _t_squared(signs @ known.T, known, sizes)
        maxima = np.maximum.accumulate(found[:, order[::-1]], axis=1)[:, ::-1]
        far += (found >= bound).sum(axis=0)
        farthest += (maxima >= bound[order]).sum(axis=0)
        total += len(signs)
    itself = 0 if exact else 1
    p[tested] = (far + itself) / (total + itself)
    adjusted[tested[order]] = np.maximum.accumulate((farthest + itself) / (total + itself))
    return p, adjusted


def probability_best(table: ScoreTable, *, draws: int = BOOTSTRAP_DRAWS, seed: int = 0) -> dict[str, float]:
    """How often each system has the highest mean over resampled topics, ties shared; NaN with fewer than two topics."""
    if table.values.shape[1] < 2:
        return dict.fromkeys(table.systems, np.nan)
    counts = topic_counts(table.values.shape[1], draws, np.random.default_rng(seed))
    means = counted_means(table.values, counts)
    means = means[np.isfinite(means).all(axis=1)]
    best = means >= means.max(axis=1, keepdims=True) - 1e-12
    shares = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return dict(zip(table.systems, map(float, shares), strict=True))


def topic_counts(size: int, draws: int, rng: np.random.Generator) -> Floats:
    """How often each of `size` units occurs `[draws, size]` when as many are drawn with replacement."""
    return rng.multinomial(size, np.full(size, 1 / size), size=draws).astype(float)


def counted_means(values: Floats, counts: Floats) -> Floats:
    """Means `[draws, S]` of `values` `[S, T]` with topics weighted by `counts` `[draws, T]`; NaN without any score."""
    sums, numbers = counts @ np.nan_to_num(values).T, counts @ np.isfinite(values).T
    means: Floats = np.divide(sums, numbers, out=np.full(sums.shape, np.nan), where=numbers > 0)
    return means


def pair_lines(pairs: Sequence[SystemPair], shown: Pairs = "neighbours") -> list[str]:
    """Sentences on the systems next to each other, or on all pairs; `pairs` are the best first."""
    first = {pair.first: pair for pair in reversed(pairs)}
    chosen = pairs if shown == "all" else [pair for pair in pairs if first[pair.first] is pair]
    lines = [
        f"{one.first} - {one.second}: {signed(one.difference)}"
        f"{'' if one.told_apart else ', not told apart'} (adjusted {p_in_words(one.p_adjusted)})"
        for one in chosen
        if not np.isnan(one.difference).any()
    ]
    if len(chosen) == len(pairs):
        return lines
    return [f"systems next to each other, {len(lines)} of {len(pairs)} pairs (all with --pairs all):", *lines]


def p_in_words(p: float) -> str:
    """`p = 0.013`, or `p < 0.001`: a permutation test never gives 0."""
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


def _ordered(pair: SystemPair) -> str:
    names = (pair.first, pair.second) if pair.difference.estimate > 0 else (pair.second, pair.first)
    return f"{names[0]} above {names[1]}"


def _t_squared(sums: Floats, differences: Floats, sizes: NDArray[np.int_]) -> Floats:
    """The square of t `[..., P]` of differences that sum to `sums` after flipping, which leaves their squares."""
    squares = np.square(differences).sum(axis=1)
    share = np.divide(sums**2, squares, out=np.zeros(sums.shape), where=squares > 0)
    return np.asarray((sizes - 1) * share / np.maximum(sizes - share, 1e-9))


def _flips(topics: int, permutations: int, rng: np.random.Generator) -> tuple[Iterator[Floats], bool]:
    """Sign vectors in blocks `[B, T]`, and whether they are all there are."""
    if topics < 31 and 2**topics <= permutations:
        return iter([np.array(list(itertools.product((1.0, -1.0), repeat=topics)))]), True
    sizes = (min(BLOCK, permutations - start) for start in range(0, permutations, BLOCK))
    return (rng.choice((-1.0, 1.0), size=(size, topics)) for size in sizes), False


def _intervals(differences: Floats, level: float, draws: int, rng: np.random.Generator) -> list[IntervalEstimate]:
    """The mean `[P]` of each row of `differences` `[P, T]` with its interval over resampled topics."""
    means = counted_means(differences, topic_counts(differences.shape[1], draws, rng))
    return [_interval(row[np.isfinite(row)], drawn, level) for row, drawn in zip(differences, means.T, strict=True)]


def _interval(values: Floats, drawn: Floats, level: float) -> IntervalEstimate:
    if len(values) < 2:
        return IntervalEstimate(float(values[0]) if len(values) else np.nan, np.nan, np.nan)
    return percentile_interval(float(values.mean()), drawn, level)


def _detectable(differences: Floats) -> Floats:
    """The gap `[P]` that a two-sided t test at .05 finds with power .8, by the normal approximation."""
    counted = np.isfinite(differences).sum(axis=1)
    known = counted > 1
    topics = counted[known]
    quantiles = stdtrit(topics - 1, 1 - ALPHA / 2) + stdtrit(topics - 1, POWER)
    result = np.full(len(differences), np.nan)
    result[known] = quantiles * np.nanstd(differences[known], axis=1, ddof=1) / np.sqrt(topics)
    return result
