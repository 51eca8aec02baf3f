"""How far answers support the nuggets of their topics, as AutoNuggetizer assigns them (Pradeep et al. 2024)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from examcore import ModelUsage, Progress, ReplyStore, ReportProgress, RunFolder, unreported, write_lines
from grading._file_rows import holds_json, read_json_records
from grading._printing import counted_notes, noted, shortened
from grading._records import BankQuestion
from grading.banks._bank_writing import topic_texts
from grading.formats._bank_files import by_query
from grading.formats._file_faults import in_words
from grading.formats._nugget_files import read_nuggets
from grading.formats._nugget_sources import AnswerText, read_answer_texts
from grading.graders._assessor import CachedAssessor, ModelOptions, asking_of, write_record
from grading.graders._graders import shown_replies
from grading.graders._prompts import quoted_answer
from grading.nuggets._nugget_labels import NuggetLabels, NuggetsToLabel, label_nuggets, refuse_lost
from grading.nuggets._nugget_prompts import ASSIGNMENT_VERSION, SUPPORT_LABELS, assignment_prompt
from rag.engines import EngineOptions

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


def assign_to_answers(
    nuggets: Path,
    answers: Sequence[Path],
    queries: Path | None,
    out: Path,
    model: ModelOptions,
    engine: EngineOptions,
    progress: Progress,
    *,
    lenient: bool,
) -> AssignmentResult:
    """Assign the nuggets of a file to the answers of others, and write the labels and their making into `out`.

    Raises `ValueError` in one line for what cannot be assigned, and `FailedError` where replies are missing.
    """
    given = _read(nuggets, answers, queries, lenient=lenient)
    with RunFolder(out).held(), ReplyStore(out / "replies.sqlite") as store:
        with asking_of(model, store, progress, engine) as asking, progress.step("assigning") as report:
            found = assign_nuggets(asking, given.answers, given.nuggets, given.queries, report)
        result = AssignmentResult(out / "assignments.jsonl", model.model, found, given, asking.usage)
        lines = (one.record(given.queries.get(one.answer.topic, one.answer.topic)) for one in result.written)
        write_lines(result.out, lines)
        files = {"nuggets": nuggets, "queries": queries, **{f"answers {at}": one for at, one in enumerate(answers, 1)}}
        write_record(out / "assign.json", files, {"settings": {}}, result.record())
    lost = {f"{one.answer.run} on {one.answer.topic}": one.labels.lost for one in found if one.labels.lost}
    refuse_lost(lost, "answers")
    return result


def _read(nuggets: Path, answers: Sequence[Path], queries: Path | None, *, lenient: bool) -> AssignmentSources:
    read = read_nuggets(nuggets)
    known = by_query(read.nuggets)
    found: dict[tuple[str, str], tuple[AnswerText, Path]] = {}
    texts: dict[str, str] = {}
    notes = in_words(read.faults)
    for path in answers:
        of_file = read_answer_texts(path, lenient=lenient)
        notes += in_words(of_file.faults)
        texts.update(of_file.queries)
        for one in of_file.answers:
            before = found.setdefault((one.run, one.topic), (one, path))
            if before[0] is not one:
                raise ValueError(
                    f"{path}: run {one.run!r} on topic {one.topic!r} is also in {before[1]}; wanted it once"
                )
    taken = [one for one, _ in found.values() if one.topic in known]
    if not taken:
        topics = shortened(sorted({topic for _, topic in found}))
        raise ValueError(
            f"{answers[0]}: none of its topics ({topics or 'none'}) has nuggets in {nuggets}; wanted some of "
            f"{shortened(sorted(known))}"
        )
    texts.update(_queries_of_nuggets(nuggets))
    texts.update(topic_texts(queries, known))
    runs = dict.fromkeys(one.run for one in taken)
    lacking = {run: [topic for topic in known if (run, topic) not in found] for run in runs}
    return AssignmentSources(
        taken,
        known,
        texts,
        sorted({topic for _, topic in found} - known.keys()),
        {run: topics for run, topics in lacking.items() if topics},
        notes,
    )


def _queries_of_nuggets(path: Path) -> dict[str, str]:
    """The texts of queries that nuggetizer's lines have beside their ids."""
    records = read_json_records(path) if path.is_file() and holds_json(path) else ()
    return {
        str(one.fields["qid"]): str(one.fields["query"]) for one in records if {"qid", "query"} <= one.fields.keys()
    }


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
