"""A live exam: answers read from standard input, kept in a file to go on from."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from irt._adaptive import AdaptiveExam
from irt._files import replacing, require_file


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
