"""One guessing parameter for all items: what `map` and `mml` say of it, on simulated tables without facets.

    OMP_NUM_THREADS=1 python experiments/calibration/shared_guessing.py [--sizes 63x200,100x500] [--tables 4] [--c 0.25]

Prints, per size and method, the smallest and the largest estimate over the tables and the mean standard error.
"""

from __future__ import annotations

import argparse

import irt

SIZES = "63x60,63x200,100x500,200x40,300x40,1000x30"


def estimates(size: tuple[int, int], method: str, tables: int, c: float) -> list[tuple[float, float]]:
    """Estimate and standard error from tables with seeds 0, 1, ..."""
    found = []
    for seed in range(tables):
        data = irt.simulate(*size, "3pl-shared", seed=seed, guessing=c).data
        row = irt.fit(data, "3pl-shared", method).items.iloc[0]
        found.append((float(row["c"]), float(row["c_sd"])))
    return found


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--sizes", default=SIZES)
    words.add_argument("--tables", type=int, default=4)
    words.add_argument("--c", type=float, default=0.25)
    given = words.parse_args()
    print("| students x items | method | lowest | highest | mean error |\n|---|---|---|---|---|")
    for size in given.sizes.split(","):
        students, items = (int(part) for part in size.split("x"))
        for method in ("map", "mml"):
            found = estimates((students, items), method, given.tables, given.c)
            values, errors = zip(*found, strict=True)
            error = sum(errors) / len(errors)
            print(
                f"| {students} x {items} | {method} | {min(values):.3f} | {max(values):.3f} | {error:.3f} |", flush=True
            )


if __name__ == "__main__":
    main()
