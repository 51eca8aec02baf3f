"""The choice of tau, the lowest grade that counts, on some queries, evaluated on the others.

A tau chosen on the same queries, as in the table of EXAM++ that names the best of four, makes the measure look too
good. Here each fold of queries is scored at the tau that agrees best with the assessors on the other folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from examcore import Indices, IntervalEstimate, kendall, read_text
from examcore.console import interval_text
from grading._file_rows import holds_json, read_rows
from grading._printing import few, named, noted, table_lines
from grading._records import SAMPLING, Bank, Floats, Sampling, SystemScores
from grading.formats._bank_files import read_bank_questions
from grading.formats._common_parts import (
    graded_passages,
    graded_questions,
    lacking_queries,
    require_judged_passages,
    require_level,
    require_parsed,
    require_shared_passages,
)
from grading.formats._grades import ReadGrades, qrels_grades, read_grades
from grading.formats._trec import QRELS_COLUMNS, Qrels, TrecRun, is_qrels, read_qrels, read_runs, run_notes
from grading.leaderboards._paired import standings
from grading.scores._cover import BUDGET, cover, exam_labels, exam_qrels
from grading.scores._effectiveness import measure_runs

FOLDS = 5
"""The usual number of folds, if there are as many queries."""
Agreement = Callable[[Indices, Indices], float]
"""Agreement with the assessors, of the index of each query's tau and the indices of the queries."""


class Choice(NamedTuple):
    """The tau that is best on all queries, and how well such a choice agrees with the assessors.

    `held_out` is the agreement with each query scored at a tau chosen without it; `curve` the agreement of each tau on
    all queries, whose maximum is biased upwards; `chosen` counts the held-out queries scored at each tau;
    `left_out` are sentences on what took no part.
    """

    tau: float
    held_out: IntervalEstimate
    curve: dict[float, IntervalEstimate]
    chosen: dict[float, int]
    queries: int
    folds: int
    agreement: Literal["kappa", "kendall"]
    left_out: Sequence[str] = ()

    @property
    def warnings(self) -> list[str]:
        """What took no part, and what makes the choice uncertain."""
        unsettled = ["The folds chose different taus: the queries do not settle it."]
        return [*self.left_out, *few(self.queries, "queries"), *(unsettled if len(self.chosen) > 1 else [])]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "agreement": self.agreement,
            "tau": self.tau,
            "held_out": self.held_out,
            "curve": {f"{tau:g}": one for tau, one in self.curve.items()},
            "chosen": {f"{tau:g}": count for tau, count in self.chosen.items()},
            "queries": self.queries,
            "folds": self.folds,
            "warnings": self.warnings,
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        held_out = f"on queries held out in {self.folds} folds: {self.agreement} {interval_text(self.held_out)}"
        columns: dict[str, Mapping[str, object]] = {
            f"{self.agreement}, all queries": {f"{tau:g}": one for tau, one in self.curve.items()},
            "chosen for": {f"{tau:g}": self.chosen.get(tau, 0) for tau in self.curve},
        }
        return [*table_lines("tau", columns), f"tau {self.tau:g}; {held_out}", *noted(self.warnings)]


