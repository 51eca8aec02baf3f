"""Editing a bank: bank edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading.banks._bank_editing import EditOptions, edit_bank
from grading.commands._banks import Bank


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
    """Edit a bank with history. The bank stays, edits go to a log beside it, and the edited bank is written anew."""
    show_result(edit_bank(bank, edit, values or [], out, history=history), as_json=as_json)
