"""How an exam is pruned: one record for the Python call, the command line and configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from irt._argument_checks import require_probability, require_whole
from irt._fit_settings import option

CRITERIA = ("discrimination", "information")


@dataclass(frozen=True)
class PruneSettings:
    """What to drop and how it is judged; `prune` says what each means.

    Raises ValueError for a share outside (0, 1), an unknown criterion or stopping rule, and for abilities without the
    criterion that reads them.
    """

    keep: float = option(0.7, "Share of the items to keep.", "P")
    quantile: float = option(0.1, "Share dropped per round.", "P")
    holdout: float = option(0.3, "Share of students who only judge.", "P")
    criterion: str = option("discrimination", f"What an item is worth: {' or '.join(CRITERIA)}.")
    information_at: Sequence[float] | None = option(
        None, "Abilities at which information counts, comma separated.", "THETA,...", flag="--at"
    )
    stop: str | None = option(None, "auto: stop before a round that shows no credible gain.", "auto")
    model: str | None = option(None, "2pl, 3pl or 4pl. Default 2pl.")
    method: str = option("map", "Method of the refits.")
    item_effects: bool | None = option(
        None,
        "Refits with effects of facets' levels on items, so that what levels happen to share does not count. Default: "
        "as the fit has them; without a fit, with map, laplace and nuts.",
    )
    interval: float | None = option(None, "Probability of central intervals. Default 0.9.", "P")
    seed: int = option(0, "Random seed.", "N")
    shares: Mapping[str, float] | None = field(default=None, metadata={"option": False})
    targets: Sequence[float] = field(default=(-1.0, 0.0, 1.0), metadata={"option": False})

    def __post_init__(self) -> None:
        require_whole("seed", self.seed, 0)
        for name in ("keep", "quantile", "holdout"):
            require_probability(name, getattr(self, name), "share")
        if self.stop not in (None, "auto"):
            raise ValueError(f"stop: found '{self.stop}'; wanted None or 'auto'")
        if self.criterion not in CRITERIA:
            raise ValueError(f"criterion: found '{self.criterion}'; wanted {' or '.join(CRITERIA)}")
        at = self.information_at
        if at is not None and (self.criterion != "information" or not len(at) or not np.all(np.isfinite(at))):
            raise ValueError("information_at: wanted criterion 'information' and at least one finite ability")
