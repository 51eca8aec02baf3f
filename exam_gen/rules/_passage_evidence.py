"""What a language model's likelihoods say of a finished question: is its key supported, and is it known anyway?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from exam_gen._prompts import closed_prompt, open_prompt
from exam_gen.drafting._verification import leads, means
from exam_gen.language._similarity import distractors
from exam_gen.rules._rule import Measure, RuleMeasure, RuleTools
from examcore import Likelihoods, Question


class EvidenceLikelihoods(NamedTuple):
    """Likelihoods of key (first) and distractors, with the passage (None for a question without one) and without."""

    with_passage: Likelihoods | None
    without: Likelihoods


def support(read: EvidenceLikelihoods) -> float:
    """Mean log-likelihood per token of the key given the passage, in nats."""
    return means(read.with_passage)[0] if read.with_passage else np.nan


def margin(read: EvidenceLikelihoods) -> float:
    """The least lead of the key over a distractor given the passage, in nats (see `verification.leads`)."""
    return min(leads(read.with_passage), default=np.nan) if read.with_passage else np.nan


def lift(read: EvidenceLikelihoods) -> float:
    """What the passage adds to the log-likelihood of the key, in nats."""
    return read.with_passage.sums[0] - read.without.sums[0] if read.with_passage else np.nan


def blind_lead(read: EvidenceLikelihoods) -> float:
    """The lead of the key over the likeliest distractor without the passage, nats per token; solved above 0."""
    key, *others = means(read.without)
    return key - max(others, default=key)


def read(question: Question, tools: RuleTools) -> EvidenceLikelihoods:
    """Ask the model for the likelihoods of a question's choices."""
    if tools.model is None:
        raise ValueError("rules: no language model is given; wanted one for the rules that read likelihoods")
    choices = [f" {text}" for text in (question.answer, *distractors(question))]
    opened = None
    if question.context:
        title = str(question.metadata.get("title", ""))
        opened = tools.model.log_likelihoods(
            open_prompt(title, question.context, question.stem, question.language), choices
        )
    return EvidenceLikelihoods(
        opened, tools.model.log_likelihoods(closed_prompt(question.stem, question.language), choices)
    )


def evidence(number: Callable[[EvidenceLikelihoods], float]) -> Measure:
    """The measure that takes one number from what the model reads; a blank choice has no likelihood, so NaN."""

    def measure(questions: Sequence[Question], tools: RuleTools) -> RuleMeasure:
        values = np.zeros(len(questions))
        for row, question in enumerate(questions):
            blank = any(not choice.strip() for choice in question.choices)
            values[row] = np.nan if blank else number(read(question, tools))
            if tools.progress:
                tools.progress(row + 1, len(questions))
        return RuleMeasure(values)

    return measure
