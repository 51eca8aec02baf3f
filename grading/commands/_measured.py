"""The results of the commands on scores, as they are printed in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from examcore import IntervalEstimate
from grading._table_rows import read_rows
from grading.formats._score_tables import QUESTION, SCORE, SYSTEM, TOPIC, ScoreTable, cells_of, read_scores
from grading.leaderboards._agreement import JudgedOnce, agree, read_judgements
from grading.leaderboards._judge_bias import favour, read_judged
from grading.leaderboards._leaderboards import Correlations, Intervals, Sampling, correlate
from grading.leaderboards._paired import compare_systems, in_words
from grading.leaderboards._power import Need, Plan, needs
from grading.leaderboards._reusability import (
    Contributions,
    at_least,
    contributions_of,
    leave_one_out,
    read_contributions,
)
from grading.scores._nuggets import (
    METRICS,
    Assignments,
    NuggetScores,
    is_assignments,
    read_all_assignments,
    score_run,
    shared_nuggets,
)
from grading.scores._nuggets import table_of_scores as nugget_table

SHOWN = 10
"""So many names of a long list are given; the count says how many there are."""


def nuggets(files: Sequence[Path], metric: str, level: float, seed: int) -> dict[str, Any]:
    """One run: its `topics` and `all`; several: these by system, pairs compared by `metric`, nuggets shared."""
    runs = read_all_assignments(files)
    scores = [score_run(run, level=level, seed=seed) for run in runs]
    systems = [_nugget_system(run, found) for run, found in zip(runs, scores, strict=True)]
    if len(runs) == 1:
        return {"interval": level, **systems[0]}
    return {
        "interval": level,
        "systems": {str(one["run"]): one for one in systems},
        **_nugget_pairs(scores, metric, level, seed),
        **_shared(runs),
        "missing_topics": nugget_table(scores, METRICS[-1]).missing(),
    }


def agreement(
    first: Path, second: Path, over: Literal["auto", "topics", "pairs"], level: float, seed: int
) -> dict[str, Any]:
    """`n, kappa, kappa_quadratic, alpha` and their like, the confusion table, and what one file alone judges."""
    (a, without_a), (b, without_b) = read_judgements(first), read_judgements(second)
    found = agree(a, b, over=over, level=level, seed=seed)
    numbers = {name: value.as_dict() for name, value in found._asdict().items() if isinstance(value, IntervalEstimate)}
    return {
        "n": found.n,
        "n_topics": found.topics,
        **numbers,
        "interval": level,
        "interval_over": found.interval_over,
        "confusion": {f"{one:g}": {f"{two:g}": n for two, n in row.items()} for one, row in found.confusion.items()},
        "only_in_a": _judged_once(found.only_first),
        "only_in_b": _judged_once(found.only_second),
        "without_grade": {"a": without_a, "b": without_b},
    }


def leaderboard(first: Path, second: Path, level: float, seed: int) -> dict[str, Any]:
    """`spearman, kendall, tau_ap, tau_ap_b` with intervals over systems, and over topics where there are any."""
    tables = read_scores(first), read_scores(second)
    found = correlate(*tables, Sampling(level=level, seed=seed))
    return {
        "n": len(found.systems),
        **_intervals(found.over_systems),
        "random_ties": {name: one.as_dict() for name, one in found.random_ties.items()},
        "tied": dict(zip("ab", found.tied, strict=True)),
        "interval": level,
        "interval_over": "systems",
        "over_topics": None if found.over_topics is None else _intervals(found.over_topics),
        "over_systems_and_topics": None if found.over_both is None else _intervals(found.over_both),
        "only_in_a": list(found.only_first),
        "only_in_b": list(found.only_second),
        **{name: _board(table, level, seed) for name, table in zip("ab", tables, strict=True)},
        "warnings": _leaderboard_warnings(found, tables),
    }


def power(
    pilot: Path, gap: float | None, pairs: Sequence[str], wanted: float, alpha: float, level: float, seed: int
) -> dict[str, Any]:
    """For each pair the topics needed, at the pilot's number of questions and at others."""
    rows = read_rows(pilot, {**SYSTEM, **TOPIC, **SCORE}, QUESTION)
    by_question = "question" in rows[0].fields
    cells = cells_of(rows, ("system", "topic", "question") if by_question else ("system", "topic"), "score")
    scores = {(key[0], key[1], key[2] if by_question else ""): score for key, score in cells.items()}
    named = [_pair(one) for one in pairs]
    systems = len({key[0] for key in scores})
    if systems < 2:
        raise ValueError(f"{pilot}: has {systems} system; wanted at least 2 to be told apart")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: {alpha:g}; wanted a share between 0 and 1")
    tests = len(named) or systems * (systems - 1) // 2
    found = needs(scores, Plan(gap, wanted, alpha / tests, level, seed=seed), named or None)
    return {
        "power": wanted,
        "alpha": alpha,
        "alpha_per_pair": alpha / tests,
        "gap": gap,
        "interval": level,
        "pairs": [_need(one) for one in found],
    }