def choose_tau(
    grades: Path,
    official: Path,
    paths: Sequence[Path],
    sampling: Sampling,
    *,
    by: str = "cover",
    k: int = BUDGET,
    rel: int = 1,
    folds: int | None = None,
    bank: Path | None = None,
    prompt: str | None = None,
) -> Choice:
    """The tau of a file of grades that agrees best with official judgements, or by leaderboards of the runs in `paths`.

    `by` is `cover` or a measure that scores the runs at each tau. Raises `ValueError` in one line for files that have
    nothing in common, and as `choose_by_passages` and `choose_by_leaderboard`.
    """
    # RUBRIC's `.qrel` predicts one grade a passage.
    predicted = is_qrels(grades)
    graded = qrels_grades(read_qrels(grades)) if predicted else read_grades(grades, prompt)
    runs = read_runs(paths)
    require_parsed(grades, graded)
    if runs and by == "cover" and predicted:
        raise ValueError(f"{grades}: one grade a passage and no questions to cover; wanted --by with a measure, as MAP")
    if runs:
        questions = graded.questions if bank is None else read_bank_questions(bank, graded.questions)
        tables = {tau: _table_at(graded, runs, tau, by, k, questions) for tau in candidates(graded)}
        require_shared_passages(paths, runs, grades, graded_passages(graded), k=k)
        if bank is not None:
            lacking_queries(bank, questions, graded_questions(graded), grades)
        wanted = _official(official, runs, rel)
        choice = choose_by_leaderboard(tables, wanted, sampling, folds=folds)
        notes = _leaderboard_notes(runs, wanted)
    else:
        judged = read_qrels(official)
        require_judged_passages(official, judged, graded, grades)
        choice = choose_by_passages(graded, judged, sampling, rel=rel, folds=folds)
        notes = _judged_notes(graded, judged)
    return choice._replace(left_out=[*graded.notes, *run_notes(runs), *notes])


def _table_at(graded: ReadGrades, runs: Sequence[TrecRun], tau: float, by: str, k: int, bank: Bank) -> SystemScores:
    if by == "cover":
        return {run.name: cover(graded, run, tau, k, bank).scores for run in runs}
    return measure_runs(exam_qrels(exam_labels(graded), tau), runs, [by]).scores[by]


def _official(path: Path, runs: Sequence[TrecRun], rel: int) -> dict[str, float]:
    header = read_text(path).partition("\n")[0]
    divided = ("," in header or "\t" in header) and len(header.split()) < len(QRELS_COLUMNS.split())
    if divided or holds_json(path):
        rows = read_rows(path, {"system": ("run", "run_id"), "score": ("value", "map", "MAP")})
        return {row.text("system"): row.number("score") for row in rows}
    judged = read_qrels(path)
    require_level(path, judged, rel)
    table = measure_runs(judged, runs, ["MAP"], rel=rel).scores["MAP"]
    return {one.system: one.score.estimate for one in standings(table, Sampling(draws=0))}


def _leaderboard_notes(runs: Sequence[TrecRun], official: Mapping[str, float]) -> list[str]:
    names = [run.name for run in runs]
    return [
        *named("Runs without an official score, which take no part", (one for one in names if one not in official)),
        *named("Systems of the official leaderboard without a run", (one for one in official if one not in names)),
    ]


def _judged_notes(graded: ReadGrades, official: Qrels) -> list[str]:
    labels = exam_labels(graded).best
    both = {query: [one for one in found if one in official.get(query, {})] for query, found in labels.items()}
    count, size = sum(map(len, both.values())), sum(map(len, labels.values()))
    notes = [f"Passages with a label and an official grade: {count} of {size} with a label."]
    apart = (query for query, found in both.items() if not found)
    return notes + named("Queries without any of them, which take no part", apart)


def candidates(graded: ReadGrades) -> tuple[float, ...]:
    """The grades above 0 that occur, ascending; raises `ValueError` if there is none."""
    found = sorted({one.grade for one in graded.grades if one.grade > 0})
    if not found:
        raise ValueError("grades: none is above 0; wanted grades to choose a tau from")
    return tuple(found)


def choose_by_passages(
    graded: ReadGrades, official: Qrels, sampling: Sampling = SAMPLING, *, rel: int = 1, folds: int | None = None
) -> Choice:
    """The tau whose labels `EXAM-Label(p) >= tau` agree best with official judgements `>= rel`, by Cohen's kappa.

    Only passages that both judge count. Raises `ValueError` for fewer than two common queries, more folds than queries,
    and if all of the passages are relevant or none is.
    """
    best, taus = exam_labels(graded).best, candidates(graded)
    queries = [query for query in best if any(passage in official.get(query, {}) for passage in best[query])]
    judged = [official[query][one] for query in queries for one in best[query] if one in official[query]]
    if judged and len({grade >= rel for grade in judged}) < 2:
        found = f"grades from {min(judged)} to {max(judged)} of {len(judged)} passages with a label"
        raise ValueError(f"official judgements: {found}; wanted some below {rel} and some from {rel} on")
    counts = np.zeros((len(taus), len(queries), 2, 2))
    for column, query in enumerate(queries):
        for passage, label in best[query].items():
            grade = official[query].get(passage)
            if grade is not None:
                for row, tau in enumerate(taus):
                    counts[row, column, int(label >= tau), int(grade >= rel)] += 1

    def agreement(chosen: Indices, which: Indices) -> float:
        return kappa(counts[chosen, which].sum(axis=0))

    return _choose(agreement, taus, len(queries), folds, sampling, "kappa")


