"""What examinees score who only look at the choices: always the same position, always the longest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from examcore import Question, wilson


class Baseline(NamedTuple):
    """The accuracy of an examinee who only looks at the choices.

    `low`, `high`: 95 % Wilson interval. `chance`: what the same strategy is expected to score when keys are placed at
    random; `p_value`: how often it then scores as far off as here; `within_chance`: `p_value` of at least .05.
    """

    accuracy: float
    low: float
    high: float
    chance: float
    p_value: float
    within_chance: bool


def fixed_answer_baseline(questions: Sequence[Question], *, draws: int = 20_000, seed: int = 0) -> Baseline:
    """The best score of always picking the same position.

    Choosing the best position after the fact flatters: `chance` is the expected best score when every key is placed
    at random, by `draws` exams, and `p_value` the share of them that reach the score found.
    """
    if not questions:
        return _UNDEFINED
    best = max(key_positions(questions))
    rng = np.random.default_rng(seed)
    sizes = Counter(len(question.choices) for question in questions)
    counts = np.zeros((draws, max(sizes)), dtype=np.int64)
    for size, number in sizes.items():
        counts[:, :size] += rng.multinomial(number, np.full(size, 1 / size), size=draws)
    most = counts.max(axis=1)
    p_value = float((1 + np.sum(most >= best)) / (1 + draws))
    return _baseline(best / len(questions), len(questions), float(most.mean() / len(questions)), p_value)


def length_baseline(questions: Sequence[Question], extreme: Callable[[Sequence[int]], int] = max) -> Baseline:
    """The score of always picking the longest choice (or, with `min`, the shortest); ties share the point.

    With keys placed at random the expected score is the mean of one over the number of choices, whatever the ties; the
    p-value is two-sided, by the normal distribution with the variance the ties leave.
    """
    if not questions:
        return _UNDEFINED
    scores, chances, variances = [], [], []
    for question in questions:
        lengths = [len(choice) for choice in question.choices]
        tied = lengths.count(extreme(lengths))
        scores.append((lengths[question.key] == extreme(lengths)) / tied)
        chances.append(1 / len(lengths))
        variances.append(1 / (tied * len(lengths)) - 1 / len(lengths) ** 2)
    total = len(scores)
    accuracy, chance, sd = sum(scores) / total, sum(chances) / total, float(np.sqrt(sum(variances))) / total
    # Half a question of continuity correction; without variance (all tied) the score is the chance value itself.
    distance = max(0.0, abs(accuracy - chance) - 0.5 / total)
    p_value = float(2 * ndtr(-distance / sd)) if sd > 0 else 1.0
    return _baseline(accuracy, total, chance, min(1.0, p_value))


_UNDEFINED = Baseline(np.nan, np.nan, np.nan, np.nan, np.nan, within_chance=False)


def _baseline(accuracy: float, total: int, chance: float, p_value: float) -> Baseline:
    low, high = wilson(accuracy, total)
    return Baseline(accuracy, low, high, chance, p_value, within_chance=p_value >= 0.05)


def key_positions(questions: Sequence[Question]) -> tuple[int, ...]:
    """How often the key stands at each position."""
    size = max((len(question.choices) for question in questions), default=0)
    return tuple(np.bincount([question.key for question in questions], minlength=size).tolist())