def reusability(files: Sequence[Path], tau: float | None, level: float, seed: int) -> dict[str, Any]:
    """Each system left out, its change of score and rank, and Kendall's tau with the whole leaderboard."""
    data = _contributions(files)
    found = leave_one_out(data if tau is None else at_least(data, tau), level=level, seed=seed)
    return {
        "kind": found.kind,
        "n_systems": len(found.left_out),
        "n_units": found.n_units,
        "n_topics": found.n_topics,
        "not_graded": found.not_graded,
        "threshold": tau,
        "tau": found.tau.as_dict(),
        "displacement": found.displacement.as_dict(),
        "interval": level,
        "systems": [
            {**one._asdict(), "change": one.change.as_dict(), "tau": one.tau.as_dict()} for one in found.left_out
        ],
    }


def bias(table: Path, level: float, seed: int) -> dict[str, Any]:
    """The favour of judges for their own family, its interval and p, and each judge's."""
    data = read_judged(table)
    found = favour(data, level=level, seed=seed)
    return {
        **found._asdict(),
        "favour": found.favour.as_dict(),
        "over_topics": found.over_topics.as_dict(),
        "interval": level,
        "n_judges": len(data.judges),
        "n_topics": len(data.topics),
        "left_out_topics": list(data.left_out),
        "families": dict(zip(data.systems, data.families, strict=True)),
    }


def _nugget_system(run: Assignments, found: NuggetScores) -> dict[str, Any]:
    return {
        "run": run.run,
        "n_topics": len(run.topics),
        "n_nuggets": sum(map(len, run.topics.values())),
        "topics": {topic: dict(scores) for topic, scores in found.topics.items()},
        "all": _intervals(found.overall),
        "unknown_labels": run.unknown(),
        "undefined": {metric: list(topics) for metric, topics in found.undefined.items()},
    }


def _nugget_pairs(scores: Sequence[NuggetScores], metric: str, level: float, seed: int) -> dict[str, Any]:
    """The comparison by the metric chosen, and beside it those by the others."""
    compared = {name: _compared(nugget_table(scores, name), level, seed) for name in METRICS}
    return {"metric": metric, **compared.pop(metric), "by_other_metrics": compared}


def _compared(table: ScoreTable, level: float, seed: int) -> dict[str, Any]:
    found = compare_systems(table, level=level, seed=seed)
    return {
        "pairs": [pair.as_dict() for pair in found.pairs],
        "best": found.best,
        "sentence": in_words(found, table.name),
    }


def _shared(runs: Sequence[Assignments]) -> dict[str, Any]:
    found = shared_nuggets(runs)
    return {
        "supported_by": {str(number): count for number, count in enumerate(found.supported_by)},
        "unmatched": {
            "repeated_in_topic": [{"topic": topic, "text": text} for topic, text in found.repeated],
            "not_in_all_systems": [{"topic": topic, "text": text} for topic, text in found.partly_judged],
        },
    }


def _judged_once(found: JudgedOnce) -> dict[str, Any]:
    shown = [{"topic": topic, "passage": passage} for topic, passage in found.pairs[:SHOWN]]
    return {"n": len(found.pairs), "topics": list(found.topics), "first": shown}


def _intervals(found: Intervals | Mapping[str, IntervalEstimate]) -> dict[str, dict[str, float | None]]:
    return {name: one.as_dict() for name, one in found.items()}


def _board(table: ScoreTable, level: float, seed: int) -> dict[str, Any]:
    """One leaderboard by itself; pairs and the chance of being best only with topics."""
    ranked = sorted(zip(table.systems, map(float, table.means), strict=True), key=lambda one: -one[1])
    result = {
        "file": table.name,
        "scores": dict(ranked),
        "n_topics": len(table.topics),
        "missing_topics": table.missing() if table.topics else {},
        "left_out": list(table.left_out),
    }
    if len(table.topics) < 2 or len(table.systems) < 2:
        return {
            **result,
            "pairs": [],
            "best": {},
            "sentence": f"{table.name}: without topics no systems can be tested.",
        }
    return {**result, **_compared(table, level, seed)}


def _leaderboard_warnings(found: Correlations, tables: Sequence[ScoreTable]) -> list[str]:
    gaps = [
        f"{table.name}: {len(table.missing())} systems lack topics that others have; "
        "their scores are means over the topics they have."
        for table in tables
        if table.topics and table.missing()
    ]
    return [*found.warnings, *gaps]


def _pair(text: str) -> tuple[str, str]:
    first, _, second = (one.strip() for one in text.partition(","))
    if not first or not second or first == second:
        raise ValueError(f"--pair: {text!r}; wanted two systems, A,B")
    return first, second


def _need(found: Need) -> dict[str, Any]:
    plain = {**found._asdict(), "observed": found.observed.as_dict(), "topics": found.topics._asdict()}
    return {**plain, "by_questions": {str(number): topics for number, topics in found.by_questions.items()}}


def _contributions(files: Sequence[Path]) -> Contributions:
    if all(map(is_assignments, files)):
        return contributions_of(read_all_assignments(files))
    if len(files) > 1:
        raise ValueError(f"{files[1]}: a second table; wanted one table, or several files of nugget assignments")
    return read_contributions(files[0])
