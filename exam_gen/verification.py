"""Does the passage support the key and none of the wrong answers? Judged by the writer's own likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exam_gen.distractors import Option
from exam_gen.model import Likelihoods


@dataclass(frozen=True)
class Thresholds:
    """What a question must show, in nats.

    `support`: the least mean log-likelihood per token of the key given the passage. `margin`: the least lead of the key
    over a wrong answer with the passage, in the sum; in the mean per token half of it. `lift`: the least gain of the
    key's log-likelihood that the passage brings.
    """

    support: float = -1.2
    margin: float = 1.5
    lift: float = 3.0


@dataclass(frozen=True)
class Verdict:
    """The wrong answers that may be used, the measured likelihoods, and the reason when the question fails."""

    reason: str | None
    options: tuple[Option, ...]
    support: float
    margin: float
    lift: float
    closed: float


def supported(with_passage: Likelihoods, limits: Thresholds) -> bool:
    """Whether the model would give the key (first continuation) itself when it reads the passage."""
    return with_passage.sums[0] / with_passage.tokens[0] >= limits.support


def judge(with_passage: Likelihoods, without: Likelihoods, wrong: Sequence[str], limits: Thresholds) -> Verdict:
    """Judge the key (first continuation) and the wrong answers `wrong` (the other continuations, in order)."""
    sums, means = with_passage.sums, _means(with_passage)
    closed = _means(without)
    leads = [min(sums[0] - s, 2 * (means[0] - m)) for s, m in zip(sums[1:], means[1:], strict=True)]
    options = tuple(
        Option(text, round(likelihood, 4))
        for text, lead, likelihood in zip(wrong, leads, closed[1:], strict=True)
        if lead >= limits.margin
    )
    lift = sums[0] - without.sums[0]
    reason = None
    if lift < limits.lift:
        reason = "key known without the passage"
    elif len(options) < 3:
        reason = "wrong answers as likely as the key"
    margin = sorted(leads)[-3] if len(leads) >= 3 else 0.0
    return Verdict(reason, options, round(means[0], 4), round(margin, 4), round(lift, 4), round(closed[0], 4))


def _means(likelihoods: Likelihoods) -> list[float]:
    return [total / count for total, count in zip(likelihoods.sums, likelihoods.tokens, strict=True)]
