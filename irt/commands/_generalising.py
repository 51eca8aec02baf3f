"""Commands about where differences come from: variance components, D-studies, effects of levels on items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from irt._printing import json_record, table_text, where_whole, write_tables
from irt.commands._arguments import FitFolder, TablesFolder, convergence_warning, load_right_or_wrong
from irt.commands._output import Output
from irt.commands._records import names

Random = Annotated[
    bool, typer.Option("--random", help="Levels are a sample of levels like these, instead of those of interest.")
]
ENDS = 5
"""Items that are printed for a level, and as many against it."""


@dataclass(frozen=True)
class LevelItems:
    """The effects of levels on items as `Fit.level_items` has them."""

    table: pd.DataFrame

    def record(self) -> dict[str, Any]:
        """The effects as JSON can hold them."""
        return json_record({"effects": self.table})

    def lines(self, out: Path | None = None, /) -> list[str]:
        """The items with the largest effects, for each level."""
        lines = []
        for level, rows in self.table.groupby("level", sort=False):
            few = rows if len(rows) <= 2 * ENDS else pd.concat([rows.head(ENDS), rows.tail(ENDS)])
            lines += [f"{level}: what speaks for it, and last what speaks against it (logits)"]
            lines += [table_text(few[["item", "effect", "sd"]])]
        return [*lines, where_whole(out, "level-items.csv")]


def show_components(fit: FitFolder, output: Output, random: Random = False) -> None:
    """Where differences between answers come from: components, questions, both, noise."""
    loaded = load_right_or_wrong(fit)
    output.show(loaded.variance_components(random=random), convergence_warning(loaded))


def study_design(
    fit: FitFolder,
    output: Output,
    facet: Annotated[str | None, typer.Option(metavar="F", help="The facet whose levels are compared.")] = None,
    between: Annotated[
        Sequence[str] | None,
        typer.Option(metavar="A,B", parser=names, help="Two of its levels (default: the best two), or two students."),
    ] = None,
    questions: Annotated[
        Sequence[str] | None,
        typer.Option(metavar="N,...", parser=names, help="Numbers of questions. Default: half to 8 times the exam."),
    ] = None,
    levels: Annotated[
        list[str] | None, typer.Option(metavar="F=N,...", help="Numbers of levels of another facet; may be repeated.")
    ] = None,
    certainty: Annotated[float, typer.Option(metavar="P", help="Probability of the right order that is wanted.")] = 0.9,
    random: Random = False,
) -> None:
    """How sure longer exams, or more levels of the other facets, would be of two levels."""
    loaded = load_right_or_wrong(fit)
    if between is not None and len(between) != 2:
        raise ValueError(f"--between: found {len(between)} names; wanted two, as in bm25,dense")
    study = loaded.d_study(
        facet,
        None if between is None else (between[0], between[1]),
        questions=None if questions is None else _whole("--questions", questions),
        levels=dict(map(_numbered, levels or ())),
        certainty=certainty,
        random=random,
    )
    output.show(study, convergence_warning(loaded))


def show_level_items(
    fit: FitFolder,
    facet: Annotated[str, typer.Argument(metavar="FACET", help="A facet whose levels have effects on items.")],
    output: Output,
    level: Annotated[str | None, typer.Option(metavar="L", help="This level alone.")] = None,
    out: TablesFolder = None,
) -> None:
    """Which questions speak for each level of a facet, and which against it."""
    loaded = load_right_or_wrong(fit)
    table = loaded.level_items(facet)
    if level is not None:
        known = loaded.design.term(facet).levels
        if level not in known:
            raise ValueError(f"unknown level '{level}' of facet '{facet}'; it has {', '.join(known)}")
        table = table[table["level"] == level]
    if out is not None:
        write_tables(out, {"level items": table})
    output.show(LevelItems(table), convergence_warning(loaded), out=out)


def _numbered(words: str) -> tuple[str, list[int]]:
    """A facet and the numbers of its levels, from `llm=4,8`."""
    name, equals, counts = words.partition("=")
    if not equals:
        raise ValueError(f"--levels: found '{words}'; wanted a facet and numbers, as in llm=4,8")
    return name, _whole("--levels", names(counts))


def _whole(option: str, words: Sequence[str]) -> list[int]:
    for word in words:
        if not word.isdecimal():
            raise ValueError(f"{option}: found '{word}'; wanted whole numbers")
    return [int(word) for word in words]
