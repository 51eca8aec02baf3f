"""Commands that compare: link two fits, two students or levels, models by left-out answers; plan how many questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from irt._comparison import compare
from irt._held_out import ANSWERS, ITEMS, STUDENTS, compare_models
from irt._linking import link
from irt._linking_constants import METHODS
from irt._power import DESIGNS, SCALES, OutOfReachError, PowerSettings, UndetectableGap, detectable_gap, power
from irt._printing import Printable, write_tables
from irt._result import Fit
from irt.commands._arguments import FitFolder, TablesFolder, convergence_warning, load_right_or_wrong
from irt.commands._output import OpenStep, Output
from irt.fitting._estimation_outcome import begun


def link_fits(
    fit: Annotated[Path, typer.Argument(metavar="FIT_A", help="The fit whose scale is kept.")],
    fit_b: Annotated[Path, typer.Argument(metavar="FIT_B", help="The fit that is moved.")],
    output: Output,
    method: Annotated[str, typer.Option(help=f"{', '.join(METHODS)}.")] = "stocking-lord",
    symmetric: Annotated[bool, typer.Option("--symmetric", help="Match the curves on both scales.")] = False,
    out: TablesFolder = None,
) -> None:
    """Put fit B on the scale of fit A by the items they share."""
    found = link(load_right_or_wrong(fit), load_right_or_wrong(fit_b), method=method, symmetric=symmetric)
    if out is not None:
        write_tables(out, found.tables)
    output.show(found, found.warnings, out=out)


def compare_abilities(
    fit: FitFolder,
    a: Annotated[str, typer.Argument(metavar="A", help="A student, or a level of a facet.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    output: Output,
    facet: Annotated[str | None, typer.Option(metavar="F", help="The facet, when several have both levels.")] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="For questions with this value of an item covariate; repeatable."),
    ] = None,
) -> None:
    """Compare two students, or two levels of a facet."""
    loaded = load_right_or_wrong(fit)
    mix = None if at is None else dict(map(_valued, at))
    output.show(compare(loaded, a, b, facet, at=mix), convergence_warning(loaded))


def _valued(words: str) -> tuple[str, str]:
    name, equals, value = words.partition("=")
    if not (name and equals and value):
        raise ValueError(f"--at: found '{words}'; wanted NAME=VALUE, such as overlap=0.6")
    return name, value


def score_held_out(
    fits: Annotated[list[Path], typer.Argument(metavar="FIT...", help="Folders written by fit, of one table.")],
    output: Output,
    step: OpenStep,
    by: Annotated[
        str, typer.Option(metavar="BY", help=f"What is left out together: {ANSWERS}, {ITEMS}, {STUDENTS} or a facet.")
    ] = ANSWERS,
    folds: Annotated[int, typer.Option(metavar="N", help="Fits without a part.")] = 5,
    whole: Annotated[bool, typer.Option("--whole", help="A facet's levels are left out of all items at once.")] = False,
    out: TablesFolder = None,
) -> None:
    """How well models predict answers they have not seen."""
    loaded = {str(folder): load_right_or_wrong(folder) for folder in fits}
    (first, fit), *others = loaded.items()
    for name, other in others:
        if other.data.students != fit.data.students or other.data.items != fit.data.items:
            raise ValueError(f"{name}: found other students or items than in {first}; wanted fits of one table")
        if not np.array_equal(other.data.scores, fit.data.scores, equal_nan=True):
            raise ValueError(f"{name}: found other answers than in {first}; wanted fits of one table")
    settings = {name: each.settings.changed(seed=fit.seed) for name, each in loaded.items()}
    with output.progress(step, "held out") as progress:
        begun(progress)
        found = compare_models(fit.data, settings, by, folds, whole=whole, progress=progress)
    if out is not None:
        calibration = {f"calibration of {name}": score.calibration for name, score in found.scores.items()}
        write_tables(out, {"held out": found.table, **calibration})
    output.show(found, out=out)


def plan_questions(
    fit: FitFolder,
    output: Output,
    gap: Annotated[float | None, typer.Option(metavar="G", help="Gap between two students, above 0.")] = None,
    questions: Annotated[
        int | None, typer.Option(metavar="N", help="Instead of --gap: what gap do so many items show?")
    ] = None,
    at: Annotated[float, typer.Option(metavar="THETA", help="Ability halfway between them.")] = 0.0,
    wanted: Annotated[float, typer.Option("--power", metavar="P", help="Probability to find the gap.")] = 0.8,
    level: Annotated[float, typer.Option(metavar="P", help="Two-sided level of the test.")] = 0.05,
    scale: Annotated[str, typer.Option(help=f"Scale of the gap: {' or '.join(SCALES)}.")] = "ability",
    design: Annotated[str, typer.Option(help=f"{' or '.join(DESIGNS)} items.")] = "paired",
) -> None:
    """How many items tell a gap apart, or what gap they show."""
    if (gap is None) == (questions is None):
        raise ValueError("wanted either --gap (between two students) or --questions (a number of them)")
    loaded = load_right_or_wrong(fit)
    settings = PowerSettings(scale, design, wanted, level)
    output.show(_answer(loaded, gap, questions, at, settings), convergence_warning(loaded))


def _answer(fit: Fit, gap: float | None, questions: int | None, at: float, settings: PowerSettings) -> Printable:
    try:
        if gap is not None:
            return power(fit, gap, at, **settings._asdict())
        assert questions is not None
        return detectable_gap(fit, questions, at, **settings._asdict())
    except OutOfReachError as reason:
        return UndetectableGap(questions=questions, gap=gap, at=at, **settings._asdict(), reason=str(reason))
