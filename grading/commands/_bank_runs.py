"""Running a model over banks: writing one, and grading passages by one; replies are kept, so that it can go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from examcore import CachedLanguageModel, FailedError, Progress, ReplyStore, RunFolder, file_hash, write_text
from examcore.console import interval_text
from grading.banks._bank_writing import VERSION, read_topics, write_questions
from grading.commands._grading_job import Given, GradingJob
from grading.commands._options import ModelOptions
from grading.commands._printing import PrintedResult
from grading.formats._bank_files import write_bank
from grading.graders._assessor import ALONE, NORMALIZATION, TOGETHER, Assessor, CachedAssessor
from grading.graders._choices import MARGIN, ChoiceReader
from grading.graders._extractive import ExtractiveGrader, load_reader
from grading.graders._graders import DirectRelevance, Grader, QaGrader, SelfRating
from grading.graders._running import grade_all, summary, write_grades
from rag import ModelSettings, load_language_model, prepare_models
from rag.engines import EngineOptions, open_engine
from rag.servers import is_server


def grade_run(job: GradingJob, given: Given, *, quiet: bool) -> PrintedResult:
    """Grade what the job's files hold; writes `grades.jsonl`, `run.json` and `replies.sqlite` into the job's folder.

    Raises `FailedError` at the end when pairs got no reply: what was graded is written, the same command asks for the
    rest.
    """
    progress = Progress(quiet=quiet)
    for note in given.notes:
        progress.say(f"note: {note}")
    taken = given.pairs[: job.options.limit]
    with RunFolder(job.out).held(), ReplyStore(job.out / "replies.sqlite") as store:
        with _grader(job, store, given, progress) as (grader, usage), progress.step("grading") as report:
            found = grade_all(grader, taken, report)
            used = usage()
        write_grades(job.out / "grades.jsonl", found.graded, grader.name, articles=given.reading is not None)
        result = {
            "grader": grader.name,
            "model": job.model.model,
            "settings": dict(grader.settings),
            **summary(found, level=job.resampling.interval, seed=job.resampling.seed),
            "beyond_limit": len(given.pairs) - len(taken),
            "left_out": given.left_out,
            "usage": used,
            "out": str(job.out / "grades.jsonl"),
        }
        text = json.dumps({"format": 1, **_making(job), **result}, indent=2, ensure_ascii=False)
        write_text(job.out / "run.json", [text + "\n"])
    if found.lost:
        reasons = ", ".join(
            f"{count} {why}" for why, count in cast(Mapping[str, int], result["no_reply_reasons"]).items()
        )
        raise FailedError(f"{len(found.lost)} pairs got no reply ({reasons}); the rest is graded")
    return PrintedResult(result, "\n".join(_lines(result)))


def write_bank_run(
    topics: Path, model: ModelOptions, out: Path, questions: int, seed: int, *, keys: bool, quiet: bool
) -> PrintedResult:
    """Write a bank; its replies are kept beside it, so that a stopped command goes on."""
    progress = Progress(quiet=quiet)
    wanted = read_topics(topics)
    settings = _settings(model)
    prepare_models([settings.model], [settings], progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    with ReplyStore(out.with_suffix(".replies.sqlite")) as store:
        cached = CachedLanguageModel(load_language_model(settings), store)
        with progress.step("writing") as report:
            found = write_questions(wanted, cached, wanted=questions, keys=keys, seed=seed, report=report)
    if not found.questions:
        raise ValueError(f"{topics}: no question could be read ({_counted(found.losses)}); wanted another model")
    write_bank(out, found.questions)
    result = {
        "out": str(out),
        "model": model.model,
        "prompt": VERSION,
        "n": len(found.questions),
        "topics": len(wanted),
        "losses": dict(found.losses),
        "short": [{"query": query, "subtopic": part, "n": n} for (query, part), n in found.short.items()],
        "usage": asdict(cached.usage),
    }
    lines = [f"{out}: {len(found.questions)} questions for {len(wanted)} topics; lost: {_counted(found.losses)}"]
    if found.short:
        lines.append(f"note: {len(found.short)} topics have fewer than {questions} questions")
    return PrintedResult(result, "\n".join(lines))


@contextmanager
def asking_of(
    model: ModelOptions, store: ReplyStore, progress: Progress, options: EngineOptions | None = None, batch: int = 1
) -> Iterator[CachedAssessor]:
    """A model at work on an engine; its answers are kept in the store."""
    settings = _settings(model)
    prepare_models([settings.model], [settings], progress)
    with (
        open_engine(options or EngineOptions(), progress.say) as engine,
        engine(partial(assessor, settings, batch), NORMALIZATION) as at_work,
    ):
        alone = options in (None, EngineOptions()) and not is_server(settings.model)
        yield CachedAssessor(at_work, store, batch, max(ALONE, batch) if alone else TOGETHER)


def assessor(settings: ModelSettings, batch: int) -> Assessor:
    """The assessor of a model's settings; built where it works."""
    return Assessor(load_language_model(settings), batch=batch)


