"""Degenerate and damaged tables: a finite answer with a sentence, or one line that says what was found and wanted."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import irt
import irt.checks
from irt._cautions import joined_students
from irt.kernels import ItemParameters
from tests.irt.calibrated_fit import calibrated
from tests.shared_data import SHARED

MATH = SHARED / "data" / "irt_llm_by_shots" / "accuracy_math500.csv"
FAST = ("map", "mml", "laplace")


def table(scores: object, **more: object) -> irt.ResponseMatrix:
    values = np.asarray(scores, dtype=np.float64)
    students, items = (
        tuple(f"{kind}{index}" for index in range(size)) for kind, size in zip("sq", values.shape, strict=False)
    )
    return irt.ResponseMatrix(values, students, items, **more)  # type: ignore[arg-type]


def blocks() -> irt.ResponseMatrix:
    scores = np.full((20, 20), np.nan)
    scores[:10, :10] = irt.simulate(10, 10, seed=3).data.scores
    scores[10:, 10:] = irt.simulate(10, 10, seed=4).data.scores
    return table(scores)


def degenerate() -> dict[str, irt.ResponseMatrix]:
    rng = np.random.default_rng(0)
    half = rng.integers(0, 2, (20, 1))
    base = irt.simulate(12, 10, seed=1).data.scores
    extremes = base.copy()
    extremes[0], extremes[1], extremes[:, 0] = 1, 0, 1
    counts = rng.integers(1, 1001, (12, 10))
    faceted = irt.simulate(None, 12, facets={"llm": 3, "retriever": 3}, seed=1).data
    return {
        "extremes": table(extremes),
        "all right": table(np.ones((6, 5))),
        "all wrong": table(np.zeros((6, 5))),
        "two by two": table([[1, 0], [0, 1]]),
        "two students": table(rng.integers(0, 2, (2, 30))),
        "two items": table(rng.integers(0, 2, (30, 2))),
        "guttman": table(np.tril(np.ones((31, 30)), -1)),
        "same students": table(np.tile(rng.integers(0, 2, 10), (12, 1))),
        "same items": table(np.tile(rng.integers(0, 2, (12, 1)), (1, 10))),
        "opposites": table(np.hstack([np.tile(half, (1, 5)), np.tile(1 - half, (1, 5))])),
        "blocks": blocks(),
        "many trials": table(rng.binomial(counts, 0.6), trials=counts),
        "facets all right": replace(faceted, scores=np.ones_like(faceted.scores)),
        "facets in line": replace(faceted, scores=np.tile((np.arange(9) < 3)[:, None], (1, 12)).astype(float)),
    }


T = TypeVar("T")


def answered(attempt: Callable[[], T]) -> T | None:
    """What an attempt brings, or None when it is refused by a ValueError of one line."""
    try:
        return attempt()
    except ValueError as error:
        refusal = error
    assert type(refusal) is ValueError
    assert "\n" not in str(refusal)
    return None


def require_finite(fit: irt.Fit) -> None:
    few = fit.data.asked.sum(axis=0) < 2
    for name in ("infit", "outfit"):  # one answer has no mean square
        assert (fit.items[name].isna().to_numpy() <= few).all()
    for frame in (
        fit.items.fillna({"infit": 1.0, "outfit": 1.0}),
        fit.abilities,
        fit.components,
        fit.accuracy_by_level,
        fit.q3(),
    ):
        numbers = frame.drop(columns=["facet", "level"], errors="ignore").select_dtypes("number")
        assert np.isfinite(numbers.to_numpy(dtype=np.float64)).all()
    assert np.isfinite(fit.information([-2.0, 0.0, 2.0]).total).all()
    assert np.isfinite([fit.reliability, fit.log_likelihood]).all()
    assert all(np.isfinite(values).all() for values in fit.draws.values())


@pytest.mark.parametrize("method", ["map", "mml", pytest.param("laplace", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", sorted(degenerate()))
def test_degenerate_tables_end_in_finite_tables_or_one_line(name: str, method: str) -> None:
    for model in ("2pl", "3pl"):
        fit = answered(partial(irt.fit, degenerate()[name], model, method))
        if fit is not None:
            require_finite(fit)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    arrays.arrays(
        np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.sampled_from([0, 1, np.nan])
    ),
    st.sampled_from(["1pl", "2pl", "3pl", "4pl"]),
    st.sampled_from(["map", "mml"]),
)
def test_any_small_table_is_fitted_or_refused(scores: np.ndarray, model: str, method: str) -> None:
    fit = answered(lambda: irt.fit(table(scores), model, method))
    if fit is not None:
        require_finite(fit)


@pytest.mark.parametrize("method", FAST)
def test_groups_that_share_no_item_are_said(method: str) -> None:
    said = [sentence for sentence in irt.fit(blocks(), "1pl", method).warnings if "share no item" in sentence]
    assert len(said) == 1
    assert "none links 's10' to 's0' (10 of 20 students" in said[0]
    linked = blocks().scores.copy()
    linked[0, 10] = 1
    assert joined_students(table(linked)).all()


def test_students_who_answer_alike_are_not_told_apart() -> None:
    fit = irt.fit(table(np.ones((6, 5))), method="map")
    assert any("hardly tell these students apart" in sentence for sentence in fit.warnings)
    assert fit.point["a"].max() < 5


def test_the_mode_with_facets_stays_finite_where_nobody_errs() -> None:
    fit = irt.fit(degenerate()["facets all right"], method="map")
    assert fit.point["a"].max() < 5
    assert np.abs(fit.point["b"]).max() < 20


@pytest.mark.skipif(not MATH.exists(), reason="the shared data are not here")
def test_the_mode_survives_guessing_next_to_nothing() -> None:
    """158 x 500, 100 options: logits of guessing at which there is no information left once made it singular."""
    scores = pd.read_csv(MATH, index_col=0).to_numpy(dtype=np.float64)
    fit = irt.fit(table(scores), "3pl", "map", options=100)
    assert fit.converged
    require_finite(fit)


@pytest.mark.parametrize(
    ("scores", "more", "message"),
    [
        ([[0.5, 1], [0, 1]], {}, "student 's0', item 'q0': score 0.5 is not 0, 1 or NaN"),
        ([[np.inf, 1], [0, 1]], {}, "score inf is not 0, 1 or NaN"),
        ([[3, 1], [0, 1]], {"trials": np.full((2, 2), 2)}, r"score 3 is not a whole number from 0 to its trials \(2\)"),
        ([[0, 1], [0, 1]], {"trials": np.full((2, 2), np.inf)}, "trials -1 is not a whole number from 1 to 1000000"),
        ([[0, 1], [0, 1]], {"trials": np.full((2, 2), 1e9)}, r"trials 1e\+09 is not a whole number from 1 to 1000000"),
        ([[0, 1], [0, 1]], {"trials": [["x", 1], [1, 1]]}, "trials are not a table of numbers"),
        ([[0, 1], [0, 1]], {"top": 1e9}, r"top 1e\+09 is not a whole number of at least 1 \(and at most 1000\)"),
        ([[0, 4], [0, 1]], {"top": 3}, r"score 4 is not a whole number from 0 to its top \(3\)"),
    ],
)
def test_impossible_numbers_are_named(scores: object, more: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table(scores, **more)


def test_words_null_characters_and_repeated_facets_are_refused() -> None:
    with pytest.raises(ValueError, match="scores are not a table of numbers"):
        irt.ResponseMatrix(np.array([["right", "wrong"]]), ("x",), ("p", "q"))
    with pytest.raises(ValueError, match=r"item 'q\\x00' holds a null character"):
        irt.ResponseMatrix(np.zeros((1, 2)), ("x",), ("p", "q\0"))
    facets = pd.DataFrame([["a", "b"]], index=["x"], columns=["llm", "llm"])
    with pytest.raises(ValueError, match="facet 'llm' appears twice"):
        irt.ResponseMatrix(np.zeros((1, 2)), ("x",), ("p", "q"), facets=facets)


@pytest.mark.parametrize("method", ["nuts", *FAST])
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros((0, 3)), "only 0 student; at least 2"),
        (np.ones((1, 3)), "only 1 student; at least 2"),
        (np.ones((3, 1)), "only 1 item; at least 2"),
        ([[1, np.nan], [0, np.nan]], "item 'q1' has no answers"),
        ([[1, 0], [np.nan, np.nan]], "student 's1' has no answers"),
    ],
)
def test_tables_without_a_comparison_are_refused_by_every_method(scores: object, message: str, method: str) -> None:
    with pytest.raises(ValueError, match=message):
        irt.fit(table(scores), method=method)


def test_facets_that_cannot_be_estimated_are_refused() -> None:
    data = irt.simulate(None, 6, facets={"llm": 2, "retriever": 3}, seed=0).data
    assert data.facets is not None
    with pytest.raises(ValueError, match="unknown facet 'icl'; the table has 'llm', 'retriever'"):
        irt.fit(data, method="map", facets=["icl"])
    with pytest.raises(ValueError, match="facet 'llm' has one level, 'x'"):
        irt.fit(replace(data, facets=data.facets.assign(llm="x")), method="map")
    with pytest.raises(ValueError, match="facets 'llm' and 'retriever' are confounded"):
        irt.fit(replace(data, facets=data.facets.assign(retriever=data.facets["llm"])), method="map")
    assert irt.fit(data, "1pl", "map", facets="llm").components["facet"].unique().tolist() == ["llm"]


AWKWARD = ("nan", "NA", "1e3", "None", "a, b", "q\n1", '"', "😀", "007", "x" * 5000, "c d")


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_awkward_ids_come_back_as_they_were(tmp_path: Path, suffix: str) -> None:
    scores = np.random.default_rng(0).integers(0, 2, (len(AWKWARD), len(AWKWARD))).astype(float)
    facets = pd.DataFrame({"llm": AWKWARD}, index=list(AWKWARD))
    data = irt.ResponseMatrix(scores, AWKWARD, AWKWARD, facets=facets)
    irt.write_responses(data, tmp_path / f"r.{suffix}")
    again = irt.read_responses(tmp_path / f"r.{suffix}")
    assert (again.students, again.items, irt.levels(again, "llm")) == (AWKWARD, AWKWARD, AWKWARD)
    np.testing.assert_array_equal(again.scores, scores)


WIDE = 'student,q1,"q\n2"\nx,1,0\n"y, z",,1\n'


@pytest.mark.parametrize(
    "content",
    [
        WIDE.encode(),
        b"\xef\xbb\xbf" + WIDE.encode(),
        WIDE.replace("x,1,0\n", "x,1,0\r\n").encode(),
        WIDE.replace("x,1,0\n", "x , 1 ,0.0\n\n").encode(),
        (WIDE + "\n\n").encode(),
    ],
)
def test_harmless_differences_of_files_are_read_through(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.csv").write_bytes(content)
    data = irt.read_responses(tmp_path / "r.csv")
    assert (data.students, data.items) == (("x", "y, z"), ("q1", "q\n2"))
    np.testing.assert_array_equal(data.scores, [[1, 0], [np.nan, 1]])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv.gz", b"student,q1,q2\nx,1,0\n"),
        ("b.csv.gz", gzip.compress(b"student,q1,q2\nx,1,0\n" * 500, mtime=0)[:-9]),
        ("c.parquet", b"student,q1,q2\nx,1,0\n"),
        ("d.csv", b"student,q1,q2\n\xff,1,0\n"),
        ("e.csv", "student,q1\nx,1\n".encode("utf-16")),
        ("f.csv", b""),
    ],
)
def test_damaged_files_are_refused_in_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"not a readable|not UTF-8") as caught:
        irt.read_responses(tmp_path / name)
    assert "\n" not in str(caught.value)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(alphabet="studentiemcorq12,;\n\r\"' x01.-naNé\0\t", max_size=120),
    st.sampled_from(["", "student,item,score\n", "s,p,q\n"]),
)
def test_any_text_is_read_or_refused_in_one_line(tmp_path: Path, text: str, header: str) -> None:
    (tmp_path / "r.csv").write_text(header + text, encoding="utf-8", newline="")
    data = answered(lambda: irt.read_responses(tmp_path / "r.csv"))
    assert data is None or np.isin(data.scores[data.asked], [0, 1]).all()


def test_a_row_of_trials_without_a_score_was_not_asked(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("student,item,score,trials\nx,p,,\nx,q,2,3\ny,p,1,3\ny,q,0,3\n")
    data = irt.read_responses(tmp_path / "r.csv")
    np.testing.assert_array_equal(data.attempts, [[0, 3], [3, 3]])


def test_saved_fits_keep_facets_with_slashes_and_scalars(tmp_path: Path) -> None:
    data = irt.simulate(None, 8, facets={"meta/llama%2F": 3, "b": 4}, seed=0).data
    fit = irt.fit(data, method="map")
    fit.save(tmp_path)
    again = irt.load_fit(tmp_path)
    pd.testing.assert_frame_equal(again.components, fit.components)
    assert again.residual_scale == fit.residual_scale


def test_what_cannot_read_ratings_says_so() -> None:
    data = irt.simulate_graded(40, 5, seed=1).data
    fit = irt.fit(data, "grm", "mml")
    with pytest.raises(ValueError, match="an adaptive exam reads right and wrong answers"):
        irt.begin(fit)
    with pytest.raises(ValueError, match="linking reads right and wrong answers"):
        irt.link(fit, fit)
    with pytest.raises(ValueError, match="a table of ratings cannot be joined"):
        irt.join(data, data, labels=("a", "b"))


def test_negative_discriminations_of_maximum_likelihood_break_no_link_and_no_report() -> None:
    data = irt.simulate(40, 10, seed=1, missing=0.3).data
    fit = irt.fit(data, "2pl", "mml")
    assert (fit.draws["a"] < 0).any()
    assert irt.link(fit, fit).slope.estimate == pytest.approx(1, abs=0.01)
    with pytest.raises(ValueError, match="a fit by 'mml' draws no scales of priors"):
        irt.checks.prior_sensitivity(fit)


DOORS: dict[str, Callable[[irt.Fit, pd.DataFrame], object]] = {
    "fit": lambda _fit, frame: irt.fit(frame),
    "score": lambda fit, frame: irt.score(fit, frame),
    "prune": lambda _fit, frame: irt.prune(frame),
    "replay": lambda fit, frame: irt.replay(fit, frame),
    "join": lambda fit, frame: irt.join(fit.data, frame),
    "write": lambda _fit, frame: irt.write_responses(frame, "never.csv"),
    "m2": lambda fit, frame: irt.checks.m2(frame, fit.parameters),
    "dif": lambda fit, frame: irt.checks.dif(frame, fit.parameters, "llm"),
    "miskeys": lambda _fit, frame: irt.checks.miskeys(frame),
    "student_fit": lambda fit, frame: irt.checks.student_fit(frame, fit.parameters),
}


@pytest.mark.parametrize("door", list(DOORS))
def test_a_data_frame_is_sent_to_the_reader(door: str) -> None:
    items = ItemParameters(np.ones(4), np.linspace(-1, 1, 4), np.zeros(4), np.ones(4))
    with pytest.raises(ValueError, match=r"data is a DataFrame; wanted a ResponseMatrix \(irt.read_resp"):
        DOORS[door](calibrated(items), pd.DataFrame({"student": ["s"], "item": ["q0"], "score": [1]}))
