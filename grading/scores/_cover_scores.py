"""Runs by EXAM-Cover, the best first, with alpha-nDCG beside it where that is wanted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading._printing import few, named
from grading._records import Bank, Sampling
from grading.formats._bank_files import read_bank_questions
from grading.formats._common_parts import (
    graded_passages,
    graded_questions,
    lacking_queries,
    require_reached,
    require_shared_passages,
)
from grading.formats._grades import ReadGrades, read_grades
from grading.formats._trec import read_runs, run_notes
from grading.leaderboards._paired import Pairs, Ranking, ranking
from grading.scores._cover import BUDGET, Cover, cover, outside
from grading.scores._diversity import alpha_ndcg


@dataclass(frozen=True)
class CoverScores:
    """Runs by EXAM-Cover@k,tau over the questions of a bank, None for those that were graded.

    `diverse` has the runs by alpha-nDCG, if there is an `alpha`.
    """

    tau: float
    k: int
    alpha: float | None
    bank: Path | None
    questions: Bank
    unparsed: int
    covers: Mapping[str, Cover]
    ranking: Ranking
    diverse: Ranking | None

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        first = self.ranking.standings[0]
        alone = {"cover": first.score, "per_query": self.covers[first.system].scores}
        return {
            "tau": self.tau,
            "k": self.k,
            "bank": "grades" if self.bank is None else str(self.bank),
            "queries": len(self.questions),
            "questions": sum(map(len, self.questions.values())),
            "unparsed": self.unparsed,
            **(alone if len(self.covers) == 1 else {}),
            "runs": {one.system: self._run(one.system) for one in self.ranking.standings},
            **({} if self.diverse is None else {"alpha": self.alpha}),
            **self.ranking.record(),
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        columns: dict[str, Mapping[str, object]] = {
            f"cover@{self.k},{self.tau:g}": self.ranking.means,
            "queries": {one.system: one.topics for one in self.ranking.standings},
            "passages graded": {
                name: f"{one.passages - one.ungraded} of {one.passages}" for name, one in self.covers.items()
            },
        }
        if self.diverse is not None:
            columns[f"alpha-nDCG@{self.k}"] = self.diverse.means
        return self.ranking.lines(columns, "run")

    def _run(self, name: str) -> dict[str, Any]:
        one = self.covers[name]
        per_query = {
            query: {
                "cover": found.score,
                "covered": found.questions,
                "passages": found.passages,
                "ungraded": found.ungraded,
                **({} if self.diverse is None else {"alpha_ndcg": self.diverse.scores[name][query]}),
            }
            for query, found in one.queries.items()
        }
        return {
            "cover": self.ranking.means[name],
            "passages": one.passages,
            "ungraded": one.ungraded,
            "skipped": one.skipped,
            "without_bank": one.without_bank,
            "per_query": per_query,
            **({} if self.diverse is None else {"alpha_ndcg": self.diverse.means[name]}),
        }


def cover_scores(
    grades: Path,
    paths: Sequence[Path],
    sampling: Sampling,
    tau: float,
    k: int = BUDGET,
    alpha: float | None = None,
    *,
    bank: Path | None = None,
    prompt: str | None = None,
    shown: Pairs = "neighbours",
) -> CoverScores:
    """The runs of some files in order, by grades and over a bank; `prompt` as in `read_grades`.

    Raises `ValueError` in one line for files that have nothing in common, and as `cover` and `alpha_ndcg`.
    """
    graded, runs = read_grades(grades, prompt), read_runs(paths)
    questions = graded.questions if bank is None else read_bank_questions(bank, graded.questions)
    covers = {run.name: cover(graded, run, tau, k, questions) for run in runs}
    early = {} if alpha is None else {run.name: alpha_ndcg(graded, run, tau, alpha, k, questions) for run in runs}
    require_reached(grades, graded, tau)
    require_shared_passages(paths, runs, grades, graded_passages(graded), k=k)
    lacking = [] if bank is None else lacking_queries(bank, questions, graded_questions(graded), grades)
    notes = [*graded.notes, *run_notes(runs), *_bank_notes(graded, questions, bank)]
    notes += named("Queries of the bank without a grade, which no passage can answer", lacking)
    notes += [note for one in covers.values() for note in _cover_notes(one)] + few(len(questions), "queries")
    if early:
        unanswered = [query for query in questions if all(math.isnan(each[query]) for each in early.values())]
        notes += named("Queries without an answering passage: no alpha-nDCG, left out of its mean", unanswered)
    ranked = ranking({name: one.scores for name, one in covers.items()}, sampling, notes, shown)
    diverse = ranking(early, sampling) if early else None
    return CoverScores(tau, k, alpha, bank, questions, graded.unparsed, covers, ranked, diverse)


def _bank_notes(graded: ReadGrades, questions: Bank, bank: Path | None) -> Iterator[str]:
    if bank is None:
        yield "Without --bank the bank is every question graded for the query; questions never asked are missing."
    elif strange := outside(graded, questions):
        yield f"Grades of questions that the bank does not have, which do not count: {strange}."
    if graded.unparsed:
        yield f"Unparsed grades, which reach no tau: {graded.unparsed} of {len(graded.grades)}."


def _cover_notes(one: Cover) -> Iterator[str]:
    yield from named(f"Queries of the bank that {one.run} skips, counted 0", one.skipped)
    yield from named(f"Queries of {one.run} without a question, which take no part", one.without_bank)
    unknown = [query for query, score in one.queries.items() if math.isnan(score.score)]
    if one.ungraded:
        partly = sum(bool(score.ungraded) and query not in unknown for query, score in one.queries.items())
        share = f"{one.ungraded} of {one.passages} passages of {one.run} were never graded"
        yield f"{share}; {partly} queries may be covered better than they seem."
    yield from named(f"Queries of {one.run} without a graded passage: no score, left out of the mean", unknown)
