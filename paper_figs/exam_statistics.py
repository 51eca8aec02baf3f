"""Table 4: how many questions were written, lost and kept, what guessing by a rule would earn, and lengths."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from examcore import IntervalEstimate
from paper_figs._command_line import script
from paper_figs._question_resampling import jeffreys
from paper_figs._table_files import DASH, PaperTable, number, table_by_task, with_limits
from paper_figs._task_results import TaskResults

NOTE = (
    "Counts of the run that wrote the exam. Baselines: percent correct of an examinee who always picks the same "
    "position (the best one) or the longest choice, with 90 % interval (Jeffreys); the luckiest of four positions "
    "lies above 25 % by chance. Lengths: mean with 90 % interval of the mean, and standard deviation. A dash where "
    "the released results do not say."
)
ROWS: Mapping[str, Sequence[str]] = {
    "Questions": ("Written", "Unparsable", "Dropped by the checks", "Beyond the wanted number", "Set aside as examples",
                  "In the exam"),
    "Baselines, %": ("Best fixed position", "Longest choice"),
    "Lengths": ("Question, characters", "Choice, characters", "Question, words", "Choice, words"),
}  # fmt: skip


def compute(run: TaskResults) -> pd.DataFrame:
    """`task, group, attribute, value, low, high, sd`; empty where the results do not say."""
    found = {**_counts(run), **_baselines(run), **_lengths(run)}
    rows = []
    for group, attributes in ROWS.items():
        for one in attributes:
            value, low, high, sd = found.get(one, (np.nan,) * 4)
            rows.append((run.task, group, one, value, low, high, sd))
    return pd.DataFrame(rows, columns=["task", "group", "attribute", "value", "low", "high", "sd"])


def build(runs: Sequence[TaskResults]) -> list[PaperTable]:
    """Attributes by task."""
    data = pd.concat([compute(run) for run in runs], ignore_index=True)
    return [table_by_task("exam_statistics", "Exams", NOTE, data, _cell)]


Attributes = dict[str, tuple[float, float, float, float]]


def _counts(run: TaskResults) -> Attributes:
    told = run.statistics
    counts = {"In the exam": len(run.questions)}
    if told is not None:
        counts |= {
            "Written": told["generated"],
            "Unparsable": sum(told["unparsable"].values()),
            "Dropped by the checks": sum(told["dropped"].values()),
            "Beyond the wanted number": told["beyond"],
            "Set aside as examples": told["set_aside"],
        }
    return {key: (float(count), np.nan, np.nan, np.nan) for key, count in counts.items()}


def _baselines(run: TaskResults) -> Attributes:
    """From the key and the lengths in words of each choice, of which several may be the longest."""
    table = run.questions
    positions = table["key"].value_counts()
    longest = [_longest(row) for row in table[["key", "choice_words"]].to_dict("records")]
    right = {"Best fixed position": float(positions.max()), "Longest choice": float(sum(longest))}
    return {key: (*jeffreys(count, len(table)), np.nan) for key, count in right.items()}


def _longest(question: Mapping[Hashable, Any]) -> float:
    """The chance of a right answer of who picks the longest choice in words, at random among equals."""
    words = np.asarray(question["choice_words"])
    top = words == words.max()
    return float(top[int(question["key"])]) / float(top.sum())


def _lengths(run: TaskResults) -> Attributes:
    table, told = run.questions, run.statistics or {}
    n, choices = len(table), np.concatenate([np.asarray(one, float) for one in table["choice_words"]])
    found = {
        "Question, words": _mean(table["stem_words"].mean(), table["stem_words"].std(), n),
        "Choice, words": _mean(float(choices.mean()), float(choices.std(ddof=1)), n),
    }
    for attribute, key in (("Question, characters", "stem_length"), ("Choice, characters", "choice_length")):
        length = told.get(key, {})
        if length.get("mean") is not None:
            found[attribute] = _mean(length["mean"], length["sd"], n)
    return found


def _mean(mean: float, sd: float, n: int) -> tuple[float, float, float, float]:
    """With its interval as of one draw per question: choices of a question are of like length."""
    half = 1.6449 * sd / np.sqrt(n)
    return float(mean), float(mean - half), float(mean + half), float(sd)


def _cell(one: Mapping[Hashable, Any]) -> str:
    value = float(one["value"])
    if not np.isfinite(value):
        return DASH
    if one["group"] == "Questions":
        return number(value, 0)
    limits = IntervalEstimate(value, one["low"], one["high"])
    if one["group"] == "Lengths":
        return f"{with_limits(limits, 1)}; sd {number(one['sd'], 1)}"
    return with_limits(limits, 1, scale=100)


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
