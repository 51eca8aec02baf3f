"""How far a passage must raise a choice: the margin of EXAM's own reader, set on questions whose passage is known.

A question is read twice: with the passage that it was written from, and with passages of other documents, which support
none of its choices. The margin is the least with which at most a wanted share of the latter would be answered: the
`ceil((n + 1)(1 - share))`-th smallest of their largest supports, beyond which one more such question lies with at most
that probability (Vovk, Gammerman and Shafer 2005, split conformal prediction). How it does is told on questions that
had no part in choosing it; those on one document are held out together, because they share its passages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import INTERVAL_LEVEL, Exam, IntervalEstimate, Likelihoods, NoReply, Question, wilson
from grading.graders._assessor import CachedAssessor, choice_task
from grading.graders._choices import TOGETHER, supported

SHARE = 0.05
"""Of questions without support in the passage so many may be answered: the usual level of a test."""
FOLDS = 5
"""Parts in which questions are held out: five leave four fifths to set the margin on."""
NORMALIZATION = "character"

Report = Callable[[int, int], None]
"""Told how much is done: done questions, all questions."""


class Trial(NamedTuple):
    """A question with the passage that it was written from, and passages of other documents."""

    question: Question
    gold: str
    others: tuple[str, ...]


class TrialLikelihoods(NamedTuple):
    """What a model made of a trial: likelihoods without a passage, with the gold one, with each of the others."""

    trial: Trial
    closed: Likelihoods
    gold: Likelihoods
    others: tuple[Likelihoods, ...]

    def choice(self, margin: float, *, gold: bool) -> int | None:
        """The choice that the gold passage, or one of the others, supports by more than the margin."""
        read, texts = (self.gold,) if gold else self.others, self.trial.question.choices
        return supported(self.closed.sums, read, texts, margin, NORMALIZATION).choice

    @property
    def unsupported(self) -> float:
        """The largest support, in nats, of any choice by any of the other passages."""
        choices = self.trial.question.choices
        return supported(self.closed.sums, self.others, choices, math.inf, NORMALIZATION).support


class Calibration(NamedTuple):
    """The margin in nats, and its rates on questions held out: shares of `n`, with Wilson intervals.

    `unsupported` are other documents' passages that get an answer, `answered` gold passages that do, `right` those that
    get the right one. `margins` are those of the folds.
    """

    margin: float
    unsupported: IntervalEstimate
    answered: IntervalEstimate
    right: IntervalEstimate
    n: int
    margins: tuple[float, ...]


def trials_of(exam: Exam, passages: int = 1, seed: int = 0) -> list[Trial]:
    """Each question that has a passage, with so many passages of other documents, drawn at random.

    They are of questions on the same topic where these are on enough other documents, since articles are on their
    topic. Raises `ValueError` where a question has too few to draw from.
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
    trials: Sequence[Trial], asking: CachedAssessor, report: Report | None = None
) -> Iterator[TrialLikelihoods | NoReply]:
    """What the model makes of each trial, or why there is no answer to it."""
    waiting, done = iter(trials), 0
    while group := list(islice(waiting, TOGETHER)):
        texts = [("", one.gold, *one.others) for one in group]
        tasks = [choice_task(one.question, text) for one, some in zip(group, texts, strict=True) for text in some]
        found = asking.scored(tasks)
        for one, some in zip(group, texts, strict=True):
            yield _read(one, [next(found).likelihoods for _ in some])
        done += len(group)
        if report is not None:
            report(done, len(trials))


def _read(trial: Trial, found: Sequence[Likelihoods | NoReply]) -> TrialLikelihoods | NoReply:
    known = [one for one in found if not isinstance(one, NoReply)]
    if len(known) < len(found):
        return next(one for one in found if isinstance(one, NoReply))
    closed, gold, *others = known
    return TrialLikelihoods(trial, closed, gold, tuple(others))


def calibrate(
    reads: Sequence[TrialLikelihoods],
    *,
    share: float = SHARE,
    folds: int = FOLDS,
    level: float = INTERVAL_LEVEL,
    seed: int = 0,
) -> Calibration:
    """The margin, and what it does on questions that it was not chosen on.

    Raises `ValueError` for a share outside 0 to 1, fewer documents than folds, and too few questions for such a share.
    """
    if not 0 < share < 1:
        raise ValueError(f"share: {share:g}; wanted between 0 and 1")
    supports = np.array([one.unsupported for one in reads])
    held_out = _folds([one.trial.question.document_id for one in reads], folds, seed)
    margins = [_margin(supports[held_out != fold], share) for fold in range(folds)]
    mine = [margins[fold] for fold in held_out]
    answers = [one.choice(margin, gold=True) for one, margin in zip(reads, mine, strict=True)]
    right = [answer == one.trial.question.key for one, answer in zip(reads, answers, strict=True)]
    return Calibration(
        _margin(supports, share),
        _rate([float(support > margin) for support, margin in zip(supports, mine, strict=True)], level),
        _rate([float(answer is not None) for answer in answers], level),
        _rate([float(one) for one in right], level),
        len(reads),
        tuple(margins),
    )


def _folds(documents: Sequence[str], folds: int, seed: int) -> NDArray[np.intp]:
    """The fold of each question, the same for those on one document."""
    names = sorted(set(documents))
    if len(names) < folds:
        raise ValueError(f"questions: on {len(names)} documents; wanted at least {folds}, to hold some of them out")
    order = np.random.default_rng(seed).permutation(len(names))
    fold: Mapping[str, int] = {names[place]: at % folds for at, place in enumerate(order)}
    return np.array([fold[one] for one in documents], dtype=np.intp)


def _margin(supports: NDArray[np.float64], share: float) -> float:
    """The margin that at most a share of such supports exceeds; never below 0, since support raises a choice."""
    place = math.ceil((len(supports) + 1) * (1 - share))
    if place > len(supports):
        least = math.ceil(1 / share) - 1
        raise ValueError(
            f"questions: {len(supports)} to choose a margin on; wanted at least {least} for a share of {share:g}"
        )
    return max(0.0, float(np.sort(supports)[place - 1]))


def _rate(hits: Sequence[float], level: float) -> IntervalEstimate:
    mean = float(np.mean(hits))
    return IntervalEstimate(mean, *wilson(mean, len(hits), level))
