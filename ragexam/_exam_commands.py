"""The commands on what an exam holds: corpus, statistics, classify, assemble, diff, retrieval."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from examcore.console import show_result

Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change one setting, e.g. corpus.sample=50.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]


def _show(result: Mapping[str, Any], *, as_json: bool, lines: str) -> None:
    print(json.dumps(result, indent=2, ensure_ascii=False) if as_json else lines)


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


def classify(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run folder.")],
    taxonomy: Annotated[
        list[Path] | None, typer.Option("--taxonomy", metavar="FILE.yaml", help="A taxonomy of your own; repeatable.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="This taxonomy and no other.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="SPEC", help="A language model labels what has definitions, not the rules.")
    ] = None,
    replies: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the model's replies are kept, so that it goes on.")
    ] = None,
    clusters: Annotated[bool, typer.Option("--clusters", help="Group the questions by what they are about.")] = False,
    encoder: Annotated[str | None, typer.Option(help="The encoder that compares meanings, for --clusters.")] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="LABELS", help="Another labeller: question,bloom,… or an exam.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the exam with its labels; or them alone (.csv).")
    ] = None,
    interval: Annotated[float, typer.Option(min=0.01, max=0.99, help="The share that intervals cover.")] = 0.9,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")] = False,
) -> None:
    """Label questions by Bloom's revised taxonomy, by their form, by a taxonomy of yours; compare labellers."""
    from examcore import Progress
    from examcore.console import show
    from rag import DEFAULT_ENCODER
    from ragexam.classify import Job, run
    from ragexam.classify._tables import lines_of

    if encoder is not None and not clusters:
        raise ValueError(f"--encoder {encoder}: wanted --clusters with it")
    if replies is not None and model is None:
        raise ValueError(f"--replies {replies}: wanted --model with it")
    job = Job(
        exam=exam,
        taxonomies=tuple(taxonomy or ()),
        only=tuple(only or ()),
        model=model,
        replies=replies,
        encoder=(encoder or DEFAULT_ENCODER) if clusters else None,
        other=compare,
        out=out,
        interval=interval,
        seed=seed,
    )
    content = run(job, Progress(quiet=quiet))
    written = f"\n\n{out}: {content['questions']} questions with labels" if out else ""
    show(content, as_json=as_json, lines=lines_of(content) + written)


def assemble(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run folder.")],
    size: Annotated[int, typer.Option(min=1, help="Wanted number of questions.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The exam to write (.jsonl).")],
    by: Annotated[
        str, typer.Option(help="topic, document, bloom, knowledge, form, or several: topic,bloom.")
    ] = "topic",
    equal: Annotated[bool, typer.Option(help="Equal shares instead of those the exam has.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")] = False,
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
        "classify": (classify, "runs/quickstart --clusters --out labelled.jsonl"),
        "assemble": (assemble, "runs/quickstart --size 40 --by topic,bloom --out exam.jsonl"),
        "diff": (diff, "runs/quickstart exam.jsonl"),
        "retrieval": (retrieval, "runs/quickstart"),
    }
    for name, (command, example) in commands.items():
        app.command(name, epilog=f"Example: ragexam {name} {example}")(command)
