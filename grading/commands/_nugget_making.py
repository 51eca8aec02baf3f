"""Nuggets made by a model, nuggets create, and looked for in answers, nuggets assign; replies are kept in a store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from examcore import FailedError, ModelUsage, Progress, ReplyStore, RunFolder, file_hash, write_lines, write_text
from examcore.console import AsJson, Quiet, jsonable, show_result
from grading._file_rows import holds_json, read_json_records
from grading._printing import shortened
from grading._records import BankQuestion
from grading.banks._bank_writing import read_topics
from grading.commands._grading import asking_of
from grading.commands._options import ModelOptions
from grading.formats._bank_files import by_query
from grading.formats._file_faults import in_words
from grading.formats._nugget_files import read_nuggets
from grading.formats._nugget_sources import AnswerText, read_answer_texts, read_nugget_sources
from grading.graders._graders import REPLY_SHOWN, UNPARSED_SHOWN
from grading.nuggets._nugget_assignment import FAILED, AssignedAnswer, assign_nuggets
from grading.nuggets._nugget_creation import (
    MOST,
    PASSAGES,
    CreationLimits,
    TopicNuggets,
    TopicPassages,
    grow_nuggets,
    weigh_nuggets,
)
from grading.nuggets._nugget_prompts import ASSIGNMENT_VERSION, CREATION_VERSION, IMPORTANCE_VERSION
from rag.engines import EngineOptions

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the lines, a record, and the replies.")]
Queries = Annotated[Path | None, typer.Option(metavar="FILE", help="query, text; else what the files say, or the ids.")]


def create(
    passages: Annotated[
        Path, typer.Argument(metavar="PASSAGES", help="query, passage, text; nuggetizer's pools; or answers.")
    ],
    model: ModelOptions,
    out: Out,
    engine: EngineOptions,
    queries: Queries = None,
    together: Annotated[int, typer.Option(min=1, help="Passages that are read together.")] = PASSAGES,
    most: Annotated[int, typer.Option(min=1, max=100, help="Nuggets of a topic, at most.")] = MOST,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make nuggets of topics from passages or answers. A model revises the list, then says what is vital."""
    progress = Progress(quiet=quiet)
    sources = read_nugget_sources(passages)
    texts = {**sources.queries, **_query_texts(queries, sources.passages)}
    topics = [TopicPassages(one, texts.get(one, one), found) for one, found in sources.passages.items()]
    with RunFolder(out).held(), ReplyStore(out / "replies.sqlite") as store:
        with asking_of(model, store, progress, engine) as asking:
            with progress.step("nuggets") as report:
                found = grow_nuggets(asking, topics, CreationLimits(together, most), report)
            with progress.step("importance") as report:
                weigh_nuggets(asking, found, report)
            usage = asking.usage
        result = CreationResult(out / "nuggets.jsonl", model.model, found, usage)
        if not any(one.nuggets or one.lost for one in found):
            shown = "; ".join(map(repr, _shown(result.unread))) or "empty lists"
            raise ValueError(f"{passages}: no nugget in any reply ({shown}); wanted another model or other passages")
        write_lines(result.out, map(_nugget_line, result.written))
        settings = {"together": together, "most": most}
        _write_record(out / "create.json", {"passages": passages, "queries": queries}, settings, result.record())
    _refuse_lost({one.source.topic: one.lost for one in found if one.lost}, "topics")
    show_result(result, as_json=as_json)


