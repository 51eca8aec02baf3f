"""Options that several grading commands share, as records: a command that takes one has an option for each field."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from grading.leaderboards._paired import Pairs

ShownPairs = Annotated[Pairs, typer.Option("--pairs", help="Pairs of systems to print; --json has all.")]
BankFile = Annotated[Path | None, typer.Option(metavar="BANK", help="The bank: bank.jsonl or exam.jsonl.")]
GradePrompt = Annotated[
    str | None, typer.Option(metavar="CLASS[:LLM]", help="Whose grades, where a workbench file holds several.")
]
Scores = Annotated[
    Path | None,
    typer.Option("--scores", metavar="FILE", help="Write system,topic,score, which leaderboard and power read."),
]


@dataclass(frozen=True)
class GradeSource:
    """The bank that was graded, and which of several graders' grades are read."""

    bank: BankFile = None
    prompt: GradePrompt = None
