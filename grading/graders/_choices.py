"""EXAM's own reader: which choice of an exam question an article supports, using `rag`'s answer selection.

The rule follows Sander and Dietz (2021, section 3.2.2): choices without support in the text are eliminated, the most
likely of the others is the answer, and a question with no choice left is not answered.

1. Each choice is scored after the question with each passage of the article, and after the question alone, with the
   prompt and the normalisation of the pipelines.
2. A passage supports a choice if it raises the choice's log-likelihood by more than `margin` nats, and also by more
   than `margin` above its mean effect on the other choices, since any text of the same kind raises all choices. A
   choice that no passage supports is eliminated.
3. The answer is the choice with the highest score after a passage that supports it; without one there is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from examcore import Exam, Likelihoods, NoReply, Question
from grading._records import Grade
from grading.formats._passages import Paired, Passage, PassageQuestion
from grading.graders._assessor import NORMALIZATION, AssessorReply, CachedAssessor, choice_task
from grading.graders._graders import NO_REPLY, Grader, GraderResult
from rag import EXAM_PROMPT_VERSION, ChoiceEvidence, normalized_scores

MARGIN = 2.0
"""Nats, if no margin is calibrated (`grading.graders._calibration`): support makes a choice at least seven times as
likely. The support found is stored with the grades."""
TOGETHER = 64
"""Pairs of article and question whose likelihoods are requested together."""
ABSTAINED, WRONG, RIGHT = "abstained", "wrong choice", "right choice"


class Chosen(NamedTuple):
    """The index of the choice that an article supports (None if none), that of the passage, and the support in nats."""

    choice: int | None
    passage: int
    support: float


def supported(closed: Sequence[float], read: Sequence[Likelihoods], texts: Sequence[str], margin: float) -> Chosen:
    """The choice by the rule above; `closed` `[choices]` are log-likelihoods of `texts` without a passage, in nats."""
    if not read:
        return Chosen(None, -1, math.nan)
    lift = np.array([one.sums for one in read]) - np.array(closed)
    others = (lift.sum(axis=1, keepdims=True) - lift) / max(len(texts) - 1, 1)
    support = np.minimum(lift, lift - others)
    evidence = (ChoiceEvidence(tuple(texts), one.sums, one.tokens, tuple(closed)) for one in read)
    ranked = np.array([normalized_scores(one, NORMALIZATION) for one in evidence])
    standing = np.where(support > margin, ranked, -np.inf)
    passage, choice = np.unravel_index(int(standing.argmax()), standing.shape)
    if not np.isfinite(standing[passage, choice]):
        return Chosen(None, int(passage), float(support.max()))
    return Chosen(int(choice), int(passage), float(support[passage, choice]))


def choice_reader(asking: CachedAssessor, exam: Exam, articles: Paired, margin: float = MARGIN) -> Grader:
    """A grader of articles by multiple-choice questions: 1 for the right choice, 0 for another or none.

    `passage` of a grade is the article: the system's name, or a passage's id.
    """
    questions = {one.id: one for one in exam.questions}

    def grade(pairs: Sequence[PassageQuestion]) -> Iterator[GraderResult]:
        for start in range(0, len(pairs), TOGETHER):
            group = [
                (pair, [one for one in articles.articles[pair.passage.query, pair.passage.id] if one.text.strip()])
                for pair in pairs[start : start + TOGETHER]
            ]
            asked = [questions[pair.question.id] for pair, _ in group]
            # Each question without a passage, and with each passage of the article.
            texts = [("", *(one.text for one in passages)) for _, passages in group]
            found = asking.scored(
                [choice_task(one, text) for one, some in zip(asked, texts, strict=True) for text in some]
            )
            for question, (pair, passages), some in zip(asked, group, texts, strict=True):
                yield _graded(question, pair, passages, [next(found) for _ in some], margin)

    settings = {"prompt": EXAM_PROMPT_VERSION, "normalization": NORMALIZATION, "margin": margin}
    rule = f"the margin of {MARGIN:g} nats is a rule of thumb; ragexam grade margin sets one for a model"
    return Grader("choices", settings, grade, notes=[rule] if margin == MARGIN else [])


def _graded(
    question: Question,
    pair: PassageQuestion,
    passages: Sequence[Passage],
    found: Sequence[AssessorReply[Likelihoods]],
    margin: float,
) -> GraderResult:
    cut = sum(one.cut for one in found)

    def result(grade: float, answer: str, reply: str, rule: str) -> GraderResult:
        return GraderResult(Grade(pair.question.query, pair.passage.id, question.id, grade, answer, reply), rule, cut)

    lost = next((one.value for one in found if isinstance(one.value, NoReply)), None)
    if lost is not None:
        return result(math.nan, "", lost.reason, NO_REPLY)
    closed, *read = [one.value for one in found if not isinstance(one.value, NoReply)]
    chosen = supported(closed.sums, read, question.choices, margin)
    if chosen.choice is None:
        most = f" (at most {chosen.support:.3f} nats)" if read else "; the article is empty"
        return result(0.0, "", f"no passage supports a choice{most}", ABSTAINED)
    is_right = chosen.choice == question.key
    reply = f"passage {passages[chosen.passage].id} supports it by {chosen.support:.3f} nats"
    return result(float(is_right), question.choices[chosen.choice], reply, RIGHT if is_right else WRONG)
