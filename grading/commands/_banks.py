"""Banks of questions: bank lint, bank changes, bank write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore import CachedLanguageModel, Progress, ReplyStore
from examcore.console import AsJson, Quiet, Seed, show_result
from grading.banks._bank_lint import Limits, lint_file
from grading.banks._bank_writing import WrittenBankResult, read_topics, write_questions
from grading.banks._label_changes import label_changes
from grading.commands._options import ModelOptions
from grading.formats._bank_files import read_bank, write_bank
from grading.formats._common_parts import require_reached, require_shared_questions
from grading.formats._file_faults import Fault, in_words
from grading.formats._grades import read_grades
from rag import ModelSettings, load_language_model, prepare_models

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
    faults: list[Fault] = []
    old, new, read = read_bank(before, faults), read_bank(after, faults), read_grades(grades)
    found = label_changes(old, new, read.grades, tau)
    known = dict.fromkeys((one.query, one.id) for one in (*old, *new))
    require_shared_questions(grades, read, known, f"{before} or {after}")
    if tau is not None:
        require_reached(grades, read, tau)
    show_result(found._replace(notes=in_words(faults)), as_json=as_json)


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
    wanted = read_topics(topics)
    settings = ModelSettings(**vars(model))
    prepare_models([settings.model], [settings], progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    with ReplyStore(out.with_suffix(".replies.sqlite")) as store:
        cached = CachedLanguageModel(load_language_model(settings), store)
        with progress.step("writing") as report:
            found = write_questions(wanted, cached, wanted=questions, keys=keys, seed=seed, report=report)
    if not found.questions:
        raise ValueError(f"{topics}: no question could be read ({found.lost}); wanted another model")
    write_bank(out, found.questions)
    show_result(WrittenBankResult(out, model.model, len(wanted), questions, found, cached.usage), as_json=as_json)
