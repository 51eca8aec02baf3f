"""How far answers support the nuggets of their topics, as AutoNuggetizer assigns them (Pradeep et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from examcore import ReportProgress
from grading._records import BankQuestion
from grading.formats._nugget_sources import AnswerText
from grading.graders._assessor import CachedAssessor
from grading.nuggets._nugget_labels import NuggetLabels, NuggetsToLabel, label_nuggets
from grading.nuggets._nugget_prompts import SUPPORT_LABELS, assignment_prompt, quoted_answer

FAILED = "failed"
"""The label of a nugget for which none could be read, as nuggetizer writes it; it counts as no support, by name."""
NOT_SUPPORTED = "not_support"
"""The label of every nugget of an answer without text, of which no model is asked."""


class AssignedAnswer(NamedTuple):
    """An answer, the nuggets of its topic, and the label of each."""

    answer: AnswerText
    nuggets: Sequence[BankQuestion]
    labels: NuggetLabels

    def record(self, query: str) -> dict[str, object]:
        """The line of nuggetizer's assignments; `query` is the text of the query."""
        return {
            "query": query,
            "qid": self.answer.topic,
            "answer_text": self.answer.text,
            "response_length": len(self.answer.text.split()),
            "run_id": self.answer.run,
            "nuggets": [
                {"text": nugget_text(one), "importance": one.importance, "assignment": label or FAILED}
                for one, label in zip(self.nuggets, self.labels.labels, strict=True)
            ],
        }


def assign_nuggets(
    asking: CachedAssessor,
    answers: Sequence[AnswerText],
    nuggets: Mapping[str, Sequence[BankQuestion]],
    queries: Mapping[str, str],
    report: ReportProgress | None = None,
) -> list[AssignedAnswer]:
    """The labels of each answer's nuggets; `nuggets` are those of each topic, `queries` the texts of their queries."""
    written = [one for one in answers if one.text.strip()]
    requests = [
        NuggetsToLabel(
            f"{one.run}, topic {one.topic}",
            [nugget_text(each) for each in nuggets[one.topic]],
            partial(assignment_prompt, queries.get(one.topic, one.topic), quoted_answer(one.text)),
            quoted_answer(one.text),
        )
        for one in written
    ]
    found = dict(zip(written, label_nuggets(asking, requests, SUPPORT_LABELS, report), strict=True))
    return [
        AssignedAnswer(one, known, found.get(one) or NuggetLabels([NOT_SUPPORTED] * len(known)))
        for one in answers
        for known in [nuggets[one.topic]]
    ]


def nugget_text(nugget: BankQuestion) -> str:
    """The statement that an answer should make: the nugget, or a question with its key."""
    joint = " and " if nugget.combine == "and" else " or "
    key = joint.join(one.text for one in nugget.answers)
    return nugget.question if key in ("", nugget.question) else f"{nugget.question} {key}"
