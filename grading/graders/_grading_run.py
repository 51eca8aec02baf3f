"""Passages of a file graded by a bank's questions with a model; replies are kept, so that a stopped run goes on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

import typer

from examcore import Exam, FailedError, Progress, ReplyStore, RunFolder, read_exam
from grading._records import Sampling
from grading.banks._bank_writing import query_texts
from grading.formats._answers import answers_as_passages
from grading.formats._bank_files import read_bank
from grading.formats._file_faults import Fault, in_words
from grading.formats._passages import Paired, answer_runs, articles_of, keyed, pair, read_passages
from grading.formats._report_files import is_reports
from grading.formats._trec import TrecRun, write_run
from grading.graders._assessor import CachedAssessor, ModelOptions, asking_of, write_record
from grading.graders._calibration import read_margin
from grading.graders._choices import MARGIN, choice_reader
from grading.graders._extractive import extractive_grader, load_reader
from grading.graders._graders import (
    KEYED,
    Grader,
    GradingResult,
    direct_relevance,
    grade_all,
    published_judge,
    qa_grader,
    self_rating,
    write_grades,
)
from grading.graders._prompts import Verify
from grading.graders._relevance_judges import RELEVANCE_JUDGES, Scale
from rag.engines import EngineOptions

JudgeName = Literal["umbrela", "thomas", "faggioli", "faggioli-few", "helm", "sun", "sun-few"]
"""The names of `RELEVANCE_JUDGES`."""
GraderName = Literal["qa", "rating", "relevance", "reader", "choices", JudgeName]
_OWN_OPTIONS = {"qa": ("verify",), "relevance": ("scale", "shots"), "reader": ("threshold",)}
"""Options that concern one grader only."""
WITHOUT_QUESTIONS = ("relevance", *RELEVANCE_JUDGES)
"""Graders that are shown a query and no question."""
_FILE_NAME = re.compile(r"[^\w.-]+")
"""What stands in a run's name and may not stand in a file's."""


@dataclass(frozen=True)
class GraderOptions:
    """What grades, and the settings of each grader."""

    grader: Annotated[GraderName, typer.Option(help="What grades, or a published judge by name.")] = "rating"
    limit: Annotated[int | None, typer.Option(min=1, help="Grade only the first so many pairs.")] = None
    segment: Annotated[
        int | None, typer.Option(min=1, metavar="WORDS", help="Cut answers into passages of at most so many words.")
    ] = None
    verify: Annotated[Verify, typer.Option(help="qa: words, or model for answers that the words reject.")] = "words"
    scale: Annotated[Scale, typer.Option(help="relevance: the grades.")] = "yes-no"
    shots: Annotated[int, typer.Option(min=0, max=4, help="relevance: solved examples in the prompt.")] = 0
    queries: Annotated[Path | None, typer.Option(help="relevance, judges: query, text; else the ids.")] = None
    margin: Annotated[
        str | None, typer.Option(metavar="NATS|FILE", help="choices: what support has to exceed; or margin.json.")
    ] = None
    threshold: Annotated[float, typer.Option(help="reader: how far a span must beat the null score.")] = 0.0
    batch: Annotated[int, typer.Option(min=1, help="Prompts written together; more is faster on a GPU.")] = 1


class ToGrade(NamedTuple):
    """What the files hold: the pairs to grade, and what single graders need besides.

    `exam` is what articles are asked, for choices, and `margin` theirs; `queries` the texts of queries by id, for
    relevance; `notes` are sentences on how the files were read; `runs` list the segments of each system's answers.
    """

    paired: Paired
    exam: Exam | None = None
    margin: float = MARGIN
    queries: dict[str, str] | None = None
    notes: Sequence[str] = ()
    runs: Mapping[str, TrecRun] = MappingProxyType({})


def grade_passages(
    bank: Path,
    passages: Path,
    out: Path,
    model: ModelOptions,
    options: GraderOptions,
    engine: EngineOptions,
    sampling: Sampling,
    progress: Progress,
) -> GradingResult:
    """Grade, and write the grades, what systems returned, and how it was done into the folder `out`.

    Raises `ValueError` or `OSError` in one line for what cannot be graded, and `FailedError` where replies are missing:
    what was graded is written, and the same call asks for the rest.
    """
    _require_own_options(options)
    _require_one_process(options, engine)
    given = _read(bank, passages, options, model.model)
    for note in given.notes:
        progress.say(f"note: {note}")
    taken = given.paired.pairs[: options.limit]
    with RunFolder(out).held(), ReplyStore(out / "replies.sqlite") as store:
        with (
            _grader(model, options, engine, store, given, progress) as (grader, usage),
            progress.step("grading") as report,
        ):
            found = grade_all(grader, taken, report)
            used = usage()
        grades, beyond = out / "grades.jsonl", len(given.paired.pairs) - len(taken)
        write_grades(grades, found.graded, grader.name, articles=given.exam is not None)
        for name, one in given.runs.items():
            write_run(out / "runs" / f"{_FILE_NAME.sub('_', name)}.run", one)
        result = GradingResult(grader, model.model, found, sampling, beyond, given.paired, used, grades)
        how = {
            "command": _command(bank, passages, out, model, options, sampling),
            "seed": sampling.seed,
            "interval": sampling.interval,
            **({} if options.segment is None else {"segment": options.segment}),
        }
        write_record(out / "run.json", {"bank": bank, "passages": passages}, how, result.record())
    if found.lost:
        reasons = ", ".join(f"{count} {why}" for why, count in result.summary["no_reply_reasons"].items())
        raise FailedError(f"{len(found.lost)} pairs got no reply ({reasons}); the rest is graded")
    return result


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
    bank: Path, passages: Path, out: Path, model: ModelOptions, options: GraderOptions, sampling: Sampling
) -> str:
    """The command as it can be run again; options that change no grade are left out."""
    values = {"grader": options.grader, "model": model.model, "out": out}
    values |= {name: one for name, one in vars(model).items() if name != "model" and one != "auto"}
    own = ("limit", "segment", "queries", "margin")
    values |= {name: getattr(options, name) for name in own} | {"interval": sampling.interval, "seed": sampling.seed}
    values |= {name: getattr(options, name) for name in _OWN_OPTIONS.get(options.grader, ())}
    words = [str(one) for name, value in values.items() if value is not None for one in (f"--{name}", value)]
    return shlex.join(["ragexam", "grade", "run", str(bank), str(passages), *words])


def _read(bank: Path, passages: Path, options: GraderOptions, model: str) -> ToGrade:
    sat = passages.suffix == ".sqlite"
    if sat and options.grader != "choices":
        raise ValueError(f"{passages}: answers of a sitting; wanted --grader choices for them, or a file of passages")
    if options.grader == "choices":
        exam = read_exam(bank)
        found = answers_as_passages(passages, exam) if sat else read_passages(passages, options.segment)
        runs = {} if sat or not is_reports(passages) else answer_runs(found)
        return ToGrade(articles_of(exam, found), exam, read_margin(options.margin, model), runs=runs)
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
    queries = None if options.queries is None else _query_texts(options.queries, paired)
    notes = in_words(faults)
    if queries is None and options.grader in WITHOUT_QUESTIONS:
        notes.append("Queries are asked by their ids; --queries names a file of their texts (query,text).")
    return ToGrade(paired, queries=queries, notes=notes, runs=runs)


def _query_texts(path: Path, paired: Paired) -> dict[str, str]:
    """The texts of the queries to be asked; `ValueError` where the file lacks one of them."""
    found = query_texts(path)
    asked = dict.fromkeys(one.passage.query for one in paired.pairs)
    if lacking := [one for one in asked if one not in found]:
        raise ValueError(
            f"{path}: has no text for {len(lacking)} of {len(asked)} queries (such as {lacking[0]!r}); "
            "wanted one for each query that is graded"
        )
    return found


@contextmanager
def _grader(
    model: ModelOptions,
    options: GraderOptions,
    engine: EngineOptions,
    store: ReplyStore,
    given: ToGrade,
    progress: Progress,
) -> Iterator[tuple[Grader, Callable[[], dict[str, Any]]]]:
    """The grader at work, and what tells its usage."""
    if options.grader == "reader":
        yield extractive_grader(load_reader(model.model, model.device), store, options.threshold), dict
        return
    with asking_of(model, store, progress, engine, options.batch) as asking:
        yield _with_model(options, asking, given), lambda: asdict(asking.usage)


def _with_model(options: GraderOptions, asking: CachedAssessor, given: ToGrade) -> Grader:
    if given.exam is not None:
        return choice_reader(asking, given.exam, given.paired, given.margin)
    if options.grader == "qa":
        return qa_grader(asking, options.verify)
    if options.grader == "rating":
        return self_rating(asking, nuggets=any(one.question.kind == "nugget" for one in given.paired.pairs))
    if options.grader in RELEVANCE_JUDGES:
        return published_judge(asking, options.grader, given.queries)
    return direct_relevance(asking, options.scale, options.shots, given.queries)
