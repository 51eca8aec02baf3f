"""What every method brings back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from irt._model import ItemEffects
from irt._responses import Floats

FEWEST, DRAWS = 200, 2000
"""Draws that an approximation of the posterior takes, in a large table and in a small one."""
CELLS = 12_000_000
"""Most numbers that they may hold."""
Progress = Callable[[int, int], None]
"""Told how much is done and of how much; 0 of 1 as soon as the input is accepted."""


@dataclass(frozen=True)
class EstimationOutcome:
    """Draws on the reported scale by name (`irt._model.report_scale`), the point estimates, and how they came about.

    `errors` holds analytic standard errors by name; where there are none the spread of the draws is one. `warnings`
    are plain sentences on what is not to be relied on, `notes` on how it was done.
    """

    draws: Mapping[str, Floats]
    point: Mapping[str, Floats]
    log_likelihood: float
    converged: bool
    diagnostics: Mapping[str, float | int | str]
    warnings: tuple[str, ...]
    compile_seconds: float = 0.0
    chains: int = 1
    errors: Mapping[str, Floats] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    item_effects: ItemEffects | None = None


def draws_for(students: int, items: int, width: int = 4) -> int:
    """How many draws a table of this size gets, with so many numbers of each item."""
    return int(np.clip(CELLS // (items * width + students), FEWEST, DRAWS))


def tell(progress: Progress | None, done: int, total: int) -> None:
    """Tell that so much is done, where somebody wants to know."""
    if progress is not None:
        progress(done, total)


def begun(progress: Progress | None) -> None:
    """Tell that the input is accepted and the work begins."""
    tell(progress, 0, 1)
