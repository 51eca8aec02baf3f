"""The record of a pruning: what was kept and dropped, the path there, and what it is worth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from irt._files import replacing
from irt._printing import PRINTED_ROWS, json_record, where_whole
from irt._responses import Floats
from irt.selecting._heldout_evaluation import InformationGain, RandomPruning, RankAgreement
from irt.selecting._item_worth import Drop

FORMAT = 1
"""Version of `prune.json`."""


@dataclass(frozen=True)
class Round:
    """The exam after a round, on calibration students (curves over `Pruned.theta`) and judged on held-out ones.

    Gains compare an item of this exam, on average, with one of the whole: `claimed_gain` is what the calibration
    answers themselves would claim, `heldout_gain` the honest one, `random` what random pruning to the same length and
    balance is judged to gain. `total_gain` is the change of the information of all items together, so negative where
    items lost are missed. `step_gain` compares with the round before.
    """

    round: int
    n_items: int
    total_information: Floats
    mean_information: Floats
    standard_error: Floats
    reliability: float
    claimed_gain: float
    heldout_gain: InformationGain
    step_gain: InformationGain
    total_gain: InformationGain
    random: RandomPruning


@dataclass(frozen=True)
class Pruned:
    """Items kept (in exam order) and dropped, the path there, and the gain judged on held-out students.

    `rank_agreement` is Kendall's tau between the held-out students' abilities by the whole exam and by the items kept.
    `groups` counts the items of each group before and after.
    """

    kept: tuple[str, ...]
    dropped: tuple[Drop, ...]
    trajectory: tuple[Round, ...]
    heldout_gain: InformationGain
    theta: tuple[float, ...]
    targets: tuple[float, ...]
    calibration: tuple[str, ...]
    heldout: tuple[str, ...]
    model: str
    method: str
    interval: float
    seed: int
    stopped: str
    criterion: str
    rank_agreement: RankAgreement
    groups: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    warnings: tuple[str, ...] = field(default=())

    @property
    def total_gain(self) -> InformationGain:
        """Relative change of the whole exam's information, judged on held-out students."""
        return self.trajectory[-1].total_gain

    @property
    def random(self) -> RandomPruning:
        """What random pruning to the same length and balance is judged to gain."""
        return self.trajectory[-1].random

    @property
    def precision(self) -> pd.DataFrame:
        """`target, before, after`: standard error at target abilities by the whole exam and by the items kept."""
        first, last = self.trajectory[0].standard_error, self.trajectory[-1].standard_error
        return pd.DataFrame({"target": list(self.targets), "before": first, "after": last})

    def record(self) -> dict[str, Any]:
        """The content of `prune.json`."""
        latest = {"total_gain": self.total_gain, "random": self.random}
        return json_record({"format": FORMAT, **vars(self), **latest})

    def lines(self, out: Path | None = None, /) -> list[str]:
        """The pruning for a reader; `out` is the folder that received `prune.json`."""
        gain, ranks = self.heldout_gain, self.rank_agreement
        lines = [
            f"kept {len(self.kept)}, dropped {len(self.dropped)}: {self.stopped}",
            f"held-out gain in mean information {gain.estimate:+.1%} [{gain.low:+.1%}, {gain.high:+.1%}]"
            + ("" if gain.low > 0 else "; no gain can be claimed"),
            f"better than {self.random.beaten:.0%} of random subsets as long; order of the held-out students: "
            f"Kendall's tau {ranks.estimate:.3f} [{ranks.low:.3f}, {ranks.high:.3f}]",
        ]
        lines += [f"group {label}: {after} of {before}" for label, (before, after) in self.groups.items()]
        lines += [f"{drop.round}\t{drop.item}\t{drop.reason}" for drop in self.dropped[:PRINTED_ROWS]]
        left = len(self.dropped) - PRINTED_ROWS
        return lines + ([f"... and {left} more: {where_whole(out, 'prune.json')}"] if left > 0 else [])

    def save(self, folder: str | Path) -> Path:
        """Write `prune.json` into the folder, atomically; its path."""
        path = Path(folder) / "prune.json"
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(self.record(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return path
