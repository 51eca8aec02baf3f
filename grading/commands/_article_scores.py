"""Scores of articles: exam (EXAM and n-EXAM) and rouge (ROUGE-1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from examcore.console import AsJson, interval_text
from grading._printing import few, named, show_ranked, write_scores
from grading._records import Bank, QuestionKey, Sampling
from grading.commands._options import BankFile, Resampling, Scores, ShownPairs
from grading.commands._scores import bank_of
from grading.formats._answers import SystemAnswers, read_answers
from grading.formats._bank_files import ALL
from grading.formats._common_parts import lacking_queries
from grading.leaderboards._paired import differences, standings
from grading.scores._articles import ExamScore, exam_score, n_exam, read_articles, rouge_scores


def exam(
    answers: Annotated[
        Path, typer.Argument(metavar="ANSWERS", help="system,query,question,correct; responses.csv; answers.sqlite.")
    ],
    resampling: Resampling,
    gold: Annotated[Path | None, typer.Option(metavar="GOLD", help="The same of gold articles, for n-EXAM.")] = None,
    bank: BankFile = None,
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """EXAM and n-EXAM: share of questions that an article answers."""
    sampling = resampling.sampling
    known = bank_of(bank, None if bank is None else _seen(read_answers(answers)))
    read = read_answers(answers, known)
    best = None if gold is None else _one_system(read_answers(gold, known), gold)
    questions = known or _seen(read, best)
    _require_common(questions, read, answers, bank)
    _require_most(read, best, questions, answers, gold, bank)
    found = {name: exam_score(name, right, questions) for name, right in read.systems.items()}
    gold_score = None if best is None else exam_score("gold", next(iter(best.systems.values())), questions)
    table = {name: one.scores for name, one in found.items()}
    systems: dict[str, dict[str, Any]] = {}
    for one in standings(table, sampling):
        score = found[one.system]
        systems[one.system] = {
            "exam": one.score.as_dict(),
            "n_exam": gold_score and n_exam(score.scores, gold_score.scores, sampling).as_dict(),
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
        "gold": gold_score and _gold(gold_score, sampling),
    }
    rows = [["system", "EXAM", "n-EXAM"]]
    rows += [
        [name, interval_text(row["exam"]), interval_text(row["n_exam"]) if row["n_exam"] else "-"]
        for name, row in systems.items()
    ]
    if gold_score is not None:
        rows.append(["(gold articles)", interval_text(result["gold"]["exam"]), "1.000 [1.000, 1.000]"])
    notes = _bank_notes(read, best, questions, bank)
    for score in [*found.values(), *([gold_score] if gold_score else [])]:
        notes += named(f"Queries that {score.system} skips, counted 0", score.skipped)
        if score.unanswered:
            notes.append(f"Questions that articles of {score.system} leave unanswered, counted 0: {score.unanswered}.")
    if gold_score is not None and not sum(gold_score.scores.values()):
        notes.append("The gold articles answer nothing: n-EXAM is unknown.")
    notes += few(len(questions), "queries")
    show_ranked(result, rows, differences(table, sampling), notes, pairs, as_json=as_json)
    write_scores(scores, "EXAM", {name: table[name] for name in systems})


def rouge(
    articles: Annotated[Path, typer.Argument(metavar="ARTICLES", help="system,query,text.")],
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Gold articles: query,text.")],
    resampling: Resampling,
    pairs: ShownPairs = "neighbours",
    as_json: AsJson = False,
) -> None:
    """ROUGE-1 F1 of articles against gold articles, a baseline."""
    sampling = resampling.sampling
    systems, texts = read_articles(articles), read_articles(gold)
    if len(texts) > 1:
        raise ValueError(f"{gold}: articles of {len(texts)} systems; wanted one gold article per query")
    (wanted,) = texts.values()
    if not any(query in wanted for found in systems.values() for query in found):
        raise ValueError(f"{articles}: no query of it is in {gold}; wanted common queries")
    for name, found in systems.items():
        if not found.keys() & wanted.keys():
            raise ValueError(
                f"{articles}: system {name!r} has no query of {gold}; wanted some, such as {next(iter(wanted))!r}"
            )
    table = {name: rouge_scores(found, wanted) for name, found in systems.items()}
    ranked = standings(table, sampling)
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
    show_ranked(result, rows, differences(table, sampling), notes, pairs, as_json=as_json)


def _one_system(read: SystemAnswers, path: Path) -> SystemAnswers:
    if len(read.systems) > 1:
        raise ValueError(f"{path}: answers of {len(read.systems)} systems; wanted the gold articles' only")
    return read


def _seen(read: SystemAnswers, best: SystemAnswers | None = None) -> dict[str, tuple[str, ...]]:
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
    (theirs, name), (ours, wanted) = next(iter(_keys(asked))), next(iter(_keys(questions)))
    raise ValueError(
        f"{answers}: no question of it (such as {name!r} of query {theirs!r}) is in the bank (such as {wanted!r} of "
        f"query {ours!r}); wanted its answers"
    )


def _require_most(
    read: SystemAnswers,
    best: SystemAnswers | None,
    questions: Bank,
    answers: Path,
    gold: Path | None,
    bank: Path | None,
) -> None:
    """Refuse a bank, or gold articles, of which the answers have fewer than half of the queries, and the reverse."""
    asked = _seen(read)
    if bank is not None:
        lacking_queries(bank, questions, _keys(asked), answers, "answer")
        _require_each(read, questions, answers, bank)
    if best is not None and gold is not None:
        known = _seen(best)
        lacking_queries(gold, known, _keys(asked), answers, "answer")
        lacking_queries(bank or answers, questions if bank else asked, _keys(known), gold, "answer")
        _require_each(read, known, answers, gold)


def _require_each(read: SystemAnswers, wanted: Bank, answers: Path, where: Path) -> None:
    """Refuse a system that answers none of the questions of `where`."""
    keys = _keys(wanted)
    for name, found in read.systems.items():
        if keys.keys().isdisjoint(_keys(found)):
            query = next(iter(wanted))
            raise ValueError(
                f"{answers}: system {name!r} answers no question of {where}; wanted some of query {query!r}"
            )


def _keys(bank: Mapping[str, Iterable[str]]) -> dict[QuestionKey, None]:
    return {(query, name): None for query, names in bank.items() for name in names}


def _gold(score: ExamScore, sampling: Sampling) -> dict[str, Any]:
    (standing,) = standings({"gold": score.scores}, sampling)
    return {"exam": standing.score.as_dict(), "per_query": score.scores, "skipped": score.skipped}


def _bank_notes(read: SystemAnswers, best: SystemAnswers | None, questions: Bank, bank: Path | None) -> list[str]:
    notes = []
    if bank is None:
        where = "ANSWERS" if best is None else "ANSWERS and GOLD"
        notes.append(f"Without --bank the bank is every question seen in {where}; questions never asked are missing.")
    strange = sum(_outside(found, questions) for found in read.systems.values())
    if strange:
        notes.append(f"Answers to questions that the bank does not have, which do not count: {strange}.")
    return notes


def _outside(found: Mapping[str, Mapping[str, object]], questions: Bank) -> int:
    known = {query: set(names) for query, names in questions.items()}
    return sum(name not in known.get(query, ()) for query, asked in found.items() for name in asked)
