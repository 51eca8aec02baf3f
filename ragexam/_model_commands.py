"""The commands that ask models: run, sit, answers, classify. Loading them loads the examinees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import ragexam
from examcore import Progress
from examcore.console import AsJson, Quiet, Seed, show_result
from irt.commands import with_records
from rag.engines import EngineOptions
from ragexam._exam_commands import ExamPath, Overrides
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
    exam: ExamPath,
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


@dataclass(frozen=True)
class ClaimOptions:
    """What is done about the claims of free-text answers."""

    claims: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Let it judge what the answers claim; kept in claims.jsonl.")
    ] = None
    nuggets: Annotated[
        Path | None, typer.Option(metavar="BANK", help="What answers should state; kept as claim_nuggets.jsonl.")
    ] = None
    claim_sheet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write claims to label by hand, without the judge's decisions.")
    ] = None
    claim_labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A sheet of claims with labels; kept as claim_labels.jsonl.")
    ] = None


def answers(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder with answers in free text.")],
    about: ClaimOptions,
    sheet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write answers to label by hand, without their grades.")
    ] = None,
    size: Annotated[int, typer.Option(min=1, help="How many rows a sheet has.")] = 100,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A sheet with labels; kept as answer_labels.jsonl.")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show the answers in free text: right, wrong, declined.

    How they were graded, how far that agrees with labels given by hand, and what they claim beside their passages.
    """
    from ragexam._answer_claims import claims_of_run, label_claims, take_nuggets, write_claim_sheet
    from ragexam._free_text_answers import free_text_of, write_answer_sheet

    if sheet is not None and about.claim_sheet is not None:
        raise ValueError("--claim-sheet: found with --sheet; wanted one of them")
    if about.nuggets is not None:
        take_nuggets(run, about.nuggets)
    found = free_text_of(run, labels)
    if about.claims is not None:
        found = claims_of_run(run, about.claims, Progress(quiet=quiet))
    if about.claim_labels is not None:
        found = label_claims(run, found, about.claim_labels)
    if about.claim_sheet is not None:
        show_result(write_claim_sheet(found.claims, about.claim_sheet, size, seed), as_json=as_json)
        return
    show_result(found if sheet is None else write_answer_sheet(found, sheet, size, seed), as_json=as_json)


def classify(job: ClassificationJob, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Label questions: Bloom's taxonomy, forms, your own taxonomy. Labellers are compared."""
    show_result(run_classification(job, Progress(quiet=quiet)), as_json=as_json)


for _function, _example in (
    (run, "run experiments/quickstart/config.yaml --set exam.questions=80"),
    (sit, "sit runs/mine/exam.jsonl --pipelines grid.yaml --out runs/mine"),
    (answers, "answers runs/quickstart --sheet sheet.jsonl"),
    (classify, "classify runs/quickstart --clusters --out labelled.jsonl"),
):
    model_commands.command(_function.__name__, epilog=f"Example: ragexam {_example}")(with_records(_function))
