"""Systems by EXAM and n-EXAM, the share of a query's questions that their articles answer (Sander and Dietz 2021)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from examcore import Indices, IntervalEstimate
from grading._printing import few, named
from grading._records import SAMPLING, Bank, QuestionKey, Sampling
from grading.formats._answers import SystemAnswers, read_answers
from grading.formats._bank_files import ALL, read_bank_questions
from grading.formats._common_parts import lacking_queries
from grading.leaderboards._paired import Pairs, Ranking, ranking

Right = Mapping[str, Mapping[str, bool | None]]
"""Query -> question -> whether the article's answer is right; None or absent if unanswered."""


@dataclass(frozen=True)
class ExamScore:
    """A system's EXAM by query, the queries it skips (each scored 0), and how many questions it leaves unanswered."""

    system: str
    scores: Mapping[str, float]
    skipped: tuple[str, ...]
    unanswered: int


@dataclass(frozen=True)
class ExamScores:
    """Systems by EXAM over the questions of a bank, None for those that were answered.

    With gold articles `gold` has their score and mean, and `n_exam` that of each system.
    """

    bank: Path | None
    questions: Bank
    systems: Mapping[str, ExamScore]
    ranking: Ranking
    gold: tuple[ExamScore, IntervalEstimate] | None
    n_exam: Mapping[str, IntervalEstimate | None]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        systems = {
            name: {
                "exam": mean,
                "n_exam": self.n_exam[name],
                "per_query": self.systems[name].scores,
                "skipped": self.systems[name].skipped,
                "unanswered": self.systems[name].unanswered,
            }
            for name, mean in self.ranking.means.items()
        }
        gold = None
        if self.gold is not None:
            score, mean = self.gold
            gold = {"exam": mean, "per_query": score.scores, "skipped": score.skipped}
        return {
            "queries": len(self.questions),
            "questions": sum(map(len, self.questions.values())),
            "bank": "answers" if self.bank is None else str(self.bank),
            **(next(iter(systems.values())) if len(systems) == 1 else {}),
            "systems": systems,
            "gold": gold,
            **self.ranking.record(),
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        means, shares = dict(self.ranking.means), dict(self.n_exam)
        if self.gold is not None:
            means["(gold articles)"], shares["(gold articles)"] = self.gold[1], IntervalEstimate(1.0, 1.0, 1.0)
        return self.ranking.lines({"EXAM": means, "n-EXAM": shares})


def exam_scores(
    answers: Path,
    sampling: Sampling,
    *,
    gold: Path | None = None,
    bank: Path | None = None,
    shown: Pairs = "neighbours",
) -> ExamScores:
    """The systems of a file of answers, also against those of gold articles.

    Raises `ValueError` in one line for files that have too little in common.
    """
    known = None if bank is None else read_bank_questions(bank, _asked(read_answers(answers)))
    read = read_answers(answers, known)
    best = None if gold is None else read_answers(gold, known)
    if best is not None and len(best) > 1:
        raise ValueError(f"{gold}: answers of {len(best)} systems; wanted the gold articles' only")
    asked = _asked(read) if best is None else _asked(read, best)
    questions = known or asked
    _require_common(questions, read, answers, bank)
    if bank is not None:
        lacking_queries(bank, questions, _keys(_asked(read)), answers, "answer")
        _require_each(read, questions, answers, bank)
    if best is not None and gold is not None:
        wanted = _asked(best)
        lacking_queries(gold, wanted, _keys(_asked(read)), answers, "answer")
        lacking_queries(bank or answers, questions if bank else _asked(read), _keys(wanted), gold, "answer")
        _require_each(read, wanted, answers, gold)
    systems = {name: exam_score(name, right, questions) for name, right in read.items()}
    right = None if best is None else exam_score("gold", next(iter(best.values())), questions)
    shares = {
        name: None if right is None else n_exam(one.scores, right.scores, sampling) for name, one in systems.items()
    }
    scored = [*systems.values(), *([] if right is None else [right])]
    notes = [*_bank_notes(read, best, questions, bank), *(note for one in scored for note in _notes(one))]
    if right is not None and not sum(right.scores.values()):
        notes.append("The gold articles answer nothing: n-EXAM is unknown.")
    notes += few(len(questions), "queries")
    of_gold = None if right is None else (right, ranking({"gold": right.scores}, sampling).means["gold"])
    ranked = ranking({name: one.scores for name, one in systems.items()}, sampling, notes, shown)
    return ExamScores(bank, questions, systems, ranked, of_gold, shares)


def exam_score(system: str, right: Right, bank: Bank) -> ExamScore:
    """`EXAM(d_q) = right answers / questions of the bank for q`, for every query of the bank.

    Wrong and unanswered questions count 0, as does a query without an article (section 3.1.2). Questions outside the
    bank are ignored.
    """
    given = {query: [right.get(query, {}).get(name) for name in names] for query, names in bank.items()}
    scores = {query: found.count(True) / len(found) if found else math.nan for query, found in given.items()}
    unanswered = sum(found.count(None) for query, found in given.items() if query in right)
    return ExamScore(system, scores, tuple(query for query in bank if query not in right), unanswered)


def n_exam(scores: Mapping[str, float], gold: Mapping[str, float], sampling: Sampling = SAMPLING) -> IntervalEstimate:
    """`sum_q EXAM(d_q) / sum_q EXAM(gold_q)`, a ratio of sums that may exceed 1 (section 3.1.3).

    The interval resamples queries; NaN if the gold articles answer nothing.
    """
    queries = [query for query in gold if query in scores]
    ours, theirs = (np.array([table[query] for query in queries], dtype=np.float64) for table in (scores, gold))

    def ratio(chosen: Indices) -> float:
        total = float(theirs[chosen].sum())
        return float(ours[chosen].sum()) / total if total > 0 else math.nan

    return sampling.of(ratio, len(queries))


def _asked(*files: SystemAnswers) -> dict[str, tuple[str, ...]]:
    """Query -> the questions that any system of the files was asked."""
    found: dict[str, dict[str, None]] = {}
    for systems in files:
        for query, questions in (pair for asked in systems.values() for pair in asked.items()):
            found.setdefault(query, {}).update(dict.fromkeys(questions))
    return {query: tuple(questions) for query, questions in found.items()}


def _require_common(questions: Bank, read: SystemAnswers, answers: Path, bank: Path | None) -> None:
    asked = _keys(_asked(read))
    if not asked.keys().isdisjoint(_keys(questions)):
        return
    if list(questions) == [ALL] and any(query != ALL for query, _ in asked):
        raise ValueError(f"{bank}: names no queries, {answers} does; wanted a bank with a column query")
    (theirs, name), (ours, wanted) = next(iter(asked)), next(iter(_keys(questions)))
    raise ValueError(
        f"{answers}: no question of it (such as {name!r} of query {theirs!r}) is in the bank (such as {wanted!r} of "
        f"query {ours!r}); wanted its answers"
    )


def _require_each(read: SystemAnswers, wanted: Bank, answers: Path, where: Path) -> None:
    """Refuse a system that answers none of the questions of `where`."""
    keys = _keys(wanted)
    for name, found in read.items():
        if keys.keys().isdisjoint(_keys(found)):
            query = next(iter(wanted))
            raise ValueError(
                f"{answers}: system {name!r} answers no question of {where}; wanted some of query {query!r}"
            )


def _keys(bank: Mapping[str, Iterable[str]]) -> dict[QuestionKey, None]:
    return {(query, name): None for query, names in bank.items() for name in names}


def _bank_notes(read: SystemAnswers, best: SystemAnswers | None, questions: Bank, bank: Path | None) -> Iterator[str]:
    if bank is None:
        where = "ANSWERS" if best is None else "ANSWERS and GOLD"
        yield f"Without --bank the bank is every question seen in {where}; questions never asked are missing."
    known = _keys(questions)
    strange = sum(key not in known for found in read.values() for key in _keys(found))
    if strange:
        yield f"Answers to questions that the bank does not have, which do not count: {strange}."


def _notes(one: ExamScore) -> Iterator[str]:
    yield from named(f"Queries that {one.system} skips, counted 0", one.skipped)
    if one.unanswered:
        yield f"Questions that articles of {one.system} leave unanswered, counted 0: {one.unanswered}."
