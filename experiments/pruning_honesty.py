"""Whether the gain that pruning reports is true: simulated exams, pruned as `irt.prune` does, judged by the truth.

For every design the table gives, over replications: the gain that item-by-item estimates of the choosing students would
claim, the gain their shrunken estimates claim, the true gain of the items kept, the held-out estimate, how often its
interval covers the true gain and how often it includes 0, its width, and how often `stop="auto"` drops anything.

    python experiments/pruning_honesty.py --replications 100
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import irt
from irt import Floats, kernels
from irt.selecting import SHIFTS, conditional_slopes, group_shift, population

DESIGNS = ((63, 200), (30, 100), (15, 100))
SPREADS = (0.0, 0.3)


class Replication(NamedTuple):
    """Relative gains in mean information of one pruned exam, whether `stop="auto"` would start, and seconds."""

    alone: float
    claimed: float
    true: float
    heldout: float
    low: float
    high: float
    starts: bool
    seconds: float


def replicate(
    students: int, items: int, spread: float, seed: int, criterion: str = "discrimination", quantile: float = 0.1
) -> Replication:
    """Simulate, prune to 70 % and compare with the truth."""
    simulation = irt.simulate(students, items, seed=seed, log_a_sd=spread)
    start = time.perf_counter()
    pruned = irt.prune(simulation.data, seed=seed, criterion=criterion, quantile=quantile)
    seconds = time.perf_counter() - start
    truth = simulation.truth
    own = expected_information(truth.a, truth.b, truth.c, truth.d)
    stays = np.isin(simulation.data.items, pruned.kept)
    return Replication(
        alone=alone(simulation.data.select_students(pruned.calibration), 0.7),
        claimed=pruned.trajectory[-1].claimed_gain,
        true=float(own[stays].mean() / own.mean() - 1),
        heldout=pruned.heldout_gain.estimate,
        low=pruned.heldout_gain.low,
        high=pruned.heldout_gain.high,
        starts=pruned.trajectory[1].step_gain.low > 0,
        seconds=seconds,
    )


def alone(data: irt.ResponseMatrix, keep: float) -> float:
    """Gain claimed when every item's slope is estimated by itself and the steepest are kept."""
    share = (data.successes.sum(axis=1) + 0.5) / (data.attempts.sum(axis=1) + 1)
    logit = np.log(share / (1 - share))
    theta = np.broadcast_to(((logit - logit.mean()) / logit.std())[:, None], data.scores.shape)
    slopes = conditional_slopes(data.successes, data.attempts, theta)
    shifts = np.array([group_shift(slopes, np.array([item]))[0] for item in range(len(data.items))])
    right = (data.successes.sum(axis=0) + 0.5) / (data.attempts.sum(axis=0) + 1)
    # Bounds on what a single item may claim, as a fit within a box has them.
    a = slopes.slope * np.exp(np.clip(shifts, SHIFTS[0], np.log(2.0)))
    own = expected_information(a, -np.log(right / (1 - right)), np.zeros(len(a)), np.ones(len(a)))
    stays = np.argsort(-a, kind="stable")[: round(keep * len(a))]
    return float(own[stays].mean() / own.mean() - 1)


def expected_information(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Information `[I]` over a Normal(0, 1) population."""
    nodes, weights = population()
    return np.asarray(weights @ kernels.information(nodes[:, None], a, b, c, d))


def row(students: int, items: int, spread: float, found: Sequence[Replication]) -> str:
    """One line of the table."""
    table = np.array(found, dtype=np.float64)
    alone, claimed, true, heldout, low, high, starts, seconds = table.T
    covers, zero = np.mean((low <= true) & (true <= high)), np.mean((low <= 0) & (high >= 0))
    return (
        f"| {students} x {items} | {spread:g} | {len(found)} | {alone.mean():+.1%} | {claimed.mean():+.1%} | "
        f"{true.mean():+.1%} | {heldout.mean():+.1%} | {covers:.0%} | {zero:.0%} | {np.mean(high - low):.1%} | "
        f"{starts.mean():.0%} | {seconds.min():.1f} |"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--criterion", default="discrimination", choices=["discrimination", "information"])
    parser.add_argument("--quantile", type=float, default=0.1, help="share dropped per round")
    parser.add_argument("--designs", nargs="*", help="students x items, as 63x200 (all by default)")
    options = parser.parse_args(argv)
    designs = [tuple(map(int, text.split("x"))) for text in options.designs] if options.designs else DESIGNS
    print(
        "| students x items | sd(log a) | n | alone | claimed | true | held out | covers | incl. 0 | width | auto | s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for students, items in designs:
        for spread in SPREADS:
            seeds = range(options.replications)
            found = [replicate(students, items, spread, seed, options.criterion, options.quantile) for seed in seeds]
            print(row(students, items, spread, found), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
