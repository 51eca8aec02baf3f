"""What commands print: results as JSON or lines, estimates with their intervals."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from examcore import IntervalEstimate
from examcore.console import interval_text, jsonable, show_result


class Score(NamedTuple):
    system: str
    mean: IntervalEstimate


@dataclass(frozen=True)
class Cost:
    calls: int


class Result(NamedTuple):
    out: Path
    scores: tuple[Score, ...]
    cost: Cost

    def lines(self) -> list[str]:
        return [f"{one.system}: {interval_text(one.mean)}" for one in self.scores]


class Summed(NamedTuple):
    parts: tuple[int, ...]

    def record(self) -> dict[str, Any]:
        return {"sum": sum(self.parts)}


RESULT = Result(Path("a/b.json"), (Score("x", IntervalEstimate(0.5, math.nan, 1.0)),), Cost(3))


def test_named_tuples_and_data_classes_are_objects_of_their_fields_at_any_depth() -> None:
    assert jsonable(RESULT) == {
        "out": "a/b.json",
        "scores": [{"system": "x", "mean": {"estimate": 0.5, "low": None, "high": 1.0}}],
        "cost": {"calls": 3},
    }


def test_a_record_goes_before_fields() -> None:
    assert jsonable({"found": Summed((1, 2)), "plain": (1, 2)}) == {"found": {"sum": 3}, "plain": [1, 2]}


def test_arrays_and_sets_are_lists_and_what_has_no_form_is_refused() -> None:
    assert jsonable([np.array([1.0, np.nan]), {"b", "a"}, np.int64(2)]) == [[1.0, None], ["a", "b"], 2]
    with pytest.raises(ValueError, match="found a object; wanted strings, numbers, lists and mappings"):
        jsonable(object())


def test_a_result_is_shown_as_json_or_as_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    show_result(RESULT, as_json=True)
    assert json.loads(capsys.readouterr().out) == jsonable(RESULT)
    show_result(RESULT, as_json=False)
    assert capsys.readouterr().out == "x: 0.500 [interval unknown]\n"


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        ((0.5, 0.25, 0.75), "0.500 [0.250, 0.750]"),
        ((0.5, 0.25, math.nan), "0.500 [interval unknown]"),
        ((math.nan, 0.25, 0.75), "unknown"),
    ],
)
def test_an_estimate_without_an_end_says_so(estimate: tuple[float, float, float], text: str) -> None:
    assert interval_text(estimate) == text
