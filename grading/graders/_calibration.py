"""The margin of EXAM's own reader, calibrated on questions whose passage is known.

Each question is read with the passage that it was written from, and with passages of other documents, which support
none of its choices. The margin is the lowest at which at most `share` of the latter would be answered: the
`ceil((n + 1)(1 - share))`-th smallest of their largest supports, which a new such question exceeds with at most that
probability (split conformal prediction; Vovk, Gammerman and Shafer 2005). Its rates are estimated on held-out
questions; those on one document are held out together, because they share its passages.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import (
    Exam,
    FailedError,
    IntervalEstimate,
    JsonRecord,
    Likelihoods,
    ModelUsage,
    NoReply,
    Progress,
    Question,
    ReplyStore,
    ReportProgress,
    RunFolder,
    check_format,
    read_exam,
    shown_json,
    unreported,
    wilson,
    write_text,
)
from examcore.console import interval_text, jsonable
from grading._file_rows import read_json_object
from grading._printing import noted
from grading._records import SAMPLING, Sampling
from grading.graders._assessor import NORMALIZATION, CachedAssessor, ModelOptions, asking_of, choice_task
from grading.graders._choices import MARGIN, TOGETHER, supported
from rag import EXAM_PROMPT_VERSION

SHARE = 0.05
"""The share of questions that may be answered without support in the passage: the usual level of a test."""
FOLDS = 5
"""Parts of the questions, each held out once: five leave four fifths to set the margin on."""


class Trial(NamedTuple):
    """A question with the passage that it was written from, and passages of other documents."""

    question: Question
    gold: str
    others: tuple[str, ...]


class TrialLikelihoods(NamedTuple):
    """The likelihoods of a trial: without a passage, with the gold one, and with each of the others."""

    trial: Trial
    closed: Likelihoods
    gold: Likelihoods
    others: tuple[Likelihoods, ...]

    def choice(self, margin: float, *, gold: bool) -> int | None:
        """The choice that the gold passage, or one of the others, supports by more than the margin."""
        read = (self.gold,) if gold else self.others
        return supported(self.closed.sums, read, self.trial.question.choices, margin).choice

    @property
    def unsupported(self) -> float:
        """The largest support, in nats, of any choice by any of the other passages."""
        return supported(self.closed.sums, self.others, self.trial.question.choices, math.inf).support


class Calibration(NamedTuple):
    """The margin in nats, and its rates on held-out questions: shares of `n`, with Wilson intervals.

    `unsupported` is the share answered from other documents' passages, `answered` that from gold passages, `right` that
    answered rightly from gold passages. `margins` are those of the folds.
    """

    margin: float
    unsupported: IntervalEstimate
    answered: IntervalEstimate
    right: IntervalEstimate
    n: int
    margins: tuple[float, ...]


class MarginResult(NamedTuple):
    """The margin of a model for articles of so many `passages`, at most `share` answered without support."""

    path: Path
    found: Calibration
    share: float
    passages: int
    model: str
    exam: Path
    without_passage: int
    sampling: Sampling
    usage: ModelUsage

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "margin": self.found.margin,
            "n": self.found.n,
            "margins": self.found.margins,
            "held_out": {name: getattr(self.found, name) for name in ("unsupported", "answered", "right")},
            "share": self.share,
            "passages": self.passages,
            "model": self.model,
            "prompt": EXAM_PROMPT_VERSION,
            "normalization": NORMALIZATION,
            "exam": self.exam,
            "without_passage": self.without_passage,
            "interval": self.sampling.interval,
            "seed": self.sampling.seed,
            "usage": self.usage,
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        found, margins = self.found, self.found.margins
        lines = [
            f"{self.path}: margin {found.margin:.3f} nats for {self.model}, from {found.n} questions",
            f"on questions held out (margins {min(margins):.3f} to {max(margins):.3f}):",
            f"  answered from passages of other documents: {interval_text(found.unsupported)}, "
            f"wanted at most {self.share:g}",
            f"  answered from their own passage: {interval_text(found.answered)}",
            f"  answered rightly from it: {interval_text(found.right)}",
        ]
        notes = []
        if found.unsupported.low > self.share:
            notes.append("More is answered without support than wanted: the margin does not hold on other questions.")
        if found.answered.low <= found.unsupported.high:
            notes.append("Questions are not clearly answered more often from their own passage: the model cannot tell.")
        if self.without_passage:
            notes.append(f"Questions without a document or passage, which take no part: {self.without_passage}.")
        return [*lines, *noted(notes)]


def set_margin(
    exam: Path, model: ModelOptions, out: Path, sampling: Sampling, progress: Progress, *, share: float, passages: int
) -> MarginResult:
    """Calibrate the margin on the questions of a file, and write it into the folder `out`.

    Raises `FailedError` where replies are missing, and `ValueError` as `trials_of` and `calibrate`.
    """
    questions = read_exam(exam)
    trials = trials_of(questions, passages, sampling.seed)
    if not trials:
        raise ValueError(f"{exam}: no question has a document and the passage it was written from; wanted some that do")
    with RunFolder(out).held(), ReplyStore(out / "replies.sqlite") as store:
        with asking_of(model, store, progress) as asking, progress.step("reading") as report:
            found = list(read_trials(trials, asking, report))
        lost = [one for one in found if isinstance(one, NoReply)]
        if lost:
            raise FailedError(f"{len(lost)} questions got no reply: {lost[0].reason}")
        reads = [one for one in found if not isinstance(one, NoReply)]
        calibration = calibrate(reads, sampling, share=share)
        path, without = out / "margin.json", len(questions.questions) - len(trials)
        told = MarginResult(path, calibration, share, passages, model.model, exam, without, sampling, asking.usage)
        write_text(path, [json.dumps(jsonable({"format": 1, **told.record()}), indent=2) + "\n"])
    return told


def trials_of(exam: Exam, passages: int = 1, seed: int = 0) -> list[Trial]:
    """Each question that has a passage, with `passages` of other documents, drawn at random.

    They are drawn from questions on the same topic if there are enough, since articles are on their topic. Raises
    `ValueError` for a question with too few to draw from.
    """
    rng = np.random.default_rng(seed)
    known = [one for one in exam.questions if one.context.strip() and one.document_id]
    return [Trial(one, one.context, _drawn(one, known, passages, rng)) for one in known]


def _drawn(one: Question, known: Sequence[Question], passages: int, rng: np.random.Generator) -> tuple[str, ...]:
    others = [other for other in known if other.document_id != one.document_id and other.context != one.context]
    same = dict.fromkeys(other.context for other in others if one.topic and other.topic == one.topic)
    pool = list(same if len(same) >= passages else dict.fromkeys(other.context for other in others))
    if len(pool) < passages:
        raise ValueError(
            f"question {one.id}: {len(pool)} passages of other documents; wanted {passages} that cannot answer it"
        )
    return tuple(pool[place] for place in rng.choice(len(pool), passages, replace=False))


def read_trials(
    trials: Sequence[Trial], asking: CachedAssessor, report: ReportProgress = unreported
) -> Iterator[TrialLikelihoods | NoReply]:
    """The likelihoods of each trial, or why there are none."""
    waiting, done = iter(trials), 0
    while group := list(islice(waiting, TOGETHER)):
        texts = [("", one.gold, *one.others) for one in group]
        tasks = [choice_task(one.question, text) for one, some in zip(group, texts, strict=True) for text in some]
        found = asking.scored(tasks)
        for one, some in zip(group, texts, strict=True):
            yield _read(one, [next(found).value for _ in some])
        done += len(group)
        report(done, len(trials))


def _read(trial: Trial, found: Sequence[Likelihoods | NoReply]) -> TrialLikelihoods | NoReply:
    lost = next((one for one in found if isinstance(one, NoReply)), None)
    if lost is not None:
        return lost
    closed, gold, *others = [one for one in found if not isinstance(one, NoReply)]
    return TrialLikelihoods(trial, closed, gold, tuple(others))


def calibrate(reads: Sequence[TrialLikelihoods], sampling: Sampling = SAMPLING, *, share: float = SHARE) -> Calibration:
    """The margin, and its rates on questions that it was not chosen on.

    Raises `ValueError` for a share outside 0 to 1, fewer documents than folds, and too few questions for the share.
    """
    if not 0 < share < 1:
        raise ValueError(f"share: {share:g}; wanted between 0 and 1")
    supports = np.array([one.unsupported for one in reads])
    held_out = _folds([one.trial.question.document_id for one in reads], sampling.seed)
    margins = [_margin(supports[held_out != fold], share) for fold in range(FOLDS)]
    margin_of = [margins[fold] for fold in held_out]
    answers = [one.choice(margin, gold=True) for one, margin in zip(reads, margin_of, strict=True)]
    answered = [answer is not None for answer in answers]
    right = [answer == one.trial.question.key for one, answer in zip(reads, answers, strict=True)]
    level = sampling.interval
    return Calibration(
        _margin(supports, share),
        _rate(supports > margin_of, level),
        _rate(answered, level),
        _rate(right, level),
        len(reads),
        tuple(margins),
    )


def read_margin(given: str | None, model: str) -> float:
    """The margin in nats, that of the rule of thumb where none is given.

    Raises `ValueError` for a number below 0, a file of another kind, and one that was written for another model, whose
    likelihoods have another spread.
    """
    if given is None:
        return MARGIN
    try:
        margin = float(given)
    except ValueError:
        return _margin_of_file(Path(given), model)
    if not 0 <= margin < math.inf:
        raise ValueError(f"--margin {given}; wanted a number of nats from 0 on, or the file of a calibration")
    return margin


def _margin_of_file(path: Path, model: str) -> float:
    fields = read_json_object(path)
    check_format(JsonRecord(str(path), fields))
    margin = fields.get("margin")
    if isinstance(margin, bool) or not isinstance(margin, int | float) or "model" not in fields:
        raise ValueError(f"{path}: margin {shown_json(margin)}; wanted a file of ragexam grade margin")
    if fields["model"] != model:
        raise ValueError(f"{path}: is of model {shown_json(fields['model'])}; wanted that of {json.dumps(model)}")
    return float(margin)


def _folds(documents: Sequence[str], seed: int) -> NDArray[np.intp]:
    """The fold of each question, the same for those on one document."""
    names = sorted(set(documents))
    if len(names) < FOLDS:
        raise ValueError(f"questions: on {len(names)} documents; wanted at least {FOLDS}, to hold some of them out")
    order = np.random.default_rng(seed).permutation(len(names))
    fold = {names[place]: at % FOLDS for at, place in enumerate(order)}
    return np.array([fold[one] for one in documents], dtype=np.intp)


def _margin(supports: NDArray[np.float64], share: float) -> float:
    """The margin, at least 0, that at most a share of the supports exceeds."""
    place = math.ceil((len(supports) + 1) * (1 - share))
    if place > len(supports):
        least = math.ceil(1 / share) - 1
        raise ValueError(
            f"questions: {len(supports)} to choose a margin on; wanted at least {least} for a share of {share:g}"
        )
    return max(0.0, float(np.sort(supports)[place - 1]))


def _rate(hits: Sequence[bool] | NDArray[np.bool_], level: float) -> IntervalEstimate:
    mean = float(np.mean(hits))
    return IntervalEstimate(mean, *wilson(mean, len(hits), level))
