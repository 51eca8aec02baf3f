"""Commands about students who took no part in a fit: their scores, and adaptive exams."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from irt._adaptive import CHOICES, AdaptiveExam, ExamResult, Rules, begin, replayed_exams
from irt._files import replacing, require_file
from irt._printing import write_tables
from irt._reading import NUMBERED, read_responses
from irt._responses import ResponseMatrix
from irt._result import Fit
from irt._scoring import METHODS, score
from irt._storage import load_fit
from irt.checks._inputs import listed
from irt.commands._arguments import (
    FitFolder,
    Responses,
    TablesFolder,
    convergence_warning,
    load_right_or_wrong,
    rows_are_numbered,
)
from irt.commands._output import Output

WITHIN = 0.2
"""A replayed exam without a rule to stop ends within this share of the standard error of the full exam."""
CALIBRATED = "The answers of {} took part in calibrating these items, which flatters."


def score_students(
    fit: FitFolder,
    responses: Responses,
    output: Output,
    method: Annotated[str, typer.Option(help=f"{', '.join(METHODS)}.")] = "eap",
    known: Annotated[
        bool, typer.Option("--known", help="Take the items as known exactly (shorter intervals).")
    ] = False,
    out: TablesFolder = None,
) -> None:
    """Estimate abilities of new students on the items of a fit."""
    loaded = load_fit(fit)
    data = read_responses(responses, graded=loaded.graded is not None, for_scoring=True, items=loaded.data.items)
    found = score(loaded, data, method, propagate=not known)
    if out is not None:
        write_tables(out, {"abilities": found.table})
    output.show(found, convergence_warning(loaded), data.notes, out)


def adaptive_exam(
    fit: FitFolder,
    pipeline: Annotated[str, typer.Option(metavar="P", help="The student who sits the exam.")],
    output: Output,
    responses: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Recorded answers. Default: those in the fit.")
    ] = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="Print each item's id and read its score (0 or 1); with --longest or --se."),
    ] = False,
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keeps a live exam's answers, to go on from.")
    ] = None,
    se: Annotated[
        float | None,
        typer.Option(metavar="E", help="Stop at this standard error. Default, not live: full exam's + 20 %."),
    ] = None,
    longest: Annotated[int | None, typer.Option(metavar="N", help="Stop after so many items.")] = None,
    choice: Annotated[str, typer.Option(help=f"How the next item is chosen: {', '.join(CHOICES)}.")] = "information",
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
) -> None:
    """Run an adaptive exam: from recorded answers, or live."""
    rules = Rules(se=se, longest=longest, choice=choice, seed=seed)
    if live and responses is not None:
        raise ValueError(
            "--live: found with --responses; wanted one of them, for --live reads answers from standard input"
        )
    if state is not None and not live:
        raise ValueError("--state: wanted --live with it, whose answers it keeps")
    if live and se is None and longest is None:
        raise ValueError(
            "--live: found no rule to stop; wanted --longest N (so many items) or --se E (a standard error)"
        )
    loaded = load_right_or_wrong(fit)
    if live:
        exam = sit(begin(loaded, rules), pipeline, state, ask_on_terminal)
        output.show(ExamResult.of(exam, pipeline), convergence_warning(loaded))
        return
    data = _answers(loaded, pipeline, fit, responses)
    (found,) = replayed_exams(loaded, data, rules, WITHIN if se is None and longest is None else None)
    # The number of a row says of no other table whose row it is.
    named = responses is None or not (NUMBERED in data.notes or rows_are_numbered(loaded))
    flattering = CALIBRATED.format(pipeline) if named and pipeline in loaded.data.students else None
    output.show(found, (*convergence_warning(loaded), *filter(None, [flattering])), data.notes)


def _answers(fit: Fit, pipeline: str, folder: Path, responses: Path | None) -> ResponseMatrix:
    """The answers of one student: of a table, or of the fit itself."""
    data = fit.data if responses is None else read_responses(responses, for_scoring=True, items=fit.data.items)
    if pipeline not in data.students:
        raise ValueError(
            f"{responses or folder}: unknown student '{pipeline}' (--pipeline); it has {listed(data.students)}"
            + ("; --responses FILE takes other students' answers, --live asks for them" if responses is None else "")
        )
    return data.select_students([pipeline])


def sit(exam: AdaptiveExam, pipeline: str, state: Path | None, answer: Callable[[str], float]) -> AdaptiveExam:
    """Ask until the exam is over; `state` keeps every answer, so that the same call goes on where it stopped."""
    exam = resumed(exam, pipeline, state)
    while (item := exam.next_item()) is not None:
        exam = exam.record(item, answer(item))
        if state is not None:
            save_state(exam, pipeline, state)
    return exam


def resumed(exam: AdaptiveExam, pipeline: str, state: Path | None) -> AdaptiveExam:
    """The exam with the answers of a state file; ValueError when the file belongs to another pipeline or is broken."""
    if state is None or not state.exists():
        return exam
    require_file(state, "the state of an adaptive exam")
    try:
        said = json.loads(state.read_text(encoding="utf-8"))
        owner, answers = said["pipeline"], [(str(item), float(given)) for item, given in said["answers"]]
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{state}: not the state of an adaptive exam") from error
    if owner != pipeline:
        raise ValueError(
            f"{state}: found the exam of '{owner}', not of '{pipeline}'; wanted --pipeline '{owner}' or another --state"
        )
    for item, given in answers:
        try:
            exam = exam.record(item, given)
        except ValueError as error:
            raise ValueError(f"{state}: {error}; wanted the state of an exam on this fit") from error
    return exam


def save_state(exam: AdaptiveExam, pipeline: str, state: Path) -> None:
    """Write the answers so far, atomically."""
    said = {"pipeline": pipeline, "answers": list(zip(exam.asked, exam.scores, strict=True))}
    with replacing(state) as temporary:
        temporary.write_text(json.dumps(said, ensure_ascii=False) + "\n", encoding="utf-8")


def ask_on_terminal(item: str) -> float:
    """Print an item's id on a line of its own and read its score, 0 or 1, for which somebody at a terminal is asked.

    Anything else is refused, and the item printed again: each printed line expects one answer.
    """
    while True:
        print(item, flush=True)
        if sys.stdin.isatty():
            print("1 (right) or 0 (wrong)? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise ValueError(
                f"standard input ended at item '{item}'; wanted a line 0 (wrong) or 1 (right) "
                "(with --state FILE the same command goes on from here)"
            )
        if line.strip() in ("0", "1"):
            return float(line)
        complaint = f"item '{item}': score '{line.strip()}' is not 0 (wrong) or 1 (right); again:"
        print(complaint, file=sys.stderr, flush=True)
