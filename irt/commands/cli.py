"""`python -m irt`: run a command; bad input is one line on standard error."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from irt.commands._application import application

PROGRAM = "python -m irt"


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
