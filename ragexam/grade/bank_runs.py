"""Running a model over banks: writing one, and grading passages by one; replies are kept, so that it can go on."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast, get_args

from exam_gen.files import read_exam, write_text
from exam_gen.model import FailedError
from exam_gen.records import Exam
from exam_gen.replies import CachedModel, ReplyStore
from grading.banks.bank_writing import VERSION, read_topics, write_questions
from grading.formats.bank_files import read_bank, write_bank
from grading.formats.passages import Pair, pair, read_passages
from grading.graders.asking import Asking, Assessor
from grading.graders.choices import MARGIN, Articles, ChoiceReader, articles_of
from grading.graders.extractive import ExtractiveGrader, load_reader
from grading.graders.graders import DirectRelevance, Grader, QaGrader, SelfRating, Verify
from grading.graders.prompts import Scale
from grading.graders.running import grade_all, summary, write_grades
from rag.engines import EngineOptions, opened
from ragexam.config import ModelSettings
from ragexam.folder import RunFolder, file_hash
from ragexam.grade.bank_results import Result
from ragexam.grade.common import in_words
from ragexam.progress import Progress
from ragexam.run import loaded, prepare

GRADERS = ("qa", "rating", "relevance", "reader", "choices")
_OWN_OPTIONS = {"qa": ("verify",), "relevance": ("scale", "shots"), "reader": ("threshold",)}
"""Options that concern one grader only."""
Reading = tuple[Exam, Articles]
"""The exam and the articles that are read by choices."""
ModelName = tuple[str, str, str]
"""Name, dtype and device."""


@dataclass(frozen=True)
class Job:
    """What is graded, how, and where to; the fields are the options of `ragexam grade run`."""

    bank: Path
    passages: Path
    model: ModelName
    out: Path
    grader: str
    limit: int | None
    verify: str
    scale: str
    shots: int
    queries: Path | None
    margin: float | None
    threshold: float
    batch: int
    engine: EngineOptions
    interval: float
    seed: int

    @property
    def command(self) -> str:
        """The command that can be given again; options that change no grade are left out."""
        model, dtype, device = self.model
        said = {"grader": self.grader, "model": model, "out": self.out}
        said |= {name: one for name, one in (("dtype", dtype), ("device", device)) if one != "auto"}
        said |= {name: getattr(self, name) for name in ("limit", "queries", "margin", "interval", "seed")}
        said |= {name: getattr(self, name) for name in _OWN_OPTIONS.get(self.grader, ())}
        words = [str(one) for name, value in said.items() if value is not None for one in (f"--{name}", value)]
        return shlex.join(["ragexam", "grade", "run", str(self.bank), str(self.passages), *words])

    def __post_init__(self) -> None:
        wanted = {"grader": GRADERS, "verify": get_args(Verify), "scale": get_args(Scale)}
        for name, known in wanted.items():
            if getattr(self, name) not in known:
                raise ValueError(f"--{name} {getattr(self, name)}: unknown; wanted {', '.join(known)}")
        alone = self.engine == EngineOptions()
        if not alone and (self.batch > 1 or self.grader == "reader"):
            found = "--grader reader" if self.grader == "reader" else f"--batch {self.batch}"
            raise ValueError(f"{found}: found with --engine or --workers; wanted one of them")


def grade_run(job: Job, *, quiet: bool) -> Result:
    """Grade; writes `grades.jsonl`, `run.json` and `replies.sqlite` into the folder of the job.

    Raises `FailedError` at the end when pairs got no reply: what was graded is written, the same command asks for the
    rest.
    """
    progress = Progress(quiet=quiet)
    exam, pairs, left = _work(job, progress)
    taken = pairs[: job.limit]
    with RunFolder(job.out).held(), ReplyStore(job.out / "replies.sqlite") as store:
        with _grader(job, store, exam, progress) as (grader, usage), progress.step("grading") as report:
            found = grade_all(grader, taken, report)
            used = usage()
        write_grades(job.out / "grades.jsonl", found.graded, grader.name, articles=exam is not None)
        result = {
            "grader": grader.name,
            "model": job.model[0],
            "settings": dict(grader.settings),
            **summary(found, level=job.interval, seed=job.seed),
            "beyond_limit": len(pairs) - len(taken),
            "left_out": left,
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
    return result, "\n".join(_lines(result))


def write_bank_run(
    topics: Path, model: ModelName, out: Path, questions: int, seed: int, *, keys: bool, quiet: bool
) -> Result:
    """Write a bank; its replies are kept beside it, so that a stopped command goes on."""
    progress = Progress(quiet=quiet)
    wanted = read_topics(topics)
    settings = _settings(model)
    prepare([settings.model], [settings], progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    with ReplyStore(out.with_suffix(".replies.sqlite")) as store:
        cached = CachedModel(loaded(settings), store)
        with progress.step("writing") as report:
            found = write_questions(wanted, cached, wanted=questions, keys=keys, seed=seed, report=report)
    if not found.questions:
        raise ValueError(f"{topics}: no question could be read ({_counted(found.losses)}); wanted another model")
    write_bank(out, found.questions)
    result = {
        "out": str(out),
        "model": model[0],
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
    return result, "\n".join(lines)


def assessor(settings: ModelSettings, batch: int) -> Assessor:
    """The assessor of a model's settings; built where it works."""
    return Assessor(loaded(settings), batch=batch)


