"""What the measurement says of each question: the flags of the fit, the sentences of the checks, the share right."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from examcore import RunFolder


def question_flags(folder: RunFolder) -> dict[str, list[str]]:
    """Flags by question: those of `fit/items.csv`, then the sentences of the tables in `checks/`."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, column in ((folder.fit / "items.csv", "flags"), *((one, "sentence") for one in _tables(folder))):
        for row in _rows(path):
            item, sentence = row.get("item"), (row.get(column) or "").strip()
            if item and sentence and sentence not in found[item]:
                found[item].append(sentence)
    return {item: sentence for item, sentence in found.items() if sentence}


def shares_right(folder: RunFolder) -> dict[str, tuple[int, int]]:
    """Right answers and all answers by question, from a long `responses.csv`; empty without one."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in _rows(folder.responses):
        item, score = row.get("item"), row.get("score")
        if item and score in ("0", "1", "0.0", "1.0"):
            counts[item][0] += score.startswith("1")
            counts[item][1] += 1
    return {item: (right, asked) for item, (right, asked) in counts.items()}


def _tables(folder: RunFolder) -> list[Path]:
    return sorted(folder.checks.glob("*.csv")) if folder.checks.is_dir() else []


def _rows(path: Path) -> Iterator[Mapping[str, str | None]]:
    if not path.is_file():
        return
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        yield from csv.DictReader(file)
