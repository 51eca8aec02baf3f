"""Differential item functioning: is an item easier for students of one level than for others of the same ability?

For each item the other items that work alike for everybody (the anchor) say what each student's ability may be, within
a population whose mean and spread are the level's own. Given that, the item's answers are independent with known
chances, up to the item's own discrimination and difficulty. The effect of the level on the log odds is estimated by
penalised likelihood (log-F(1, 1) prior; Greenland & Mansournia 2015), finite even if a level always fails; its p-value
is that of the efficient score (Rao 1948), whose tail is computed for few students by a saddlepoint approximation. Items
found to differ leave the anchor, and the comparison is repeated (purification: Holland & Thayer 1988).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import softmax

from irt import kernels
from irt._printing import first_rows, json_record, table_file, where_whole
from irt._quadrature import nodes_for
from irt._responses import Floats, ResponseMatrix, blocks, levels
from irt.checks._inputs import ALPHA, false_discovery_rates, optional, require_matching, sentences
from irt.checks._tails import REACH, upper_tail
from irt.kernels import ItemParameters

FEWEST = 5
"""Students in and out of a level below which an effect is not judged."""
FEWEST_ANCHORS = 4
"""Items that must be left to say what ability is."""
ROUNDS = 4
"""Purifications at most, should the anchor not settle."""
STEPS = 25
"""Steps of EM, for a mean and a variance alone, and of scoring at most."""
MODERATE, LARGE = 1.0 / 2.35, 1.5 / 2.35
"""Bounds of the ETS classes, which are on the delta scale: 2.35 times the log odds (Zieky 1993)."""
ONE_SIDED = 1.644854
"""Normal quantile of a one-sided test at 5 %, by which a large effect exceeds a moderate one."""
PRECISION = np.array([1.0, 4.0])
"""Prior precision of changes to an item's own intercept and slope, which the fit has estimated already."""
_POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
HERMITE = (_POINTS, _WEIGHTS / _WEIGHTS.sum())
"""Points and weights of a standard normal ability."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class DifferentialItems:
    """The comparisons of a facet's levels, as `dif` finds them."""

    facet: str
    table: pd.DataFrame

    @property
    def tested(self) -> int:
        """How many comparisons could be made."""
        return int(self.table["p"].notna().sum())

    @property
    def sentences(self) -> list[str]:
        """A sentence for each item that differs."""
        return sentences(self.table)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The table by its name."""
        return {f"dif {self.facet}": self.table}

    def record(self) -> dict[str, Any]:
        """The comparisons as JSON can hold them."""
        found = self.sentences
        head = {"facet": self.facet, "tested": self.tested, "flagged": len(found), "sentences": found}
        return json_record(head | {"items": self.table})

    def lines(self, out: Path | None = None, /) -> list[str]:
        """The comparisons for a reader; `out` is the folder that received the table."""
        columns = self.table[["item", "level", "against", "effect", "low", "high", "p_adjusted", "class"]]
        (name,) = self.tables
        return [
            f"{len(self.sentences)} of {self.tested} comparisons differ by facet {self.facet} "
            f"({ALPHA * 100:.0f} %, adjusted for {self.tested})",
            *(f"- {sentence}" for sentence in self.sentences),
            first_rows(columns, where_whole(out, table_file(name))),
        ]


class LevelEffects(NamedTuple):
    """Per item `[I]`: log odds of the level, standard error, two-sided p, and how many answered in and out of it."""

    effect: Floats
    se: Floats
    p: Floats
    inside: Floats
    outside: Floats


def dif(data: ResponseMatrix, items: ItemParameters, facet: str, fewest: int = FEWEST) -> pd.DataFrame:
    """`item,level,against,effect,se,low,high,p,p_adjusted,class,flag,note,sentence`, smallest p first.

    `effect` is the log odds of a right answer for a student of `level` compared with one of equal ability `against`
    (the other level of two, or all others), `low` and `high` a 95 % interval, `p_adjusted` Benjamini and Hochberg's
    over the table, and `class` the ETS class: A negligible, B moderate, C large. Flagged are items of class B or C. A
    level with fewer than `fewest` students, or an item answered by fewer in or out of the level, is left empty.
    Raises ValueError for an unknown facet, a facet with one level, and when no level has enough students.
    """
    require_matching(data, items)
    names = levels(data, facet)
    assert data.facets is not None
    if len(names) < 2:
        raise ValueError(f"facet '{facet}' has one level; wanted two to compare")
    belongs = data.facets[facet].to_numpy()
    compared = names[:1] if len(names) == 2 else names
    sizes = {level: int(min((belongs == level).sum(), (belongs != level).sum())) for level in compared}
    if max(sizes.values()) < fewest:
        raise ValueError(f"no level of facet '{facet}' has {fewest} students to compare with {fewest} others")
    frames = []
    for level in compared:
        against = names[1] if len(names) == 2 else "all others"
        inside = np.asarray(belongs == level)
        found = _purified(data, items, inside) if sizes[level] >= fewest else None
        frames.append(_level_table(data, level, against, found, sizes[level], fewest))
    return _judged(pd.concat(frames, ignore_index=True))


def level_effects(
    successes: Floats, attempts: Floats, items: ItemParameters, inside: Mask, anchor: Mask
) -> LevelEffects:
    """Effects of belonging to `inside` `[S]`, ability judged by the items of `anchor` `[I]` except the one tested."""
    theta = _abilities(successes, attempts, items, inside, anchor)
    size = len(successes) * len(HERMITE[0]) * int(attempts.max(initial=1.0) + 1)
    parts = []
    for part in blocks(successes.shape[1], size):
        own = ItemParameters(*(np.asarray(values, dtype=np.float64)[part, None, None] for values in items))
        parts.append(_effects(_Cells(successes.T[part], attempts.T[part], theta[part], own, inside)))
    return LevelEffects(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class _Scores(NamedTuple):
    """Chance `[I, S, K]` and score `[I, S, K, 3]` of every count; penalised gradient `[I, 3]`, information `[I, 3, 3]`
    and log-likelihood `[I]`."""

    chances: Floats
    scores: Floats
    gradient: Floats
    information: Floats
    log_likelihood: Floats


class _Cells(NamedTuple):
    """Counts `[I, S]`, abilities at the quadrature points `[I, S, H]`, parameters `[I, 1, 1]`, membership `[S]`."""

    successes: Floats
    attempts: Floats
    theta: Floats
    items: ItemParameters
    inside: Mask


def _purified(data: ResponseMatrix, items: ItemParameters, inside: Mask) -> LevelEffects:
    from scipy.stats import false_discovery_control  # takes a while to load

    anchor: Mask = np.ones(len(data.items), dtype=bool)
    for _ in range(ROUNDS):
        found = level_effects(data.successes, data.attempts, items, inside, anchor)
        alike = false_discovery_control(found.p) >= ALPHA
        if alike.sum() < min(FEWEST_ANCHORS, len(alike)) or np.array_equal(alike, anchor):
            break
        anchor = alike
    return found


def _abilities(successes: Floats, attempts: Floats, items: ItemParameters, inside: Mask, anchor: Mask) -> Floats:
    """Abilities `[I, S, H]` of each student judged by the anchor without the item: points of a normal distribution."""
    nodes = nodes_for(items, max(float(attempts.max(initial=0.0)), 1.0))
    right, wrong = (np.maximum(values, -1e6) for values in kernels.log_probability(nodes[:, None], *items))
    judged = attempts * anchor
    joint = (successes * anchor) @ right.T + (judged - successes * anchor) @ wrong.T
    joint = joint + _log_population(joint, nodes, inside)
    points = np.empty((len(items.b), len(joint), len(HERMITE[0])))
    for item in range(len(items.b)):
        rest = joint
        if anchor[item]:
            k, n = successes[:, item, None], attempts[:, item, None]
            rest = joint - k * right[:, item] - (n - k) * wrong[:, item]
        weight = softmax(rest, axis=1)
        mean = weight @ nodes
        sd = np.sqrt(np.maximum(weight @ nodes**2 - mean**2, 1e-12))
        points[item] = mean[:, None] + sd[:, None] * HERMITE[0]
    return points


def _log_population(joint: Floats, nodes: Floats, inside: Mask) -> Floats:
    """Log density `[S, Q]` of the students' own population: mean and spread of their group, by a few EM steps.

    With one common population the less able group would be pulled up, and every item would look hard for it.
    """
    density = np.empty_like(joint)
    for group in (inside, ~inside):
        mean, variance = 0.0, 1.0
        for _ in range(STEPS):
            weight = softmax(joint[group] - 0.5 * (nodes - mean) ** 2 / variance, axis=1)
            # One student at 0 and two with variance 1 keep the population of a small group in place.
            mean = float((weight @ nodes).sum() / (group.sum() + 1))
            variance = float(((weight @ (nodes - mean) ** 2).sum() + 2) / (group.sum() + 2))
        density[group] = -0.5 * (nodes - mean) ** 2 / variance
    return density


def _effects(cells: _Cells) -> LevelEffects:
    """Score test at no effect, then the penalised estimate."""
    start = np.zeros((len(cells.successes), 3))
    null = _climb(cells, start, free=2)
    chances, scores, gradient, information, _ = _scores(cells, null)
    project = np.linalg.solve(information[:, :2, :2], information[:, :2, 2:])[..., 0]
    efficient = scores[..., 2] - np.einsum("iskp,ip->isk", scores[..., :2], project)
    above, below = (upper_tail(sign * efficient, chances, sign * gradient[:, 2]) for sign in (1.0, -1.0))
    full = _climb(cells, null, free=3)
    covariance = np.linalg.inv(_scores(cells, full).information)
    asked = cells.attempts > 0
    return LevelEffects(
        full[:, 2],
        np.sqrt(covariance[:, 2, 2]),
        np.minimum(2 * np.minimum(above, below), 1.0),
        (asked & cells.inside).sum(axis=1).astype(np.float64),
        (asked & ~cells.inside).sum(axis=1).astype(np.float64),
    )


def _climb(cells: _Cells, start: Floats, free: int) -> Floats:
    """Fisher scoring of intercept, slope and (with `free=3`) the level's effect, `[I, 3]`; steps that lose are cut."""
    value, share = start.copy(), np.ones(len(start))
    now = _scores(cells, value)
    for _ in range(STEPS):
        step = np.linalg.solve(now.information[:, :free, :free], now.gradient[:, :free, None])[..., 0]
        step *= np.minimum(share, 1.5 / np.maximum(np.abs(step).max(axis=1), 1e-12))[:, None]
        if np.abs(step).max(initial=0.0) < 1e-6:
            break
        moved = value.copy()
        moved[:, :free] += step
        new = _scores(cells, moved)
        better = new.log_likelihood >= now.log_likelihood - 1e-10
        value = np.where(better[:, None], moved, value)
        now = _Scores(*(_chosen(better, one, other) for one, other in zip(new, now, strict=True)))
        share = np.where(better, np.minimum(2 * share, 1.0), share / 4)
    return value


