"""Passages graded by a bank's questions, run, the margin of EXAM's own reader, margin, and the page, report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from examcore import Progress
from examcore.console import AsJson, Quiet, show_result
from grading._records import Sampling
from grading.graders._assessor import ModelOptions
from grading.graders._calibration import set_margin
from grading.graders._grading_run import GraderOptions, grade_passages
from grading.page import Sources, write_grading_report
from rag.engines import EngineOptions


def run(
    bank: Annotated[Path, typer.Argument(metavar="BANK", help="A question bank, or exam.jsonl for --grader choices.")],
    passages: Annotated[
        Path, typer.Argument(metavar="PASSAGES", help="query, passage, text[, system]; chunks; answers[.sqlite].")
    ],
    model: ModelOptions,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for grades.jsonl and the replies.")],
    grading: GraderOptions,
    engine: EngineOptions,
    sampling: Sampling,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Grade passages by a bank's questions with a model. Stops and resumes anywhere."""
    found = grade_passages(bank, passages, out, model, grading, engine, sampling, Progress(quiet=quiet))
    show_result(found, as_json=as_json)


def margin(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run: questions with their passages.")],
    model: ModelOptions,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for margin.json and the replies.")],
    sampling: Sampling,
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
    found = set_margin(exam, model, out, sampling, Progress(quiet=quiet), share=share, passages=passages)
    show_result(found, as_json=as_json)


def report(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A folder that `ragexam grade run` wrote.")],
    sources: Sources,
    sampling: Sampling,
    as_json: AsJson = False,
) -> None:
    """Write report.html: which system answers most, how surely.

    It shows each question and what became of the replies.
    """
    show_result(write_grading_report(out, sources, sampling, _command(out, sources, sampling)), as_json=as_json)


def _command(out: Path, sources: Sources, sampling: Sampling) -> str:
    """The command as it can be given again."""
    words = ["ragexam", "grade", "report", str(out)]
    for name, value in {**vars(sources), "interval": sampling.interval, "seed": sampling.seed}.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                option = "run" if name == "runs" else name
                words += [f"--{option}", f"{one:g}" if isinstance(one, float) else str(one)]
    return shlex.join(words)
