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
    closed = means(without)
    ahead = leads(with_passage)
    options = tuple(
        Option(text, round(likelihood, 4))
        for text, lead, likelihood in zip(wrong, ahead, closed[1:], strict=True)
        if lead >= limits.margin
    )
    lift = with_passage.sums[0] - without.sums[0]
    reason = None
    if lift < limits.lift:
        reason = "key known without the passage"
    elif len(options) < 3:
        reason = "wrong answers as likely as the key"
    margin = sorted(ahead)[-3] if len(ahead) >= 3 else 0.0
    return Verdict(
        reason, options, round(means(with_passage)[0], 4), round(margin, 4), round(lift, 4), round(closed[0], 4)
    )


def leads(likelihoods: Likelihoods) -> list[float]:
    """By how much the first continuation leads each other one, in nats: the sum, or twice the mean if that is less."""
    sums, each = likelihoods.sums, means(likelihoods)
    return [min(sums[0] - s, 2 * (each[0] - m)) for s, m in zip(sums[1:], each[1:], strict=True)]


def means(likelihoods: Likelihoods) -> list[float]:
    """Mean log-likelihood per token of each continuation, in nats."""
    return [total / count for total, count in zip(likelihoods.sums, likelihoods.tokens, strict=True)]
