"""What a sampler brings back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from irt._fit_settings import FitSettings
from irt._responses import Floats
from irt.fitting._estimation_outcome import Progress


@dataclass(frozen=True)
class Sampled:
    """Draws by name `[C D, ...]`, chains in order, sampler statistics, and seconds compiling and sampling.

    `saturated` counts transitions at the greatest tree depth, `leapfrogs` is their mean number per transition.
    """

    values: dict[str, Floats]
    chains: int
    divergences: int
    saturated: int
    leapfrogs: float
    sample_seconds: float
    compile_seconds: float = 0.0

    @property
    def draws(self) -> int:
        """Draws of all chains together."""
        return len(next(iter(self.values.values())))


Enough = Callable[[Sampled], bool]
"""Asked between blocks of draws whether a run may end."""


class Sampler(Protocol):
    """Samples one posterior on its reported scale: `settings.draws` per chain, fewer where `enough` says so."""

    def __call__(
        self, settings: FitSettings, progress: Progress | None = None, enough: Enough | None = None
    ) -> Sampled:
        """See the class."""
        ...
