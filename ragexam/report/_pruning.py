"""The record of a pruning, `pruned/prune.json`, and what it gained, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from examcore import IntervalEstimate
from examcore.page import joined, percent, plain_number, signed
from ragexam.report._page_parts import PageSection, Picture
from ragexam.report._response_scores import row_interval

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
        each = [{"round": one.number, "n_items": one.n_items, "mean": one.mean_information} for one in self.rounds]
        frames = [pd.DataFrame({**one, "theta": self.theta}) for one in each]
        return pd.concat(frames, ignore_index=True)[["round", "n_items", "theta", "mean"]]


def pruning_record(path: Path, content: Mapping[str, Any]) -> PruningRecord:
    """The content of a `prune.json`; `ValueError` in one line when it lacks what the page needs."""
    lacking = [name for name in _NEEDED if name not in content]
    if lacking:
        raise ValueError(f"{path}: no {lacking[0]!r}; wanted the record of a pruning")
    if not content["trajectory"]:
        raise ValueError(f"{path}: the trajectory is empty; wanted one entry per round")
    return PruningRecord(
        kept=tuple(map(str, content["kept"])),
        dropped=tuple(str(drop["item"]) for drop in content["dropped"]),
        theta=content["theta"],
        rounds=tuple(
            PruningRound(
                row["round"],
                row["n_items"],
                row["mean_information"],
                row.get("standard_error") or (),
                row.get("claimed_gain"),
            )
            for row in content["trajectory"]
        ),
        heldout_gain=row_interval(content["heldout_gain"]),
        interval=float(content.get("interval", 0.9)),
        n_judges=len(content.get("heldout", ())),
        targets=content.get("targets", []),
    )


def pruning_section(pruning: PruningRecord | None, figure: Picture | None) -> PageSection:
    """How many questions were dropped and whether the shorter exam is better on pipelines that did not choose it."""
    if pruning is None:
        return PageSection(("The exam was not pruned.",))
    n_kept, n_dropped, rounds = len(pruning.kept), len(pruning.dropped), len(pruning.rounds) - 1
    lines = [
        f"Pruning kept {n_kept} of {n_kept + n_dropped} questions. In {rounds} round{'s' if rounds != 1 else ''} it "
        "dropped the least discriminating questions and measured the rest again."
    ]
    if n_dropped:
        lines += [*_gain(pruning), *_error(pruning)]
    return PageSection(lines, figure=figure if rounds else None)


def _gain(pruning: PruningRecord) -> Iterator[str]:
    gain, judges = pruning.heldout_gain, pruning.n_judges
    limits = f"{round(100 * pruning.interval)}\u00a0% interval {_percent(gain.low)} to {_percent(gain.high)}"
    who = (
        f"Judged by the {judges} pipelines that took no part in choosing" if judges else "Judged by held-out pipelines"
    )
    compared = "than a question of an exam shortened at random"
    if gain.low > 0:
        yield f"{who}, a question of the shorter exam tells {percent(gain.estimate)} more {compared} ({limits})."
    elif gain.high < 0:
        yield f"{who}, a question of the shorter exam tells less {compared} ({limits}): keep the whole exam."
    else:
        more = "more" if gain.estimate >= 0 else "less"
        yield (
            f"{who}, no gain can be claimed: the estimate is that a question of the shorter exam tells "
            f"{percent(abs(gain.estimate))} {more} {compared}, but the interval includes 0 ({limits})."
        )
    claimed = pruning.rounds[-1].claimed_gain
    if claimed is not None:
        yield (
            f"The pipelines that did the choosing would claim {_percent(claimed)}: choosing and judging on the same "
            "answers flatters, so that number is not used."
        )


def _error(pruning: PruningRecord) -> Iterator[str]:
    """What the shorter exam costs: fewer questions measure a pipeline less precisely."""
    targets, first, last = pruning.targets, pruning.rounds[0].standard_error, pruning.rounds[-1].standard_error
    if not targets or len(first) != len(targets) or len(last) != len(targets):
        return
    parts = [
        f"{plain_number(before)} to {plain_number(after)} at ability {signed(target, 0)}"
        for target, before, after in zip(targets, first, last, strict=True)
    ]
    yield (
        f"With fewer questions the standard error of a pipeline's ability goes from {joined(parts)} (in a quick fit of "
        "the pipelines that did the choosing, without components: a scale of its own)."
    )


def _percent(share: float) -> str:
    return f"{signed(100 * share, 0)}\u00a0%"
