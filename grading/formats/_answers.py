"""Answers to exams from files: a table of right and wrong, or what ragexam's pipelines answered."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from examcore import Exam, shown_json
from grading._file_rows import QUERY, SYSTEM, FileRow, column_of, read_rows
from grading._records import Bank
from grading.formats._bank_files import ALL
from grading.formats._passages import Passage

CORRECT = ("correct", "score", "grade")
QUESTION = ("question_id", "nugget_id", "item", "id", "question", "nugget")
TOTAL = ("total", "n_questions", "questions", "n")
ONE = "system"
"""The name of the one system of a table without such a column."""


SystemAnswers = dict[str, dict[str, dict[str, bool | None]]]
"""System -> query -> question -> whether it is right; None for an unanswered question."""


def read_answers(path: str | Path, bank: Bank | None = None) -> SystemAnswers:
    """Answers from JSON lines, CSV or TSV with `system, query, question, correct`, or from `answers.sqlite`.

    Every column goes by its usual names (`student, item, score` of `responses.csv` too). A blank `correct` is an
    unanswered question. Without a column of systems there is one. Without a column of queries a question belongs to the
    query whose bank has it, else all are of the query `all`. Counts are read, too, one row a query: `correct` right of
    a `total` of questions, which are numbered; a query has one total. Raises `ValueError` (file:line, found, wanted)
    for a value that is not 0, 1, true, false or blank, and for a question answered twice by a system.
    """
    path = Path(path)
    if path.suffix == ".sqlite":
        return _gathered(_of_store(path), bank)
    rows = read_rows(path, {})
    if all(row.present(QUESTION) is None and row.present(TOTAL) for row in rows):
        _require_one_total(rows)
        return _gathered((answer for row in rows for answer in _counted(row)), bank)
    column = column_of(rows, CORRECT, "a column of 0 and 1")
    return _gathered(
        (
            _Answer(
                row.place,
                row.first_text(SYSTEM, ONE),
                row.first_text(QUERY, "") or None,
                row.first_text(QUESTION),
                _right(row, column),
            )
            for row in rows
        ),
        bank,
    )


def answers_as_passages(path: Path, exam: Exam) -> list[Passage]:
    """The free-text answers in the `answers.sqlite` of a sitting, each an article on its question by its system.

    Raises `ValueError` for answers to another exam and where no system answered in free text.
    """
    from rag import AnswerStore

    _require_file(path)
    with AnswerStore(path) as store:
        if store.exam != exam.hash:
            raise ValueError(f"{path}: holds answers to exam {store.exam or 'none'}; wanted exam {exam.hash}")
        written = store.free_text()
        found = [
            Passage(one.question, one.pipeline, one.reply, one.pipeline)
            for one in store.answers()
            if one.pipeline in written
        ]
    if not found:
        raise ValueError(
            f"{path}: no free-text answers; wanted a grid with answers: text, or a system with choices: false"
        )
    return found


class _Answer(NamedTuple):
    place: str
    system: str
    query: str | None
    question: str
    right: bool | None


def _of_store(path: Path) -> list[_Answer]:
    from rag import AnswerStore

    _require_file(path)
    with AnswerStore(path) as store:
        found = [_Answer(str(path), one.pipeline, None, one.question, one.correct) for one in store.answers()]
    if not found:
        raise ValueError(f"{path}: has no answers; wanted at least one")
    return found


def _require_file(path: Path) -> None:
    """Refuse a missing file, which opening the store would create."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; wanted an existing file")


def _require_one_total(rows: Sequence[FileRow]) -> None:
    """A query has as many questions for one system as for another."""
    known: dict[str, tuple[float, str]] = {}
    for row in rows:
        query, total = row.first_text(QUERY), row.grade(row.present(TOTAL))
        before, place = known.setdefault(query, (total, row.place))
        if total != before:
            raise ValueError(f"{row.place}: {total:g} questions of query {query!r}; wanted the {before:g} of {place}")


def _counted(row: FileRow) -> list[_Answer]:
    """Numbered answers that stand for the counts of a query."""
    correct, total = (row.grade(row.present(names)) for names in (CORRECT, TOTAL))
    if not (total >= 1 and total == int(total) and 0 <= correct <= total and correct == int(correct)):
        raise ValueError(f"{row.place}: {correct:g} right of {total:g}; wanted whole numbers, at most the total")
    system, query = row.first_text(SYSTEM, ONE), row.first_text(QUERY)
    return [_Answer(row.place, system, query, str(place + 1), place < correct) for place in range(int(total))]


def _gathered(answers: Iterable[_Answer], bank: Bank | None) -> SystemAnswers:
    # A question belongs to the query whose bank has it, if that is one alone.
    times = Counter(name for questions in (bank or {}).values() for name in questions)
    home = {name: query for query, names in (bank or {}).items() for name in names if times[name] == 1}
    systems: SystemAnswers = {}
    for one in answers:
        query = one.query if one.query is not None else home.get(one.question, ALL)
        asked = systems.setdefault(one.system, {}).setdefault(query, {})
        if one.question in asked:
            raise ValueError(
                f"{one.place}: question {shown_json(one.question)} of query {shown_json(query)} is answered twice by "
                f"{shown_json(one.system)}; wanted one answer"
            )
        asked[one.question] = one.right
    return systems


def _right(row: FileRow, name: str) -> bool | None:
    """Whether an answer is right: 1 or true; None for a blank, an unanswered question."""
    found = row.grade(name)
    if math.isnan(found):
        return None
    if found not in (0.0, 1.0):
        raise ValueError(f"{row.place}: {name} {shown_json(row.fields.get(name))}; wanted 0, 1, true, false or nothing")
    return found == 1.0
