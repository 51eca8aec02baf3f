"""What every method brings back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from irt._model import ItemEffects
from irt._responses import Floats

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


def tell(progress: Progress | None, done: int, total: int) -> None:
    """Tell that so much is done, where somebody wants to know."""
    if progress is not None:
        progress(done, total)


def begun(progress: Progress | None) -> None:
    """Tell that the input is accepted and the work begins."""
    tell(progress, 0, 1)
