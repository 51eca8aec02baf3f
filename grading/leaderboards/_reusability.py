"""Does a bank or a pool score a system fairly that did not contribute to it? Each system is left out in turn.

A *bank* is the questions or nuggets that the systems' answers were graded by: leaving a system out removes the
questions that it alone supports, for all systems. A *pool* is the passages that were judged because some system
retrieved them: leaving a system out makes the passages that it alone retrieved not relevant (Zobel 1998; Buckley and
Voorhees 2004).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import IntervalEstimate, in_batches, kendall, percentile_interval
from examcore.console import interval_text
from grading._file_rows import read_rows
from grading._records import SAMPLING, Floats, Sampling
from grading.formats._grades import SUPPORT
from grading.formats._score_tables import GRADE, PASSAGE, QUESTION, SYSTEM, TOPIC, cells_of, grid_of
from grading.leaderboards._paired import counted_means, topic_counts
from grading.scores._nuggets import Assignments, is_assignments, read_all_assignments

Kind = Literal["bank", "pool"]


class Contributions(NamedTuple):
    """Grades `[S, U]` of units (questions of a bank, passages of a pool), each of one topic.

    NaN means that the system did not retrieve the passage, or has no grade by the question, which counts 0.
    """

    kind: Kind
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    topic_of: NDArray[np.intp]
    grades: Floats


class LeftOut(NamedTuple):
    """One system scored as if it had not contributed.

    `unique` counts the units that it alone contributed. `change` is its score without them minus its score with them;
    `rank` and `rank_without` are its ranks among all systems, 1 the best, tied systems sharing the mean; `tau` is
    Kendall's tau-b of all systems' scores with and without them.
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

    `not_graded` counts the missing grades of a bank, which count 0; grades from `threshold` on counted 1, if there is
    one.
    """

    kind: Kind
    n_systems: int
    n_units: int
    n_topics: int
    not_graded: int
    threshold: float | None
    tau: IntervalEstimate
    displacement: IntervalEstimate
    interval: float
    systems: tuple[LeftOut, ...]

    def lines(self) -> list[str]:
        """The result for a reader."""
        what = "questions" if self.kind == "bank" else "passages"
        width = max(len(one.system) for one in self.systems)
        lines = [
            f"a {self.kind} of {self.n_units} {what}, {self.n_topics} topics; each of {self.n_systems} "
            f"systems left out in turn, {self.interval:.0%} intervals over topics"
        ]
        for one in self.systems:
            change = f"change {interval_text(one.change)}  rank {one.rank:g} -> {one.rank_without:g}"
            lines.append(f"{one.system:<{width}}  {one.unique} {what} its own  {change}  tau {interval_text(one.tau)}")
        if self.not_graded:
            lines.append(f"{self.not_graded} questions of systems have no grade and count 0")
        tau, moved = interval_text(self.tau), interval_text(self.displacement)
        return [*lines, f"Kendall's tau, mean {tau}; ranks moved, mean {moved}"]


def read_contributions(paths: Sequence[Path]) -> Contributions:
    """Read nugget assignments, or one table `system,topic,question,grade` (a bank) or with `passage` (a pool).

    Raises `ValueError` (file:line, found, wanted) for a missing column, a negative grade, a repeated unit of a system,
    and a second table.
    """
    if all(map(is_assignments, paths)):
        return contributions_of(read_all_assignments(paths))
    if len(paths) > 1:
        raise ValueError(f"{paths[1]}: a second table; wanted one table, or several files of nugget assignments")
    rows = read_rows(paths[0], {**SYSTEM, **TOPIC, **GRADE}, {**QUESTION, **PASSAGE})
    kind: Kind = "bank" if "question" in rows[0].fields else "pool"
    unit = "question" if kind == "bank" else "passage"
    if unit not in rows[0].fields:
        raise ValueError(f"{rows[0].place}: no question or passage; found {', '.join(rows[0].fields)}")
    cells = cells_of(rows, ("system", "topic", unit), "grade")
    negative = next((row for row in rows if row.number("grade") < 0), None)
    if negative is not None:
        raise ValueError(f"{negative.place}: grade {negative.number('grade'):g}; wanted 0 or more")
    return contributions({(one[0], one[1], one[2]): grade for one, grade in cells.items()}, kind)


def contributions_of(runs: Sequence[Assignments]) -> Contributions:
    """The bank of nuggets that several runs were judged by; a text that occurs twice in a topic is two nuggets."""
    cells: dict[tuple[str, str, str], float] = {}
    for run in runs:
        for topic, nuggets in run.topics.items():
            seen = Counter[str]()
            for one in nuggets:
                seen[one.text] += 1
                cells[run.run, topic, f"{one.text} ({seen[one.text]})"] = SUPPORT.get(one.support, 0.0)
    return contributions(cells, "bank")


def contributions(cells: Mapping[tuple[str, str, str], float], kind: Kind) -> Contributions:
    """The contributions in `(system, topic, unit) -> grade`."""
    systems, units, grades = grid_of({(system, (topic, unit)): grade for (system, topic, unit), grade in cells.items()})
    topics = {topic: at for at, topic in enumerate(dict.fromkeys(topic for topic, _ in units))}
    topic_of = np.array([topics[topic] for topic, _ in units], dtype=np.intp)
    return Contributions(kind, systems, tuple(topics), topic_of, grades)


def at_least(data: Contributions, tau: float) -> Contributions:
    """The same with grades of 1 from `tau` on and 0 below, as EXAM-Cover counts.

    Raises `ValueError` for a tau that every grade reaches, or none does: all systems would score the same.
    """
    highest = float(np.nanmax(data.grades)) if np.isfinite(data.grades).any() else np.nan
    if not 0 < tau <= highest:
        raise ValueError(f"tau: {tau:g}; wanted above 0 and at most {highest:g}, the highest grade")
    return data._replace(grades=np.where(np.isnan(data.grades), np.nan, data.grades >= tau))


def leave_one_out(data: Contributions, sampling: Sampling = SAMPLING, threshold: float | None = None) -> Reusability:
    """Score every system without its own contribution, by `at_least` a threshold if there is one.

    Intervals resample topics. Raises `ValueError` for fewer than 3 systems.
    """
    data = data if threshold is None else at_least(data, threshold)
    if len(data.systems) < 3:
        raise ValueError(f"contributions: of {len(data.systems)} systems; wanted at least 3 to be ranked without one")
    topics = len(data.topics)
    counts = np.vstack([np.ones(topics), topic_counts(topics, sampling.draws, np.random.default_rng(sampling.seed))])
    whole = _means(data, None, counts)
    ranks = _ranks(whole)
    systems, taus, moves = [], [], []
    for at, name in enumerate(data.systems):
        without = _means(data, at, counts)
        ranks_without = _ranks(without)
        tau = in_batches(kendall, whole, without, np.ones(len(data.systems)))
        systems.append(
            LeftOut(
                name,
                int(unique_units(data, at).sum()),
                float(whole[0, at]),
                _estimate(without[:, at] - whole[:, at], sampling.interval),
                float(ranks[0, at]),
                float(ranks_without[0, at]),
                _estimate(tau, sampling.interval),
            )
        )
        taus.append(tau)
        moves.append(np.abs(ranks_without - ranks)[:, at])
    return Reusability(
        data.kind,
        len(data.systems),
        len(data.topic_of),
        topics,
        int(np.isnan(data.grades).sum()) if data.kind == "bank" else 0,
        threshold,
        _estimate(np.mean(taus, axis=0), sampling.interval),
        _estimate(np.mean(moves, axis=0), sampling.interval),
        sampling.interval,
        tuple(systems),
    )


def unique_units(data: Contributions, system: int) -> NDArray[np.bool_]:
    """Which units `[U]` only this system contributes: no other supports the question, or retrieved the passage."""
    part = data.grades > 0 if data.kind == "bank" else np.isfinite(data.grades)
    return np.asarray(part[system] & (part.sum(axis=0) == 1))


def topic_scores(data: Contributions, without: int | None) -> Floats:
    """The score `[S, T]` of each system on each topic, as if the system `without` had not contributed.

    The mean grade over the bank's questions, or over the system's own passages. NaN where a system has no grade on a
    topic, and where the bank is left without questions.
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


def _ranks(scores: Floats) -> Floats:
    """Mid-ranks `[draws, S]`, the best score 1."""
    from scipy.stats import rankdata  # takes a while to load

    return np.asarray(rankdata(-scores, axis=1))


def _estimate(values: Floats, level: float) -> IntervalEstimate:
    """The first value with the interval of the others."""
    return percentile_interval(float(values[0]), values[1:], level)