def _chosen(better: Mask, one: Floats, other: Floats) -> Floats:
    return np.where(better.reshape(-1, *[1] * (one.ndim - 1)), one, other)


def _scores(cells: _Cells, value: Floats) -> _Scores:
    """Chances and scores of every possible count, and what they add up to at the observed ones.

    A count is a mixture of binomials over the points of ability; its score is the mean of theirs (Fisher's identity).
    """
    from scipy.special import comb

    a, b, c, d = cells.items
    moved = value[:, :, None, None]
    logit = a * (cells.theta - b) + moved[:, 0] + moved[:, 1] * cells.theta
    logit = logit + moved[:, 2] * cells.inside[:, None]
    up = np.clip(kernels.sigmoid(logit), 1e-12, 1 - 1e-12)
    p = c + (d - c) * up
    ratio = (d - c) * up * (1 - up) / (p * (1 - p))
    chances, scores = [], []
    n = cells.attempts[..., None]
    for k in range(int(cells.attempts.max(initial=1.0)) + 1):
        possible = k <= n
        weight = np.where(possible, comb(n, k) * p**k * (1 - p) ** np.maximum(n - k, 0), 0.0) * HERMITE[1]
        chance = weight.sum(axis=2)
        pull = weight * (k - n * p) * ratio / np.maximum(chance, 1e-300)[..., None]
        flat = pull.sum(axis=2)
        scores.append(np.stack([flat, (pull * cells.theta).sum(axis=2), flat * cells.inside], axis=2))
        chances.append(chance)
    chance, score = np.stack(chances, axis=2), np.stack(scores, axis=2)
    picked = np.take_along_axis(score, cells.successes.astype(np.intp)[..., None, None], axis=2)[:, :, 0]
    seen = np.take_along_axis(chance, cells.successes.astype(np.intp)[..., None], axis=2)[:, :, 0]
    gradient = picked.sum(axis=1)
    gradient[:, :2] -= PRECISION * value[:, :2]
    effect = kernels.sigmoid(value[:, 2])
    gradient[:, 2] += 0.5 - effect
    information = np.einsum("isk,iskp,iskr->ipr", chance, score, score, optimize=True)
    information[:, [0, 1], [0, 1]] += PRECISION
    information[:, 2, 2] += effect * (1 - effect)
    penalty = 0.5 * (PRECISION * value[:, :2] ** 2).sum(axis=1) + np.logaddexp(0, value[:, 2]) - 0.5 * value[:, 2]
    log_likelihood = np.log(np.maximum(seen, 1e-300)).sum(axis=1) - penalty
    return _Scores(chance, score, gradient, information, log_likelihood)


