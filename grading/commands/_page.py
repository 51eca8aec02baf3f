"""The page of free-text grading: report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading.page import Sources, write_grading_report


def report(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A folder that `ragexam grade run` wrote.")],
    sources: Sources,
    as_json: AsJson = False,
) -> None:
    """Write report.html: which system answers most, how surely.

    It shows each question and what became of the replies.
    """
    show_result(write_grading_report(out, sources, _command(out, sources)), as_json=as_json)


def _command(out: Path, sources: object) -> str:
    """The command as it can be given again."""
    words = ["ragexam", "grade", "report", str(out)]
    for name, value in vars(sources).items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                option = "run" if name == "runs" else name
                words += [f"--{option}", f"{one:g}" if isinstance(one, float) else str(one)]
    return shlex.join(words)
