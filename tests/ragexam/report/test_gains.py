"""What to change first: gains are paired, the largest stands first, bounds are the headroom and no choice."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ragexam.report._component_verdicts import FacetVerdict, judge_all
from ragexam.report._fitted_model import LevelDraws, accuracy_draws
from ragexam.report._level_gains import change_section, each_change, first_changes, headroom
from ragexam.report._response_scores import paired_difference

QUALITY = {"closed_book": 0.2, "dense": 0.4, "bm25": 0.7, "oracle": 0.85}
MODELS = {"small": 0.0, "large": 0.1}


def scores() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        (f"{llm}+{retriever}", f"q{n}", float(rng.random() < quality + lift), llm, retriever)
        for (llm, lift), (retriever, quality), n in itertools.product(MODELS.items(), QUALITY.items(), range(200))
    ]
    return pd.DataFrame(rows, columns=["student", "item", "score", "llm", "retriever"])


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return scores()


@pytest.fixture(scope="module")
def judged(table: pd.DataFrame) -> tuple[tuple[LevelDraws, ...], tuple[FacetVerdict, ...]]:
    draws = accuracy_draws(table)
    return draws, judge_all(table, draws)


def test_the_largest_gain_stands_first_and_covers_the_truth(table: pd.DataFrame, judged) -> None:  # type: ignore[no-untyped-def]
    first = first_changes(table, *judged)
    assert [(gain.facet, gain.end) for gain in first] == [("retriever", "bm25"), ("llm", "large")]
    assert first[0].accuracy.low < 0.3 < first[0].accuracy.high
    assert first[1].accuracy.low < 0.1 < first[1].accuracy.high


def test_a_single_step_is_the_paired_difference(table: pd.DataFrame, judged) -> None:  # type: ignore[no-untyped-def]
    step = next(gain for gain in each_change(table, *judged) if gain.start == "dense")
    chosen = table[table["retriever"].isin(["dense", "bm25"])]
    assert step.accuracy == pytest.approx(paired_difference(chosen, "retriever", "bm25", "dense", level=0.9))


def test_the_oracle_is_headroom_and_never_a_choice(table: pd.DataFrame, judged) -> None:  # type: ignore[no-untyped-def]
    room = headroom(table, *judged)
    assert room is not None
    assert (room.start, room.end) == ("bm25", "oracle")
    assert room.accuracy.low < 0.15 < room.accuracy.high
    assert all(gain.end != "oracle" for gain in each_change(table, *judged))
    assert headroom(table[table["retriever"] != "oracle"], *judged) is None


def test_no_gain_is_claimed_where_nothing_differs(table: pd.DataFrame) -> None:
    alike = table[table["retriever"].isin(["dense"])].assign(shots="0")
    both = pd.concat([alike, alike.assign(shots="1", student=alike["student"] + "+1")])
    draws = accuracy_draws(both)
    section = change_section(both, draws, judge_all(both, draws), True)
    assert "No gain can be claimed for the prompting mode (0 points (0 to 0))" in " ".join(section.sentences)


def test_a_gain_on_these_questions_alone_is_told_as_such(table: pd.DataFrame, judged) -> None:  # type: ignore[no-untyped-def]
    draws, verdicts = judged
    unsure = [replace(one, draws=one.draws * 0) for one in draws]
    words = " ".join(change_section(table, unsure, verdicts, True).sentences)
    assert "On these questions bm25 gained +" in words
    assert "No gain can be claimed" not in words


def test_one_level_leaves_nothing_to_change(table: pd.DataFrame) -> None:
    one = table[(table["retriever"] == "dense") & (table["llm"] == "small")]
    draws = accuracy_draws(one)
    section = change_section(one, draws, judge_all(one, draws), True)
    assert list(section.tables) == []
    assert "nothing to change" in str(section.sentences)


def test_without_a_pair_the_gain_is_not_said(table: pd.DataFrame, judged) -> None:  # type: ignore[no-untyped-def]
    apart = table[(table["retriever"] == "dense") ^ (table["llm"] == "small")]
    gain = next(one for one in each_change(apart, *judged) if one.start == "small")
    assert math.isnan(gain.accuracy.estimate)
    section = change_section(apart, *judged, True)
    (steps,) = section.folded
    assert "–" in [cell.text for row in steps.rows for cell in row.cells]