def _level_table(
    data: ResponseMatrix, level: str, against: str, found: LevelEffects | None, size: int, fewest: int
) -> pd.DataFrame:
    count = len(data.items)
    zeros = np.zeros(count)
    effect, se, p, inside, outside = found or LevelEffects(zeros, zeros + 1, zeros + 1, zeros, zeros)
    known = np.minimum(inside, outside) >= fewest
    lack = f"answered by fewer than {fewest} students of '{level}' or of {against}"
    if found is None:
        lack = f"level '{level}' compares {size} students; wanted {fewest}"
    table = pd.DataFrame({"item": list(data.items), "level": level, "against": against})
    reach = REACH * se
    for name, values in (("effect", effect), ("se", se), ("low", effect - reach), ("high", effect + reach), ("p", p)):
        table[name] = optional(values, known)
    table["note"] = np.where(known, "", lack)
    return table


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    """Adjusted p-values, classes, flags and sentences; smallest p first."""
    known = table["p"].notna().to_numpy(dtype=bool)
    p, effect, se = (table[name].to_numpy(dtype=np.float64, na_value=1.0) for name in ("p", "effect", "se"))
    corrected = false_discovery_rates(p, known)
    size = np.abs(effect)
    differs = known & (corrected < ALPHA) & (size >= MODERATE)
    large = differs & (size >= LARGE) & (size - MODERATE > ONE_SIDED * se)
    table["p_adjusted"] = optional(corrected, known)
    table["class"] = np.where(known, np.where(large, "C", np.where(differs, "B", "A")), "")
    table["flag"] = differs
    table["sentence"] = ""
    for row in np.nonzero(differs)[0]:
        table.loc[row, "sentence"] = _sentence(*table.loc[row, ["item", "level", "against", "effect", "low", "high"]])
    order = ["item", "level", "against", "effect", "se", "low", "high", "p", "p_adjusted", "class", "flag", "note",
             "sentence"]  # fmt: skip
    return table[order].iloc[np.argsort(np.where(known, p, 2.0), kind="stable")].reset_index(drop=True)


def _sentence(item: str, level: str, against: str, effect: float, low: float, high: float) -> str:
    return (
        f"Item '{item}' is {'easier' if effect > 0 else 'harder'} for students of '{level}' than for equally "
        f"able ones of {against} (odds times {np.exp(effect):.2g}, 95 % {np.exp(low):.2g} to {np.exp(high):.2g}): "
        "find out why, or compare levels without it."
    )
