"""Banks of questions: bank write, bank lint and what follows from edits, and grading with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, Quiet, Seed, show_result
from grading.commands._options import EditOptions, GraderOptions, ModelOptions, Resampling
from rag.engines import EngineOptions

Bank = Annotated[Path, typer.Argument(metavar="BANK", help="bank.jsonl, a table, or a published question bank.")]


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

    show_result(lint_bank(bank, grades, tau, fewest, near), as_json=as_json)


def changes(
    before: Annotated[Path, typer.Argument(metavar="BANK_A", help="The bank before the edits.")],
    after: Annotated[Path, typer.Argument(metavar="BANK_B", help="The bank after them.")],
    grades: Annotated[Path, typer.Argument(metavar="GRADES", help="grades.jsonl or a table of grades.")],
    tau: Annotated[float | None, typer.Option(help="Count only labels that cross this grade.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the passages whose EXAM-Label changes from one bank to another."""
    from grading.commands._bank_results import changed_labels

    show_result(changed_labels(before, after, grades, tau), as_json=as_json)


def edit_questions(
    bank: Bank,
    edit: EditOptions,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="[FIELD=VALUE]...", help="With --change: question, answers, …")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Print all edits.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="EDITED.jsonl", help="The edited bank; BANK.edited.jsonl.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Edit a bank with history: the bank stays, edits go to a log beside it, and the edited bank is written anew."""
    from grading.commands._bank_editing import edit_bank

    show_result(edit_bank(bank, edit, values or (), out, history=history), as_json=as_json)


def write(
    topics: Annotated[Path, typer.Argument(metavar="TOPICS", help="query, text, subtopic (JSON lines, CSV, TSV).")],
    model: ModelOptions,
    out: Annotated[Path, typer.Option("--out", metavar="BANK.jsonl", help="The bank to write.")],
    questions: Annotated[int, typer.Option(min=1, max=50, help="Questions per query and sub-topic.")] = 10,
    keys: Annotated[bool, typer.Option("--keys", help="Ask for an answer to each question too.")] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a bank of open questions for each query and sub-topic with a model."""
    from grading.commands._bank_runs import write_bank_run

    show_result(write_bank_run(topics, model, out, questions, seed, keys=keys, quiet=quiet), as_json=as_json)


def run(
    bank: Annotated[Path, typer.Argument(metavar="BANK", help="A question bank, or exam.jsonl for --grader choices.")],
    passages: Annotated[Path, typer.Argument(metavar="PASSAGES", help="query, passage, text[, system], or chunks.")],
    model: ModelOptions,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for grades.jsonl and the replies.")],
    grading: GraderOptions,
    engine: EngineOptions,
    resampling: Resampling,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Grade passages by a bank's questions with a model; stops and resumes anywhere."""
    from grading.commands._grading_job import GradingJob, read_job

    job = GradingJob(bank, passages, out, model, grading, engine, resampling)
    given = read_job(job)
    # Only now, because it loads much: bad input is refused before.
    from grading.commands._bank_runs import grade_run

    show_result(grade_run(job, given, quiet=quiet), as_json=as_json)


def margin(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run: questions with their passages.")],
    model: ModelOptions,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for margin.json and the replies.")],
    resampling: Resampling,
    share: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Share of questions that may be answered without support.")
    ] = 0.05,
    passages: Annotated[
        int, typer.Option(min=1, help="Passages of other documents in an article, as many as articles have.")
    ] = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Set the margin of grade run --grader choices: by how much a passage must raise a choice to support it."""
    from examcore import Progress
    from grading.commands._margins import calibrated

    found = calibrated(exam, model, out, share, passages, resampling, Progress(quiet=quiet))
    show_result(found, as_json=as_json)
