"""The page of free-text grading: report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show
from grading.commands._options import Resampling
from grading.page import Sources, write_grading_report


def report(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A folder that `ragexam grade run` wrote.")],
    resampling: Resampling,
    run: Annotated[
        list[Path] | None, typer.Option("--run", metavar="RUN", help="Ranked runs in TREC format: the systems.")
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(metavar="OFFICIAL", help="Official judgements: chooses tau, held out.")
    ] = None,
    tau: Annotated[float | None, typer.Option(help="The least grade that counts; 4 for ratings, else 1.")] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Passages that count per query.")] = 20,
    bank: Annotated[
        Path | None, typer.Option(metavar="BANK", help="The bank; by default the one that was graded.")
    ] = None,
    passages: Annotated[
        Path | None, typer.Option(metavar="PASSAGES", help="The passages; by default those that were graded.")
    ] = None,
    rel: Annotated[int, typer.Option(help="The least official grade that is relevant.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Write report.html: which system answers most, how sure that is, each question, and what became of the replies."""
    sources = Sources(tuple(run or ()), qrels, bank, passages, tau, k, rel, resampling.interval, resampling.seed)
    written = write_grading_report(out, sources, _command(out, sources))
    best, warnings = written.result["best"], written.result["warnings"]
    lines = [str(written.path), *([f"best: {best}"] if best else []), *(f"note: {one}" for one in warnings)]
    show(written.result, as_json=as_json, lines="\n".join(lines))


def _command(out: Path, sources: object) -> str:
    """The command as it can be given again."""
    words = ["ragexam", "grade", "report", str(out)]
    for name, value in vars(sources).items():
        for one in value if isinstance(value, tuple) else [value]:
            if one is not None:
                option = {"runs": "run", "level": "interval"}.get(name, name)
                words += [f"--{option}", f"{one:g}" if isinstance(one, float) else str(one)]
    return shlex.join(words)
