"""How far the labellers of this folder agree: `python experiments/bloom_agreement/agree.py` prints its tables."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path

from examcore import IntervalEstimate
from ragexam.classify import compare_labels
from taxonomy import KNOWLEDGE_DIMENSION, PROCESS_DIMENSION

HERE = Path(__file__).parent
LABELLERS = {"hand": "by hand", "rules": "rules", "model": "model"}
"""Files `NAME.csv` and what they are called."""


def read(labeller: str, name: str) -> dict[str, tuple[str, ...]]:
    """The levels that a labeller gave each question; an empty field was not labelled."""
    with (HERE / f"{labeller}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {row["question"]: tuple(row[name].split(";")) for row in rows if row.get(name)}


def tables() -> str:
    """Agreement in every pair of labellers, then how often each gave each level."""
    names = (PROCESS_DIMENSION, KNOWLEDGE_DIMENSION)
    lines = [
        "| | labellers | questions | same levels | Cohen's kappa | Krippendorff's alpha |",
        "|---|---|---|---|---|---|",
    ]
    given = {(one, t.name): read(one, t.name) for one in LABELLERS for t in names}
    for t in names:
        for one, other in combinations(LABELLERS, 2):
            first, second = given[one, t.name], given[other, t.name]
            if first and second:
                found = compare_labels(first, second, t.names, seed=0)
                counts = f"{found.n} | {found.equal / found.n:.0%}"
                pair = f"{LABELLERS[one]}, {LABELLERS[other]}"
                lines.append(f"| {t.name} | {pair} | {counts} | {_shown(found.kappa)} | {_shown(found.alpha)} |")
    lines += ["", f"| level | {' | '.join(LABELLERS.values())} |", f"|---{'|---' * len(LABELLERS)}|"]
    for t in names:
        for level in t.names:
            counts = " | ".join(_share(given[one, t.name], level) for one in LABELLERS)
            lines.append(f"| {t.name}: {level} | {counts} |")
    return "\n".join(lines)


def _shown(found: IntervalEstimate) -> str:
    return f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _share(labels: dict[str, tuple[str, ...]], level: str) -> str:
    return f"{sum(level in one for one in labels.values())} of {len(labels)}" if labels else "not labelled"


if __name__ == "__main__":
    print(tables())
