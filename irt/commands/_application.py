"""The application: every command by its name, with an example; `python -m irt` runs it alone."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from irt.commands import _checking as checking
from irt.commands import _comparing as comparing
from irt.commands import _estimation as estimation
from irt.commands import _generalising as generalising
from irt.commands import _students as students
from irt.commands._interruption import keep_interruptions
from irt.commands._output import OpenStep, terminal_step
from irt.commands._records import with_records

PROGRAM = "python -m irt"
FIRST_STEPS = """\
A table of answers is long (columns student,item,score, then facets and trials)
or wide (first column student, every other an item; where none names students,
rows are numbered). An empty score means not asked.

First steps:
  {program} fit responses.csv --out fit   a model, kept in a folder
  {program} check fit                     can it be believed, what is to be mended
  {program} score fit new.csv             abilities of other students
  {program} COMMAND --help                the options of a command, an example
"""


class Command(NamedTuple):
    """A command and an example of its words."""

    run: Callable[..., None]
    example: str


COMMANDS = {
    "fit": Command(
        estimation.fit_table, "responses.csv --facets llm,retriever,icl --model 2pl --method nuts --out fit"
    ),
    "prune": Command(
        estimation.prune_table, "responses.csv --keep 0.7 --criterion information --groups topics.csv --out pruned"
    ),
    "information": Command(checking.exam_information, "fit --low -3 --high 3 --points 13"),
    "check": Command(checking.check_fit, "fit --groups documents.csv --out checks"),
    "dif": Command(checking.differential_items, "fit --facet llm"),
    "score": Command(students.score_students, "fit new.csv --method wle"),
    "adaptive": Command(students.adaptive_exam, "fit --pipeline new --responses new.csv"),
    "link": Command(comparing.link_fits, "fit fit-next --out linked"),
    "compare": Command(comparing.compare_abilities, "fit bm25 oracle"),
    "held-out": Command(comparing.score_held_out, "fit-1pl fit-2pl --by retriever --whole"),
    "power": Command(comparing.plan_questions, "fit --gap 0.2"),
    "components": Command(generalising.show_components, "fit --random"),
    "d-study": Command(generalising.study_design, "fit --facet retriever --questions 60,120 --levels llm=4,8"),
    "effects": Command(generalising.show_level_items, "fit retriever --level bm25"),
}


def application(step: OpenStep = terminal_step, program: str = "irt") -> typer.Typer:
    """All commands; `step` shows the progress of those that take long, `program` begins the line of an interruption."""
    app = typer.Typer(
        cls=_FirstSteps,
        help="Item response theory for any table of right, wrong or rated answers.",
        context_settings={"help_option_names": ["-h", "--help"]},  # of every command, which inherits them
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(lambda: None)
    for name, (function, example) in COMMANDS.items():
        bound = {"step": step} if "step" in inspect.signature(function).parameters else {}
        app.command(name, cls=_WithExample, epilog=example)(_interruptible(with_records(function, **bound), program))
    return app


class _WithExample(TyperCommand):
    """A command whose help has a section for each heading of its options, and ends with an example."""

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        sections: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            usual = "Arguments" if each.param_type_name == "argument" else "Options"
            heading = getattr(each, "rich_help_panel", None) or usual
            sections.setdefault(heading, []).extend(filter(None, [each.get_help_record(ctx)]))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        formatter.write(f"\nExample: {ctx.command_path} {self.epilog}\n")


class _FirstSteps(TyperGroup):
    """The group, whose help ends with what to do first."""

    def format_epilog(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        formatter.write(f"\n{FIRST_STEPS.format(program=ctx.command_path)}")


def _interruptible(command: Callable[..., None], program: str) -> Callable[..., None]:
    """The command; an interruption ends the process at once, for an orderly end would wait for a sampler's threads."""

    @wraps(command)
    def run(**values: Any) -> None:
        keep_interruptions()
        try:
            command(**values)
        except KeyboardInterrupt:
            print(f"{program}: stopped", file=sys.stderr, flush=True)
            with suppress(OSError):
                sys.stdout.flush()
            os._exit(130)

    return run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 done, 2 bad input; an interrupted process ends with 130."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = application()(args=words, prog_name=PROGRAM, standalone_mode=False)
    except typer.TyperException as error:
        print(f"irt: {_usage(error)}", file=sys.stderr)
        return 2
    except (ValueError, OSError) as error:
        print(f"irt: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return status if isinstance(status, int) else 0


def _usage(error: typer.TyperException) -> str:
    """A usage error in one line: the argument or option, what is wrong, and where help is."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    message = (error.message or "missing").rstrip(".")
    if parameter is not None:
        message = f"{parameter.metavar if parameter.param_type_name == 'argument' else parameter.opts[0]}: {message}"
    return f"{message} (see {context.command_path if context else PROGRAM} --help)"
