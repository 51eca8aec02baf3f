"""The commands on free-text systems: `ragexam grade …`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from grading.commands._bank_editing import edit_questions
from grading.commands._banks import changes, lint, write
from grading.commands._comparisons import agreement, bias, leaderboard, power, reusability
from grading.commands._grading import margin, report, run
from grading.commands._nugget_making import assign, create
from grading.commands._reports import argue, validate
from grading.commands._scores import choose_tau, cover, items, measure, qrels
from grading.commands._system_scores import exam, nuggets, rouge, rubrics
from grading.commands._texts import similarity
from irt.commands import with_records

__all__ = ["app"]

Commands = Mapping[str, tuple[Callable[..., None], str]]
"""Name -> the command and the arguments of its example."""

COMMANDS: Commands = {
    "measure": (measure, "official.qrels bm25.run dense.run --measures MAP,nDCG@20"),
    "cover": (cover, "grades.jsonl bm25.run dense.run --tau 4 --k 20 --bank bank.jsonl"),
    "qrels": (qrels, "grades.jsonl --tau 4 --out exam.qrels"),
    "tau": (choose_tau, "grades.jsonl official.qrels"),
    "exam": (exam, "answers.csv --gold gold.csv --bank exam.jsonl"),
    "rouge": (rouge, "articles.jsonl gold.jsonl"),
    "items": (items, "grades.jsonl --run bm25.run --run dense.run --out items"),
    "rubrics": (rubrics, "system-a.jsonl system-b.jsonl"),
    "agreement": (agreement, "human.qrels model.qrels"),
    "leaderboard": (leaderboard, "official.csv exam.csv"),
    "power": (power, "pilot.csv --gap 0.05"),
    "reusability": (reusability, "grades.csv"),
    "bias": (bias, "judged.csv"),
    "argue": (argue, "reports.jsonl nuggets.jsonl judgments.jsonl --citations any"),
    "validate": (validate, "reports.jsonl"),
    "similarity": (similarity, "'Who founded it?' 'Who founded the Mormons?' --weights 2,1,0"),
    "run": (run, "bank.jsonl passages.jsonl --grader rating --model embedded:qwen2.5-coder-1.5b --out grades"),
    "margin": (margin, "exam.jsonl --model embedded:qwen2.5-coder-1.5b --out margin"),
    "report": (report, "graded --run bm25.run --run dense.run --tau 4"),
}
BANK_COMMANDS: Commands = {
    "lint": (lint, "bank.jsonl --grades grades.jsonl"),
    "changes": (changes, "bank.jsonl edited.jsonl grades.jsonl --tau 4"),
    "edit": (edit_questions, "bank.jsonl --retire q3 --reason 'too easy'"),
    "write": (write, "topics.jsonl --model embedded:qwen2.5-coder-1.5b --out bank.jsonl"),
}
NUGGET_COMMANDS: Commands = {
    "create": (create, "passages.jsonl --model embedded:qwen2.5-coder-1.5b --out nuggets"),
    "assign": (assign, "nuggets.jsonl run-a.jsonl --model embedded:qwen2.5-coder-1.5b --out assigned"),
    "score": (nuggets, "assignments.jsonl"),
}


class NuggetGroup(TyperGroup):
    """The commands on nuggets; words that begin with none of their names are those of `score`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the command that is left out, unless help on all of them is wanted."""
        is_named = bool(args) and (args[0] in self.commands or args in (["--help"], ["-h"]))
        return super().parse_args(ctx, args if is_named else ["score", *args])


def _application(
    path: str, commands: Commands, text: str, example: str | None = None, group: type[TyperGroup] = TyperGroup
) -> typer.Typer:
    """An application of some commands; `path` is what a user types before a command's name."""
    found = typer.Typer(
        cls=group, no_args_is_help=True, add_completion=False, rich_markup_mode=None, help=text, epilog=example
    )
    for name, (command, arguments) in commands.items():
        found.command(name, epilog=f"Example: {path} {name} {arguments}")(with_records(command))
    return found


app = _application(
    "ragexam grade",
    COMMANDS,
    "Grade free text: EXAM, EXAM++, ARGUE, nuggets, leaderboards.",
    "Example: ragexam grade nuggets run-a.jsonl run-b.jsonl",
)
app.add_typer(_application("ragexam grade bank", BANK_COMMANDS, "Question banks."), name="bank")
app.add_typer(
    _application(
        "ragexam grade nuggets",
        NUGGET_COMMANDS,
        "Nuggets: made, assigned, scored; `nuggets FILES` scores.",
        "Example: ragexam grade nuggets assignments.jsonl",
        NuggetGroup,
    ),
    name="nuggets",
)
