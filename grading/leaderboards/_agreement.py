"""How far two sets of judgements of the same passages agree beyond chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from examcore import IntervalEstimate, cohen_kappa, krippendorff_alpha, read_text
from examcore.console import interval_text
from grading._file_rows import has_suffix, holds_json, read_rows
from grading._printing import shortened
from grading._records import Sampling
from grading.formats._score_tables import GRADE, PASSAGE, QUESTION, TOPIC
from grading.formats._trec import read_qrels

Judgements = Mapping[str, Mapping[str, float]]
"""topic -> what was judged -> grade."""
Over = Literal["auto", "topics", "pairs"]
SAMPLING = Sampling(draws=1000)
"""Coefficients take longer than means, so that there are fewer resamples of judgements."""
MOST_PAIRS = 10
"""So many of the pairs that one judge alone judged are listed; the count says how many there are."""
TOPICS = 10
"""Intervals resample topics from this many topics on, unless asked otherwise; fewer are too few to resample."""


class JudgedPassage(NamedTuple):
    """A passage of a topic, as a judge saw it."""

    topic: str
    passage: str


class JudgedOnce(NamedTuple):
    """What only one of the files judges: passages by topic, and the topics that the other file lacks."""

    pairs: tuple[JudgedPassage, ...]
    topics: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """How many there are, and the first of them."""
        return {"n": len(self.pairs), "topics": self.topics, "first": self.pairs[:MOST_PAIRS]}


class JudgeAgreement(NamedTuple):
    """The agreement of two judges, a and b, over the `n` pairs, of `n_topics` topics, that both judged.

    `agreement` is the share of equal grades. `kappa` is Cohen's, `kappa_quadratic` weights disagreements by the squared
    distance of the grades; `alpha` is Krippendorff's for nominal grades, `alpha_ordinal` and `alpha_interval` for
    ordered ones. `kappa_binary` is Cohen's of grades at the `threshold` or above against the rest, None without one.
    `interval_over` is what the intervals resample. `confusion[x][y]` counts the pairs that a grades x and b y.
    `without_grade` counts the rows of each judge that are left out.
    """

    n: int
    n_topics: int
    agreement: IntervalEstimate
    kappa: IntervalEstimate
    kappa_quadratic: IntervalEstimate
    alpha: IntervalEstimate
    alpha_ordinal: IntervalEstimate
    alpha_interval: IntervalEstimate
    kappa_binary: IntervalEstimate | None
    interval: float
    interval_over: Literal["topics", "pairs"]
    threshold: float | None
    confusion: dict[float, dict[float, int]]
    only_in_a: JudgedOnce
    only_in_b: JudgedOnce
    without_grade: Mapping[str, int]

    def record(self) -> dict[str, Any]:
        """The result as JSON types, without what is not known."""
        confusion = {f"{one:g}": {f"{two:g}": n for two, n in row.items()} for one, row in self.confusion.items()}
        return {name: one for name, one in self._asdict().items() if one is not None} | {"confusion": confusion}

    def lines(self) -> list[str]:
        """The result for a reader."""
        known = {name: one for name, one in self._asdict().items() if isinstance(one, IntervalEstimate)}
        over = f"{self.interval:.0%} intervals over {self.interval_over}"
        lines = [
            f"{self.n} pairs of {self.n_topics} topics judged by both; {over}",
            *(f"  {name:<16} {interval_text(value)}" for name, value in known.items()),
            *_confusion_lines(self.confusion),
        ]
        for which, one in {"a": self.only_in_a, "b": self.only_in_b}.items():
            if one.pairs:
                pairs = shortened([" ".join(pair) for pair in one.pairs])
                whole = f"; {len(one.topics)} topics wholly: {shortened(one.topics)}" if one.topics else ""
                lines.append(f"only in {which.upper()}: {len(one.pairs)} pairs ({pairs}){whole}")
            if self.without_grade[which]:
                lines.append(f"without a grade in {which.upper()}: {self.without_grade[which]} rows, left out")
        return lines


def read_judgements(path: str | Path) -> tuple[Judgements, int]:
    """Read the judgements of a qrels file or of a table, and the number of rows without a grade.

    A table (with a header, or JSON lines) has `topic, passage, grade`, and `question` if each passage is graded by
    several questions: then a pair of passage and question is judged. Raises `ValueError` (file:line, found, wanted) for
    lines of another form and for repeated judgements.
    """
    path = Path(path)
    if not _is_table(path):
        return read_qrels(path), 0
    judgements: dict[str, dict[str, float]] = {}
    rows = read_rows(path, {**TOPIC, **PASSAGE}, {**GRADE, **QUESTION})
    graded = [row for row in rows if "grade" in row.fields]
    if not graded:
        raise ValueError(f"{path}: no row has a grade; wanted a column 'grade'")
    for row in graded:
        topic, passage = row.text("topic"), row.text("passage")
        passage += f" by {row.text('question')}" if "question" in row.fields else ""
        if passage in judgements.setdefault(topic, {}):
            raise ValueError(f"{row.place}: {passage!r} of topic {topic!r} occurs twice; wanted it once")
        judgements[topic][passage] = row.number("grade")
    return judgements, len(rows) - len(graded)


def agree_files(
    first: Path, second: Path, sampling: Sampling, *, over: Over, threshold: float | None
) -> JudgeAgreement:
    """The agreement of the judgements of two files, with fewer resamples; rows without a grade are counted.

    Raises `ValueError` as `read_judgements` and `agree`, and for a threshold that does not divide the grades.
    """
    (a, without_a), (b, without_b) = read_judgements(first), read_judgements(second)
    if threshold is not None:
        _require_divided({first: a, second: b}, threshold)
    found = agree(a, b, replace(sampling, draws=SAMPLING.draws), over=over, threshold=threshold)
    return found._replace(without_grade={"a": without_a, "b": without_b})


def agree(
    first: Judgements,
    second: Judgements,
    sampling: Sampling = SAMPLING,
    *,
    over: Over = "auto",
    threshold: float | None = None,
) -> JudgeAgreement:
    """The agreement of two sets of judgements; `ValueError` when they have no pair in common."""
    pairs = [(topic, one) for topic, judged in first.items() for one in judged if one in second.get(topic, {})]
    if not pairs:
        raise ValueError("judgements: no topic and passage is judged by both; wanted some in common")
    grades = [[judged[topic][one] for topic, one in pairs] for judged in (first, second)]
    topics = len({topic for topic, _ in pairs})
    by_topic = over == "topics" or (over == "auto" and topics >= TOPICS)
    groups = [topic for topic, _ in pairs] if by_topic else None
    kappa_of = partial(cohen_kappa, groups=groups, **vars(sampling))
    kappa = partial(kappa_of, *grades)
    alpha = partial(krippendorff_alpha, grades, groups=groups, **vars(sampling))
    return JudgeAgreement(
        n=len(pairs),
        n_topics=topics,
        agreement=_observed(grades, groups, sampling),
        kappa=kappa(),
        kappa_quadratic=kappa(weights="quadratic"),
        alpha=alpha(),
        alpha_ordinal=alpha(metric="ordinal"),
        alpha_interval=alpha(metric="interval"),
        kappa_binary=None if threshold is None else kappa_of(*[[one >= threshold for one in row] for row in grades]),
        interval=sampling.interval,
        interval_over="topics" if by_topic else "pairs",
        threshold=threshold,
        confusion=_confusion(grades),
        only_in_a=_only(first, second),
        only_in_b=_only(second, first),
        without_grade={"a": 0, "b": 0},
    )


def _require_divided(files: Mapping[Path, Judgements], threshold: float) -> None:
    """Refuse a threshold that no grade of a file reaches, or that all grades of all files reach."""
    if not math.isfinite(threshold):
        raise ValueError(f"threshold: {threshold:g}; wanted a finite number")
    grades = {path: [grade for one in judged.values() for grade in one.values()] for path, judged in files.items()}
    for path, known in grades.items():
        if max(known) < threshold:
            raise ValueError(
                f"{path}: the highest grade is {max(known):g}; wanted one of {threshold:g} or more (--threshold)"
            )
    lowest = min(map(min, grades.values()))
    if lowest >= threshold:
        names = ", ".join(map(str, grades))
        raise ValueError(f"{names}: the lowest grade is {lowest:g}; wanted one below {threshold:g} (--threshold)")


def _is_table(path: Path) -> bool:
    """Whether a file is a table, by its name or by a header with a grade."""
    if has_suffix(path, ".csv") or holds_json(path):
        return True
    header = read_text(path).partition("\n")[0].replace(",", "\t").split("\t")
    return bool({"grade", *GRADE["grade"]} & {one.strip() for one in header})


def _observed(grades: list[list[float]], groups: list[str] | None, sampling: Sampling) -> IntervalEstimate:
    """The share of pairs with equal grades."""
    names: list[str] | list[int] = list(range(len(grades[0]))) if groups is None else groups
    number = {one: at for at, one in enumerate(dict.fromkeys(names))}
    at = np.array([number[one] for one in names])
    equal = np.bincount(at, weights=np.equal(grades[0], grades[1]))
    size = np.bincount(at)
    return sampling.of(lambda drawn: float(equal[drawn].sum() / size[drawn].sum()), len(size))


def _confusion(grades: list[list[float]]) -> dict[float, dict[float, int]]:
    pairs = Counter(zip(*grades, strict=True))
    labels = sorted({one for row in grades for one in row})
    return {one: {other: pairs[one, other] for other in labels} for one in labels}


def _confusion_lines(table: Mapping[float, Mapping[float, int]]) -> list[str]:
    width = max(6, *(len(str(n)) for row in table.values() for n in row.values()))
    rows = (f"  {one:>7g} " + " ".join(f"{n:>{width}}" for n in row.values()) for one, row in table.items())
    return ["  A \\ B   " + " ".join(f"{one:>{width}g}" for one in table), *rows]


def _only(these: Judgements, others: Judgements) -> JudgedOnce:
    pairs = (JudgedPassage(topic, one) for topic, judged in these.items() for one in judged)
    alone = tuple(one for one in pairs if one.passage not in others.get(one.topic, {}))
    return JudgedOnce(alone, tuple(topic for topic in these if topic not in others))
