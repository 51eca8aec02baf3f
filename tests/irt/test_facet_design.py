"""Which designs can be estimated, and which are refused by name."""

import numpy as np
import pandas as pd
import pytest

import irt
from irt.design import build_design


def table(**facets: list[str]) -> irt.ResponseMatrix:
    count = len(next(iter(facets.values())))
    names = tuple(f"s{index}" for index in range(count))
    scores = np.tile([1.0, 0.0], (count, 1))
    return irt.ResponseMatrix(scores, names, ("p", "q"), None, pd.DataFrame(facets, index=pd.Index(names)))


def test_every_term_sums_to_zero_over_each_of_its_facets() -> None:
    data = irt.simulate(None, 4, facets={"llm": 3, "retriever": 4, "shots": 2}, seed=0).data
    design = build_design(data, ["llm", "retriever"], [("llm", "retriever")])
    effects = np.random.default_rng(0).standard_normal(12) @ design.term("llm:retriever").centring
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


def test_an_interaction_with_missing_cells_is_refused() -> None:
    data = table(llm=["m", "m", "n", "o", "o"], tool=["a", "b", "a", "a", "b"])
    with pytest.raises(ValueError, match="interaction 'llm:tool' cannot be estimated"):
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
    assert "no subject residual" in design.notes[0]
