"""Would a bank or a pool judge a system fairly that took no part in it? Each system is left out in turn.

A *bank* is what the systems' answers were graded by, questions or nuggets: without a system go the questions that it
alone supports, for everybody. A *pool* is the passages that were judged because some system retrieved them: without a
system its own passages lose their judgement, and count as not relevant for it (Zobel 1998; Buckley and Voorhees 2004).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from examcore import BOOTSTRAP_DRAWS, INTERVAL_LEVEL, IntervalEstimate, in_batches, kendall
from grading._table_rows import Columns, read_rows
from grading.formats._score_tables import QUESTION, SYSTEM, TOPIC, cells_of
from grading.leaderboards._paired import counted_means
from grading.scores._nuggets import SUPPORT, Assignments

Floats = NDArray[np.float64]
Kind = Literal["bank", "pool"]

_PASSAGE: Columns = {"passage": ("doc", "docid", "docno", "doc_id", "document", "document_id")}
_GRADE: Columns = {"grade": ("score", "support", "relevance", "rel", "rating", "label")}


class Contributions(NamedTuple):
    """Grades `[S, U]` of units (questions of a bank, passages of a pool), each of a topic; NaN where not contributed.

    In a bank NaN says that the system was not graded by the question and counts 0.
    """

    kind: Kind
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    topic_of: NDArray[np.intp]
    grades: Floats


class LeftOut(NamedTuple):
    """One system judged as if it had taken no part.

    `unique` units are its alone. `change` is its score without less with its part; `rank` and `rank_without` are
    among all systems, 1 the best, ties sharing the mean; `tau` is Kendall's tau-b of all systems' scores with and
    without.
    """

    system: str
    unique: int
    score: float
    change: IntervalEstimate
    rank: float
    rank_without: float
    tau: IntervalEstimate


class Reusability(NamedTuple):
    """Every system left out; `tau` and `displacement` (ranks moved by the system left out) are means over them.

    `not_graded` counts the system's questions of a bank that have no grade and count 0.
    """

    kind: Kind
    n_units: int
    n_topics: int
    left_out: tuple[LeftOut, ...]
    tau: IntervalEstimate
    displacement: IntervalEstimate
    not_graded: int

    @property
    def biased(self) -> list[str]:
        """The systems that the bank or pool treats otherwise when they took no part."""
        return [one.system for one in self.left_out if one.change.high < 0 or one.change.low > 0]


def read_contributions(path: str | Path) -> Contributions:
    """A table `system,topic,question,grade` (a bank) or `system,topic,passage,grade` (a pool).

    Raises `ValueError` (file:line, found, wanted) for a missing column and a unit that a system has twice.
    """
    rows = read_rows(path, {**SYSTEM, **TOPIC, **_GRADE}, {**QUESTION, **_PASSAGE})
    kind: Kind = "bank" if "question" in rows[0].fields else "pool"
    unit = "question" if kind == "bank" else "passage"
    if unit not in rows[0].fields:
        raise ValueError(f"{rows[0].place}: no question or passage; found {', '.join(rows[0].fields)}")
    key = ("system", "topic", unit)
    cells = cells_of(rows, key, "grade")
    negative = next((row for row in rows if row.number("grade") < 0), None)
    if negative is not None:
        raise ValueError(f"{negative.place}: grade {negative.number('grade'):g}; wanted 0 or more")
    return contributions({(one[0], one[1], one[2]): grade for one, grade in cells.items()}, kind)


def contributions_of(runs: Sequence[Assignments]) -> Contributions:
    """The bank of nuggets that several runs were judged by; a text that stands twice in a topic is two nuggets."""
    cells: dict[tuple[str, str, str], float] = {}
    for run in runs:
        for topic, nuggets in run.topics.items():
            seen: dict[str, int] = {}
            for one in nuggets:
                seen[one.text] = seen.get(one.text, 0) + 1
                cells[run.run, topic, f"{one.text} ({seen[one.text]})"] = SUPPORT.get(one.support, 0.0)
    return contributions(cells, "bank")


def contributions(cells: Mapping[tuple[str, str, str], float], kind: Kind) -> Contributions:
    """Lay out `(system, topic, unit) -> grade`."""
    systems = list(dict.fromkeys(system for system, _, _ in cells))
    units = list(dict.fromkeys((topic, unit) for _, topic, unit in cells))
    topics = list(dict.fromkeys(topic for topic, _ in units))
    rows, columns = {one: at for at, one in enumerate(systems)}, {one: at for at, one in enumerate(units)}
    grades = np.full((len(systems), len(units)), np.nan)
    for (system, topic, unit), grade in cells.items():
        grades[rows[system], columns[topic, unit]] = grade
    numbers = {one: at for at, one in enumerate(topics)}
    topic_of = np.array([numbers[topic] for topic, _ in units], dtype=np.intp)
    return Contributions(kind, tuple(systems), tuple(topics), topic_of, grades)


def at_least(data: Contributions, tau: float) -> Contributions:
    """The same with grades of 1 from `tau` on and 0 below, as EXAM-Cover counts.

    Raises `ValueError` for a tau that every grade reaches, or none: all systems would score the same.
    """
    highest = float(np.nanmax(data.grades)) if np.isfinite(data.grades).any() else np.nan
    if not 0 < tau <= highest:
        raise ValueError(f"tau: {tau:g}; wanted above 0 and at most {highest:g}, the highest grade")
    graded = np.where(np.isnan(data.grades), np.nan, (data.grades >= tau).astype(float))
    return data._replace(grades=graded)


def leave_one_out(
    data: Contributions, *, level: float = INTERVAL_LEVEL, draws: int = BOOTSTRAP_DRAWS, seed: int = 0
) -> Reusability:
    """Judge every system without its own part; intervals resample topics. `ValueError` for fewer than 3 systems."""
    if len(data.systems) < 3:
        raise ValueError(f"contributions: of {len(data.systems)} systems; wanted at least 3 to be ranked without one")
    topics = len(data.topics)
    rng = np.random.default_rng(seed)
    counts = np.vstack([np.ones(topics), rng.multinomial(topics, np.full(topics, 1 / topics), size=draws)])
    whole = _means(data, None, counts)
    others = [_means(data, at, counts) for at in range(len(data.systems))]
    systems = [_left_out(data, at, whole, one, level) for at, one in enumerate(others)]
    taus = np.mean([_taus(whole, one) for one in others], axis=0)
    moved = np.mean([np.abs(_ranks(one) - _ranks(whole))[:, at] for at, one in enumerate(others)], axis=0)
    graded = np.isfinite(data.grades)
    return Reusability(
        data.kind,
        len(data.topic_of),
        topics,
        tuple(systems),
        _estimate(taus, level),
        _estimate(moved, level),
        int((~graded).sum()) if data.kind == "bank" else 0,
    )


def unique_units(data: Contributions, system: int) -> NDArray[np.bool_]:
    """Which units `[U]` are this system's alone: no other supports the question, or retrieved the passage."""
    part = data.grades > 0 if data.kind == "bank" else np.isfinite(data.grades)
    return np.asarray(part[system] & (part.sum(axis=0) == 1))


