"""Banks of questions: bank lint, bank changes, bank write."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from examcore import CachedLanguageModel, Progress, ReplyStore
from examcore.console import AsJson, Quiet, Seed, show
from grading._records import Grade
from grading.banks._bank_lint import Limits
from grading.banks._bank_lint import lint as findings
from grading.banks._bank_writing import VERSION, read_topics, write_questions
from grading.banks._label_changes import NOT_ASKED, LabelChange, label_changes
from grading.commands._options import ModelOptions
from grading.formats._bank_files import read_bank, write_bank
from grading.formats._common_parts import require_reached, require_shared_questions
from grading.formats._file_faults import Fault, in_words
from grading.formats._grades import read_grades
from rag import ModelSettings, load_language_model, prepare_models

Bank = Annotated[Path, typer.Argument(metavar="BANK", help="bank.jsonl, a table, or a published question bank.")]
MOST = 40
"""Changed passages that are printed without `--json`."""


def lint(
    bank: Bank,
    limits: Limits,
    grades: Annotated[Path | None, typer.Option(help="Grades: finds questions that most passages answer.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find faults of a bank. Duplicates, contradictions, AND keys that nothing meets, questions that are too broad."""
    faults: list[Fault] = []
    questions = read_bank(bank, faults)
    notes = in_words(faults)
    known = dict.fromkeys((one.query, one.id) for one in questions)
    graded: tuple[Grade, ...] = ()
    if grades is not None:
        read = read_grades(grades)
        require_shared_questions(grades, read, known, str(bank))
        require_reached(grades, read, limits.tau)
        graded = read.grades
    foreign = sum((one.query, one.question) not in known for one in graded)
    found = findings(questions, graded, limits)
    counts = dict(Counter(one.rule for one in found))
    result = {
        "bank": str(bank),
        "n": len(questions),
        "queries": len({one.query for one in questions}),
        "counts": counts,
        "findings": [{**one._asdict(), "ids": list(one.ids)} for one in found],
        "grades_of_other_questions": foreign,
        "notes": notes,
    }
    lines = [f"{bank}: {len(questions)} questions for {result['queries']} queries; {len(found)} findings"]
    width = max(map(len, counts), default=0)
    lines += [f"  {one.rule:<{width}}  {one.query}  {one.sentence}" for one in found]
    lines += [f"note: {note}" for note in notes]
    if foreign:
        lines.append(f"note: {foreign} grades are of questions that the bank does not have")
    show(result, as_json=as_json, lines="\n".join(lines))


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
    notes = in_words(faults)
    edits = {
        name: [{"query": query, "id": one} for query, one in getattr(found.edits, name)]
        for name in ("added", "removed", "changed")
    }
    result = {
        "tau": tau,
        "questions": edits,
        "passages": found.passages,
        "n_changed": len(found.changes),
        "up": sum(one.after > one.before for one in found.changes),
        "down": sum(one.after < one.before for one in found.changes),
        "changes": [one._asdict() for one in found.changes],
        "ungraded": [
            {"query": query, "passage": passage, "question": question} for query, passage, question in found.ungraded
        ],
        "foreign_grades": found.foreign,
        "notes": notes,
    }
    counts = ", ".join(f"{len(some)} {name}" for name, some in edits.items())
    lines = [f"questions: {counts}", f"labels: {len(found.changes)} of {found.passages} passages change"]
    lines += [f"  {one.query}  {one.passage}  {_change(one)}" for one in found.changes[:MOST]]
    if len(found.changes) > MOST:
        lines.append(f"  … {len(found.changes) - MOST} more (--json lists all)")
    if found.ungraded:
        passages = len({one[:2] for one in found.ungraded})
        lines.append(
            f"note: {len(found.ungraded)} pairs of {passages} passages and added or changed questions have no grade; "
            "grade them before the labels are used"
        )
    lines += [f"note: {note}" for note in notes]
    if found.foreign:
        lines.append(f"note: {found.foreign} grades are of questions of neither bank")
    show(result, as_json=as_json, lines="\n".join(lines))


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
        raise ValueError(f"{topics}: no question could be read ({_counted(found.losses)}); wanted another model")
    write_bank(out, found.questions)
    result = {
        "out": str(out),
        "model": model.model,
        "prompt": VERSION,
        "n": len(found.questions),
        "topics": len(wanted),
        "losses": dict(found.losses),
        "short": [{"query": query, "subtopic": part, "n": n} for (query, part), n in found.short.items()],
        "usage": asdict(cached.usage),
    }
    lines = [f"{out}: {len(found.questions)} questions for {len(wanted)} topics; lost: {_counted(found.losses)}"]
    if found.short:
        lines.append(f"note: {len(found.short)} topics have fewer than {questions} questions")
    show(result, as_json=as_json, lines="\n".join(lines))


def _change(one: LabelChange) -> str:
    """`5 -> 3`, or in words where one of the banks gives the passage no label."""
    before = f"{one.why} before" if math.isnan(one.before) else f"{one.before:g}"
    after = "no longer asked" if one.why == NOT_ASKED else one.why
    return f"{before} -> {after if math.isnan(one.after) else f'{one.after:g}'}"


def _counted(losses: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {why}" for why, count in losses.items()) or "none"
