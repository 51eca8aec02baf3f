"""How far answers support the nuggets of their topics, as AutoNuggetizer assigns them (Pradeep et al. 2024)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from examcore import ModelUsage, ReportProgress, unreported
from grading._printing import counted_notes, noted, shortened
from grading._records import BankQuestion
from grading.formats._nugget_sources import AnswerText
from grading.graders._assessor import CachedAssessor
from grading.graders._graders import shown_replies
from grading.graders._prompts import quoted_answer
from grading.nuggets._nugget_labels import NuggetLabels, NuggetsToLabel, label_nuggets
from grading.nuggets._nugget_prompts import ASSIGNMENT_VERSION, SUPPORT_LABELS, assignment_prompt

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


class AssignmentSources(NamedTuple):
    """The answers on topics with nuggets, those nuggets, the texts of queries, and what was left out."""

    answers: Sequence[AnswerText]
    nuggets: Mapping[str, Sequence[BankQuestion]]
    queries: Mapping[str, str]
    without_nuggets: Sequence[str]
    without_answers: Mapping[str, Sequence[str]]
    notes: Sequence[str]


@dataclass(frozen=True)
class AssignmentResult:
    """The labels of each answer's nuggets, what could not be read, and what it cost; `out` has the assignments."""

    out: Path
    model: str
    answers: Sequence[AssignedAnswer]
    given: AssignmentSources
    usage: ModelUsage

    @property
    def written(self) -> list[AssignedAnswer]:
        """The answers that got all their replies."""
        return [one for one in self.answers if not one.labels.lost]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        labels = Counter(label or FAILED for one in self.written for label in one.labels.labels)
        unread = [reply for one in self.answers for reply in one.labels.unread]
        return {
            "out": self.out,
            "model": self.model,
            "prompt": ASSIGNMENT_VERSION,
            "runs": len({one.answer.run for one in self.written}),
            "answers": len(self.written),
            "n": labels.total(),
            "labels": dict(labels.most_common()),
            "unparsed": labels[FAILED],
            "unread_replies": len(unread),
            "unread_examples": shown_replies(unread),
            "empty_answers": sum(not one.answer.text.strip() for one in self.written),
            "cut_answers": sum(one.labels.cut > 0 for one in self.written),
            "topics_without_nuggets": self.given.without_nuggets,
            "topics_without_answer": self.given.without_answers,
            "no_reply": sum(bool(one.labels.lost) for one in self.answers),
            "notes": self.given.notes,
            "usage": self.usage,
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        told, given = self.record(), self.given
        lines = [
            f"{self.out}: {told['n']} labels of {told['answers']} answers by {told['runs']} runs with {self.model}"
        ]
        lines += [f"  {label}: {count}" for label, count in told["labels"].items()]
        said = {
            "replies could not be read, or lacked labels; these nuggets were asked again": told["unread_replies"],
            f"nuggets got no readable label: {FAILED}, which counts as no support": told["unparsed"],
            "answers are empty and support nothing": told["empty_answers"],
            "answers were longer than the model reads and cut": told["cut_answers"],
            f"topics of answers have no nuggets: {shortened(given.without_nuggets)}": len(given.without_nuggets),
        }
        lines += [*counted_notes(said), *noted(given.notes)]
        lines += [
            f"note: {run} has no answer on {len(topics)} topics with nuggets: {shortened(topics)}"
            for run, topics in given.without_answers.items()
        ]
        return [*lines, f"scores: ragexam grade nuggets {self.out}"]


def assign_nuggets(
    asking: CachedAssessor,
    answers: Sequence[AnswerText],
    nuggets: Mapping[str, Sequence[BankQuestion]],
    queries: Mapping[str, str],
    report: ReportProgress = unreported,
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
