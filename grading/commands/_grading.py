"""Grading passages by a bank's questions with a model, run, the margin of EXAM's own reader, margin, the page, report.

Replies are kept, so that a stopped command goes on.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import typer

from examcore import Exam, FailedError, NoReply, Progress, ReplyStore, RunFolder, read_exam, write_text
from examcore.console import AsJson, Quiet, jsonable, show_result
from grading.banks._bank_writing import read_topics
from grading.commands._asking import asking_of, write_record
from grading.commands._options import GraderOptions, ModelOptions, Resampling
from grading.formats._answers import answers_as_passages
from grading.formats._bank_files import read_bank
from grading.formats._file_faults import Fault, in_words
from grading.formats._passages import Paired, answer_runs, articles_of, keyed, pair, read_passages
from grading.formats._report_files import is_reports
from grading.formats._trec import TrecRun, write_run
from grading.graders._assessor import CachedAssessor
from grading.graders._calibration import MarginResult, calibrate, read_margin, read_trials, trials_of
from grading.graders._choices import MARGIN, choice_reader
from grading.graders._extractive import extractive_grader, load_reader
from grading.graders._graders import (
    Grader,
    GradingResult,
    direct_relevance,
    grade_all,
    published_judge,
    qa_grader,
    self_rating,
    write_grades,
)
from grading.graders._relevance_judges import RELEVANCE_JUDGES
from grading.page import Sources, write_grading_report
from rag.engines import EngineOptions

_OWN_OPTIONS = {"qa": ("verify",), "relevance": ("scale", "shots"), "reader": ("threshold",)}
"""Options that concern one grader only."""
WITHOUT_QUESTIONS = ("relevance", *RELEVANCE_JUDGES)
"""Graders that are shown a query and no question."""
_FILE_NAME = re.compile(r"[^\w.-]+")
"""What stands in a run's name and may not stand in a file's."""
KEYED = ("qa", "reader")
"""Graders that compare answers with a key."""


def run(
    bank: Annotated[Path, typer.Argument(metavar="BANK", help="A question bank, or exam.jsonl for --grader choices.")],
    passages: Annotated[
        Path, typer.Argument(metavar="PASSAGES", help="query, passage, text[, system]; chunks; answers[.sqlite].")
    ],
    model: ModelOptions,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for grades.jsonl and the replies.")],
    grading: GraderOptions,
    engine: EngineOptions,
    resampling: Resampling,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Grade passages by a bank's questions with a model. Stops and resumes anywhere."""
    _require_own_options(grading)
    _require_one_process(grading, engine)
    given = _read(bank, passages, grading, model.model)
    progress = Progress(quiet=quiet)
    for note in given.notes:
        progress.say(f"note: {note}")
    taken = given.paired.pairs[: grading.limit]
    with RunFolder(out).held(), ReplyStore(out / "replies.sqlite") as store:
        with (
            _grader(model, grading, engine, store, given, progress) as (grader, usage),
            progress.step("grading") as report,
        ):
            found = grade_all(grader, taken, report)
            used = usage()
        write_grades(out / "grades.jsonl", found.graded, grader.name, articles=given.exam is not None)
        for name, one in given.runs.items():
            write_run(out / "runs" / f"{_FILE_NAME.sub('_', name)}.run", one)
        beyond = len(given.paired.pairs) - len(taken)
        told = GradingResult(
            grader, model.model, found, resampling.sampling, beyond, given.paired, used, out / "grades.jsonl"
        )
        how = {
            "command": _command(bank, passages, out, model, grading, resampling),
            "seed": resampling.seed,
            "interval": resampling.interval,
            **({} if grading.segment is None else {"segment": grading.segment}),
        }
        write_record(out / "run.json", {"bank": bank, "passages": passages}, how, told.record())
    if found.lost:
        # What was graded is written; the same command asks for the rest.
        reasons = ", ".join(f"{count} {why}" for why, count in told.summary["no_reply_reasons"].items())
        raise FailedError(f"{len(found.lost)} pairs got no reply ({reasons}); the rest is graded")
    show_result(told, as_json=as_json)


