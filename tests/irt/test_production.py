"""From a table to a folder: which facets are used, what is written, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irt
from irt.commands.production import Estimation, Shortening, Table, fitted, pruned


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "responses.csv"
    data = irt.simulate(items=20, facets={"retriever": 4, "icl": 3}, seed=2).data
    irt.write_responses(data, path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([f"{lines[0]},llm", *(f"{line},one" for line in lines[1:])]) + "\n")
    return path


def test_a_facet_of_one_level_is_left_out_and_said(table: Path, tmp_path: Path) -> None:
    said = fitted(Table(table).read(), Estimation(method="map"), tmp_path / "fit")
    assert "Facet 'llm' has one level only and was left out: there is nothing to compare." in said.notes
    components = (tmp_path / "fit" / "components.csv").read_text()
    assert "retriever" in components
    assert "llm" not in components


def test_a_facet_of_one_level_that_was_named_is_refused(table: Path) -> None:
    with pytest.raises(ValueError, match="llm"):
        fitted(Table(table, ["llm"]).read(), Estimation(method="map"))


def test_the_facets_of_a_fit_can_be_chosen(table: Path, tmp_path: Path) -> None:
    said = fitted(Table(table, ["icl"]).read(), Estimation(method="map"), tmp_path / "fit")
    assert said.record["facets"] == ["icl"]
    assert "best icl:" in said.lines
    assert "best retriever:" not in said.lines
    said = fitted(Table(table, []).read(), Estimation(method="map"))
    assert said.record["facets"] == []
    assert "Nothing was written: --out DIR keeps the result." in said.notes


def test_interactions_are_fitted(table: Path) -> None:
    how = Estimation(method="map", interactions=[("retriever", "icl")])
    assert fitted(Table(table).read(), how).record["interactions"] == [["retriever", "icl"]]


@pytest.mark.parametrize(("how", "words"), [({"model": "1pl"}, ""), ({}, "1 item"), ({"priors": True}, "12 items")])
def test_a_fit_by_mml_says_beside_its_criteria_how_many_items_priors_hold(how: dict[str, Any], words: str) -> None:
    said = fitted(irt.simulate(60, 12, seed=1, miskeyed=1).data, Estimation(method="mml", **how))
    assert said.record["diagnostics"]["items_held_by_priors"] == int(words.split()[0] if words else 0)
    assert said.lines.splitlines()[0].endswith(f" (not at their best: priors hold {words})") == bool(words)


@pytest.mark.parametrize("method", ["map", "nuts"])
def test_priors_are_refused_beside_a_method_that_has_its_own(table: Path, method: str) -> None:
    with pytest.raises(
        ValueError, match=f"--priors is of method 'mml', found '{method}'; --method mml, or no --priors"
    ):
        fitted(Table(table).read(), Estimation(method=method, priors=True))


def test_ratings_by_mml_have_aic_and_bic(tmp_path: Path) -> None:
    said = fitted(irt.simulate_graded(150, 6, top=3, seed=1).data, Estimation("grm", "mml"))
    found, deviance = said.record["diagnostics"], -2 * said.record["log_likelihood"]
    assert found["parameters"] == 24
    assert found["aic"] == pytest.approx(deviance + 48)
    assert found["bic"] == pytest.approx(deviance + 24 * np.log(150))
    assert f", AIC {found['aic']:.1f}, BIC {found['bic']:.1f}" in said.lines.splitlines()[0]


def test_an_unknown_backend_is_refused(table: Path) -> None:
    with pytest.raises(ValueError, match="has no backend 'stan'"):
        fitted(Table(table).read(), Estimation(method="map", backend="stan"))


def test_pruning_keeps_the_wanted_share(table: Path, tmp_path: Path) -> None:
    said = pruned(Table(table).read(), Shortening(keep=0.5), tmp_path / "pruned")
    assert len(said.record["kept"]) == 10
    assert {drop["item"] for drop in said.record["dropped"]} | set(said.record["kept"]) == set(
        Table(table).read().items
    )
    gain = said.record["heldout_gain"]
    assert gain["low"] <= gain["estimate"] <= gain["high"]
    assert (tmp_path / "pruned" / "prune.json").is_file()


def test_long_tables_are_cut_where_a_file_has_the_rest(tmp_path: Path) -> None:
    data = irt.simulate(50, 10, seed=1).data
    said = fitted(data, Estimation(method="mml"), tmp_path / "fit")
    assert said.lines.endswith(f"... and 30 more: all in {tmp_path}/fit/abilities.csv")
    assert "s19" in said.lines
    assert "s20" not in said.lines
    assert fitted(data, Estimation(method="mml")).lines.endswith("... and 30 more: --out DIR keeps all")


def test_a_pruning_prints_twenty_dropped_items_and_says_where_all_are(tmp_path: Path) -> None:
    data = irt.simulate(20, 60, seed=1).data
    said = pruned(data, Shortening(keep=0.5, quantile=0.5), tmp_path / "pruned")
    assert len(said.record["dropped"]) == 30
    assert sum(line.startswith("1\t") for line in said.lines.splitlines()) == 20
    assert said.lines.endswith(f"... and 10 more: all in {tmp_path}/pruned/prune.json")
