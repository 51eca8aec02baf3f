"""The commands that ask models: run, sit, classify. Loading them loads the examinees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore import Progress
from examcore.console import AsJson, Quiet, Seed, show_result
from irt.commands import with_records
from rag.engines import EngineOptions
from ragexam._config import Config, GridSettings
from ragexam._exam_commands import Overrides
from ragexam._run import run_all, run_sitting
from ragexam._settings import read
from ragexam.classify import ClassificationJob
from ragexam.classify import run as run_classification

WRITING_SHARE = 0.8
"""Of the minutes of a run, those that go to writing; the quickstart sits, fits and reports in a tenth of its time."""

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
    """Write, sit, measure, prune and report; stops and resumes anywhere."""
    limit = [] if minutes is None else [f"exam.minutes={minutes * WRITING_SHARE}"]
    settings = read(config, Config, [*(overrides or ()), *limit])
    show_result(run_all(settings, Progress(quiet=quiet), engine), as_json=as_json)


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
    """Let a grid of pipelines sit an exam: answers.sqlite and responses.csv."""
    grid = read(pipelines, GridSettings, overrides or ())
    show_result(run_sitting(exam, grid, out, engine, seed, Progress(quiet=quiet)), as_json=as_json)


def classify(job: ClassificationJob, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Label questions by Bloom's taxonomy, by their form, by a taxonomy of yours; compare labellers."""
    show_result(run_classification(job, Progress(quiet=quiet)), as_json=as_json)


for _function, _example in (
    (run, "run experiments/quickstart/config.yaml --set exam.questions=80"),
    (sit, "sit runs/mine/exam.jsonl --pipelines grid.yaml --out runs/mine"),
    (classify, "classify runs/quickstart --clusters --out labelled.jsonl"),
):
    model_commands.command(_function.__name__, epilog=f"Example: ragexam {_example}")(with_records(_function))
