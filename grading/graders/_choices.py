"""EXAM's own reader: which choice of an exam question an article supports, read by `rag`'s answer selection.

The rule (after Sander and Dietz 2021, section 3.2.2: assertions without text support are eliminated, the most likely of
the others is the answer, and where all are rejected the question is not answered):

1. Each choice is scored after the question with each passage of the article, and after the question alone, by the
   prompt and the normalisation that pipelines sit the exam with.
2. A passage supports a choice when it raises the choice's log-likelihood by more than `margin` nats, and also by more
   than `margin` beyond what it raises the other choices' in the mean: a text of the same kind raises all of them
   together, whatever it says. A choice that no passage supports is eliminated.
3. The answer is the choice with the highest score after a passage that supports it; without one there is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from examcore import Exam, Likelihoods, NoReply, Question
from grading._records import Grade
from grading.formats._articles import Articles
from grading.formats._passages import PassageQuestion
from grading.graders._assessor import CachedAssessor, ChoiceLikelihoods, choice_task
from grading.graders._graders import NO_REPLY, GraderResult
from rag import EXAM_PROMPT_VERSION, ChoiceEvidence, Task, normalized_scores

MARGIN = 2.0
"""Nats, where none is calibrated (`grading.graders._calibration`): a passage that supports a choice makes it at least
seven times as likely. The supports found are kept with the grades."""
TOGETHER = 64
"""Articles and questions whose likelihoods are asked for together."""
ABSTAINED, WRONG, RIGHT = "abstained", "wrong choice", "right choice"


class Chosen(NamedTuple):
    """The choice an article supports (None: it supports none), the passage's place, and the support in nats."""

    choice: int | None
    passage: int
    support: float


def supported(
    closed: Sequence[float], read: Sequence[Likelihoods], texts: Sequence[str], margin: float, normalization: str
) -> Chosen:
    """The rule above: `closed` log-likelihoods `[choices]` without a passage, `read` those with each passage."""
    if not read:
        return Chosen(None, -1, math.nan)
    lift = np.array([one.sums for one in read]) - np.array(closed)
    others = (lift.sum(axis=1, keepdims=True) - lift) / max(len(texts) - 1, 1)
    support = np.minimum(lift, lift - others)
    ranked = np.array(
        [
            normalized_scores(ChoiceEvidence(tuple(texts), one.sums, one.tokens, tuple(closed)), normalization)
            for one in read
        ]
    )
    standing = np.where(support > margin, ranked, -np.inf)
    passage, choice = np.unravel_index(int(standing.argmax()), standing.shape)
    if not np.isfinite(standing[passage, choice]):
        return Chosen(None, int(passage), float(support.max()))
    return Chosen(int(choice), int(passage), float(support[passage, choice]))


@dataclass(frozen=True)
class ChoiceReader:
    """A `Grader` of articles by multiple-choice questions: 1 for the right choice, 0 for another or none."""

    asking: CachedAssessor
    exam: Exam
    articles: Articles
    margin: float = MARGIN
    normalization: str = "character"
    name: str = "choices"

    @property
    def settings(self) -> Mapping[str, object]:
        """Prompt version, normalisation and margin."""
        return {"prompt": EXAM_PROMPT_VERSION, "normalization": self.normalization, "margin": self.margin}

    def gradable(self, pairs: Sequence[PassageQuestion]) -> list[PassageQuestion]:
        """All of them."""
        return list(pairs)

    def grade(self, pairs: Sequence[PassageQuestion]) -> Iterator[GraderResult]:
        """See `Grader`; `passage` of a grade is the article: the system's name, or a passage's id."""
        questions = {one.id: one for one in self.exam.questions}
        for start in range(0, len(pairs), TOGETHER):
            group = pairs[start : start + TOGETHER]
            tasks = [self._tasks(one, questions[one.question.id]) for one in group]
            found = self.asking.scored([one for some in tasks for one in some])
            for one, some in zip(group, tasks, strict=True):
                yield self._graded(one, questions[one.question.id], [next(found) for _ in some])

    def _tasks(self, pair: PassageQuestion, question: Question) -> list[Task]:
        """The question without a passage, and with each of the article's."""
        passages = self.articles.passages[(pair.passage.query, pair.passage.id)]
        return [choice_task(question, text) for text in ("", *(one.text for one in passages))]

    def _graded(self, pair: PassageQuestion, question: Question, found: Sequence[ChoiceLikelihoods]) -> GraderResult:
        query, article = pair.passage.query, pair.passage.id
        lost = next((one.likelihoods for one in found if isinstance(one.likelihoods, NoReply)), None)
        cut = sum(one.cut for one in found)
        if lost is not None:
            return GraderResult(Grade(query, article, question.id, math.nan, "", lost.reason), NO_REPLY, cut)
        closed, *read = [one.likelihoods for one in found if not isinstance(one.likelihoods, NoReply)]
        chosen = supported(closed.sums, read, question.choices, self.margin, self.normalization)
        passage = self.articles.passages[(query, article)][chosen.passage].id
        if chosen.choice is None:
            said = f"no passage supports a choice (at most {chosen.support:.3f} nats)"
            return GraderResult(Grade(query, article, question.id, 0.0, "", said), ABSTAINED, cut)
        right = chosen.choice == question.key
        said = f"passage {passage} supports it by {chosen.support:.3f} nats"
        grade = Grade(query, article, question.id, float(right), question.choices[chosen.choice], said)
        return GraderResult(grade, RIGHT if right else WRONG, cut)