def topic_scores(data: Contributions, without: int | None) -> Floats:
    """The score `[S, T]` of each system on each topic, as if one had taken no part.

    The mean grade over the bank's questions, or over the system's own passages. NaN where a system has nothing on a
    topic, and where the bank is left with no question.
    """
    gone = np.zeros(len(data.topic_of), dtype=bool) if without is None else unique_units(data, without)
    has = np.isfinite(data.grades)
    counted = np.broadcast_to(~gone, has.shape) if data.kind == "bank" else has
    earned = np.where(gone, 0.0, np.nan_to_num(data.grades))
    member = np.eye(len(data.topics))[data.topic_of]
    size = np.where(has @ member > 0, counted @ member, 0)
    scores: Floats = np.divide(earned @ member, size, out=np.full(size.shape, np.nan), where=size > 0)
    return scores


def _means(data: Contributions, without: int | None, counts: Floats) -> Floats:
    return np.asarray(np.round(counted_means(topic_scores(data, without), counts), 12))


def _left_out(data: Contributions, at: int, whole: Floats, without: Floats, level: float) -> LeftOut:
    return LeftOut(
        data.systems[at],
        int(unique_units(data, at).sum()),
        float(whole[0, at]),
        _estimate(without[:, at] - whole[:, at], level),
        float(_ranks(whole[:1])[0, at]),
        float(_ranks(without[:1])[0, at]),
        _estimate(_taus(whole, without), level),
    )


def _taus(whole: Floats, without: Floats) -> Floats:
    return in_batches(kendall, whole, without, np.ones(whole.shape[1]))


def _ranks(scores: Floats) -> Floats:
    """Mid-ranks `[draws, S]`, the best score 1."""
    return np.asarray(stats.rankdata(-scores, axis=1))


def _estimate(values: Floats, level: float) -> IntervalEstimate:
    """The first of the values with the interval of the others."""
    drawn = values[1:][np.isfinite(values[1:])]
    if np.isnan(values[0]) or not drawn.size:
        return IntervalEstimate(float(values[0]), np.nan, np.nan)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return IntervalEstimate(float(values[0]), float(low), float(high))