def assign(
    nuggets: Annotated[Path, typer.Argument(metavar="NUGGETS", help="Nuggets: those of create, a bank, nuggetizer's.")],
    answers: Annotated[
        list[Path],
        typer.Argument(metavar="ANSWERS...", help="Reports of TREC RAG and its kin, or query, text[, system]."),
    ],
    model: ModelOptions,
    out: Out,
    engine: EngineOptions,
    queries: Queries = None,
    lenient: Annotated[
        bool, typer.Option("--lenient/--strict", help="Go on without what is faulty in reports.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say how far answers support the nuggets of their topics. Each as support, partial_support or not_support."""
    progress = Progress(quiet=quiet)
    given = _given(nuggets, answers, queries, lenient=lenient)
    with RunFolder(out).held(), ReplyStore(out / "replies.sqlite") as store:
        with asking_of(model, store, progress, engine) as asking, progress.step("assigning") as report:
            found = assign_nuggets(asking, given.answers, given.nuggets, given.queries, report)
            usage = asking.usage
        result = AssignmentResult(out / "assignments.jsonl", model.model, found, given, usage)
        lines = (one.record(given.queries.get(one.answer.topic, one.answer.topic)) for one in result.written)
        write_lines(result.out, lines)
        files = {"nuggets": nuggets, "queries": queries, **{f"answers {at}": one for at, one in enumerate(answers, 1)}}
        _write_record(out / "assign.json", files, {}, result.record())
    lost = {f"{one.answer.run} on {one.answer.topic}": one.labels.lost for one in found if one.labels.lost}
    _refuse_lost(lost, "answers")
    show_result(result, as_json=as_json)


@dataclass(frozen=True)
class CreationResult:
    """The nuggets that a model made of each topic, what could not be read, and what it cost; `out` has the nuggets."""

    out: Path
    model: str
    topics: Sequence[TopicNuggets]
    usage: ModelUsage

    @property
    def written(self) -> list[TopicNuggets]:
        """The topics that got all their replies."""
        return [one for one in self.topics if not one.lost]

    @property
    def unread(self) -> list[str]:
        """The replies that could not be read, or not whole."""
        return [reply for one in self.topics for reply in one.unread]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        nuggets = [each for one in self.written for each in one.nuggets]
        return {
            "out": str(self.out),
            "model": self.model,
            "prompts": [CREATION_VERSION, IMPORTANCE_VERSION],
            "topics": len(self.written),
            "passages": sum(len(one.source.passages) for one in self.written),
            "n": len(nuggets),
            "importance": dict(Counter(one.importance for one in nuggets)),
            "importance_unread": sum(not one.read for one in nuggets),
            "passages_unread": sum(one.unread_passages for one in self.written),
            "duplicates": sum(one.duplicates for one in self.written),
            "cut_characters": sum(one.cut for one in self.written),
            "without_nuggets": [one.source.topic for one in self.written if not one.nuggets],
            "unread_replies": len(self.unread),
            "unread_examples": _shown(self.unread),
            "no_reply": sum(bool(one.lost) for one in self.topics),
            "usage": asdict(self.usage),
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        told = self.record()
        counts = ", ".join(f"{count} {name}" for name, count in told["importance"].items()) or "none"
        lines = [
            f"{self.out}: {told['n']} nuggets ({counts}) of {told['topics']} topics by {self.model}, "
            f"from {told['passages']} passages"
        ]
        without = told["without_nuggets"]
        said = {
            "nuggets said what another says and were left out": told["duplicates"],
            "replies could not be read, or lacked labels; these parts were asked again": told["unread_replies"],
            "passages are in batches of which no list could be read": told["passages_unread"],
            "nuggets are okay because no label of importance could be read": told["importance_unread"],
            "characters of passages were beyond what the model reads": told["cut_characters"],
            f"topics have no nugget: {shortened(without)}": len(without),
        }
        return lines + [f"note: {count} {what}" for what, count in said.items() if count]


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
            "out": str(self.out),
            "model": self.model,
            "prompt": ASSIGNMENT_VERSION,
            "runs": len({one.answer.run for one in self.written}),
            "answers": len(self.written),
            "n": labels.total(),
            "labels": dict(labels.most_common()),
            "unparsed": labels[FAILED],
            "unread_replies": len(unread),
            "unread_examples": _shown(unread),
            "empty_answers": sum(not one.answer.text.strip() for one in self.written),
            "cut_answers": sum(one.labels.cut > 0 for one in self.written),
            "topics_without_nuggets": list(self.given.without_nuggets),
            "topics_without_answer": {run: list(some) for run, some in self.given.without_answers.items()},
            "no_reply": sum(bool(one.labels.lost) for one in self.answers),
            "notes": list(self.given.notes),
            "usage": asdict(self.usage),
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
        lines += [f"note: {count} {what}" for what, count in said.items() if count]
        lines += [f"note: {one}" for one in given.notes]
        lines += [
            f"note: {run} has no answer on {len(topics)} topics with nuggets: {shortened(topics)}"
            for run, topics in given.without_answers.items()
        ]
        return [*lines, f"scores: ragexam grade nuggets {self.out}"]


def _given(nuggets: Path, answers: Sequence[Path], queries: Path | None, *, lenient: bool) -> AssignmentSources:
    """Read the files; raises `ValueError` in one line for what cannot be assigned."""
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
    texts.update(_query_texts(queries, known))
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


def _query_texts(path: Path | None, topics: Mapping[str, object]) -> dict[str, str]:
    """The texts of queries in a file; `ValueError` if it has none of the topics."""
    if path is None:
        return {}
    found = {one.query: one.text for one in read_topics(path)}
    if not found.keys() & topics.keys():
        raise ValueError(
            f"{path}: none of its queries ({shortened(list(found))}) is a topic here; wanted {shortened(list(topics))}"
        )
    return found


def _nugget_line(topic: TopicNuggets) -> dict[str, object]:
    """A topic as nuggetizer writes it, the vital nuggets first."""
    ordered = sorted(topic.nuggets, key=lambda one: one.importance != "vital")
    nuggets = [{"text": one.text, "importance": one.importance} for one in ordered]
    return {"query": topic.source.query, "qid": topic.source.topic, "nuggets": nuggets}


def _write_record(
    path: Path, files: Mapping[str, Path | None], settings: Mapping[str, object], told: Mapping[str, object]
) -> None:
    """Write what was made, from which files, and how."""
    given = {name: one for name, one in files.items() if one is not None}
    record = {
        "format": 1,
        "made_from": {name: file_hash(one) for name, one in given.items() if one.is_file()},
        "sources": {name: str(one) for name, one in given.items()},
        "settings": settings,
        "ragexam": version("ragexam"),
        **told,
    }
    write_text(path, [json.dumps(jsonable(record), indent=2, ensure_ascii=False) + "\n"])


def _refuse_lost(lost: Mapping[str, str], what: str) -> None:
    """Fail where replies are missing: what has all of them is written, the same command asks for the rest."""
    if lost:
        reasons = Counter(lost.values()).most_common(3)
        shown = ", ".join(f"{count} {why}" for why, count in reasons)
        raise FailedError(f"{len(lost)} {what} got no reply ({shown}): {shortened(list(lost))}; the rest is written")


def _shown(replies: Sequence[str]) -> list[str]:
    return [one[:REPLY_SHOWN] for one in replies[:UNPARSED_SHOWN]]
