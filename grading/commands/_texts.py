"""How close texts are to their gold standard, two texts, or two files line by line: similarity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from examcore import read_text
from examcore.console import AsJson, Interval, Seed, interval_text, show
from grading._records import Sampling
from grading._similarity import MEASURES, Measure, require_weights, words
from grading._similarity import similarity as closeness

TENTHS = 10
"""Bars of the distribution of scores: the first digit of a score is its bar."""


class NgramSettings(NamedTuple):
    """How texts are compared: weights of one, two and three words, the measure, and n-grams without overlap or not."""

    weights: Sequence[float]
    measure: Measure
    stepping: bool

    def record(self) -> dict[str, Any]:
        """The settings in a result; `stepping` where it is so."""
        found = {"measure": self.measure, "weights": list(self.weights)}
        return found | ({"stepping": True} if self.stepping else {})

    def words(self) -> str:
        """The settings in a line, the measure aside."""
        weights = ",".join(f"{one:g}" for one in self.weights)
        return f"with weights {weights}{', without overlap' if self.stepping else ''}"


def similarity(
    text: Annotated[str, typer.Argument(metavar="TEXT_A", help="A text, or a file with one to a line.")],
    gold: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT_B...", help="The text to compare with, or several; or a file, several to a line by tabs."
        ),
    ],
    weights: Annotated[str, typer.Option(help="Weights of one, two and three words.")] = "2,1,0",
    measure: Annotated[Measure, typer.Option(help="How n-grams are compared.")] = "jaccard",
    stepping: Annotated[
        bool, typer.Option("--stepping", help="n-grams that do not overlap, as in Table 9 of the paper.")
    ] = False,
    interval: Interval = 0.9,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Say how close a reformulated question is to the gold one. By weighted n-grams; of several, the closest."""
    chosen = _weights(weights)
    files = [_is_file(one) for one in (text, *gold)]
    if any(files) and not (all(files) and len(gold) == 1):
        raise ValueError(f"{text}, {', '.join(gold)}: files beside texts; wanted two files, or texts alone")
    if any(files):
        how = NgramSettings(chosen, measure, stepping)
        result, line = _compared_files(Path(text), Path(gold[0]), how, Sampling(interval, seed=seed))
    else:
        result, line = _compared_texts(text, gold, NgramSettings(chosen, measure, stepping))
    show(result, as_json=as_json, lines=line)


def _weights(text: str) -> tuple[float, float, float]:
    """The weights of one, two and three words in `2,1,0`."""
    try:
        found = [float(one) for one in text.split(",")]
    except ValueError:
        raise ValueError(f"--weights: {text!r}; wanted numbers like 2,1,0") from None
    return require_weights(found)


def _is_file(text: str) -> bool:
    """Whether a text is the name of a file."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _compared_texts(text: str, gold: Sequence[str], how: NgramSettings) -> tuple[dict[str, Any], str]:
    """The similarity of a text to the closest of its gold forms, by every measure."""
    for name, one in (("TEXT_A", text), *(("TEXT_B", one) for one in gold)):
        if not words(one):
            raise ValueError(f"{name}: {one!r} has no words; wanted some to compare")
    found = {name: closeness(text, gold, weights=how.weights, measure=name, stepping=how.stepping) for name in MEASURES}
    chosen = found[how.measure]
    result: dict[str, Any] = {
        "score": chosen.score,
        **how.record(),
        **{name: one.score for name, one in found.items()},
        "by_length": {str(length): value for length, value in chosen.by_length.items()},
    }
    each = "  ".join(f"{name} {one.score:.3f}" for name, one in found.items())
    return result, f"{how.measure} {how.words()}: {chosen.score:.3f}\n{each}"


def _compared_files(path: Path, gold: Path, how: NgramSettings, sampling: Sampling) -> tuple[dict[str, Any], str]:
    """The mean similarity of the lines of two files; several gold forms of a line are divided by tabs."""
    texts, golds = _lines(path), _lines(gold)
    if len(texts) != len(golds):
        raise ValueError(f"{gold}: {len(golds)} lines; wanted {len(texts)}, one for each of {path}")
    _require_words(path, [[one] for one in texts])
    forms = [one.split("\t") for one in golds]
    _require_words(gold, forms)
    scores = [
        closeness(one, some, weights=how.weights, measure=how.measure, stepping=how.stepping).score
        for one, some in zip(texts, forms, strict=True)
    ]
    known = np.array([one for one in scores if not math.isnan(one)])
    mean = sampling.mean(known).as_dict()
    spread = _distribution(known)
    undefined = len(scores) - len(known)
    result = {
        "score": mean,
        **how.record(),
        "interval": sampling.level,
        "pairs": len(scores),
        "undefined": undefined,
        "distribution": spread,
        "lines": [
            {"line": at, "text": text, "score": score}
            for at, (text, score) in enumerate(zip(texts, scores, strict=True), 1)
        ],
    }
    what = f"mean {how.measure} of {len(scores)} pairs {how.words()}"
    left_out = f"; {undefined} pairs too short to compare" if undefined else ""
    told = [f"{what}: {interval_text(mean)}{left_out}"]
    if spread:
        low = f"lowest {spread['lowest']:.3f}, quartiles {', '.join(f'{one:.3f}' for one in spread['quartiles'])}"
        told.append(f"{low}; pairs by tenths of the score: {' '.join(map(str, spread['tenths']))}")
    return result, "\n".join(told)


def _distribution(scores: NDArray[np.float64]) -> dict[str, Any]:
    """The lowest score, the quartiles, and how many scores are in each tenth from 0 to 1; empty without a score."""
    if not scores.size:
        return {}
    tenths, _ = np.histogram(scores, bins=TENTHS, range=(0, 1))
    return {
        "lowest": float(scores.min()),
        "quartiles": [float(one) for one in np.quantile(scores, (0.25, 0.5, 0.75))],
        "tenths": [int(one) for one in tenths],
    }


def _lines(path: Path) -> list[str]:
    lines = read_text(path).split("\n")
    return [one.rstrip("\r") for one in (lines[:-1] if not lines[-1].strip() else lines)]


def _require_words(path: Path, lines: Sequence[Sequence[str]]) -> None:
    if not lines:
        raise ValueError(f"{path}: is empty; wanted one text to a line")
    for number, forms in enumerate(lines, start=1):
        if not any(map(words, forms)):
            raise ValueError(f"{path}:{number}: the line has no words; wanted a text")
