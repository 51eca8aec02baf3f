"""The commands on an exam: what it holds, versions of it, and its way to other tools and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import ragexam
from examcore import Progress
from examcore.console import AsJson, Quiet, Seed, show_result

exam_app = typer.Typer(add_completion=False, rich_markup_mode=None)
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change one setting, e.g. corpus.sample=50.")
]

ExamPath = Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run folder.")]
SatRun = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder whose exam was sat.")]


@exam_app.command(epilog="Example: ragexam corpus documents/")
def corpus(
    where: Annotated[str, typer.Argument(metavar="CORPUS", help="A corpus, a configuration .yaml or a run folder.")],
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Say what a corpus holds and what was left out.

    Documents, chunks, words, vocabulary, topics, unusual documents.
    """
    from ragexam._corpus_table import corpus_table

    show_result(corpus_table(where, overrides or ()), as_json=as_json)


@exam_app.command(epilog="Example: ragexam statistics runs/quickstart")
def statistics(
    exam: ExamPath,
    as_json: AsJson = False,
) -> None:
    """Say what became of every question that was drafted.

    Unparsable, dropped, surviving; baselines, lengths, coverage.
    """
    from ragexam._exam_table import exam_table

    show_result(exam_table(exam), as_json=as_json)


@exam_app.command(epilog="Example: ragexam assemble runs/quickstart --size 40 --by topic,bloom --out exam.jsonl")
def assemble(
    exam: ExamPath,
    size: Annotated[int, typer.Option(min=1, help="Wanted number of questions.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The exam to write (.jsonl).")],
    by: Annotated[
        str, typer.Option(help="topic, document, bloom, knowledge, form, or several: topic,bloom.")
    ] = "topic",
    equal: Annotated[bool, typer.Option(help="Equal shares instead of those the exam has.")] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Choose a balanced exam of a wanted size. How it came about is written beside it."""
    from ragexam._assembling import assemble_exam

    attributes = [one.strip() for one in by.split(",")]
    show_result(assemble_exam(exam, size, out, attributes, equal=equal, seed=seed), as_json=as_json)


@exam_app.command(epilog="Example: ragexam diff runs/quickstart exam.jsonl")
def diff(
    before: Annotated[Path, typer.Argument(metavar="A", help="exam.jsonl, or a run folder.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="exam.jsonl, or a run folder.")],
    as_json: AsJson = False,
) -> None:
    """Say which questions two exams do not have in common. Questions are added, removed, renamed or changed."""
    from ragexam._assembling import compare_exams

    show_result(compare_exams(before, after), as_json=as_json)


@exam_app.command(epilog="Example: ragexam retrieval runs/quickstart")
def retrieval(
    run: SatRun,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Report how well each retriever finds the source passage.

    Hit rate, MRR and nDCG of the passage a question was written from.
    """
    show_result(ragexam.retrieval(run, progress=Progress(quiet=quiet)), as_json=as_json)


@exam_app.command(epilog="Example: ragexam validity runs/quickstart questions.jsonl")
def validity(
    run: SatRun,
    users: Annotated[
        Path, typer.Argument(metavar="USERS", help="Questions of people (.jsonl): text, and document or passage.")
    ],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say whether an exam ranks retrievers as users' questions do.

    Pairs of retrievers agreed on, silent and contradicted.
    """
    from ragexam.validity import validity_of_run

    show_result(validity_of_run(run, users, Progress(quiet=quiet)), as_json=as_json)


@exam_app.command(epilog="Example: ragexam export runs/quickstart --to lm-eval --out tasks")
def export(
    exam: ExamPath,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="lm-eval, inspect, hf, csv or responses.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder.")],
    name: Annotated[
        str, typer.Option(help="What tasks or the data set are called; default: from the exam's hash.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Write an exam for another tool, or its answers so far.

    Tools are lm-evaluation-harness, Inspect and the Hugging Face hub; or a table.
    """
    from ragexam.exchange import export_exam

    show_result(export_exam(exam, to, out, name), as_json=as_json)


@exam_app.command("import", epilog="Example: ragexam import samples --exam runs/quickstart --out responses.csv")
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
    """Read another tool's answers to an exported exam.

    Answers of lm-evaluation-harness and Inspect become responses.csv.
    """
    from ragexam.exchange import import_answers as read_answers

    show_result(read_answers(samples, exam, out, normalization), as_json=as_json)
