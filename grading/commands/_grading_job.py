"""What `ragexam grade run` is asked to do, and its files, read before anything heavy is loaded."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from examcore import Exam, read_exam
from grading.banks._bank_writing import read_topics
from grading.commands._options import GraderOptions, ModelOptions, Resampling
from grading.formats._articles import Articles, articles_of
from grading.formats._bank_files import read_bank
from grading.formats._file_faults import Fault, in_words
from grading.formats._margin_files import read_margin
from grading.formats._passages import PassageQuestion, keyed, pair, read_passages
from rag.engines import EngineOptions

_OWN_OPTIONS = {"qa": ("verify",), "relevance": ("scale", "shots"), "reader": ("threshold",)}
"""Options that concern one grader only."""
KEYED = ("qa", "reader")
"""Graders that compare answers with a key."""
Reading = tuple[Exam, Articles]
"""The exam and the articles that are read by choices."""


@dataclass(frozen=True)
class GradingJob:
    """What is graded, how, and where to: the arguments and options of `ragexam grade run`.

    Raises `ValueError` for a grader or a batch that works in this process only, with workers elsewhere.
    """

    bank: Path
    passages: Path
    out: Path
    model: ModelOptions
    options: GraderOptions
    engine: EngineOptions
    resampling: Resampling

    def __post_init__(self) -> None:
        if self.engine != EngineOptions() and (self.options.batch > 1 or self.options.grader == "reader"):
            found = "--grader reader" if self.options.grader == "reader" else f"--batch {self.options.batch}"
            raise ValueError(f"{found}: found with --engine or --workers; wanted one of them")

    @property
    def command(self) -> str:
        """The command as it can be run again; options that change no grade are left out."""
        options, model = vars(self.options), vars(self.model)
        values = {"grader": options["grader"], "model": model["model"], "out": self.out}
        values |= {name: model[name] for name in ("dtype", "device") if model[name] != "auto"}
        values |= {name: options[name] for name in ("limit", "queries", "margin")} | vars(self.resampling)
        values |= {name: options[name] for name in _OWN_OPTIONS.get(options["grader"], ())}
        words = [str(one) for name, value in values.items() if value is not None for one in (f"--{name}", value)]
        return shlex.join(["ragexam", "grade", "run", str(self.bank), str(self.passages), *words])


class Given(NamedTuple):
    """What the files of a job hold: the pairs to grade, what takes no part, and what single graders need besides.

    `reading` is the exam and the articles, for choices; `margin` theirs, None for the usual one; `queries` the texts of
    queries by id, for relevance; `notes` are sentences on how the files were read.
    """

    pairs: tuple[PassageQuestion, ...]
    left_out: dict[str, Any]
    reading: Reading | None = None
    margin: float | None = None
    queries: dict[str, str] | None = None
    notes: tuple[str, ...] = ()


def read_job(job: GradingJob) -> Given:
    """Read the files of a job; raises `ValueError` or `OSError` in one line for what cannot be graded."""
    passages = read_passages(job.passages)
    if job.options.grader == "choices":
        exam = read_exam(job.bank)
        found = articles_of(exam, passages)
        left = _left(found.without_questions, found.without_passages, 0)
        return Given(found.pairs, left, (exam, found), read_margin(job.options.margin, job.model.model))
    faults: list[Fault] = []
    paired = pair(read_bank(job.bank, faults), passages)
    if job.options.grader in KEYED and not keyed(paired.pairs):
        raise ValueError(f"{job.bank}: no question with passages has a key; wanted answers, or --grader rating")
    queries = None if job.options.queries is None else {one.query: one.text for one in read_topics(job.options.queries)}
    left = _left(paired.without_questions, paired.without_passages, paired.passages_left_out)
    return Given(paired.pairs, left, queries=queries, notes=tuple(in_words(faults)))


def _left(without_questions: tuple[str, ...], without_passages: tuple[str, ...], passages: int) -> dict[str, Any]:
    return {
        "queries_without_questions": list(without_questions),
        "queries_without_passages": list(without_passages),
        "passages": passages,
    }
