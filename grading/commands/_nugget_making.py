"""Nuggets made by a model, nuggets create, and looked for in answers, nuggets assign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore import Progress
from examcore.console import AsJson, Quiet, show_result
from grading.graders._assessor import ModelOptions
from grading.nuggets._nugget_assignment import assign_to_answers
from grading.nuggets._nugget_creation import MOST, PASSAGES, create_nuggets
from rag.engines import EngineOptions

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the lines, a record, and the replies.")]
Queries = Annotated[Path | None, typer.Option(metavar="FILE", help="query, text; else what the files say, or the ids.")]


def create(
    passages: Annotated[
        Path, typer.Argument(metavar="PASSAGES", help="query, passage, text; nuggetizer's pools; or answers.")
    ],
    model: ModelOptions,
    out: Out,
    engine: EngineOptions,
    queries: Queries = None,
    together: Annotated[int, typer.Option(min=1, help="Passages that are read together.")] = PASSAGES,
    most: Annotated[int, typer.Option(min=1, max=100, help="Nuggets of a topic, at most.")] = MOST,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make nuggets of topics from passages or answers. A model revises the list, then says what is vital."""
    progress = Progress(quiet=quiet)
    found = create_nuggets(passages, queries, out, model, engine, progress, together=together, most=most)
    show_result(found, as_json=as_json)


def assign(
    nuggets: Annotated[Path, typer.Argument(metavar="NUGGETS", help="Nuggets: those of create, a bank, nuggetizer's.")],
    answers: Annotated[
        list[Path],
        typer.Argument(metavar="ANSWERS...", help="Reports of TREC RAG and its kin, or query, text[, system]."),
    ],
    model: ModelOptions,
    out: Out,
    engine: EngineOptions,
    queries: Queries = None,
    lenient: Annotated[
        bool, typer.Option("--lenient/--strict", help="Go on without what is faulty in reports.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say how far answers support the nuggets of their topics. Each as support, partial_support or not_support."""
    progress = Progress(quiet=quiet)
    found = assign_to_answers(nuggets, answers, queries, out, model, engine, progress, lenient=lenient)
    show_result(found, as_json=as_json)
