"""Labels as a table, another labeller's from a table or an exam, and how far they agree with ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from examcore import Exam, write_text
from grading import FileRow, read_rows
from ragexam._assembling import open_exam
from ragexam.classify._classification import Classification
from ragexam.classify._label_agreement import LabellerAgreement, compare_labels

Labels = Mapping[str, tuple[str, ...]]
SEPARATOR = ";"
"""Divides the levels of a question in a table."""


def compare(
    exam: Exam, found: Sequence[Classification], other: Path, *, interval: float, seed: int
) -> dict[str, LabellerAgreement]:
    """The agreement with another labeller in every respect that both labelled; `ValueError` when there is none."""
    ours = {one.name: one for one in found}
    theirs = read_labels(other, {name: one.levels for name, one in ours.items()}, exam)
    return {
        name: compare_labels(ours[name].labels, labels, ours[name].levels, interval=interval, seed=seed)
        for name, labels in theirs.items()
    }


def read_labels(path: Path, levels: Mapping[str, Sequence[str]], exam: Exam) -> Mapping[str, Labels]:
    """Labels by taxonomy and question: of a table `question,NAME…`, of an `exam.jsonl` or of a run folder.

    Several levels of a question are divided by `;`; an empty field is a question that was not labelled. Raises
    `ValueError` (file:line, found, wanted) for a level that is none, a question that stands twice, and when the file
    has none of the taxonomies or none of the questions.
    """
    if path.is_dir() or path.name.removesuffix(".gz").endswith(".jsonl"):
        other = open_exam(path)
        given = {
            name: {one.id: tuple(one.labels[name]) for one in other.questions if one.labels.get(name)}
            for name in levels
        }
    else:
        given = _table(path, levels)
    wanted = set(exam.ids)
    given = {name: labels for name, labels in given.items() if wanted & set(labels)}
    if not given:
        raise ValueError(f"{path}: no labels of these questions; wanted 'question' and some of {', '.join(levels)}")
    for name, labels in given.items():
        _check(path, name, labels, levels[name])
    return given


def write_labels(path: Path, exam: Exam, found: Sequence[Classification]) -> None:
    """Write the table that `read_labels` reads: ids and labels, no text; empty where a question has no level."""
    columns = {one.name: [SEPARATOR.join(one.labels.get(name, ())) for name in exam.ids] for one in found}
    write_text(path, [pd.DataFrame({"question": exam.ids, **columns}).to_csv(index=False, lineterminator="\n")])


def _table(path: Path, levels: Mapping[str, Sequence[str]]) -> dict[str, dict[str, tuple[str, ...]]]:
    given: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in levels}
    places: dict[str, str] = {}
    for row in read_rows(path, {"question": ("id", "question_id")}):
        question = row.text("question")
        if question in places:
            raise ValueError(f"{row.place}: question {question!r} stands in {places[question]} too; wanted it once")
        places[question] = row.place
        for name in levels:
            if name in row.fields:
                given[name][question] = _levels(row, name, levels[name])
    return given


def _levels(row: FileRow, name: str, known: Sequence[str]) -> tuple[str, ...]:
    found = {one.strip() for one in row.text(name).split(SEPARATOR)}
    strange = sorted(found - set(known))
    if strange:
        raise ValueError(f"{row.place}: {name} {strange[0]!r}; wanted {', '.join(known)}, several divided by ';'")
    return tuple(level for level in known if level in found)


def _check(path: Path, name: str, labels: Labels, known: Sequence[str]) -> None:
    for question, given in labels.items():
        strange = sorted(set(given) - set(known))
        if strange:
            raise ValueError(f"{path}: {name} of {question!r} is {strange[0]!r}; wanted {', '.join(known)}")
