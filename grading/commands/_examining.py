"""Scores of articles: EXAM, n-EXAM, ROUGE-1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examcore.console import interval_text
from grading._records import Bank, SystemScores
from grading.commands._options import Pairs, Resampling
from grading.commands._printing import PrintedResult, few, named, ranked_result
from grading.commands._scoring import bank_of
from grading.formats._answers import SystemAnswers, read_answers
from grading.formats._bank_questions import ALL
from grading.leaderboards._standings import differences, standings
from grading.scores._exam import ExamScore, exam_score, n_exam
from grading.scores._rouge import read_articles, rouge_scores


def examined(
    answers: Path, gold: Path | None, bank: Path | None, resampling: Resampling, shown: Pairs = "neighbours"
) -> PrintedResult:
    """EXAM of every system in a file of answers, n-EXAM beside gold articles."""
    level, seed = resampling.interval, resampling.seed
    known = bank_of(bank, None if bank is None else _seen(read_answers(answers), None))
    read = read_answers(answers, known)
    best = None if gold is None else _one_system(read_answers(gold, known), gold)
    questions = known or _seen(read, best)
    _require_common(questions, read, answers, bank)
    scores = {name: exam_score(name, right, questions) for name, right in read.systems.items()}
    gold_score = None if best is None else exam_score("gold", next(iter(best.systems.values())), questions)
    table: SystemScores = {name: one.scores for name, one in scores.items()}
    ranked = standings(table, level=level, seed=seed)
    systems: dict[str, dict[str, Any]] = {}
    for one in ranked:
        score = scores[one.system]
        ratio = gold_score and n_exam(score.scores, gold_score.scores, level=level, seed=seed).as_dict()
        systems[one.system] = {
            "exam": one.score.as_dict(),
            "n_exam": ratio,
            "per_query": score.scores,
            "skipped": score.skipped,
            "unanswered": score.unanswered,
        }
    result: dict[str, Any] = {
        "queries": len(questions),
        "questions": sum(map(len, questions.values())),
        "bank": "answers" if bank is None else str(bank),
        **(next(iter(systems.values())) if len(systems) == 1 else {}),
        "systems": systems,
        "gold": gold_score and _gold(gold_score, level, seed),
    }
    rows = [["system", "EXAM", "n-EXAM"]]
    rows += [
        [name, interval_text(row["exam"]), interval_text(row["n_exam"]) if row["n_exam"] else "-"]
        for name, row in systems.items()
    ]
    if gold_score is not None:
        rows.append(["(gold articles)", interval_text(result["gold"]["exam"]), "1.000 [1.000, 1.000]"])
    notes = _exam_notes(read, best, questions, bank, [*scores.values()], gold_score)
    return ranked_result(result, rows, differences(table, level=level, seed=seed), notes, shown)


def rouge(articles: Path, gold: Path, resampling: Resampling, shown: Pairs = "neighbours") -> PrintedResult:
    """ROUGE-1 F1 of systems' articles against gold articles."""
    level, seed = resampling.interval, resampling.seed
    systems, texts = read_articles(articles), read_articles(gold)
    if len(texts) > 1:
        raise ValueError(f"{gold}: articles of {len(texts)} systems; wanted one gold article per query")
    (wanted,) = texts.values()
    if not any(query in wanted for found in systems.values() for query in found):
        raise ValueError(f"{articles}: no query of it is in {gold}; wanted common queries")
    table = {name: rouge_scores(found, wanted) for name, found in systems.items()}
    ranked = standings(table, level=level, seed=seed)
    empty = [query for query, score in rouge_scores(wanted, wanted).items() if math.isnan(score)]
    notes = named("Gold articles without words: no score, left out of the mean", empty)
    for name, found in systems.items():
        notes += named(f"Queries that {name} skips, counted 0", (one for one in wanted if one not in found))
        strange = (one for one in found if one not in wanted)
        notes += named(f"Articles of {name} without a gold article, which take no part", strange)
    result: dict[str, Any] = {
        "queries": len(wanted),
        "systems": {one.system: {"rouge_1_f1": one.score.as_dict(), "per_query": table[one.system]} for one in ranked},
    }
    rows = [["system", "ROUGE-1 F1"], *([one.system, interval_text(one.score.as_dict())] for one in ranked)]
    notes += few(len(wanted), "queries")
    return ranked_result(result, rows, differences(table, level=level, seed=seed), notes, shown)


def _one_system(read: SystemAnswers, path: Path) -> SystemAnswers:
    if len(read.systems) > 1:
        raise ValueError(f"{path}: answers of {len(read.systems)} systems; wanted the gold articles' only")
    return read


def _seen(read: SystemAnswers, best: SystemAnswers | None) -> dict[str, tuple[str, ...]]:
    found = read.questions()
    for query, questions in (best.questions() if best else {}).items():
        found.setdefault(query, {}).update(questions)
    return {query: tuple(questions) for query, questions in found.items()}


def _require_common(questions: Bank, read: SystemAnswers, answers: Path, bank: Path | None) -> None:
    asked = read.questions()
    if any(name in asked.get(query, {}) for query, names in questions.items() for name in names):
        return
    if list(questions) == [ALL] and read.queries:
        raise ValueError(f"{bank}: names no queries, {answers} does; wanted a bank with a column query")
    theirs, ours = next(iter(asked)), next(iter(questions))
    raise ValueError(
        f"{answers}: no question of it (query {theirs!r}) is in the bank (query {ours!r}); wanted its answers"
    )


def _gold(score: ExamScore, level: float, seed: int) -> dict[str, Any]:
    (standing,) = standings({"gold": score.scores}, level=level, seed=seed)
    return {"exam": standing.score.as_dict(), "per_query": score.scores, "skipped": score.skipped}


def _exam_notes(
    read: SystemAnswers, best: SystemAnswers | None, questions: Bank, bank: Path | None, scores: Sequence[ExamScore],
    gold: ExamScore | None,
) -> list[str]:  # fmt: skip
    notes = []
    if bank is None:
        where = "ANSWERS" if best is None else "ANSWERS and GOLD"
        notes.append(f"Without --bank the bank is every question seen in {where}; questions never asked are missing.")
    strange = sum(_outside(found, questions) for found in read.systems.values())
    if strange:
        notes.append(f"Answers to questions that the bank does not have, which do not count: {strange}.")
    for one in [*scores, *([gold] if gold else [])]:
        notes += named(f"Queries that {one.system} skips, counted 0", one.skipped)
        if one.unanswered:
            notes.append(f"Questions that articles of {one.system} leave unanswered, counted 0: {one.unanswered}.")
    if gold is not None and not sum(gold.scores.values()):
        notes.append("The gold articles answer nothing: n-EXAM is unknown.")
    return notes + few(len(questions), "queries")


def _outside(found: Mapping[str, Mapping[str, object]], questions: Bank) -> int:
    known = {query: set(names) for query, names in questions.items()}
    return sum(name not in known.get(query, ()) for query, asked in found.items() for name in asked)