def choose_by_leaderboard(
    tables: Mapping[float, SystemScores],
    official: Mapping[str, float],
    sampling: Sampling = SAMPLING,
    *,
    folds: int | None = None,
) -> Choice:
    """The tau whose leaderboard of systems (means over queries) agrees best with the official one, by Kendall's tau-b.

    `tables` has the scores at each tau. Raises `ValueError` for fewer than three common systems or two queries.
    """
    first = next(iter(tables.values()))
    systems = [system for system in first if system in official]
    if len(systems) < 3:
        raise ValueError(f"leaderboards: {len(systems)} systems in both; wanted at least 3 to compare their orders")
    queries = list(first[systems[0]])
    scores = np.array([[[table[one][query] for query in queries] for one in systems] for table in tables.values()])
    wanted = np.round([official[one] for one in systems], 12)

    def agreement(chosen: Indices, which: Indices) -> float:
        values = scores[chosen, :, which]
        known = ~np.isnan(values)
        totals, sizes = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
        if not sizes.all():
            return np.nan
        # Without the last digits, in which equal means differ by the order of summation.
        return float(kendall(np.round(totals / sizes, 12), wanted, np.ones(len(systems))))

    return _choose(agreement, tuple(tables), len(queries), folds, sampling, "kendall")


def kappa(table: Floats) -> float:
    """Cohen's kappa of a table of counts; NaN if chance alone gives full agreement."""
    total = table.sum()
    if not total:
        return np.nan
    expected = float(table.sum(axis=0) @ table.sum(axis=1)) / total**2
    return float((np.trace(table) / total - expected) / (1 - expected)) if expected < 1 else np.nan


def _choose(
    agreement: Agreement,
    taus: Sequence[float],
    queries: int,
    folds: int | None,
    sampling: Sampling,
    name: Literal["kappa", "kendall"],
) -> Choice:
    if queries < 2:
        raise ValueError(
            f"queries: {queries} with grades and judgements; wanted at least 2, to choose on one and test on another"
        )
    if folds is not None and folds > queries:
        raise ValueError(f"folds: {folds} of {queries} queries; wanted at most one fold per query")
    parts = min(FOLDS, queries) if folds is None else folds
    everything = np.arange(queries)
    curve = [sampling.of(partial(_at, agreement, row), queries) for row in range(len(taus))]
    if all(np.isnan(one.estimate) for one in curve):
        raise ValueError("agreement: undefined at every tau, because one side does not vary; wanted scores that differ")
    chosen = np.zeros(queries, dtype=np.intp)
    for held_out in np.array_split(np.random.default_rng(sampling.seed).permutation(queries), parts):
        chosen[held_out] = _best(agreement, len(taus), np.setdiff1d(everything, held_out))
    held_out_agreement = sampling.of(lambda which: agreement(chosen[which], which), queries)
    counts = {tau: int(np.sum(chosen == row)) for row, tau in enumerate(taus) if np.any(chosen == row)}
    return Choice(
        taus[_best(agreement, len(taus), everything)],
        held_out_agreement,
        dict(zip(taus, curve, strict=True)),
        counts,
        queries,
        parts,
        name,
    )


def _at(agreement: Agreement, row: int, which: Indices) -> float:
    return agreement(np.full(len(which), row), which)


def _best(agreement: Agreement, size: int, which: Indices) -> int:
    """The index of the tau that agrees best, the lowest if several tie."""
    found = [_at(agreement, row, which) for row in range(size)]
    return int(np.argmax([-np.inf if np.isnan(value) else value for value in found]))
