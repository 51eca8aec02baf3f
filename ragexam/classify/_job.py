"""One labelling of an exam: what is read, who is asked, what is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from examcore import CachedLanguageModel, Progress, RemoteLanguageModel, ReplyStore, RunFolder, write_exam
from examcore.console import Interval, Seed
from rag import DEFAULT_ENCODER, ModelSettings, embed, load_language_model, prepare_models
from ragexam._assembling import open_exam
from ragexam.classify._classification import ModelLabeller, classify
from ragexam.classify._definition import read_taxonomy
from ragexam.classify._label_agreement import compare, write_labels
from ragexam.classify._results import ClassificationResult
from taxonomy import TAXONOMIES, Encode, Taxonomy


@dataclass(frozen=True)
class ClassificationJob:
    """The options of `ragexam classify`: what is labelled, by whom, by what, and with whom that is compared."""

    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run folder.")]
    taxonomy: Annotated[
        list[Path] | None, typer.Option(metavar="FILE.yaml", help="A taxonomy of your own; repeatable.")
    ] = None
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="This taxonomy and no other.")] = None
    model: Annotated[
        str | None, typer.Option(metavar="SPEC", help="A language model labels what has definitions, not the rules.")
    ] = None
    replies: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the model's replies are kept, so that it goes on.")
    ] = None
    clusters: Annotated[bool, typer.Option("--clusters", help="Group the questions by what they are about.")] = False
    encoder: Annotated[str | None, typer.Option(help="The encoder that compares meanings, for --clusters.")] = None
    compare: Annotated[
        Path | None, typer.Option(metavar="LABELS", help="Another labeller: question,bloom,… or an exam.")
    ] = None
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the exam with its labels; or them alone (.csv).")
    ] = None
    interval: Interval = 0.9
    seed: Seed = 0

    def __post_init__(self) -> None:
        if self.encoder is not None and not self.clusters:
            raise ValueError(f"--encoder {self.encoder}: found without --clusters; wanted both")
        if self.replies is not None and self.model is None:
            raise ValueError(f"--replies {self.replies}: found without --model; wanted both")


def run(job: ClassificationJob, progress: Progress) -> ClassificationResult:
    """Label, compare and write."""
    exam = open_exam(job.exam)
    _require_other_file(job)
    with _asking(job, progress) as ask:
        labelled, found, clusters = classify(exam, _taxonomies(job), ask, _encode(job, progress), job.seed)
    compared = job.compare and compare(exam, found, job.compare, interval=job.interval, seed=job.seed)
    if job.out is not None and job.out.suffix == ".csv":
        write_labels(job.out, exam, found)
    elif job.out is not None:
        write_exam(job.out, labelled)
    return ClassificationResult(
        exam=job.exam,
        hash=exam.hash,
        questions=len(exam),
        interval=job.interval,
        seed=job.seed,
        found=found,
        clusters=clusters,
        usage=None if ask is None else {"model": ask.model.name, **asdict(ask.model.usage)},
        no_reply={} if ask is None else dict(+ask.reasons),
        compared_with=job.compare,
        agreement=compared or {},
        out=job.out,
    )


def _require_other_file(job: ClassificationJob) -> None:
    """The labelled exam never goes over the one that is read, to which a run's answers belong."""
    source = RunFolder(job.exam).exam if job.exam.is_dir() else job.exam
    if job.out is not None and job.out.resolve() == source.resolve():
        raise ValueError(f"--out {job.out}: is the exam that is read; wanted another file")


def _taxonomies(job: ClassificationJob) -> tuple[Taxonomy, ...]:
    own = [read_taxonomy(path) for path in job.taxonomy or ()]
    every = {one.name: one for one in (*TAXONOMIES, *own)}
    if len(every) < len(TAXONOMIES) + len(own):
        raise ValueError(f"--taxonomy: {', '.join(one.name for one in own)}; wanted different names")
    unknown = next((name for name in job.only or () if name not in every), None)
    if unknown is not None:
        raise ValueError(f"--only {unknown}: no such taxonomy; wanted some of {', '.join(every)}")
    chosen = tuple(one for name, one in every.items() if not job.only or name in job.only)
    for one in chosen:
        if not one.has_rules and (job.model is None or not one.has_definitions):
            lacking = "--model" if one.has_definitions else "words, wordings, or a definition of every level"
            raise ValueError(f"taxonomy {one.name}: has no words or wordings to label by; wanted {lacking}")
    return chosen


@contextmanager
def _asking(job: ClassificationJob, progress: Progress) -> Iterator[ModelLabeller | None]:
    """The model that is asked; its replies are kept in the run's folder, or beside the exam."""
    if job.model is None:
        yield None
        return
    settings = ModelSettings(model=job.model)
    prepare_models([job.model], [settings], progress)
    beside = RunFolder(job.exam).replies if job.exam.is_dir() else job.exam.with_suffix(".replies.sqlite")
    with progress.step("labelling") as report, ReplyStore(job.replies or beside) as store:
        model = load_language_model(settings)
        yield ModelLabeller(CachedLanguageModel(model, store), isinstance(model, RemoteLanguageModel), report)


def _encode(job: ClassificationJob, progress: Progress) -> Encode | None:
    if not job.clusters:
        return None
    encoder = job.encoder or DEFAULT_ENCODER
    prepare_models([encoder], [], progress)
    return partial(embed, encoder=encoder)
