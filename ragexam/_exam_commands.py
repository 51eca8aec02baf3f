"""The commands on what an exam holds: corpus, statistics, classify, assemble, diff, retrieval."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, Quiet, Seed, show_result

Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change one setting, e.g. corpus.sample=50.")
]


def corpus(
    where: Annotated[str, typer.Argument(metavar="CORPUS", help="A corpus, a configuration .yaml or a run folder.")],
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Say what a corpus holds: documents, chunks, words, vocabulary, topics, unusual documents, what was left out."""
    from ragexam._corpus_table import corpus_table

    show_result(corpus_table(where, overrides or ()), as_json=as_json)


def statistics(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run folder.")],
    as_json: AsJson = False,
) -> None:
    """Say what became of every question: unparsable, dropped, surviving; baselines, lengths, coverage."""
    from ragexam._exam_table import exam_table

    show_result(exam_table(exam), as_json=as_json)


def assemble(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run folder.")],
    size: Annotated[int, typer.Option(min=1, help="Wanted number of questions.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The exam to write (.jsonl).")],
    by: Annotated[
        str, typer.Option(help="topic, document, bloom, knowledge, form, or several: topic,bloom.")
    ] = "topic",
    equal: Annotated[bool, typer.Option(help="Equal shares instead of those the exam has.")] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Choose a balanced exam of a wanted size; how it came about is written beside it."""
    from ragexam._assembling import assemble_exam

    attributes = [one.strip() for one in by.split(",")]
    show_result(assemble_exam(exam, size, out, attributes, equal=equal, seed=seed), as_json=as_json)


def diff(
    before: Annotated[Path, typer.Argument(metavar="A", help="exam.jsonl, or a run folder.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="exam.jsonl, or a run folder.")],
    as_json: AsJson = False,
) -> None:
    """Say which questions were added, removed, renamed or changed from one exam to another."""
    from ragexam._assembling import compare_exams

    show_result(compare_exams(before, after), as_json=as_json)


def retrieval(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder whose exam was sat.")],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say how well each retriever finds the passage a question was written from: hit rate, MRR, nDCG."""
    from examcore import Progress
    from ragexam._retrieval import measure_retrieval

    show_result(measure_retrieval(run, Progress(quiet=quiet)), as_json=as_json)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    commands: dict[str, tuple[Callable[..., None], str]] = {
        "corpus": (corpus, "documents/"),
        "statistics": (statistics, "runs/quickstart"),
        "assemble": (assemble, "runs/quickstart --size 40 --by topic,bloom --out exam.jsonl"),
        "diff": (diff, "runs/quickstart exam.jsonl"),
        "retrieval": (retrieval, "runs/quickstart"),
    }
    for name, (command, example) in commands.items():
        app.command(name, epilog=f"Example: ragexam {name} {example}")(command)
