"""Banks of questions: bank write, bank lint and what follows from edits, and grading with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from examcore.console import AsJson, Interval, Quiet, Seed, show
from grading.commands._common import register as add

Bank = Annotated[Path, typer.Argument(metavar="BANK", help="bank.jsonl, a table, or a published question bank.")]
Model = Annotated[str, typer.Option(help="The model, as for pipelines: embedded:NAME, a folder, a hub name, openai:…")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, mps.")]
Dtype = Annotated[str, typer.Option(help="auto, float32, bfloat16, float16, int8, nf4.")]


def lint(
    bank: Bank,
    grades: Annotated[Path | None, typer.Option(help="Grades: finds questions that most passages answer.")] = None,
    tau: Annotated[float, typer.Option(help="The grade from which a question is answered.")] = 1.0,
    fewest: Annotated[int, typer.Option(min=1, help="Questions a query should have at least.")] = 3,
    near: Annotated[float, typer.Option(min=0.1, max=1, help="Similarity from which questions ask the same.")] = 0.8,
    as_json: AsJson = False,
) -> None:
    """Find faults of a bank: duplicates, contradictions, AND keys that nothing meets, questions that are too broad."""
    from grading.commands._bank_results import lint_bank

    result, lines = lint_bank(bank, grades, tau, fewest, near)
    show(result, as_json=as_json, lines=lines)


def changes(
    before: Annotated[Path, typer.Argument(metavar="BANK_A", help="The bank before the edits.")],
    after: Annotated[Path, typer.Argument(metavar="BANK_B", help="The bank after them.")],
    grades: Annotated[Path, typer.Argument(metavar="GRADES", help="grades.jsonl or a table of grades.")],
    tau: Annotated[float | None, typer.Option(help="Count only labels that cross this grade.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the passages whose EXAM-Label changes from one bank to another."""
    from grading.commands._bank_results import changed_labels

    result, lines = changed_labels(before, after, grades, tau)
    show(result, as_json=as_json, lines=lines)


