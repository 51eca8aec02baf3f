"""What a sampler brings back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from irt.fitting.outcome import Progress, Settings
from irt.model import Problem, RawDraws


@dataclass(frozen=True)
class Sampled:
    """Draws (chains in order along the first axis), sampler statistics, and seconds compiling and sampling.

    `saturated` counts transitions at the greatest tree depth, `leapfrogs` is their mean number per transition.
    """

    raw: RawDraws
    chains: int
    divergences: int
    saturated: int
    leapfrogs: float
    compile_seconds: float
    sample_seconds: float

    @property
    def draws(self) -> int:
        """Draws of all chains together."""
        return len(self.raw.spread_b)


Enough = Callable[[Sampled], bool]
"""Asked between blocks of draws whether a run may end."""


class Sampler(Protocol):
    """Samples the posterior of a problem, at most `settings.draws` per chain, fewer where `enough` says so."""

    def __call__(
        self, problem: Problem, settings: Settings, progress: Progress | None = None, enough: Enough | None = None
    ) -> Sampled:
        """See the class."""
        ...
