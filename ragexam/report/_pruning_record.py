"""What pruning gained, in words and as curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from examcore import IntervalEstimate
from examcore.page import joined, percent, plain_number, signed

_NEEDED = ("kept", "dropped", "trajectory", "theta", "heldout_gain")


def check_pruning(path: Path, content: Mapping[str, Any]) -> None:
    """`ValueError` in one line when a `prune.json` lacks what the page needs."""
    lacking = [name for name in _NEEDED if name not in content]
    if lacking:
        raise ValueError(f"{path}: no {lacking[0]!r}; wanted the record of a pruning")
    if not content["trajectory"]:
        raise ValueError(f"{path}: the trajectory is empty; wanted one entry per round")


def rounds_table(pruning: Mapping[str, Any]) -> pd.DataFrame:
    """`round, n_items, theta, mean`: mean information of a question over ability after each round."""
    frames = [
        pd.DataFrame(
            {
                "round": row["round"],
                "n_items": row["n_items"],
                "theta": pruning["theta"],
                "mean": row["mean_information"],
            }
        )
        for row in pruning["trajectory"]
    ]
    return pd.concat(frames, ignore_index=True)


def pruned_ids(pruning: Mapping[str, Any] | None) -> set[str]:
    """The questions that pruning left out."""
    return set() if pruning is None else {str(drop["item"]) for drop in pruning["dropped"]}


def pruning_view(pruning: Mapping[str, Any] | None, figure: object | None) -> Mapping[str, object]:
    """How many questions were dropped and whether the shorter exam is better on pipelines that did not choose it."""
    if pruning is None:
        return {"sentences": ["The exam was not pruned."], "figure": None}
    kept, lost, rounds = len(pruning["kept"]), len(pruning["dropped"]), len(pruning["trajectory"]) - 1
    lines = [
        f"Pruning kept {kept} of {kept + lost} questions; in {rounds} round{'s' if rounds != 1 else ''} the least "
        "discriminating were left out and the rest measured again."
    ]
    if lost:
        lines += [*_gain(pruning), *_error(pruning["trajectory"], pruning.get("targets", []))]
    return {"sentences": lines, "figure": figure if rounds else None}


def _gain(pruning: Mapping[str, Any]) -> Iterator[str]:
    gain = IntervalEstimate(*(float(pruning["heldout_gain"][name]) for name in ("estimate", "low", "high")))
    level = round(100 * float(pruning.get("interval", 0.9)))
    limits = f"{level}\u00a0% interval {_percent(gain.low)} to {_percent(gain.high)}"
    judges = len(pruning.get("heldout", ()))
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
    claimed = pruning["trajectory"][-1].get("claimed_gain")
    if claimed is not None:
        yield (
            f"The pipelines that did the choosing would claim {_percent(float(claimed))}: choosing and judging on the "
            "same answers flatters, so that number is not used."
        )


def _error(trajectory: Sequence[Mapping[str, Any]], targets: Sequence[float]) -> Iterator[str]:
    """What the shorter exam costs: fewer questions measure a pipeline less precisely."""
    first, last = trajectory[0].get("standard_error", []), trajectory[-1].get("standard_error", [])
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
