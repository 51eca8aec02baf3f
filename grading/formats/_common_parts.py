"""What files that are read together must have in common: levels of grades, passages, queries.

Nothing in common is refused, and so is a bank of which fewer than half of the queries are graded; less is counted.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path

from grading._records import Bank, QuestionKey
from grading.formats._grades import ReadGrades, parsed
from grading.formats._trec import Qrels, TrecRun


def require_parsed(path: Path, graded: ReadGrades) -> None:
    """Refuse grades none of which is a number."""
    if math.isnan(graded.highest):
        raise ValueError(f"{path}: none of {len(graded.grades)} grades is a number; wanted at least one")


def require_reached(path: Path, graded: ReadGrades, tau: float) -> None:
    """Refuse a tau that no grade reaches."""
    require_parsed(path, graded)
    if graded.highest < tau:
        raise ValueError(f"{path}: the highest grade is {graded.highest:g}; wanted one of {tau:g} or more (--tau)")


def require_level(path: Path, qrels: Qrels, level: int, option: str = "--rel") -> None:
    """Refuse a relevance level that no judgement reaches."""
    highest = max(grade for judged in qrels.values() for grade in judged.values())
    if highest < level:
        raise ValueError(f"{path}: the highest grade is {highest}; wanted one of {level} or more ({option})")


def require_judged_passages(path: Path, qrels: Qrels, graded: ReadGrades, where: Path) -> None:
    """Refuse qrels that judge none of the passages that are graded in `where`."""
    known = graded_passages(graded)
    if not any(passage in qrels.get(query, ()) for query, passages in known.items() for passage in passages):
        (query, judged), (ours, passages) = next(iter(qrels.items())), next(iter(known.items()))
        raise ValueError(
            f"{path}: none of its {sum(map(len, qrels.values()))} judgements (such as of {next(iter(judged))!r} of "
            f"query {query!r}) is of a passage graded in {where}; wanted some, such as of {passages[0]!r} of query "
            f"{ours!r}"
        )


def require_shared_questions(path: Path, graded: ReadGrades, bank: Collection[QuestionKey], where: str) -> None:
    """Refuse grades none of which is of a question of the bank from `where`."""
    if not any((one.query, one.question) in bank for one in graded.grades):
        first = graded.grades[0]
        query, question = next(iter(bank))
        raise ValueError(
            f"{path}: none of its {len(graded.grades)} grades (such as of question {first.question!r} of query "
            f"{first.query!r}) is of a question of {where}; wanted some, such as of {question!r} of query {query!r}"
        )


def graded_passages(graded: ReadGrades) -> dict[str, list[str]]:
    """Query -> its passages with a grade that is a number."""
    found: dict[str, list[str]] = {}
    for query, passages in graded.by_passage.items():
        for passage, grades in passages.items():
            if any(parsed(grades)):
                found.setdefault(query, []).append(passage)
    return found


def graded_questions(graded: ReadGrades) -> set[QuestionKey]:
    """The questions with a grade that is a number."""
    return {(one.query, one.question) for one in graded.grades if not math.isnan(one.grade)}


def require_shared_passages(
    paths: Sequence[Path],
    runs: Sequence[TrecRun],
    where: Path | str,
    known: dict[str, list[str]],
    what: str = "graded",
    k: int | None = None,
) -> None:
    """Refuse a run none of whose first k passages is among those `known`, which are those of the file `where`."""
    names = {query: set(passages) for query, passages in known.items()}
    for path, run in zip(paths, runs, strict=True):
        found = [(query, one) for query in run.rankings for one in run.top(query, k)]
        if any(passage in names.get(query, ()) for query, passage in found):
            continue
        query = next((one for one in run.rankings if one in known), next(iter(run.rankings)))
        ours = query if query in known else next(iter(known))
        raise ValueError(
            f"{path}: none of its {len(found)} passages (such as {run.top(query, 1)[0]!r} of query {query!r}) is "
            f"{what} in {where}; wanted some of those there, such as {known[ours][0]!r} of query {ours!r}"
        )


def lacking_queries(
    path: Path | str, bank: Bank, known: Collection[QuestionKey], where: Path | str, what: str = "grade"
) -> list[str]:
    """The queries of a bank with no question among those `known` from `where`; `ValueError` if they are most of it."""
    lacking = [query for query, names in bank.items() if not any((query, name) in known for name in names)]
    if 2 * len(lacking) > len(bank):
        first = lacking[0]
        example = f"{first!r}, question {next(iter(bank[first]))!r}" if bank[first] else repr(first)
        raise ValueError(
            f"{path}: {len(lacking)} of {len(bank)} queries (such as {example}) have no {what} in {where}; "
            "wanted one for at least half of the queries"
        )
    return lacking
