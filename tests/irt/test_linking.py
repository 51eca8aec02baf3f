"""Linking: closed forms, exact recovery, truth in simulated groups, drift, refusals, joined tables."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm

import irt
from irt import kernels
from irt._drift import curve_misses
from irt._joining import join
from irt._linking import link
from irt._linking_constants import METHODS, Constants, constants, rescale
from irt.kernels import ItemParameters
from tests.irt.calibrated_fit import calibrated

LINE = Constants(1.3, -0.6)


def items_of(count: int, seed: int) -> ItemParameters:
    rng = np.random.default_rng(seed)
    return ItemParameters(
        rng.lognormal(0, 0.3, count), rng.normal(0, 1, count), rng.beta(4, 16, count), 1 - rng.beta(1, 30, count)
    )


def back(items: ItemParameters, line: Constants) -> ItemParameters:
    """The items on the scale from which `line` leads to theirs."""
    return rescale(items, Constants(1 / line.slope, -line.intercept / line.slope))


def two_fits(
    seed: int, anchors: int = 15, drift: float = 0.0, error: float = 0.1, shuffled: bool = False
) -> tuple[irt.Fit, irt.Fit]:
    """Two exams of 30 with common items q15 to q29, calibrated on scales that `LINE` connects."""
    rng = np.random.default_rng(seed)
    total = 60 - anchors
    truth = ItemParameters(rng.lognormal(0, 0.3, total), rng.normal(-0.3, 1, total), np.zeros(total), np.ones(total))
    first = ItemParameters(*(values[:30] for values in truth))
    second = back(ItemParameters(*(values[30 - anchors :] for values in truth)), LINE)
    second.b[0] += drift
    names = [f"q{place}" for place in range(30 - anchors, total)]
    if shuffled:
        names[:anchors] = rng.permutation(names[:anchors]).tolist()
    return (
        calibrated(first, error=error, seed=2 * seed),
        calibrated(second, names, error=error, seed=2 * seed + 1),
    )


def two_tables(seed: int, students: int) -> tuple[irt.ResponseMatrix, irt.ResponseMatrix]:
    """Answers of two groups, the second .6 lower, to two exams of 30 with 15 common items."""
    rng = np.random.default_rng(seed)
    a, b = rng.lognormal(0, 0.3, 45), rng.normal(-0.3, 1, 45)
    tables = []
    for group, columns in enumerate((range(30), range(15, 45))):
        theta = rng.normal(0, 1, students) - 0.6 * group
        p = kernels.probability(theta[:, None], a, b)[:, list(columns)]
        names = tuple(f"{'ab'[group]}{row}" for row in range(students))
        tables.append(irt.ResponseMatrix(rng.binomial(1, p).astype(float), names, tuple(f"q{i}" for i in columns)))
    return tables[0], tables[1]


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_items_moved_along_a_line_give_that_line_back(method: str, symmetric: bool) -> None:
    target = items_of(12, 1)
    found = constants(target, back(target, LINE), method, symmetric)
    assert found == pytest.approx(LINE, abs=1e-6)
    for one, other in zip(rescale(back(target, LINE), LINE), target, strict=True):
        np.testing.assert_allclose(one, other)


def test_moment_methods_are_their_closed_forms() -> None:
    target, source = items_of(9, 2), items_of(9, 3)
    slope = source.a.mean() / target.a.mean()
    wanted = (slope, target.b.mean() - slope * source.b.mean())
    assert constants(target, source, "mean-mean") == pytest.approx(wanted)
    slope = target.b.std() / source.b.std()
    assert constants(target, source, "mean-sigma") == pytest.approx((slope, target.b.mean() - slope * source.b.mean()))


@pytest.mark.parametrize("method", ["haebara", "stocking-lord"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_curve_methods_minimise_their_criterion(method: str, symmetric: bool) -> None:
    target, source = items_of(8, 4), back(items_of(8, 4), LINE)
    rng = np.random.default_rng(1)
    source = source._replace(b=source.b + 0.2 * rng.standard_normal(8), a=source.a * rng.lognormal(0, 0.2, 8))
    theta = np.linspace(-4, 4, 41)
    weight = np.exp(-(theta**2) / 2) / np.exp(-(theta**2) / 2).sum()

    def criterion(x: np.ndarray) -> float:
        total = 0.0
        line = Constants(float(x[0]), float(x[1]))
        pairs = [(target, rescale(source, line)), (source, back(target, line))]
        for fixed, moved in pairs if symmetric else pairs[:1]:
            gap = kernels.probability(theta[:, None], *fixed) - kernels.probability(theta[:, None], *moved)
            total += float(weight @ ((gap.sum(axis=1) ** 2) if method == "stocking-lord" else (gap**2).sum(axis=1)))
        return total

    found = constants(target, source, method, symmetric)
    brute = minimize(criterion, [1.25, -0.5], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-14})
    assert found == pytest.approx(tuple(brute.x), abs=1e-5)


def test_the_symmetric_line_back_is_the_inverse_of_the_line_there() -> None:
    target, source = items_of(8, 5), back(items_of(8, 6), LINE)
    there, home = constants(target, source, symmetric=True), constants(source, target, symmetric=True)
    assert home == pytest.approx((1 / there.slope, -there.intercept / there.slope), abs=1e-6)


@pytest.fixture(scope="module")
def fits() -> tuple[irt.Fit, irt.Fit]:
    return two_fits(1)


@pytest.mark.parametrize("method", METHODS)
def test_the_line_between_calibrations_is_found(method: str, fits: tuple[irt.Fit, irt.Fit]) -> None:
    result = link(*fits, method=method)
    assert result.slope.estimate == pytest.approx(1.3, abs=0.12)
    assert result.intercept.estimate == pytest.approx(-0.6, abs=0.12)
    assert result.slope.low < result.slope.estimate < result.slope.high
    assert result.anchors == tuple(f"q{place}" for place in range(15, 30))


def test_linked_items_meet_their_anchors_and_abilities_move_along(fits: tuple[irt.Fit, irt.Fit]) -> None:
    result = link(*fits)
    linked = result.items.set_index("item").loc[list(result.anchors)]
    own = fits[0].items.set_index("item").loc[list(result.anchors)]
    assert (linked["b"] - own["b"]).abs().mean() < 0.3
    np.testing.assert_allclose(np.log(linked["a"] / own["a"]).mean(), 0, atol=0.1)
    slope, intercept = result.constants
    np.testing.assert_allclose(result.abilities["theta"], slope * fits[1].point["theta"] + intercept)
    # The line is one more source of error.
    assert result.abilities["theta_sd"].mean() > slope * fits[1].abilities["theta_sd"].mean()


def test_a_fit_links_to_itself_by_the_identity(fits: tuple[irt.Fit, irt.Fit]) -> None:
    result = link(fits[0], fits[0])
    assert result.constants == pytest.approx((1, 0), abs=1e-8)
    assert not result.dropped
    assert result.slope.low < 1 < result.slope.high


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_an_anchor_that_drifts_is_named_and_left_out(seed: int) -> None:
    pair = two_fits(seed, drift=1.0)
    result = link(*pair)
    assert result.dropped == ("q15",)
    row = result.drift.set_index("item").loc["q15"]
    assert not row["kept"]
    assert row["z"] < -3
    assert row["shift"] == pytest.approx(-1.3, abs=0.6)
    everything = link(*pair, cutoff=None)
    assert everything.dropped == ()
    assert result.slope.sd < everything.slope.sd


def test_error_of_estimation_alone_is_rarely_called_drift() -> None:
    lost = [len(link(*two_fits(seed), method="mean-mean", draws=50).dropped) for seed in range(40)]
    assert np.mean(lost) < 0.3  # of 15 anchors


def covering(method: str, seeds: int, draws: int) -> dict[str, float]:
    """How often the intervals of both constants hold the truth."""
    results = [link(*two_fits(seed), method=method, cutoff=None, draws=draws) for seed in range(seeds)]
    return {
        name: float(np.mean([getattr(each, name).low <= truth <= getattr(each, name).high for each in results]))
        for name, truth in (("slope", LINE.slope), ("intercept", LINE.intercept))
    }


@pytest.mark.parametrize("method", METHODS)
def test_intervals_of_lines_hold_the_truth_more_often_than_not(method: str) -> None:
    assert min(covering(method, 24, 60).values()) > 0.7


@pytest.mark.validate
@pytest.mark.parametrize(
    ("method", "seeds", "draws", "away"),
    [("mean-mean", 200, 150, 0.06), ("mean-sigma", 200, 150, 0.06), ("haebara", 120, 80, 0.07),
     ("stocking-lord", 120, 80, 0.07)],
)  # fmt: skip
def test_intervals_of_lines_cover_the_truth(method: str, seeds: int, draws: int, away: float) -> None:
    for name, inside in covering(method, seeds, draws).items():
        assert inside == pytest.approx(0.9, abs=away), name


def test_few_or_unrelated_anchors_are_refused(fits: tuple[irt.Fit, irt.Fit]) -> None:
    with pytest.raises(ValueError, match="2 common items; at least 3 are needed"):
        link(*fits, anchors=["q15", "q16"])
    with pytest.raises(ValueError, match="unknown item 'q0'"):
        link(*fits, anchors=["q0", "q15", "q16"])
    with pytest.raises(ValueError, match="unknown method 'sl'; wanted mean-mean, mean-sigma, haebara, stocking-lord"):
        link(*fits, method="sl")
    with pytest.raises(ValueError, match="the anchors are inconsistent: their difficulties in the two fits correlate"):
        link(*two_fits(1, shuffled=True))
    with pytest.raises(ValueError, match="the second fit did not converge"):
        link(fits[0], calibrated(items_of(30, 1), converged=False))
    flat = items_of(4, 1)._replace(b=np.zeros(4))
    with pytest.raises(ValueError, match="equal difficulty do not give a slope"):
        constants(flat, flat, "mean-sigma")


def test_anchors_that_mostly_drift_are_refused() -> None:
    first, second = two_fits(2, error=0.03)
    odd = np.array([1.0, 0.8, 1.0, 0.8, 1.2, 0.9, 1.0])
    b = np.asarray(second.point["b"]).copy()
    b[:7] += odd
    moved = replace(
        second, point={**second.point, "b": b}, draws={**second.draws, "b": second.draws["b"] + b - second.point["b"]}
    )
    with pytest.raises(ValueError, match=r"7 of 15 anchors drift .* at most 40% may be left out"):
        link(first, moved)


def test_anchors_that_scatter_beyond_their_error_widen_the_interval() -> None:
    first, second = two_fits(2)
    b = np.asarray(second.point["b"]) + 0.3 * np.random.default_rng(1).standard_normal(30)
    restless = replace(
        second, point={**second.point, "b": b}, draws={**second.draws, "b": second.draws["b"] + b - second.point["b"]}
    )
    calm, wild = link(first, second, cutoff=None), link(first, restless, cutoff=None)
    assert calm.scatter < 1.4 < wild.scatter
    width = [each.intercept.high - each.intercept.low for each in (calm, wild)]
    assert width[1] / width[0] == pytest.approx(wild.scatter / max(calm.scatter, 1), rel=0.25)


def test_joined_tables_are_missing_by_design() -> None:
    first, second = two_tables(5, 30)
    joined = join(first, second, ("old", "new"), facet="exam")
    data = joined.data
    assert joined.anchors == tuple(f"q{i}" for i in range(15, 30))
    assert data.scores.shape == (60, 45)
    assert np.isnan(data.scores[:30, 30:]).all()
    assert np.isnan(data.scores[30:, :15]).all()
    np.testing.assert_array_equal(data.scores[30:, 15:], second.scores)
    np.testing.assert_array_equal(data.scores[:30, :30], first.scores)
    assert irt.levels(data, "exam") == ("old", "new")
    assert "15 items are common to both tables." in data.notes


def test_one_fit_of_joined_tables_agrees_with_linking_two_fits() -> None:
    first, second = two_tables(1, 60)
    joined = join(first, second, ("old", "new"), facet="exam").data
    together = irt.fit(joined, "1pl", "map")
    pair = irt.fit(first, "1pl", "map"), irt.fit(second, "1pl", "map")
    apart = link(*pair)
    moved = np.concatenate([pair[0].abilities["theta"], apart.abilities["theta"]])
    assert np.corrcoef(together.abilities["theta"], moved)[0, 1] > 0.97
    assert apart.intercept.low < -0.6 < apart.intercept.high


def test_what_cannot_be_joined_is_refused() -> None:
    first, second = two_tables(5, 5)
    twin = replace(second, students=first.students)
    with pytest.raises(ValueError, match="student 'a0' is in both tables; give labels"):
        join(first, twin)
    assert join(first, twin, ("x", "y")).data.students[5] == "y:a0"
    with pytest.raises(ValueError, match="2 common items"):
        join(first, second.select(["q15", "q16", "q40"]))
    with pytest.raises(ValueError, match="facet 'exam' needs labels"):
        join(first, second, facet="exam")
    with pytest.raises(ValueError, match="facet 'exam' is already a column"):
        join(*(join(first, second, ("x", "y"), facet="exam").data,) * 2, ("u", "v"), facet="exam")
    counted = replace(first, trials=np.full(first.scores.shape, 2.0))
    trials = join(counted, second).data.trials
    assert trials is not None
    assert trials[0, 0] == 2
    assert trials[9, 20] == 1


def groups_of_students(n: int = 300, k: int = 15) -> tuple[irt.Fit, irt.Fit]:
    """Two groups, the second .5 higher, on the same items; q0 hardly discriminates, q5 became 1.5 harder."""
    rng = np.random.default_rng(4)
    a, b = rng.lognormal(0, 0.3, k), rng.normal(0, 1, k)
    a[0] = 0.05
    fits = []
    for group, harder in enumerate((0.0, 1.5)):
        theta = rng.normal(0.5 * group, 1, n)
        p = kernels.probability(theta[:, None], a, b + harder * (np.arange(k) == 5))
        names = tuple(f"{'ab'[group]}{row}" for row in range(n))
        data = irt.ResponseMatrix(rng.binomial(1, p).astype(float), names, tuple(f"q{i}" for i in range(k)))
        fits.append(irt.fit(data, method="mml"))
    return fits[0], fits[1]


@pytest.fixture(scope="module")
def rekeyed_pair() -> tuple[irt.Fit, irt.Fit]:
    """Items of which q0, with a discrimination of .15, was keyed anew: from .17 right to .45."""
    rng = np.random.default_rng(1)
    a, x = np.r_[0.15, rng.lognormal(0, 0.3, 14)], np.r_[-1.6, rng.normal(0, 1, 14)]
    fits = []
    for group, first in enumerate((-1.6, -0.2)):
        p = kernels.sigmoid(rng.standard_normal((600, 1)) * a + np.r_[first, x[1:]])
        names = tuple(f"{'ab'[group]}{row}" for row in range(600))
        data = irt.ResponseMatrix(rng.binomial(1, p).astype(float), names, tuple(f"q{i}" for i in range(15)))
        fits.append(irt.fit(data, method="mml"))
    return fits[0], fits[1]


@pytest.fixture(scope="module")
def weak_pair() -> tuple[irt.Fit, irt.Fit]:
    return groups_of_students()


@pytest.mark.parametrize("method", METHODS)
def test_a_weak_anchor_neither_blows_up_the_line_nor_hides_drift(
    method: str, weak_pair: tuple[irt.Fit, irt.Fit]
) -> None:
    found = link(*weak_pair, method=method)
    assert "q0" in found.undetermined
    assert ("q0" in found.anchors) == (method in ("haebara", "stocking-lord"))
    assert "q5" in found.dropped
    assert "q0" not in found.dropped
    assert found.slope.sd < 0.25
    assert found.intercept.sd < 0.3
    for each in (found.slope, found.intercept):
        assert each.low < each.estimate < each.high
    assert found.abilities["theta_sd"].max() < 1.2


def test_moments_want_three_anchors_whose_difficulty_is_determined(weak_pair: tuple[irt.Fit, irt.Fit]) -> None:
    with pytest.raises(ValueError, match="2 common items whose difficulty the answers determine; at least 3"):
        link(*weak_pair, anchors=["q0", "q1", "q2"], method="mean-sigma")


def test_heights_and_slopes_of_curves_are_compared_over_students_between_both_populations() -> None:
    """One item half as high in the other exam: its share right by quadrature, and no miss of the others."""
    a, b = np.array([0.1, 0.8, 1.0, 1.4]), np.array([3.0, -1.0, 0.0, 1.0])
    one = ItemParameters(a, b, np.zeros(4), np.ones(4))
    other = one._replace(b=np.array([-7.0, -1.0, 0.0, 1.0]))
    drawn = [ItemParameters(*(np.tile(values, (9, 1)) for values in each)) for each in (one, other)]
    height, tilt = curve_misses((one, drawn[0]), (other, drawn[1]), Constants(1.0, 1.0), np.ones(4, dtype=bool))

    def share(items: ItemParameters) -> float:
        density = norm(0.5, 1.0).pdf
        return float(quad(lambda x: density(x) * kernels.sigmoid(items.a[0] * (x - items.b[0])), -9, 9)[0])

    assert height.miss[0] == pytest.approx(share(one) - share(other), abs=1e-4)
    np.testing.assert_allclose(height.miss[1:], 0, atol=1e-12)
    np.testing.assert_allclose(tilt.miss[1:], 0, atol=1e-12)
    np.testing.assert_allclose(height.beside_the_line([0, 1, 2, 3])[1:], 0, atol=1e-12)
    assert (height.by[1:] < -0.1).all()
    assert (tilt.by[1:] < -0.01).all()


@pytest.mark.parametrize("method", ["stocking-lord", "haebara"])
def test_an_item_that_hardly_discriminates_cannot_hide_its_drift(
    method: str, rekeyed_pair: tuple[irt.Fit, irt.Fit]
) -> None:
    found = link(*rekeyed_pair, method=method)
    assert found.dropped == ("q0",)
    row = found.drift.iloc[0]
    assert row["share_shift"] == pytest.approx(0.28, abs=0.08)
    assert abs(row["shift"]) < 3 * row["shift_sd"]
    assert row["z"] > 5


def test_a_line_with_an_error_as_large_as_the_scale_is_refused() -> None:
    first, second = (calibrated(items_of(5, 1), error=0.05, seed=seed) for seed in (1, 2))
    noise = np.random.default_rng(0).standard_normal((2, 300, 5))
    wild = [
        replace(fit, draws={**fit.draws, "a": np.exp(2 * each), "b": 12 * each[:, ::-1]})
        for fit, each in zip((first, second), noise, strict=True)
    ]
    with pytest.raises(ValueError, match="the anchors do not determine the line by stocking-lord"):
        link(wild[0], wild[1], cutoff=None)


def test_fits_that_share_the_answers_of_students_are_warned_of() -> None:
    one, other = two_tables(1, 60)
    fit = irt.fit(one, method="map")
    (said,) = link(fit, irt.fit(one.select(one.items[:20]), method="map")).warnings
    assert said.startswith("60 students have the same answers to the common items in both fits, which are taken as")
    again = replace(other, students=one.students)
    assert link(fit, irt.fit(again, method="map")).warnings == ()
