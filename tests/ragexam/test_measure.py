from pathlib import Path

import pytest

import irt
from ragexam.measure import facet_list, fit_table, prune_table
from ragexam.progress import Progress

QUIET = Progress(quiet=True)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "responses.csv"
    data = irt.simulate(items=20, facets={"retriever": 4, "icl": 3}, seed=2).data
    irt.write_responses(data, path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([f"{lines[0]},llm", *(f"{line},one" for line in lines[1:])]) + "\n")
    return path


def test_a_facet_of_one_level_is_left_out_and_said(table: Path, tmp_path: Path) -> None:
    result = fit_table(table, tmp_path / "fit", "2pl", "map", "numpyro", None, 0.9, 0, QUIET)
    assert "Facet 'llm' has one level only and was left out: there is nothing to compare." in result["warnings"]
    components = (tmp_path / "fit" / "components.csv").read_text()
    assert "retriever" in components
    assert "llm" not in components


def test_the_facets_of_a_fit_can_be_chosen(table: Path, tmp_path: Path) -> None:
    fit_table(table, tmp_path / "fit", "2pl", "map", "numpyro", "icl", 0.9, 0, QUIET)
    assert "retriever" not in (tmp_path / "fit" / "components.csv").read_text()
    fit_table(table, tmp_path / "free", "2pl", "map", "numpyro", "", 0.9, 0, QUIET)
    assert irt.load_fit(tmp_path / "free").design.terms == ()


def test_an_unknown_backend_is_refused(table: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--backend stan: unknown; wanted one of"):
        fit_table(table, tmp_path / "fit", "2pl", "map", "stan", None, 0.9, 0, QUIET)


def test_pruning_keeps_the_wanted_share(table: Path, tmp_path: Path) -> None:
    result = prune_table(table, tmp_path / "pruned", 0.5, 0.3, "2pl", None, 0, QUIET)
    assert len(result["kept"]) == 10
    assert {drop["item"] for drop in result["dropped"]} | set(result["kept"]) == set(irt.read_responses(table).items)
    gain = result["heldout_gain"]
    assert gain["low"] <= gain["estimate"] <= gain["high"]


@pytest.mark.parametrize(("given", "names"), [(None, None), ("", []), ("llm, icl", ["llm", "icl"])])
def test_facet_lists_are_comma_separated(given: str | None, names: list[str] | None) -> None:
    assert facet_list(given) == names
