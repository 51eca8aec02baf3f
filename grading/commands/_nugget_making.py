"""Nuggets made by a model, nuggets create, and looked for in answers, nuggets assign; replies are kept in a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from examcore import FailedError, Progress, ReplyStore, RunFolder, write_lines
from examcore.console import AsJson, Quiet, show_result
from grading._file_rows import holds_json, read_json_records
from grading._printing import shortened
from grading.banks._bank_writing import read_topics
from grading.commands._asking import asking_of, write_record
from grading.commands._options import ModelOptions
from grading.formats._bank_files import by_query
from grading.formats._file_faults import in_words
from grading.formats._nugget_files import read_nuggets
from grading.formats._nugget_sources import AnswerText, read_answer_texts, read_nugget_sources
from grading.graders._graders import shown_replies
from grading.nuggets._nugget_assignment import AssignmentResult, AssignmentSources, assign_nuggets
from grading.nuggets._nugget_creation import (
    MOST,
    PASSAGES,
    CreationLimits,
    CreationResult,
    TopicPassages,
    grow_nuggets,
    nugget_line,
    weigh_nuggets,
)
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
            shown = "; ".join(map(repr, shown_replies(result.unread))) or "empty lists"
            raise ValueError(f"{passages}: no nugget in any reply ({shown}); wanted another model or other passages")
        write_lines(result.out, map(nugget_line, result.written))
        settings = {"settings": {"together": together, "most": most}}
        write_record(out / "create.json", {"passages": passages, "queries": queries}, settings, result.record())
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
        write_record(out / "assign.json", files, {"settings": {}}, result.record())
    lost = {f"{one.answer.run} on {one.answer.topic}": one.labels.lost for one in found if one.labels.lost}
    _refuse_lost(lost, "answers")
    show_result(result, as_json=as_json)


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


def _refuse_lost(lost: Mapping[str, str], what: str) -> None:
    """Fail where replies are missing: what has all of them is written, the same command asks for the rest."""
    if lost:
        reasons = Counter(lost.values()).most_common(3)
        shown = ", ".join(f"{count} {why}" for why, count in reasons)
        raise FailedError(f"{len(lost)} {what} got no reply ({shown}): {shortened(list(lost))}; the rest is written")
