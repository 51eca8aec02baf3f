"""Banks of questions: bank lint, bank changes, bank write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore import Progress
from examcore.console import AsJson, Quiet, Seed, show_result
from grading.banks._bank_lint import Limits, lint_file
from grading.banks._bank_writing import write_bank_on
from grading.banks._label_changes import changed_labels
from grading.graders._assessor import ModelOptions

Bank = Annotated[Path, typer.Argument(metavar="BANK", help="bank.jsonl, a table, or a published question bank.")]


def lint(
    bank: Bank,
    limits: Limits,
    grades: Annotated[Path | None, typer.Option(help="Grades: finds questions that most passages answer.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find faults of a bank. Duplicates, contradictions, AND keys that nothing meets, questions that are too broad."""
    show_result(lint_file(bank, grades, limits), as_json=as_json)


def changes(
    before: Annotated[Path, typer.Argument(metavar="BANK_A", help="The bank before the edits.")],
    after: Annotated[Path, typer.Argument(metavar="BANK_B", help="The bank after them.")],
    grades: Annotated[Path, typer.Argument(metavar="GRADES", help="grades.jsonl or a table of grades.")],
    tau: Annotated[float | None, typer.Option(help="Count only labels that cross this grade.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the passages whose EXAM-Label differs between two banks."""
    show_result(changed_labels(before, after, grades, tau), as_json=as_json)


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
    """Write a bank of open questions with a model. For each query and sub-topic."""
    progress = Progress(quiet=quiet)
    found = write_bank_on(topics, model, out, progress, wanted=questions, keys=keys, seed=seed)
    show_result(found, as_json=as_json)
