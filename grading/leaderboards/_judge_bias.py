"""Do judges favour systems of their own family? A difference in differences, tested by permuting the families.

The mean score of system s by judge j is modelled as `system_s + judge_j + favour * own_sj`, where `own` is 1 if both
are of one family: the quality of systems and the leniency of judges cancel, and the favour is what judges give their
own family beyond these. With the writer of the questions as the judge it tells whether exams favour the family that
wrote them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from examcore import IntervalEstimate
from examcore.console import interval_text
from grading._file_rows import Columns, read_rows
from grading._printing import shortened
from grading._records import SAMPLING, Floats, Sampling
from grading.formats._score_tables import SCORE, SYSTEM, TOPIC, cells_of

PERMUTATIONS = 2000
"""Arrangements drawn when there are more than this: the standard error of a p of .05 is then about .005."""
_FAMILY: Columns = {"family": ("system_family",)}
_JUDGE: Columns = {"judge": ("writer", "grader", "assessor")}
_JUDGE_FAMILY: Columns = {"judge_family": ("writer_family", "grader_family")}


class JudgedScores(NamedTuple):
    """Scores `[S, J, T]` of every system by every judge on the complete topics; `left_out` topics lack some score.

    `families` leads from each system to its family, `judge_families` from each judge.
    """

    families: dict[str, str]
    judge_families: dict[str, str]
    topics: tuple[str, ...]
    scores: Floats
    left_out: tuple[str, ...]


class Favour(NamedTuple):
    """What judges give systems of their own family beyond other systems, in the unit of the scores.

    The interval of `favour` holds the values that the permutation test does not reject, `p` is the p of 0;
    `over_topics` resamples topics with systems and judges fixed. `by_judge` has the favour of each judge with systems
    of its family (without an interval, since one judge is no sample), NaN where only their sum is known. `n_own` counts
    the pairs of one family; `arrangements` are the distinct assignments of the families to the systems, `exact` says
    whether all were tried. `families` are those of the systems.
    """

    favour: IntervalEstimate
    p: float
    over_topics: IntervalEstimate
    by_judge: dict[str, float]
    n_systems: int
    n_own: int
    arrangements: int
    exact: bool
    interval: float
    n_judges: int
    n_topics: int
    left_out_topics: tuple[str, ...]
    families: dict[str, str]

    def lines(self) -> list[str]:
        """The result for a reader."""
        direction = "favour" if self.favour.estimate > 0 else "disfavour"
        unclear = "no favour for judges' own families can be told"
        told = f"judges {direction} their own family" if self.favour.excludes_zero else unclear
        how = "all" if self.exact else "a sample of"
        left_out = self.left_out_topics
        return [
            f"favour {interval_text(self.favour)} (p = {self.p:.3f}): {told}",
            f"  by permuting families over {self.n_systems} systems ({how} {self.arrangements} ways); "
            f"over {self.n_topics} topics {interval_text(self.over_topics)}",
            *(f"  {who}: {'unknown' if math.isnan(one) else f'{one:.3f}'}" for who, one in self.by_judge.items()),
            *([f"left out: {len(left_out)} topics that lack some score: {shortened(left_out)}"] if left_out else []),
        ]


def read_judged(path: str | Path) -> JudgedScores:
    """Read a table `system,family,judge,topic,score`; without `judge_family` a judge's name is its family.

    `writer` may replace `judge`. Raises `ValueError` (file:line, found, wanted) for a missing column, a repeated cell,
    a system or judge of two families, and when no topic has every system scored by every judge.
    """
    rows = read_rows(path, {**SYSTEM, **_FAMILY, **_JUDGE, **TOPIC, **SCORE}, _JUDGE_FAMILY)
    cells = cells_of(rows, ("system", "judge", "topic"), "score")
    families: dict[str, dict[str, str]] = {"system": {}, "judge": {}}
    for row in rows:
        for who, family in (("system", row.text("family")), ("judge", row.text("judge_family", row.text("judge")))):
            known = families[who].setdefault(row.text(who), family)
            if known != family:
                raise ValueError(
                    f"{row.place}: {who} {row.text(who)!r} is of family {family!r}; wanted {known!r}, as before"
                )
    systems, judges = families.values()
    topics = tuple(dict.fromkeys(key[2] for key in cells))
    scores = np.array([[[cells.get((s, j, t), np.nan) for t in topics] for j in judges] for s in systems])
    complete = np.isfinite(scores).all(axis=(0, 1))
    if not complete.any():
        raise ValueError(
            f"{path}: no topic has all {len(systems)} systems scored by all {len(judges)} judges; wanted some"
        )
    kept, left_out = (tuple(itertools.compress(topics, which)) for which in (complete, ~complete))
    return JudgedScores(systems, judges, kept, scores[:, :, complete], left_out)


def favour(data: JudgedScores, sampling: Sampling = SAMPLING, *, permutations: int = PERMUTATIONS) -> Favour:
    """Estimate and test the favour.

    Raises `ValueError` for fewer than two judges or three systems, when no system or every system is of a judge's
    family, and when there are too few assignments of the families to the systems for the interval's level.
    """
    own = _own(data.families.values(), data.judge_families)
    _require_design(data, own)
    mean = data.scores.mean(axis=2)
    labels = [one if one in data.judge_families.values() else "" for one in data.families.values()]
    arrangements = math.factorial(len(labels)) // math.prod(map(math.factorial, Counter(labels).values()))
    exact = arrangements <= permutations
    assigned = _every_order(labels) if exact else _random_orders(labels, permutations, sampling.seed)
    patterns = np.array([_own(one, data.judge_families) for one in assigned])
    _require_small_p(patterns, own, arrangements, sampling.interval)
    estimate = float(_effects(own[None], mean[None])[0])
    low, high, p = _invert(patterns, mean, own, estimate, 1 - sampling.interval)
    return Favour(
        IntervalEstimate(estimate, low, high),
        p,
        # The effect is linear in the scores, so it is the mean of the topics' effects.
        sampling.mean(np.array([_effects(own, scores) for scores in np.moveaxis(data.scores, 2, 0)])),
        _by_judge(data, mean),
        len(data.families),
        int(own.sum()),
        arrangements,
        exact,
        sampling.interval,
        len(data.judge_families),
        len(data.topics),
        data.left_out,
        data.families,
    )


def _own(families: Iterable[str], judge_families: Mapping[str, str]) -> Floats:
    """`[S, J]`: 1 where system and judge are of one family."""
    return np.array([[float(one == other) for other in judge_families.values()] for one in families])


def _centred(table: Floats) -> Floats:
    """The table `[..., S, J]` without the means of its rows and columns."""
    rows, columns = table.mean(axis=-1, keepdims=True), table.mean(axis=-2, keepdims=True)
    return np.asarray(table - rows - columns + table.mean(axis=(-1, -2), keepdims=True))


def _effects(own: Floats, scores: Floats) -> Floats:
    """The least-squares coefficient `[...]` of `own` `[..., S, J]`, given the effects of systems and judges."""
    centred = _centred(own)
    return np.asarray((centred * scores).sum(axis=(-1, -2)) / np.square(centred).sum(axis=(-1, -2)))


def _invert(patterns: Floats, mean: Floats, own: Floats, estimate: float, alpha: float) -> tuple[float, float, float]:
    """The least and greatest value that permutation does not reject at `alpha`, and the p of 0 (Ernst 2004).

    Subtracting `value` from the own cells leaves the effect `a - value * b` under each assignment, which is compared
    with `estimate - value`; acceptance changes only where the two are equally far from 0.
    """
    a, b = _effects(patterns, mean), _effects(patterns, own)

    def p_of(values: Floats) -> Floats:
        far = np.abs(estimate - values) * (1 - 1e-9) - 1e-12
        return np.asarray(np.mean(np.abs(a - values[:, None] * b) >= far[:, None], axis=1))

    equal = np.concatenate([_finite(a - estimate, b - 1), _finite(a + estimate, b + 1), [estimate]])
    equal = np.unique(equal)
    values = np.concatenate([equal, (equal[1:] + equal[:-1]) / 2])
    accepted = values[p_of(values) > alpha]
    return float(accepted.min()), float(accepted.max()), float(p_of(np.zeros(1))[0])


def _finite(above: Floats, below: Floats) -> Floats:
    known = np.abs(below) > 1e-9
    return np.asarray(above[known] / below[known])


def _require_design(data: JudgedScores, own: Floats) -> None:
    systems, judges = len(data.families), len(data.judge_families)
    if judges < 2 or systems < 3:
        raise ValueError(f"judges: {judges} judges of {systems} systems; wanted at least 2 judges and 3 systems")
    if not own.any():
        known = ", ".join(sorted(set(data.families.values())))
        raise ValueError(f"judges: none is of a system's family ({known}); wanted a column judge_family that says so")
    if np.square(_centred(own)).sum() < 1e-9:
        raise ValueError(
            "judges: favour cannot be told from the quality of a family; wanted judges of several families"
        )


def _require_small_p(patterns: Floats, own: Floats, arrangements: int, level: float) -> None:
    """Refuse a design whose smallest possible p, whatever the scores are, is above `1 - level`."""
    smallest = float(np.mean(np.abs(_effects(patterns, own)) >= 1 - 1e-9))
    if smallest > 1 - level + 1e-9:
        raise ValueError(
            f"families: {arrangements} ways to assign them to {own.shape[0]} systems, of which the smallest p is "
            f"{smallest:.2f}; wanted at most {1 - level:.2f}: more systems, families or judges"
        )


def _every_order(labels: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The distinct orders of the labels."""
    if not labels:
        yield ()
    for one in sorted(set(labels)):
        rest = list(labels)
        rest.remove(one)
        for order in _every_order(rest):
            yield (one, *order)


def _random_orders(labels: Sequence[str], number: int, seed: int) -> list[tuple[str, ...]]:
    """The labels as they are and `number` random orders of them."""
    rng = np.random.default_rng(seed)
    return [tuple(labels), *(tuple(labels[at] for at in rng.permutation(len(labels))) for _ in range(number))]


def _by_judge(data: JudgedScores, mean: Floats) -> dict[str, float]:
    """The favour of each judge with own systems, estimated jointly; NaN where they are not identified."""
    own = _own(data.families.values(), data.judge_families)
    judges = [at for at in range(own.shape[1]) if own[:, at].any()]
    alone = np.zeros((len(judges), *own.shape))
    for number, at in enumerate(judges):
        alone[number, :, at] = own[:, at]
    design = _centred(alone).reshape(len(judges), -1).T
    identified = np.linalg.matrix_rank(design) == len(judges)
    found = np.linalg.lstsq(design, _centred(mean).ravel())[0] if identified else np.full(len(judges), np.nan)
    names = list(data.judge_families)
    return {names[at]: float(one) for at, one in zip(judges, found, strict=True)}
