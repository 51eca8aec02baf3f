"""The commands that take exams to other tools and bring answers back: export, import."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result


def export(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run folder.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="lm-eval, inspect, hf, csv or responses.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder.")],
    name: Annotated[
        str, typer.Option(help="What tasks or the data set are called; default: from the exam's hash.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Write an exam for lm-evaluation-harness, Inspect or the Hugging Face hub or as a table, or its answers so far."""
    from ragexam.exchange import export_exam

    show_result(export_exam(exam, to, out, name), as_json=as_json)


def import_answers(
    samples: Annotated[
        list[str],
        typer.Argument(metavar="SAMPLES...", help="samples_*.jsonl, .json or .eval logs, or LLM=FILE; folders."),
    ],
    exam: Annotated[Path, typer.Option("--exam", metavar="EXAM", help="exam.jsonl, or a run folder.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The responses to write (.csv).")],
    normalization: Annotated[
        str, typer.Option(help="How lm-eval's log-likelihoods choose: sum, character or byte.")
    ] = "character",
    as_json: AsJson = False,
) -> None:
    """Read answers of lm-evaluation-harness and Inspect to an exported exam: responses.csv."""
    from ragexam.exchange import import_answers as read_answers

    show_result(read_answers(samples, exam, out, normalization), as_json=as_json)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    commands: dict[str, tuple[Callable[..., None], str]] = {
        "export": (export, "runs/quickstart --to lm-eval --out tasks"),
        "import": (import_answers, "samples --exam runs/quickstart --out responses.csv"),
    }
    for name, (command, example) in commands.items():
        app.command(name, epilog=f"Example: ragexam {name} {example}")(command)
