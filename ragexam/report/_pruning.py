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

_NEEDED = ("kept", "dropped", "trajectory", "theta", "heldout_gain", "interval", "heldout", "targets")


@dataclass(frozen=True)
class PruningRecord:
    """What pruning kept and dropped, round by round, and what it gained on `n_judges` held-out pipelines.

    `rounds` has `round,n_items,mean_information,standard_error,claimed_gain`: the exam's length, its questions' mean
    information at the abilities `theta`, the standard error of an ability at each of the `targets`, and what the
    pipelines that did the choosing would claim.
    """

    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    theta: Sequence[float]
    rounds: pd.DataFrame
    heldout_gain: IntervalEstimate
    interval: float
    n_judges: int
    targets: Sequence[float]

    def information_by_round(self) -> pd.DataFrame:
        """`round, n_items, theta, mean`: mean information of a question over ability after each round."""
        frames = [
            pd.DataFrame({"round": number, "n_items": size, "theta": self.theta, "mean": information})
            for number, size, information in self.rounds[["round", "n_items", "mean_information"]].to_numpy()
        ]
        return pd.concat(frames, ignore_index=True)


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
        rounds=pd.DataFrame(content["trajectory"]),
        heldout_gain=row_interval(content["heldout_gain"]),
        interval=float(content["interval"]),
        n_judges=len(content["heldout"]),
        targets=content["targets"],
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
        lines += [*_gain(pruning), *([_error(pruning)] if pruning.targets else [])]
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
    claimed = _percent(pruning.rounds["claimed_gain"].iloc[-1])
    yield (
        f"The pipelines that did the choosing would claim {claimed}: choosing and judging on the same answers "
        "flatters, so that number is not used."
    )


def _error(pruning: PruningRecord) -> str:
    """What the shorter exam costs: fewer questions measure a pipeline less precisely."""
    errors = pruning.rounds["standard_error"]
    parts = [
        f"{plain_number(before)} to {plain_number(after)} at ability {signed(target, 0)}"
        for target, before, after in zip(pruning.targets, errors.iloc[0], errors.iloc[-1], strict=True)
    ]
    return (
        f"With fewer questions the standard error of a pipeline's ability goes from {joined(parts)} (in a quick fit of "
        "the pipelines that did the choosing, without components: a scale of its own)."
    )


def _percent(share: float) -> str:
    return f"{signed(100 * share, 0)}\u00a0%"
