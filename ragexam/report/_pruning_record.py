"""The record of a pruning, `pruned/prune.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from examcore import IntervalEstimate

_NEEDED = ("kept", "dropped", "trajectory", "theta", "heldout_gain")


@dataclass(frozen=True)
class PruningRound:
    """One round: the exam's length and its questions' mean information at the abilities of the record.

    `standard_error` is that of an ability at each of the record's targets; `claimed_gain` what the pipelines that did
    the choosing would claim.
    """

    number: int
    n_items: int
    mean_information: Sequence[float]
    standard_error: Sequence[float] = ()
    claimed_gain: float | None = None


@dataclass(frozen=True)
class PruningRecord:
    """What pruning kept and dropped, round by round, and what it gained on `n_judges` held-out pipelines."""

    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    theta: Sequence[float]
    rounds: tuple[PruningRound, ...]
    heldout_gain: IntervalEstimate
    interval: float
    n_judges: int
    targets: Sequence[float]

    def information_by_round(self) -> pd.DataFrame:
        """`round, n_items, theta, mean`: mean information of a question over ability after each round."""
        frames = [
            pd.DataFrame(
                {"round": one.number, "n_items": one.n_items, "theta": self.theta, "mean": one.mean_information}
            )
            for one in self.rounds
        ]
        return pd.concat(frames, ignore_index=True)


def pruning_record(path: Path, content: Mapping[str, Any]) -> PruningRecord:
    """The content of a `prune.json`; `ValueError` in one line when it lacks what the page needs."""
    lacking = [name for name in _NEEDED if name not in content]
    if lacking:
        raise ValueError(f"{path}: no {lacking[0]!r}; wanted the record of a pruning")
    if not content["trajectory"]:
        raise ValueError(f"{path}: the trajectory is empty; wanted one entry per round")
    gain = content["heldout_gain"]
    return PruningRecord(
        kept=tuple(map(str, content["kept"])),
        dropped=tuple(str(drop["item"]) for drop in content["dropped"]),
        theta=content["theta"],
        rounds=tuple(_round(row) for row in content["trajectory"]),
        heldout_gain=IntervalEstimate(*(float(gain[name]) for name in IntervalEstimate._fields)),
        interval=float(content.get("interval", 0.9)),
        n_judges=len(content.get("heldout", ())),
        targets=content.get("targets", []),
    )


def _round(row: Mapping[str, Any]) -> PruningRound:
    claimed = row.get("claimed_gain")
    return PruningRound(
        row["round"],
        row["n_items"],
        row["mean_information"],
        row.get("standard_error") or (),
        None if claimed is None else float(claimed),
    )
