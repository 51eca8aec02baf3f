"""The command that labels questions: classify."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from examcore import Progress
from examcore.console import AsJson, Interval, Quiet, Seed, show_result
from irt.commands import with_records
from rag import DEFAULT_ENCODER
from ragexam.classify import ClassificationJob, run

classifying = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True)
class LabellerOptions:
    """Who labels, by what, and with whom it is compared."""

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

    def __post_init__(self) -> None:
        if self.encoder is not None and not self.clusters:
            raise ValueError(f"--encoder {self.encoder}: wanted --clusters with it")
        if self.replies is not None and self.model is None:
            raise ValueError(f"--replies {self.replies}: wanted --model with it")


def classify(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run folder.")],
    labeller: LabellerOptions,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the exam with its labels; or them alone (.csv).")
    ] = None,
    interval: Interval = 0.9,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Label questions by Bloom's taxonomy, by their form, by a taxonomy of yours; compare labellers."""
    job = ClassificationJob(
        exam=exam,
        taxonomies=tuple(labeller.taxonomy or ()),
        only=tuple(labeller.only or ()),
        model=labeller.model,
        replies=labeller.replies,
        encoder=(labeller.encoder or DEFAULT_ENCODER) if labeller.clusters else None,
        other=labeller.compare,
        out=out,
        interval=interval,
        seed=seed,
    )
    show_result(run(job, Progress(quiet=quiet)), as_json=as_json)


classifying.command("classify", epilog="Example: ragexam classify runs/quickstart --clusters --out labelled.jsonl")(
    with_records(classify)
)