def _work(job: Job, progress: Progress) -> tuple[Reading | None, tuple[Pair, ...], dict[str, Any]]:
    """The exam (for choices), the pairs, and what takes no part."""
    passages = read_passages(job.passages)
    if job.grader == "choices":
        exam = read_exam(job.bank)
        found = articles_of(exam, passages)
        return (exam, found), found.pairs, _left(found.without_questions, found.without_passages, 0)
    notes: list[str] = []
    paired = pair(read_bank(job.bank, notes), passages)
    for note in notes:
        progress.say(f"note: {note}")
    left = _left(paired.without_questions, paired.without_passages, paired.passages_left_out)
    return None, paired.pairs, left


def _left(without_questions: tuple[str, ...], without_passages: tuple[str, ...], passages: int) -> dict[str, Any]:
    return {
        "queries_without_questions": list(without_questions),
        "queries_without_passages": list(without_passages),
        "passages": passages,
    }


@contextmanager
def _grader(
    job: Job, store: ReplyStore, exam: Reading | None, progress: Progress
) -> Iterator[tuple[Grader, Callable[[], dict[str, Any]]]]:
    """The grader at work, and what tells its usage."""
    if job.grader == "reader":
        yield ExtractiveGrader(load_reader(job.model[0], job.model[2]), store, job.threshold), dict
        return
    settings = _settings(job.model)
    prepare([settings.model], [settings], progress)
    with (
        opened(job.engine, progress.say) as engine,
        engine(partial(assessor, settings, job.batch), "character") as at_work,
    ):
        asking = Asking(at_work, store, job.batch)
        yield _with_model(job, asking, exam), lambda: asdict(asking.usage)


def _with_model(job: Job, asking: Asking, exam: Reading | None) -> Grader:
    if exam is not None:
        return ChoiceReader(asking, *exam, MARGIN if job.margin is None else job.margin)
    if job.grader == "qa":
        return QaGrader(asking, cast(Verify, job.verify))
    if job.grader == "rating":
        return SelfRating(asking)
    texts = {one.query: one.text for one in read_topics(job.queries)} if job.queries else {}
    return DirectRelevance(asking, cast(Scale, job.scale), job.shots, texts)


def _making(job: Job) -> dict[str, Any]:
    """What `run.json` says of the making: the files and their hashes, the command, its seed and intervals."""
    files = {"bank": job.bank, "passages": job.passages}
    return {
        "made_from": {name: file_hash(path) for name, path in files.items()},
        "sources": {name: str(path) for name, path in files.items()},
        "command": job.command,
        "seed": job.seed,
        "interval": job.interval,
        "ragexam": version("ragexam"),
    }


def _settings(model: ModelName) -> ModelSettings:
    return ModelSettings(model=model[0], dtype=model[1], device=model[2])


def _lines(result: Mapping[str, Any]) -> list[str]:
    """The summary for a reader."""
    lines = [f"{result['out']}: {result['n']} grades by {result['grader']} with {result['model']}"]
    lines += [f"  grade {grade}: {count}" for grade, count in result["grades"].items()]
    lines.append(f"unparsed: {result['unparsed']}, a share of {in_words(result['unparsed_share'])}")
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
    return [*lines, *(f"note: {count} {what}" for what, count in said.items() if count)]


def _counted(losses: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {why}" for why, count in losses.items()) or "none"
