"""The answers to an exam as a table, of a sitting that has ended or of one that has not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from examcore import Exam
from rag import AnswerStore, responses_text

MOST_NAMED = 3
"""So many pipelines are named that lack answers, those that lack most."""


class ExportedFiles(NamedTuple):
    """The files of an export by name, and what is to be known of them."""

    files: dict[str, str]
    notes: list[str]


def answer_files(store: Path, exam: Exam) -> ExportedFiles:
    """`responses.csv`; `responses-so-far.csv`, empty where an answer is missing, and a note that counts those.

    Raises ValueError without answers, and for those to another exam.
    """
    if not store.exists():
        raise ValueError(f"{store}: no such file; wanted the answers of a sitting (ragexam sit)")
    with AnswerStore(store) as answers:
        if answers.exam != exam.hash:
            raise ValueError(f"{store}: holds answers to exam {answers.exam or '(none)'}; wanted exam {exam.hash}")
        pipelines, scores = answers.pipelines(), answers.scores(exam)
    text = responses_text(exam.ids, pipelines, scores)
    lacking = Counter(one.id for one in pipelines for question in exam.ids if (one.id, question) not in scores)
    if not lacking:
        return ExportedFiles({"responses.csv": text}, [])
    missing, wanted = lacking.total(), len(pipelines) * len(exam)
    named = ", ".join(f"{name} {count}" for name, count in lacking.most_common(MOST_NAMED))
    more = f" and {len(lacking) - MOST_NAMED} more pipelines" if len(lacking) > MOST_NAMED else ""
    note = (
        f"{missing} of {wanted} answers are missing ({named}{more}): one that failed at hard questions looks better "
        "than it is; the command of the sitting asks them again"
    )
    return ExportedFiles({"responses-so-far.csv": text}, [note])
