"""How close a reformulated question is to its gold standard: weighted overlap of word n-grams.

Shaw, Solway, Gaizauskas and Greenwood (2008), section 3: Jaccard, Dice and cosine over sets of n-grams, or block
distance over multisets, for one, two and three words, averaged by weights; the paper settles on Jaccard with 2, 1, 0.
Of several gold forms the closest counts. The paper's worked figures (Table 9) are those of n-grams that follow each
other without overlap, the last one shorter where words are left: `stepping`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import IntervalEstimate, read_text
from examcore.console import interval_text
from grading._records import Sampling

Measure = Literal["jaccard", "dice", "cosine", "block"]
Gram = tuple[str, ...]
Counts = Mapping[Gram, int]
WEIGHTS = (2.0, 1.0, 0.0)
"""Of one, two and three words."""
TENTHS = 10
"""Bars of the distribution of scores: the first digit of a score is its bar."""
_WORD = re.compile(r"\w+(?:['’.\-]\w+)*")


class Similarity(NamedTuple):
    """The weighted mean, and the similarity for each n-gram length that has a weight.

    A length that neither text reaches is NaN and left out of the mean.
    """

    score: float
    by_length: Mapping[int, float]


class NgramSettings(NamedTuple):
    """How texts are compared: weights of one, two and three words, the measure, and n-grams without overlap or not."""

    weights: Sequence[float] = WEIGHTS
    measure: Measure = "jaccard"
    stepping: bool = False

    def record(self) -> dict[str, Any]:
        """The settings in a result; `stepping` where it is so."""
        found = {"measure": self.measure, "weights": self.weights}
        return found | ({"stepping": True} if self.stepping else {})

    def __str__(self) -> str:
        """The settings in a line, the measure aside."""
        weights = ",".join(f"{one:g}" for one in self.weights)
        return f"with weights {weights}{', without overlap' if self.stepping else ''}"


SETTINGS = NgramSettings()


class ComparedTexts(NamedTuple):
    """The similarity of a text to the closest of its gold forms, by every measure."""

    how: NgramSettings
    found: Mapping[str, Similarity]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        chosen = self.found[self.how.measure]
        scores = {name: one.score for name, one in self.found.items()}
        return {"score": chosen.score, **self.how.record(), **scores, "by_length": chosen.by_length}

    def lines(self) -> list[str]:
        """The result for a reader."""
        chosen = f"{self.how.measure} {self.how}: {self.found[self.how.measure].score:.3f}"
        return [chosen, "  ".join(f"{name} {one.score:.3f}" for name, one in self.found.items())]


class ComparedLines(NamedTuple):
    """The similarity of each line of a file to the closest gold form, NaN where it is too short, and their mean."""

    how: NgramSettings
    level: float
    texts: Sequence[str]
    scores: NDArray[np.float64]
    mean: IntervalEstimate

    @property
    def distribution(self) -> dict[str, Any]:
        """The lowest score, the quartiles, and how many scores are in each tenth from 0 to 1; empty without a score."""
        known = self.scores[~np.isnan(self.scores)]
        if not known.size:
            return {}
        tenths, _ = np.histogram(known, bins=TENTHS, range=(0, 1))
        return {"lowest": known.min(), "quartiles": np.quantile(known, (0.25, 0.5, 0.75)), "tenths": tenths}

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        lines = enumerate(zip(self.texts, self.scores, strict=True), 1)
        return {
            "score": self.mean,
            **self.how.record(),
            "interval": self.level,
            "pairs": len(self.scores),
            "undefined": np.isnan(self.scores).sum(),
            "distribution": self.distribution,
            "lines": [{"line": at, "text": text, "score": score} for at, (text, score) in lines],
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        undefined, spread = np.isnan(self.scores).sum(), self.distribution
        what = f"mean {self.how.measure} of {len(self.scores)} pairs {self.how}"
        left_out = f"; {undefined} pairs too short to compare" if undefined else ""
        told = [f"{what}: {interval_text(self.mean)}{left_out}"]
        if spread:
            low = f"lowest {spread['lowest']:.3f}, quartiles {', '.join(f'{one:.3f}' for one in spread['quartiles'])}"
            told.append(f"{low}; pairs by tenths of the score: {' '.join(map(str, spread['tenths']))}")
        return told


def compared(text: str, gold: Sequence[str], how: NgramSettings, sampling: Sampling) -> ComparedTexts | ComparedLines:
    """A text and its gold forms by every measure, or the lines of two files if these are names of files.

    Raises `ValueError` for a text without words, for files beside texts, and as `_compared_files`.
    """
    files = [_is_file(one) for one in (text, *gold)]
    if any(files) and not (all(files) and len(gold) == 1):
        raise ValueError(f"{text}, {', '.join(gold)}: files beside texts; wanted two files, or texts alone")
    if any(files):
        return _compared_files(Path(text), Path(gold[0]), how, sampling)
    for name, one in (("TEXT_A", text), *(("TEXT_B", one) for one in gold)):
        if not words(one):
            raise ValueError(f"{name}: {one!r} has no words; wanted some to compare")
    return ComparedTexts(how, {name: similarity(text, gold, how._replace(measure=name)) for name in MEASURES})


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _compared_files(path: Path, gold: Path, how: NgramSettings, sampling: Sampling) -> ComparedLines:
    """The lines of two files, several gold forms of a line divided by tabs.

    Raises `ValueError` for files of different length, and for a line without words.
    """
    texts, golds = _lines(path), _lines(gold)
    if len(texts) != len(golds):
        raise ValueError(f"{gold}: {len(golds)} lines; wanted {len(texts)}, one for each of {path}")
    _require_words(path, [[one] for one in texts])
    forms = [one.split("\t") for one in golds]
    _require_words(gold, forms)
    scores = np.array([similarity(one, some, how).score for one, some in zip(texts, forms, strict=True)])
    return ComparedLines(how, sampling.interval, texts, scores, sampling.mean(scores[~np.isnan(scores)]))


def words(text: str) -> list[str]:
    """The words of a text in lower case, without the marks around them: `Jay-Z's`, `U.S`, `1991` are one each."""
    return _WORD.findall(text.casefold().replace("’", "'"))


def similarity(text: str, gold: Sequence[str], how: NgramSettings = SETTINGS) -> Similarity:
    """From 0 to 1, of the gold form that is closest; 1 for the same words in the same order.

    NaN where the text, or every gold form, has no words, and where no length with a weight can be compared. Raises
    `ValueError` for weights that `require_weights` refuses and for no gold form.
    """
    weights = require_weights(how.weights)
    if not gold:
        raise ValueError("gold: no text; wanted at least one to compare with")
    counted = steps if how.stepping else ngrams
    found = [_compared(words(text), words(one), weights, MEASURES[how.measure], counted) for one in gold]
    return max(found, key=lambda one: -1.0 if math.isnan(one.score) else one.score)


def weights_in(text: str) -> tuple[float, float, float]:
    """The weights of one, two and three words in `2,1,0`; `ValueError` as `require_weights`."""
    try:
        found = [float(one) for one in text.split(",")]
    except ValueError:
        raise ValueError(f"--weights: {text!r}; wanted numbers like 2,1,0") from None
    return require_weights(found)


def require_weights(weights: Sequence[float]) -> tuple[float, float, float]:
    """Three weights, of one, two and three words; those not given are 0.

    Raises `ValueError` for none or more than three, for one that is negative or no number, and when all are 0.
    """
    shown = ",".join(f"{one:g}" for one in weights)
    if not 1 <= len(weights) <= 3:
        raise ValueError(f"weights: {len(weights)} of them; wanted one to three, of one, two and three words")
    if not all(math.isfinite(one) and one >= 0 for one in weights):
        raise ValueError(f"weights: {shown}; wanted numbers of 0 or more")
    if not any(weights):
        raise ValueError(f"weights: {shown}; wanted at least one above 0")
    first, second, third = [*map(float, weights), 0.0, 0.0][:3]
    return first, second, third


def jaccard(first: Counts, second: Counts) -> float:
    """Shared n-grams over all, as sets."""
    return len(first.keys() & second.keys()) / len(first.keys() | second.keys())


def dice(first: Counts, second: Counts) -> float:
    """Twice the shared n-grams over the sum of both, as sets."""
    return 2 * len(first.keys() & second.keys()) / (len(first) + len(second))


def cosine(first: Counts, second: Counts) -> float:
    """Shared n-grams over the geometric mean of both, as sets; 0 where one text is too short to have any."""
    return len(first.keys() & second.keys()) / math.sqrt(len(first) * len(second)) if first and second else 0.0


def block(first: Counts, second: Counts) -> float:
    """`(n1 + n2 - L1) / (n1 + n2)`, where `L1` is the block distance of the counts."""
    total = sum(first.values()) + sum(second.values())
    apart = sum(abs(first.get(gram, 0) - second.get(gram, 0)) for gram in first.keys() | second.keys())
    return (total - apart) / total


MEASURES: dict[Measure, Callable[[Counts, Counts], float]] = {
    "jaccard": jaccard,
    "dice": dice,
    "cosine": cosine,
    "block": block,
}


def ngrams(tokens: Sequence[str], length: int) -> Counter[Gram]:
    """How often each run of `length` neighbouring words stands in a text."""
    return Counter(tuple(tokens[start : start + length]) for start in range(len(tokens) - length + 1))


def steps(tokens: Sequence[str], length: int) -> Counter[Gram]:
    """How often each run stands in a text that is cut into runs of `length` words, the last of which may be shorter."""
    return Counter(tuple(tokens[start : start + length]) for start in range(0, len(tokens), length))


def _lines(path: Path) -> list[str]:
    lines = read_text(path).split("\n")
    return [one.rstrip("\r") for one in (lines[:-1] if not lines[-1].strip() else lines)]


def _require_words(path: Path, lines: Sequence[Sequence[str]]) -> None:
    if not lines:
        raise ValueError(f"{path}: is empty; wanted one text to a line")
    for number, forms in enumerate(lines, start=1):
        if not any(map(words, forms)):
            raise ValueError(f"{path}:{number}: the line has no words; wanted a text")


def _compared(
    first: Sequence[str],
    second: Sequence[str],
    weights: Sequence[float],
    measure: Callable[[Counts, Counts], float],
    counted: Callable[[Sequence[str], int], Counter[Gram]],
) -> Similarity:
    by_length: dict[int, float] = {}
    for length, weight in enumerate(weights, start=1):
        if weight:
            left, right = counted(first, length), counted(second, length)
            by_length[length] = measure(left, right) if left or right else math.nan
    if not first or not second:
        return Similarity(math.nan, by_length)
    usable = {length: value for length, value in by_length.items() if not math.isnan(value)}
    total = sum(weights[length - 1] for length in usable)
    score = sum(weights[length - 1] * value for length, value in usable.items()) / total if total else math.nan
    return Similarity(score, by_length)
