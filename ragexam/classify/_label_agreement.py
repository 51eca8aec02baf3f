"""Another labeller's labels, from a table or an exam, and how far they agree with ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from examcore import INTERVAL_LEVEL, Exam, IntervalEstimate, cohen_kappa, krippendorff_alpha, wilson, write_text
from grading import FileRow, read_rows
from ragexam._assembling import open_exam
from ragexam.classify._classification import Classification

Labels = Mapping[str, tuple[str, ...]]
SEPARATOR = ";"
"""Divides the levels of a question in a table."""
Labelling = Mapping[str, Sequence[str]]
"""The levels that a labeller gave each question, by its id; perhaps none."""


class LevelAgreement(NamedTuple):
    """Questions to which the first, the second and both gave a level, and Cohen's kappa of giving it or not.

    Kappa is 0 by definition where one of them gave it to all questions or to none; there it has no interval.
    """

    first: int
    second: int
    both: int
    kappa: IntervalEstimate


class LabellerAgreement(NamedTuple):
    """The agreement of two labellers over the `n` questions that both labelled; `equal` got the same levels of both.

    `kappa` is Cohen's over the whole set of levels; `alpha` is Krippendorff's, nominal where a question has one level,
    else by the MASI distance of the sets. Both are NaN where they are undefined.
    """

    n: int
    equal: int
    kappa: IntervalEstimate
    alpha: IntervalEstimate
    levels: dict[str, LevelAgreement]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]

    def equal_share(self, interval: float) -> IntervalEstimate:
        """The share of equal labels with Wilson's interval."""
        share = self.equal / self.n
        return IntervalEstimate(share, *wilson(share, self.n, interval))

    def record(self, interval: float) -> dict[str, Any]:
        """The agreement as JSON types: the first labeller is `ours`, the second `theirs`."""
        return {
            "n": self.n,
            "equal": {"count": self.equal, **self.equal_share(interval).as_dict()},
            "kappa": self.kappa.as_dict(),
            "alpha": self.alpha.as_dict(),
            "levels": {
                name: {"ours": one.first, "theirs": one.second, "both": one.both, "kappa": one.kappa.as_dict()}
                for name, one in self.levels.items()
            },
            "only_ours": list(self.only_first),
            "only_theirs": list(self.only_second),
        }


def compare_labels(
    first: Labelling,
    second: Labelling,
    levels: Sequence[str],
    *,
    interval: float = INTERVAL_LEVEL,
    seed: int = 0,
) -> LabellerAgreement:
    """Compare two labellers over the questions in common; intervals resample questions.

    `levels` names those that are told one by one. Raises `ValueError` when no question is labelled by both.
    """
    common = [name for name in first if name in second]
    if not common:
        raise ValueError(f"labels: found {len(first)} and {len(second)} questions; wanted some in common")
    pair = [[frozenset(labelling[name]) for name in common] for labelling in (first, second)]
    several = any(len(one) > 1 for row in pair for one in row)

    def kappa(rows: Sequence[Sequence[object]]) -> IntervalEstimate:
        return cohen_kappa(rows[0], rows[1], interval=interval, seed=seed)

    def of_level(level: str) -> LevelAgreement:
        given = [[level in one for one in row] for row in pair]
        both = sum(a and b for a, b in zip(*given, strict=True))
        found = kappa(given)
        # Who gives a level always or never cannot agree more or less than by chance: 0 by definition, sure of nothing.
        constant = any(len(set(row)) == 1 for row in given)
        return LevelAgreement(
            sum(given[0]), sum(given[1]), both, found._replace(low=nan, high=nan) if constant else found
        )

    alpha = krippendorff_alpha(pair, metric="masi" if several else "nominal", interval=interval, seed=seed)
    return LabellerAgreement(
        n=len(common),
        equal=sum(a == b for a, b in zip(*pair, strict=True)),
        kappa=kappa(pair),
        alpha=alpha,
        levels={level: of_level(level) for level in levels},
        only_first=tuple(name for name in first if name not in second),
        only_second=tuple(name for name in second if name not in first),
    )


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
