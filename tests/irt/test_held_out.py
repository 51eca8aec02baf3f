"""Scores of left-out answers: folds, agreement with the truth, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import irt
from irt._held_out import _folds
from irt.commands import main

MADE = irt.simulate(items=40, facets={"llm": 3, "retriever": 5}, seed=1)
MAP = irt.FitSettings(method="map", item_effects=False)


def test_folds_of_answers_divide_every_item_evenly() -> None:
    counts = np.stack([np.bincount(column, minlength=5) for column in _folds(MADE.data, "answers", 5, 0).T])
    assert (counts == 3).all()


def test_folds_of_a_facet_keep_the_students_of_a_level_together() -> None:
    fold = _folds(MADE.data, "retriever", 5, 0)
    assert MADE.data.facets is not None
    for level in set(MADE.data.facets["retriever"]):
        own = fold[(MADE.data.facets["retriever"] == level).to_numpy()]
        assert (own == own[0]).all()
    assert all(sorted(set(column)) == [0, 1, 2, 3, 4] for column in fold.T)


@pytest.mark.parametrize(("by", "axis"), [("items", 0), ("students", 1)])
def test_what_is_left_out_whole_is_left_out_once_and_evenly(by: str, axis: int) -> None:
    fold = _folds(MADE.data, by, 5, 0)
    assert (fold == fold.take([0], axis=axis)).all()
    assert (np.bincount(fold.take(0, axis=axis)) == fold.shape[1 - axis] / 5).all()


def test_whole_levels_are_left_out_of_every_item() -> None:
    fold = _folds(MADE.data, "retriever", 5, 0, whole=True)
    assert MADE.data.facets is not None
    numbers = MADE.data.facets.assign(fold=fold[:, 0]).groupby("retriever")["fold"].agg(["nunique", "first"])
    assert (fold == fold[:, :1]).all()
    assert (numbers["nunique"] == 1).all()
    assert set(numbers["first"]) == set(range(5))


@pytest.mark.parametrize(
    ("by", "whole", "least"),
    [("answers", False, True), ("retriever", False, True), ("students", False, True), ("items", False, False)],
)
def test_the_score_lies_between_the_truth_s_and_that_of_the_mean(by: str, whole: bool, least: bool) -> None:
    """Of new items only the abilities are known: they may be predicted worse than by the mean of all."""
    found = irt.held_out_score(MADE.data, by, settings=MAP, whole=whole)
    right, p = MADE.data.scores, MADE.truth.probability
    best = float(np.mean(right * np.log(p) + (1 - right) * np.log1p(-p)))
    share = right.mean()
    means = float(share * np.log(share) + (1 - share) * np.log1p(-share))
    assert found.answers == right.size
    assert found.score < best + 3 * found.se
    assert found.score > (means if least else means - 0.05)
    assert 0 < found.se < 0.1
    assert "40" not in found.lines()[0].split("log score")[0]
    table = found.calibration
    assert table["answers"].sum() == right.size
    assert np.average(table["observed"], weights=table["answers"]) == pytest.approx(share)
    assert np.average(table["observed"] - table["predicted"], weights=table["answers"]) == pytest.approx(0, abs=0.05)


def test_predictions_of_new_levels_do_not_see_their_answers() -> None:
    """A retriever that always fails is predicted as any other would be: much too well."""
    bad = (MADE.data.facets["retriever"] == "retriever0").to_numpy() if MADE.data.facets is not None else None
    data = replace(MADE.data, scores=np.where(bad[:, None], 0.0, MADE.data.scores)) if bad is not None else MADE.data
    new = irt.held_out_score(data, "retriever", settings=MAP, whole=True)
    seen = irt.held_out_score(data, "retriever", settings=MAP)
    assert new.score < seen.score - 0.1


def test_models_are_compared_on_the_same_folds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = irt.simulate(students=30, items=20, log_a_sd=0.8, seed=4).data
    models = {"1pl": MAP.changed(model="1pl"), "2pl": MAP.changed(model="2pl")}
    told: list[tuple[int, int]] = []
    found = irt.compare_models(data, models, "answers", folds=3, progress=lambda *now: told.append(now))
    assert told == [(done, 6) for done in range(1, 7)]
    one, two = (irt.held_out_score(data, folds=3, settings=each) for each in models.values())
    best = max(one.score, two.score)
    assert found.scores["1pl"].score == one.score
    assert found.behind == pytest.approx({"1pl": best - one.score, "2pl": best - two.score})
    gaps = (one.by_item - two.by_item) / one.counts  # all items have as many answers
    worse = min(models, key=lambda name: found.scores[name].score)
    assert found.se[worse] == pytest.approx(gaps.std(ddof=1) / np.sqrt(len(gaps)))
    for name, each in models.items():
        irt.fit(data, settings=each).save(tmp_path / name)
    words = ["held-out", str(tmp_path / "1pl"), str(tmp_path / "2pl"), "--folds", "3", "--out", str(tmp_path / "t")]
    assert main(words) == 0
    assert f"{one.score:.4f}" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "t").iterdir())[-1] == "held-out.csv"
    irt.fit(irt.simulate(students=30, items=20, seed=5).data, method="map").save(tmp_path / "other")
    assert main(["held-out", str(tmp_path / "1pl"), str(tmp_path / "other")]) == 2
    assert "found other answers than in" in capsys.readouterr().err


@pytest.mark.slow
def test_effects_on_items_predict_shared_answers_better() -> None:
    made = irt.simulate(items=30, facets={"llm": 3, "retriever": 4}, shared_sd={"retriever": 3.0}, seed=2).data
    short = irt.FitSettings(method="map")
    found, plain = (
        irt.held_out_score(made, folds=3, settings=short),
        irt.held_out_score(made, folds=3, settings=MAP),
    )
    assert found.score > plain.score + 0.05


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(ValueError, match="found 6 for the 5 levels of 'retriever'"):
        irt.held_out_score(MADE.data, "retriever", folds=6, settings=MAP)
    with pytest.raises(ValueError, match="found 41 for the 40 items"):
        irt.held_out_score(MADE.data, "items", folds=41, settings=MAP)
    with pytest.raises(ValueError, match="found none"):
        irt.compare_models(MADE.data, {})
    with pytest.raises(ValueError, match="found seeds"):
        irt.compare_models(MADE.data, {"a": MAP, "b": MAP.changed(seed=1)})
    with pytest.raises(ValueError, match="folds"):
        irt.held_out_score(MADE.data, folds=1, settings=MAP)
    with pytest.raises(ValueError, match="unknown facet 'x'"):
        irt.held_out_score(MADE.data, "x", settings=MAP)
    with pytest.raises(ValueError, match="a table of ratings was given"):
        irt.held_out_score(replace(MADE.data, top=np.ones(40, dtype=np.int64)), settings=MAP)
