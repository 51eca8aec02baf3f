"""The commands that ask models: run, sit, classify. Loading them loads the examinees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import ragexam
from examcore import Progress
from examcore.console import AsJson, Quiet, Seed, show_result
from irt.commands import with_records
from rag.engines import EngineOptions
from ragexam._exam_commands import Overrides
from ragexam.classify import ClassificationJob
from ragexam.classify import run as run_classification

model_commands = typer.Typer(add_completion=False, rich_markup_mode=None)


def run(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml")],
    engine: EngineOptions,
    minutes: Annotated[
        float | None, typer.Option(help="Look after so many minutes; the same command goes on from there.")
    ] = None,
    overrides: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write, sit, measure, prune and report; resumes anywhere."""
    progress = Progress(quiet=quiet)
    done = ragexam.run(config, overrides=overrides or (), minutes=minutes, engine=engine, progress=progress)
    show_result(done, as_json=as_json)


def sit(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run folder.")],
    pipelines: Annotated[Path, typer.Option("--pipelines", metavar="GRID.yaml", help="llms, retrievers, shots.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the results.")],
    engine: EngineOptions,
    seed: Seed = 0,
    overrides: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Let a grid of pipelines sit an exam. The folder gets answers.sqlite and responses.csv."""
    progress = Progress(quiet=quiet)
    sat = ragexam.sit(exam, pipelines, out, seed=seed, overrides=overrides or (), engine=engine, progress=progress)
    show_result(sat, as_json=as_json)


def classify(job: ClassificationJob, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Label questions: Bloom's taxonomy, forms, your own taxonomy. Labellers are compared."""
    show_result(run_classification(job, Progress(quiet=quiet)), as_json=as_json)


for _function, _example in (
    (run, "run experiments/quickstart/config.yaml --set exam.questions=80"),
    (sit, "sit runs/mine/exam.jsonl --pipelines grid.yaml --out runs/mine"),
    (classify, "classify runs/quickstart --clusters --out labelled.jsonl"),
):
    model_commands.command(_function.__name__, epilog=f"Example: ragexam {_example}")(with_records(_function))
