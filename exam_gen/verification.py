"""Does the passage support the key and none of the wrong answers? Judged by the writer's own likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exam_gen.distractors import Option
from exam_gen.model import Likelihoods, Prompt
from exam_gen.prompts import closed_prompt, open_prompt


@dataclass(frozen=True)
class Thresholds:
    """What a question must show, in nats: `support` is the least mean log-likelihood per token of the key given the passage.

    `margin` is the least lead of the key over a wrong answer with the passage, by sum and by mean; `lift` the least
    gain of the key's log-likelihood that the passage brings.
    """

    support: float = -1.2
    margin: float = 1.5
    lift: float = 0.5


@dataclass(frozen=True)
class Verdict:
    """The measured likelihoods and what follows: the admissible options, or the reason for none."""

    reason: str | None
    options: tuple[Option, ...]
    support: float
    lift: float
    margin: float
    closed: float


def requests(
    title: str, passage: str, stem: str, key: str, wrong: Sequence[str]
) -> list[tuple[Prompt, tuple[str, ...]]]:
    """The two likelihood requests of a question: with the passage, and without."""
    choices = tuple(f" {text}" for text in (key, *wrong))
    return [(open_prompt(title, passage, stem), choices), (closed_prompt(stem), choices)]


def judge(with_passage: Likelihoods, without: Likelihoods, wrong: Sequence[str], limits: Thresholds) -> Verdict:
    """Judge the key (first continuation) against the wrong answers `wrong` (the others)."""
    sums, tokens = with_passage.sums, with_passage.tokens
    means = [total / count for total, count in zip(sums, tokens, strict=True)]
    closed = [total / count for total, count in zip(without.sums, without.tokens, strict=True)]
    leads = [min(sums[0] - s, means[0] - m + limits.margin / 2) for s, m in zip(sums[1:], means[1:], strict=True)]
    options = tuple(
        Option(text, round(c, 4))
        for text, lead, c in zip(wrong, leads, closed[1:], strict=True)
        if lead >= limits.margin
    )
    lift = sums[0] - without.sums[0]
    reason = None
    if means[0] < limits.support:
        reason = "key not supported by the passage"
    elif lift < limits.lift:
        reason = "key known without the passage"
    elif len(options) < 3:
        reason = "fewer than three wrong answers"
    return Verdict(
        reason, options, round(means[0], 4), round(lift, 4), round(min(leads, default=0.0), 4), round(closed[0], 4)
    )
