"""What every method is asked and what it brings back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from irt.given import require_probability, require_whole
from irt.responses import Floats

LEAST_DRAWS = 4
"""Per chain: two halves whose spread is compared."""
Progress = Callable[[int, int], None]
"""Told how much is done and of how much; 0 of 1 as soon as the input is accepted."""


@dataclass(frozen=True)
class Settings:
    """How to fit: the seed, and for samplers warm-up and most draws per chain, chains, and acceptance aimed at.

    `given_priors` says that priors were asked for by name: to `mml` the items then are a population.
    """

    seed: int = 0
    warmup: int = 400
    draws: int = 3000
    chains: int = 2
    target_accept: float = 0.9
    given_priors: bool = False

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("warmup", 0), ("draws", LEAST_DRAWS), ("chains", 1)):
            require_whole(name, getattr(self, name), least)
        require_probability("target_accept", self.target_accept)


@dataclass(frozen=True)
class Outcome:
    """Draws on the reported scale by name (`irt.model.report_scale`), the point estimates, and how they came about.

    `errors` holds analytic standard errors by name; where there are none the spread of the draws is one. `warnings`
    are plain sentences on what is not to be relied on, `notes` on how it was done; `seconds` has `compile` and `fit`.
    """

    draws: Mapping[str, Floats]
    point: Mapping[str, Floats]
    log_likelihood: float
    converged: bool
    diagnostics: Mapping[str, float | int | str]
    warnings: tuple[str, ...]
    seconds: Mapping[str, float]
    chains: int = 1
    errors: Mapping[str, Floats] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def begun(progress: Progress | None) -> None:
    """Tell that the input is accepted and the work begins."""
    if progress is not None:
        progress(0, 1)
