"""Coverage of 90 % intervals of the 3PL by `mml`, on simulated tables without facets whose items share their guessing.

    OMP_NUM_THREADS=1 python experiments/calibration/asymptotes.py [--tables 40] [--students 1000] [--items 20]

Prints, per true c, for items whose c is estimated at 0 and for the others: how often the intervals of a, b and c hold
the truth, how often the upper end of c lies below it and above the item's share right, and the median of that end.
"""

from __future__ import annotations

import argparse

import numpy as np

import irt

Rows = list[dict[str, float]]
AT_BOUND = 1e-3


def rows(size: tuple[int, int], c: float, seed: int) -> Rows:
    """One row per item of a table: what its intervals hold."""
    simulation = irt.simulate(*size, "3pl" if c > 0 else "2pl", seed=seed, guessing=c if c > 0 else None)
    items = irt.fit(simulation.data, "3pl", "mml").items
    truth = {"a": simulation.truth.a, "b": simulation.truth.b, "c": np.full(len(items), c)}
    held = {
        name: (items[f"{name}_low"] <= true + 1e-9) & (true <= items[f"{name}_high"]) for name, true in truth.items()
    }
    table = items.assign(
        bounded=items["c"] < AT_BOUND,
        below=items["c_high"] < c,
        above=items["c_high"] > simulation.data.scores.mean(axis=0),
        **{f"{name}_held": values for name, values in held.items()},
    )
    names = ["bounded", "a_held", "b_held", "c_held", "below", "above", "c_high"]
    return [dict(zip(names, values, strict=True)) for values in table[names].astype(float).to_numpy().tolist()]


def described(found: Rows) -> str:
    """Cells of a row of the table."""
    means = [float(np.mean([row[name] for row in found])) for name in ("a_held", "b_held", "c_held", "below", "above")]
    high = float(np.median([row["c_high"] for row in found]))
    return f"{len(found)} | " + " | ".join(f"{value:.3f}" for value in (*means, high))


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--tables", type=int, default=40)
    words.add_argument("--students", type=int, default=1000)
    words.add_argument("--items", type=int, default=20)
    given = words.parse_args()
    print("| c | estimated | items | a | b | c | c_high < c | c_high > share | c_high |\n" + "|---" * 9 + "|")
    for c in (0.0, 0.1, 0.2):
        found = [row for seed in range(given.tables) for row in rows((given.students, given.items), c, seed)]
        for said, bounded in (("at 0", 1.0), ("above", 0.0)):
            print(f"| {c:g} | {said} | {described([row for row in found if row['bounded'] == bounded])} |", flush=True)


if __name__ == "__main__":
    main()
