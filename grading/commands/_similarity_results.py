"""How close texts are to their gold standard: two texts, or two files line by line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from examcore import bootstrap_mean, read_text
from examcore.console import interval_text
from grading._similarity import MEASURES, Measure, require_weights, similarity, words
from grading.commands._printing import PrintedResult


def read_weights(text: str) -> tuple[float, float, float]:
    """The weights of one, two and three words in `2,1,0`."""
    try:
        found = [float(one) for one in text.split(",")]
    except ValueError:
        raise ValueError(f"--weights: {text!r}; wanted numbers like 2,1,0") from None
    return require_weights(found)


def is_file(text: str) -> bool:
    """Whether a text is the name of a file."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def compared_texts(text: str, gold: Sequence[str], weights: Sequence[float], measure: Measure) -> PrintedResult:
    """The similarity of a text to the closest of its gold forms, by every measure."""
    for name, one in (("TEXT_A", text), *(("TEXT_B", one) for one in gold)):
        if not words(one):
            raise ValueError(f"{name}: {one!r} has no words; wanted some to compare")
    found = {name: similarity(text, gold, weights=weights, measure=name) for name in MEASURES}
    chosen = found[measure]
    result: dict[str, Any] = {
        "score": chosen.score,
        "measure": measure,
        "weights": list(weights),
        **{name: one.score for name, one in found.items()},
        "by_length": {str(length): value for length, value in chosen.by_length.items()},
    }
    each = "  ".join(f"{name} {one.score:.3f}" for name, one in found.items())
    return PrintedResult(result, f"{measure} with weights {_shown(weights)}: {chosen.score:.3f}\n{each}")


def compared_files(
    path: Path, gold: Path, weights: Sequence[float], measure: Measure, level: float, seed: int
) -> PrintedResult:
    """The mean similarity of the lines of two files; several gold forms of a line are divided by tabs."""
    texts, golds = _lines(path), _lines(gold)
    if len(texts) != len(golds):
        raise ValueError(f"{gold}: {len(golds)} lines; wanted {len(texts)}, one for each of {path}")
    _require_words(path, [[one] for one in texts])
    forms = [one.split("\t") for one in golds]
    _require_words(gold, forms)
    scores = [
        similarity(one, some, weights=weights, measure=measure).score for one, some in zip(texts, forms, strict=True)
    ]
    known = np.array([one for one in scores if not math.isnan(one)])
    mean = bootstrap_mean(known, level=level, seed=seed).as_dict()
    undefined = len(scores) - len(known)
    result = {
        "score": mean,
        "measure": measure,
        "weights": list(weights),
        "interval": level,
        "pairs": len(scores),
        "undefined": undefined,
        "lines": [
            {"line": at, "text": text, "score": score}
            for at, (text, score) in enumerate(zip(texts, scores, strict=True), 1)
        ],
    }
    what = f"mean {measure} of {len(scores)} pairs with weights {_shown(weights)}"
    left_out = f"; {undefined} pairs too short to compare" if undefined else ""
    return PrintedResult(result, f"{what}: {interval_text(mean)}{left_out}")


def _shown(weights: Sequence[float]) -> str:
    return ",".join(f"{one:g}" for one in weights)


def _lines(path: Path) -> list[str]:
    lines = read_text(path).split("\n")
    return [one.rstrip("\r") for one in (lines[:-1] if not lines[-1].strip() else lines)]


def _require_words(path: Path, lines: Sequence[Sequence[str]]) -> None:
    if not lines:
        raise ValueError(f"{path}: is empty; wanted one text to a line")
    for number, forms in enumerate(lines, start=1):
        if not any(map(words, forms)):
            raise ValueError(f"{path}:{number}: the line has no words; wanted a text")
