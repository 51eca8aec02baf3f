"""One labelling of an exam: what is read, who is asked, what is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from examcore import CachedLanguageModel, Progress, ReplyStore, RunFolder, write_exam
from rag import ModelSettings, embed, load_language_model, prepare_models
from ragexam._assembling import open_exam
from ragexam.classify import _tables as tables
from ragexam.classify._classification import LabellingRequest, ModelLabeller, classify
from ragexam.classify._comparison import compare, write_labels
from ragexam.classify._definition import read_taxonomy
from taxonomy import TAXONOMIES, Encode, Taxonomy


@dataclass(frozen=True)
class ClassificationJob:
    """The options of `ragexam classify`; `encoder` groups questions by their meaning, None does not."""

    exam: Path
    taxonomies: tuple[Path, ...] = ()
    only: tuple[str, ...] = ()
    model: str | None = None
    replies: Path | None = None
    encoder: str | None = None
    other: Path | None = None
    out: Path | None = None
    interval: float = 0.9
    seed: int = 0


def run(job: ClassificationJob, progress: Progress) -> dict[str, Any]:
    """Label, compare and write; returns the tables.

    `exam, hash, questions, interval, seed`; under `dimensions` for each taxonomy what `tables.dimension` says; where
    asked for, `clusters`, `agreement` (and `compared_with`), `usage` and `no_reply` of the model, `out`.
    """
    exam = open_exam(job.exam)
    target = _target(job)
    with _asking(job, progress) as ask:
        wanted = LabellingRequest(_taxonomies(job), ask, _encode(job.encoder, progress), job.seed)
        labelled, found, clusters = classify(exam, wanted)
    content: dict[str, Any] = {
        "exam": str(job.exam),
        "hash": exam.hash,
        "questions": len(exam),
        "interval": job.interval,
        "seed": job.seed,
        "dimensions": {one.name: tables.dimension(one, len(exam), job.interval) for one in found},
    }
    if clusters is not None:
        content["clusters"] = tables.clustering(clusters)
    if ask is not None:
        content["usage"] = {"model": ask.model.name, **asdict(ask.model.usage)}
        content["no_reply"] = dict(+ask.reasons)
    if job.other is not None:
        content["compared_with"] = str(job.other)
        content["agreement"] = compare(exam, found, job.other, interval=job.interval, seed=job.seed)
    if target is not None:
        if target.suffix == ".csv":
            write_labels(target, exam, found)
        else:
            write_exam(target, labelled)
        content["out"] = str(target)
    return content


def _target(job: ClassificationJob) -> Path | None:
    """Where the labelled exam goes: never over the one that is read, to which a run's answers belong."""
    source = RunFolder(job.exam).exam if job.exam.is_dir() else job.exam
    if job.out is not None and job.out.resolve() == source.resolve():
        raise ValueError(f"--out {job.out}: is the exam that is read; wanted another file")
    return job.out


def _taxonomies(job: ClassificationJob) -> tuple[Taxonomy, ...]:
    own = [read_taxonomy(path) for path in job.taxonomies]
    every = {one.name: one for one in (*TAXONOMIES, *own)}
    if len(every) < len(TAXONOMIES) + len(own):
        raise ValueError(f"--taxonomy: {', '.join(one.name for one in own)}; wanted different names")
    unknown = next((name for name in job.only if name not in every), None)
    if unknown is not None:
        raise ValueError(f"--only {unknown}: no such taxonomy; wanted some of {', '.join(every)}")
    chosen = tuple(one for name, one in every.items() if not job.only or name in job.only)
    _require_labeller(chosen, job.model)
    return chosen


def _require_labeller(taxonomies: Sequence[Taxonomy], model: str | None) -> None:
    for one in taxonomies:
        if not one.has_rules and (model is None or not one.has_definitions):
            lacking = "--model" if one.has_definitions else "words, wordings, or a definition of every level"
            raise ValueError(f"taxonomy {one.name}: has no words or wordings to label by; wanted {lacking}")


@contextmanager
def _asking(job: ClassificationJob, progress: Progress) -> Iterator[ModelLabeller | None]:
    """The model that is asked; its replies are kept in the run's folder, or beside the exam."""
    if job.model is None:
        yield None
        return
    settings = ModelSettings(model=job.model)
    prepare_models([job.model], [settings], progress)
    kept = job.replies or _replies_of(job.exam)
    with progress.step("labelling") as report, ReplyStore(kept) as store:
        model = load_language_model(settings)
        yield ModelLabeller.of(CachedLanguageModel(model, store), model, report)


def _replies_of(exam: Path) -> Path:
    return RunFolder(exam).replies if exam.is_dir() else exam.with_suffix(".replies.sqlite")


def _encode(encoder: str | None, progress: Progress) -> Encode | None:
    if encoder is None:
        return None
    prepare_models([encoder], [], progress)

    def encode(texts: Sequence[str]) -> Any:
        return embed(texts, encoder=encoder)

    return encode