def edit(
    bank: Bank,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="[FIELD=VALUE]...", help="With --change: question, answers, …")
    ] = None,
    add_: Annotated[Path | None, typer.Option("--add", metavar="FILE", help="Add the questions of a bank.")] = None,
    change: Annotated[str | None, typer.Option("--change", metavar="ID", help="Change fields of a question.")] = None,
    retire: Annotated[str | None, typer.Option("--retire", metavar="ID", help="Take a question out.")] = None,
    restore: Annotated[str | None, typer.Option("--restore", metavar="ID", help="Put it back.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Turn the last edit round.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Print all edits.")] = False,
    query: Annotated[str | None, typer.Option(help="The question's query, where several have the id.")] = None,
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    who: Annotated[str, typer.Option(help="Who edits, for the log.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="EDITED.jsonl", help="The edited bank; BANK.edited.jsonl.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Edit a bank with history: the bank stays, edits go to a log beside it, and the edited bank is written anew."""
    from grading.commands._bank_editing import Wanted, edit_bank

    wanted = Wanted(add_, change, tuple(values or ()), retire, restore, undo, query, reason, who)
    result, lines = edit_bank(bank, wanted, out, history=history)
    show(result, as_json=as_json, lines=lines)


def write(
    topics: Annotated[Path, typer.Argument(metavar="TOPICS", help="query, text, subtopic (JSON lines, CSV, TSV).")],
    model: Model,
    out: Annotated[Path, typer.Option("--out", metavar="BANK.jsonl", help="The bank to write.")],
    questions: Annotated[int, typer.Option(min=1, max=50, help="Questions per query and sub-topic.")] = 10,
    keys: Annotated[bool, typer.Option("--keys", help="Ask for an answer to each question too.")] = False,
    dtype: Dtype = "auto",
    device: Device = "auto",
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a bank of open questions for each query and sub-topic with a model."""
    from grading.commands._bank_runs import write_bank_run

    result, lines = write_bank_run(topics, (model, dtype, device), out, questions, seed, keys=keys, quiet=quiet)
    show(result, as_json=as_json, lines=lines)


def run(
    bank: Annotated[Path, typer.Argument(metavar="BANK", help="A question bank, or exam.jsonl for --grader choices.")],
    passages: Annotated[Path, typer.Argument(metavar="PASSAGES", help="query, passage, text[, system], or chunks.")],
    model: Model,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for grades.jsonl and the replies.")],
    grader: Annotated[str, typer.Option(help="qa, rating, relevance, reader or choices.")] = "rating",
    limit: Annotated[int | None, typer.Option(min=1, help="Grade only the first so many pairs.")] = None,
    verify: Annotated[str, typer.Option(help="qa: words, or model for answers that the words reject.")] = "words",
    scale: Annotated[str, typer.Option(help="relevance: yes-no or 0-2.")] = "yes-no",
    shots: Annotated[int, typer.Option(min=0, max=4, help="relevance: solved examples in the prompt.")] = 0,
    queries: Annotated[Path | None, typer.Option(help="relevance: query, text; else the ids are the texts.")] = None,
    margin: Annotated[
        str | None, typer.Option(metavar="NATS|FILE", help="choices: what support has to exceed; or margin.json.")
    ] = None,
    threshold: Annotated[float, typer.Option(help="reader: how far a span must beat the null score.")] = 0.0,
    batch: Annotated[int, typer.Option(min=1, help="Prompts written together; more is faster on a GPU.")] = 1,
    engine: Annotated[str, typer.Option("--engine", help="Where the model works: local or ray.")] = "local",
    workers: Annotated[int | None, typer.Option(help="How many work at once; local without it: this process.")] = None,
    address: Annotated[str | None, typer.Option(help="The Ray cluster: auto or HOST:PORT.")] = None,
    worker_gpus: Annotated[float | None, typer.Option(help="GPUs a Ray worker takes; 1 where there are any.")] = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    interval: Interval = 0.9,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Grade passages by a bank's questions with a model; stops and resumes anywhere."""
    from grading.commands._jobs import Job, read_job
    from rag.engines import EngineOptions

    job = Job(
        bank=bank,
        passages=passages,
        model=(model, dtype, device),
        out=out,
        grader=grader,
        limit=limit,
        verify=verify,
        scale=scale,
        shots=shots,
        queries=queries,
        margin=margin,
        threshold=threshold,
        batch=batch,
        engine=EngineOptions(engine, workers, address, worker_gpus),
        interval=interval,
        seed=seed,
    )
    given = read_job(job)
    # Only now, because it loads much: bad input is refused before.
    from grading.commands._bank_runs import grade_run

    result, lines = grade_run(job, given, quiet=quiet)
    show(result, as_json=as_json, lines=lines)


def margin(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run: questions with their passages.")],
    model: Model,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for margin.json and the replies.")],
    share: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Share of questions that may be answered without support.")
    ] = 0.05,
    passages: Annotated[
        int, typer.Option(min=1, help="Passages of other documents in an article, as many as articles have.")
    ] = 1,
    dtype: Dtype = "auto",
    device: Device = "auto",
    interval: Interval = 0.9,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Set the margin of grade run --grader choices: by how much a passage must raise a choice to support it."""
    from examcore import Progress
    from grading.commands._margins import calibrated

    progress = Progress(quiet=quiet)
    said = calibrated(exam, (model, dtype, device), out, share, passages, interval, seed, progress)
    show(said.result, as_json=as_json, lines=said.lines)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    bank = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Question banks.")
    app.add_typer(bank, name="bank")
    commands: dict[str, tuple[Any, str]] = {
        "lint": (lint, "bank.jsonl --grades grades.jsonl"),
        "changes": (changes, "bank.jsonl edited.jsonl grades.jsonl --tau 4"),
        "edit": (edit, "bank.jsonl --retire q3 --reason 'too easy'"),
        "write": (write, "topics.jsonl --model embedded:qwen2.5-coder-1.5b --out bank.jsonl"),
    }
    add(bank, commands, "grade bank")
    example = "bank.jsonl passages.jsonl --grader rating --model embedded:qwen2.5-coder-1.5b --out grades"
    add(app, {"run": (run, example)}, "grade")
    example = "exam.jsonl --model embedded:qwen2.5-coder-1.5b --out margin"
    add(app, {"margin": (margin, example)}, "grade")