def margin(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run: questions with their passages.")],
    model: ModelOptions,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for margin.json and the replies.")],
    resampling: Resampling,
    share: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Share of questions that may be answered without support.")
    ] = 0.05,
    passages: Annotated[
        int, typer.Option(min=1, help="Passages of other documents in an article, as many as articles have.")
    ] = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Set the margin of grade run --grader choices. By how much a passage must raise a choice to support it."""
    progress = Progress(quiet=quiet)
    questions = read_exam(exam)
    trials = trials_of(questions, passages, resampling.seed)
    if not trials:
        raise ValueError(f"{exam}: no question has a document and the passage it was written from; wanted some that do")
    with RunFolder(out).held(), ReplyStore(out / "replies.sqlite") as store:
        with asking_of(model, store, progress) as asking, progress.step("reading") as report:
            found = list(read_trials(trials, asking, report))
        lost = [one for one in found if isinstance(one, NoReply)]
        if lost:
            raise FailedError(f"{len(lost)} questions got no reply: {lost[0].reason}")
        reads = [one for one in found if not isinstance(one, NoReply)]
        calibration = calibrate(reads, resampling.sampling, share=share)
        without = len(questions.questions) - len(trials)
        path, sampling = out / "margin.json", resampling.sampling
        told = MarginResult(path, calibration, share, passages, model.model, exam, without, sampling, asking.usage)
        write_text(path, [json.dumps(jsonable({"format": 1, **told.record()}), indent=2) + "\n"])
    show_result(told, as_json=as_json)


def report(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A folder that `ragexam grade run` wrote.")],
    sources: Sources,
    as_json: AsJson = False,
) -> None:
    """Write report.html: which system answers most, how surely.

    It shows each question and what became of the replies.
    """
    show_result(write_grading_report(out, sources, _page_command(out, sources)), as_json=as_json)


class Given(NamedTuple):
    """What the files hold: the pairs to grade, and what single graders need besides.

    `exam` is what articles are asked, for choices; `margin` theirs, None for the usual one; `queries` the texts of
    queries by id, for relevance; `notes` are sentences on how the files were read; `runs` list the segments of each
    system's answers.
    """

    paired: Paired
    exam: Exam | None = None
    margin: float | None = None
    queries: dict[str, str] | None = None
    notes: Sequence[str] = ()
    runs: Mapping[str, TrecRun] = MappingProxyType({})


def _require_own_options(options: GraderOptions) -> None:
    """Refuse options that only another grader than the chosen one reads."""
    default = GraderOptions()
    for grader, names in _OWN_OPTIONS.items():
        for name in names:
            value = getattr(options, name)
            if grader != options.grader and value != getattr(default, name):
                raise ValueError(
                    f"--{name} {value}: --grader {options.grader} does not read it; wanted --grader {grader}"
                )


def _require_one_process(options: GraderOptions, engine: EngineOptions) -> None:
    """Refuse a grader or a batch that works in this process only, with workers elsewhere."""
    if engine != EngineOptions() and (options.batch > 1 or options.grader == "reader"):
        found = "--grader reader" if options.grader == "reader" else f"--batch {options.batch}"
        raise ValueError(f"{found}: found with --engine or --workers; wanted one of them")


def _command(
    bank: Path, passages: Path, out: Path, model: ModelOptions, grading: GraderOptions, resampling: Resampling
) -> str:
    """The command as it can be run again; options that change no grade are left out."""
    options = vars(grading)
    values = {"grader": grading.grader, "model": model.model, "out": out}
    values |= {name: one for name, one in vars(model).items() if name != "model" and one != "auto"}
    values |= {name: options[name] for name in ("limit", "segment", "queries", "margin")} | vars(resampling)
    values |= {name: options[name] for name in _OWN_OPTIONS.get(grading.grader, ())}
    words = [str(one) for name, value in values.items() if value is not None for one in (f"--{name}", value)]
    return shlex.join(["ragexam", "grade", "run", str(bank), str(passages), *words])


def _page_command(out: Path, sources: object) -> str:
    """The command as it can be given again."""
    words = ["ragexam", "grade", "report", str(out)]
    for name, value in vars(sources).items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                option = "run" if name == "runs" else name
                words += [f"--{option}", f"{one:g}" if isinstance(one, float) else str(one)]
    return shlex.join(words)


def _read(bank: Path, passages: Path, options: GraderOptions, model: str) -> Given:
    """Read the files; raises `ValueError` or `OSError` in one line for what cannot be graded."""
    if passages.suffix == ".sqlite" and options.grader != "choices":
        raise ValueError(f"{passages}: answers of a sitting; wanted --grader choices for them, or a file of passages")
    if options.grader == "choices":
        exam = read_exam(bank)
        sat = passages.suffix == ".sqlite"
        found = answers_as_passages(passages, exam) if sat else read_passages(passages, options.segment)
        runs = {} if sat or not is_reports(passages) else answer_runs(found)
        return Given(articles_of(exam, found), exam, read_margin(options.margin, model), runs=runs)
    found = read_passages(passages, options.segment)
    runs = answer_runs(found) if is_reports(passages) else {}
    if blank := next((one for one in found if not one.text.strip()), None):
        raise ValueError(
            f"{passages}: the article of {blank.system!r} on query {blank.query!r} is blank; wanted a text, or "
            "--grader choices, which takes a blank one for no answer"
        )
    faults: list[Fault] = []
    paired = pair(read_bank(bank, faults), found)
    if options.grader in KEYED and not keyed(paired.pairs):
        raise ValueError(f"{bank}: no question with passages has a key; wanted answers, or --grader rating")
    queries = _query_texts(options, paired)
    notes = in_words(faults)
    if queries is None and options.grader in WITHOUT_QUESTIONS:
        notes.append("Queries are asked by their ids; --queries names a file of their texts (query,text).")
    return Given(paired, queries=queries, notes=notes, runs=runs)


def _query_texts(options: GraderOptions, paired: Paired) -> dict[str, str] | None:
    """The texts of the queries to be asked; None without a file; `ValueError` where it lacks one of them."""
    if options.queries is None:
        return None
    found = {one.query: one.text for one in read_topics(options.queries)}
    asked = dict.fromkeys(one.passage.query for one in paired.pairs)
    if lacking := [one for one in asked if one not in found]:
        raise ValueError(
            f"{options.queries}: has no text for {len(lacking)} of {len(asked)} queries (such as {lacking[0]!r}); "
            "wanted one for each query that is graded"
        )
    return found


@contextmanager
def _grader(
    model: ModelOptions,
    options: GraderOptions,
    engine: EngineOptions,
    store: ReplyStore,
    given: Given,
    progress: Progress,
) -> Iterator[tuple[Grader, Callable[[], dict[str, Any]]]]:
    """The grader at work, and what tells its usage."""
    if options.grader == "reader":
        yield extractive_grader(load_reader(model.model, model.device), store, options.threshold), dict
        return
    with asking_of(model, store, progress, engine, options.batch) as asking:
        yield _with_model(options, asking, given), lambda: asdict(asking.usage)


def _with_model(options: GraderOptions, asking: CachedAssessor, given: Given) -> Grader:
    if given.exam is not None:
        return choice_reader(asking, given.exam, given.paired, MARGIN if given.margin is None else given.margin)
    if options.grader == "qa":
        return qa_grader(asking, options.verify)
    if options.grader == "rating":
        return self_rating(asking, nuggets=any(one.question.kind == "nugget" for one in given.paired.pairs))
    if options.grader in RELEVANCE_JUDGES:
        return published_judge(asking, options.grader, given.queries)
    return direct_relevance(asking, options.scale, options.shots, given.queries)
