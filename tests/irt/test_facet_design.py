"""Which designs can be estimated, and which are refused by name."""

import numpy as np
import pandas as pd
import pytest

import irt
from irt._design import UNSEEN_BENDS, WIGGLE, build_design, spline_root


def table(**facets: list[str]) -> irt.ResponseMatrix:
    count = len(next(iter(facets.values())))
    names = tuple(f"s{index}" for index in range(count))
    scores = np.tile([1.0, 0.0], (count, 1))
    return irt.ResponseMatrix(scores, names, ("p", "q"), None, pd.DataFrame(facets, index=pd.Index(names)))


def test_every_term_sums_to_zero_over_each_of_its_facets() -> None:
    data = irt.simulate(None, 4, facets={"llm": 3, "retriever": 4, "shots": 2}, seed=0).data
    design = build_design(data, ["llm", "retriever"], [("llm", "retriever")])
    effects = np.random.default_rng(0).standard_normal(12) @ design.term("llm:retriever").root
    grid = effects.reshape(3, 4)
    np.testing.assert_allclose(grid.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(grid.sum(axis=1), 0, atol=1e-12)
    assert design.term("llm:retriever").freedom == 6
    assert design.term("llm").levels == ("llm0", "llm1", "llm2")


def test_a_constant_facet_is_refused_and_can_be_found() -> None:
    data = table(llm=["m", "m", "m"], retriever=["a", "b", "a"])
    assert irt.constant_facets(data) == ("llm",)
    with pytest.raises(ValueError, match="facet 'llm' has one level, 'm'"):
        irt.fit(data, method="map")


def test_confounded_facets_are_named() -> None:
    data = table(llm=["m", "m", "n", "n"], vendor=["v", "v", "w", "w"])
    with pytest.raises(ValueError, match="facets 'llm' and 'vendor' are confounded"):
        build_design(data, ["llm", "vendor"])


def test_unconnected_components_are_named() -> None:
    llm = ["m", "m", "n", "n", "o", "o", "p", "p"]
    data = table(llm=llm, tool=["a", "b", "a", "b", "c", "d", "c", "d"])
    with pytest.raises(ValueError, match="2 unconnected components: no student joins llm 'o', 'p'; tool 'c', 'd' to"):
        build_design(data, ["llm", "tool"])
    assert irt.connected_students(data, ["llm", "tool"]) == (("s0", "s1", "s2", "s3"), ("s4", "s5", "s6", "s7"))


def test_a_component_that_was_not_asked_all_items_is_fitted_on_those_it_was() -> None:
    rows = [(llm, tool) for llms, tools in (("mn", "abc"), ("op", "def")) for llm in llms for tool in tools]
    scores = np.random.default_rng(1).integers(0, 2, (12, 8)).astype(float)
    scores[:6, 6:] = scores[6:, :2] = np.nan
    names, items = tuple(map("".join, rows)), tuple(f"q{index}" for index in range(8))
    facets = pd.DataFrame(rows, columns=["llm", "tool"], index=names)
    data = irt.ResponseMatrix(scores, names, items, facets=facets)
    for group, asked in zip(irt.connected_students(data, ["llm", "tool"]), (items[:6], items[2:]), strict=True):
        part = data.select_students(group)
        with pytest.raises(ValueError, match=r"has no answers; wanted data.select\(data.answered_items\)"):
            irt.fit(part, "1pl", "map")
        assert part.answered_items == asked
        assert irt.fit(part.select(part.answered_items), "1pl", "map").converged


def test_an_interaction_with_missing_cells_is_refused() -> None:
    data = table(llm=["m", "m", "n", "o", "o"], tool=["a", "b", "a", "a", "b"])
    with pytest.raises(ValueError, match=r"interaction 'llm:tool' cannot be estimated.*no student has 'n x b'"):
        build_design(data, ["llm", "tool"], [("llm", "tool")])
    with pytest.raises(ValueError, match="names 'x', which is not among the facets"):
        build_design(data, ["llm", "tool"], [("llm", "x")])


def test_a_third_facet_that_the_first_two_determine_is_refused() -> None:
    data = table(x=["0", "0", "1", "1"], y=["0", "1", "0", "1"], z=["00", "01", "01", "11"])
    with pytest.raises(ValueError, match="facet 'z' cannot be estimated"):
        build_design(data, ["x", "y", "z"])


def test_a_level_per_student_leaves_no_residual_and_says_so() -> None:
    design = build_design(table(llm=["m", "n", "o"]), ["llm"])
    assert not design.residual
    assert "no subject residual" in design.warnings[0]


def test_a_covariate_has_a_smooth_effect_that_sums_to_zero() -> None:
    rng = np.random.default_rng(0)
    values = np.array([100.0, 200.0, 400.0, 800.0, 1600.0])
    effects = rng.standard_normal((4000, 5)) @ spline_root(values).T
    np.testing.assert_allclose(effects.sum(axis=1), 0, atol=1e-9)
    assert np.mean(effects**2) == pytest.approx(1 + WIGGLE, rel=0.1)
    line = (values - values.mean()) / np.linalg.norm(values - values.mean())
    straight = (effects @ line) ** 2
    assert np.mean(straight / (effects**2).sum(axis=1)) > 0.8
    roots = spline_root(values), spline_root(values * 3 - 7)
    np.testing.assert_allclose(roots[0] @ roots[0].T, roots[1] @ roots[1].T, atol=1e-12)


def test_a_covariate_of_hundreds_of_values_has_finite_effects() -> None:
    values = np.random.default_rng(1).normal(size=750)
    root = spline_root(values)
    assert np.isfinite(root).all()
    np.testing.assert_allclose(root.sum(axis=0), 0, atol=1e-9)
    assert root.shape[1] < 20
    assert np.trace(root @ root.T) == pytest.approx(750 * (1 + WIGGLE), rel=2 * UNSEEN_BENDS)


def test_the_spline_prior_bends_as_an_integrated_wiener_process() -> None:
    # Its covariance is the integral of (s - u)(t - u) over u below both, here by quadrature.
    x = np.linspace(0, 1, 6)
    grid = (np.arange(20000) + 0.5) / 20000
    ramps = np.maximum(x[:, None] - grid, 0)
    bends = ramps @ ramps.T / len(grid)
    centre = np.eye(6) - 1 / 6
    parts = [centre @ part @ centre for part in (np.outer(x, x), bends)]
    expected = sum(weight * part / np.trace(part) * 6 for weight, part in zip((1, WIGGLE), parts, strict=True))
    root = spline_root(5 + 2 * x)
    np.testing.assert_allclose(root @ root.T, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1", "2", "big", "4"], "covariate 'size': 'big' is not a number"),
        (["1", "2", "1", "2"], "covariate 'size' has 2 values; at least 3 are wanted"),
        (["1", "2", "inf", "2"], "covariate 'size' has a value that is not finite"),
    ],
)
def test_a_covariate_that_is_no_number_is_refused(values: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_design(table(size=values), covariates=["size"])


def test_a_covariate_that_follows_from_a_facet_is_refused() -> None:
    data = table(retriever=["a", "b", "c", "a", "b", "c"], size=["1", "2", "4", "1", "2", "4"])
    with pytest.raises(ValueError, match="covariate 'size' cannot be estimated"):
        build_design(data, ["retriever"], covariates=["size"])
