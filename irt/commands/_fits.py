"""Saved fits, as the commands read them."""

from __future__ import annotations

from pathlib import Path

from irt._reading import NUMBERED
from irt._result import Fit
from irt._storage import load_fit


def load_right_or_wrong(folder: Path) -> Fit:
    """The fit of a folder; ValueError for one of ratings, which the command cannot read yet."""
    fit = load_fit(folder)
    if fit.graded is not None:
        raise ValueError(f"{folder}: found a fit of ratings (grm); wanted one of right and wrong answers")
    return fit


def convergence_warning(fit: Fit) -> tuple[str, ...]:
    """A warning when the fit did not converge, else nothing."""
    return () if fit.converged else ("This fit did not converge: what is read from it is not to be used.",)


def rows_are_numbered(fit: Fit) -> bool:
    """Whether the table of a fit had no column of students, so that the fit knows them by the number of their row."""
    return NUMBERED in (*fit.notes, *fit.warnings)  # an older fit.json has them together