@contextmanager
def _grader(
    job: GradingJob, store: ReplyStore, given: Given, progress: Progress
) -> Iterator[tuple[Grader, Callable[[], dict[str, Any]]]]:
    """The grader at work, and what tells its usage."""
    if job.options.grader == "reader":
        yield ExtractiveGrader(load_reader(job.model.model, job.model.device), store, job.options.threshold), dict
        return
    with asking_of(job.model, store, progress, job.engine, job.options.batch) as asking:
        yield _with_model(job, asking, given), lambda: asdict(asking.usage)


def _with_model(job: GradingJob, asking: CachedAssessor, given: Given) -> Grader:
    if given.reading is not None:
        return ChoiceReader(asking, *given.reading, MARGIN if given.margin is None else given.margin)
    if job.options.grader == "qa":
        return QaGrader(asking, job.options.verify)
    if job.options.grader == "rating":
        return SelfRating(asking)
    return DirectRelevance(asking, job.options.scale, job.options.shots, given.queries or {})


def _making(job: GradingJob) -> dict[str, Any]:
    """What `run.json` says of the making: the files and their hashes, the command, its seed and intervals."""
    files = {"bank": job.bank, "passages": job.passages}
    return {
        "made_from": {name: file_hash(path) for name, path in files.items()},
        "sources": {name: str(path) for name, path in files.items()},
        "command": job.command,
        "seed": job.resampling.seed,
        "interval": job.resampling.interval,
        "ragexam": version("ragexam"),
    }


def _settings(model: ModelOptions) -> ModelSettings:
    return ModelSettings(**vars(model))


def _lines(result: Mapping[str, Any]) -> list[str]:
    """The summary for a reader."""
    lines = [f"{result['out']}: {result['n']} grades by {result['grader']} with {result['model']}"]
    lines += [f"  grade {grade}: {count}" for grade, count in result["grades"].items()]
    lines.append(f"unparsed: {result['unparsed']}, a share of {interval_text(result['unparsed_share'])}")
    lines += [
        f"  {one['query']} {one['passage']} {one['question']}: {one['reply']!r}" for one in result["unparsed_examples"]
    ]
    left = result["left_out"]
    said = {
        "pairs are beyond --limit": result["beyond_limit"],
        "pairs have a question without a key": result["without_key"],
        "passages were longer than the model reads and cut": result["cut_passages"],
        "passages are of queries without questions": left["passages"],
        "queries of passages have no question": len(left["queries_without_questions"]),
        "queries of the bank have no passage": len(left["queries_without_passages"]),
    }
    lines += [f"note: {count} {what}" for what, count in said.items() if count]
    if result["settings"].get("margin") == MARGIN:
        lines.append(
            f"note: the margin of {MARGIN:g} nats is a rule of thumb; ragexam grade margin sets one for a model"
        )
    return lines


def _counted(losses: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {why}" for why, count in losses.items()) or "none"
