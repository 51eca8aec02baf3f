"""What one scores on an exam without reading it, and whether that is more than luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exam_gen.records import Question

_DRAWS = 20_000
_ALPHA = 0.05


@dataclass(frozen=True)
class Baseline:
    """A blind strategy's accuracy, what luck gives it on average, and the most that luck gives in 95 of 100 exams."""

    accuracy: float
    expected: float
    limit: float

    @property
    def is_luck(self) -> bool:
        """True when the strategy does no better than luck explains."""
        return self.accuracy <= self.limit + 1e-12


def fixed_answer(questions: Sequence[Question], seed: int = 0) -> Baseline:
    """Always the same position, the best one in hindsight; luck is keys placed at random.

    The best of several positions beats chance even when keys are random, so the limit comes from simulated exams
    of the same questions.
    """
    rng = np.random.default_rng(seed)
    sizes = np.array([len(question.choices) for question in questions])
    counts = np.zeros((_DRAWS, int(sizes.max())))
    for size in np.unique(sizes):
        n = int((sizes == size).sum())
        counts[:, : int(size)] += rng.multinomial(n, np.full(int(size), 1 / size), size=_DRAWS)
    luck = counts.max(axis=1) / len(questions)
    found = np.bincount([question.key for question in questions]).max() / len(questions)
    return Baseline(float(found), float(luck.mean()), float(np.quantile(luck, 1 - _ALPHA)))


def longest_answer(questions: Sequence[Question], seed: int = 0) -> Baseline:
    """Always the choice with the most characters, ties shared; luck is the key being any of the choices."""
    rng = np.random.default_rng(seed)
    found, luck = 0.0, np.zeros(_DRAWS)
    for question in questions:
        lengths = [len(choice) for choice in question.choices]
        longest = lengths.count(max(lengths))
        found += (lengths[question.key] == max(lengths)) / longest
        luck += (rng.random(_DRAWS) < longest / len(lengths)) / longest
    n = len(questions)
    chance = sum(1 / len(question.choices) for question in questions) / n
    return Baseline(found / n, chance, float(np.quantile(luck / n, 1 - _ALPHA)))
