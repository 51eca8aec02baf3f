"""The commands `fit` and `prune`: which facets are used, what is written, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import irt
from irt.commands import application, main


class Printed(NamedTuple):
    """What a command printed: its record with `--json`, its lines without, and standard error."""

    record: dict[str, Any]
    lines: list[str]
    errors: str


Command = Callable[..., Printed]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command twice: for its record, then for its lines."""

    def run(*words: str | Path) -> Printed:
        assert main([*map(str, words), "--json"]) == 0, capsys.readouterr().err
        record = json.loads(capsys.readouterr().out)
        assert main([str(word) for word in words]) == 0
        printed = capsys.readouterr()
        return Printed(record, printed.out.splitlines(), printed.err)

    return run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "responses.csv"
    data = irt.simulate(items=20, facets={"retriever": 4, "icl": 3}, seed=2).data
    irt.write_responses(data, path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([f"{lines[0]},llm", *(f"{line},one" for line in lines[1:])]) + "\n")
    return path


def written(data: irt.ResponseMatrix, folder: Path) -> Path:
    """The table as a file."""
    irt.write_responses(data, folder / "table.csv")
    return folder / "table.csv"


def test_every_argument_of_fit_is_an_option() -> None:
    """The table's own options come on top."""
    import typer

    options = {param.name for param in typer.main.get_group(application()).commands["fit"].params}
    assert {each.name for each in fields(irt.FitSettings)} <= options


def test_a_facet_of_one_level_is_left_out_and_said(table: Path, tmp_path: Path, command: Command) -> None:
    found = command("fit", table, "--method", "map", "--out", tmp_path / "fit")
    assert "Facet 'llm' has one level only and was left out: there is nothing to compare." in found.errors
    components = (tmp_path / "fit" / "components.csv").read_text()
    assert "retriever" in components
    assert "llm" not in components


def test_a_facet_of_one_level_that_was_named_is_refused(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(table), "--facets", "llm", "--method", "map"]) == 2
    assert "llm" in capsys.readouterr().err


def test_the_facets_of_a_fit_can_be_chosen(table: Path, tmp_path: Path, command: Command) -> None:
    found = command("fit", table, "--facets", "icl", "--method", "map", "--out", tmp_path / "fit")
    assert found.record["facets"] == ["icl"]
    assert "best icl:" in "\n".join(found.lines)
    assert "best retriever:" not in "\n".join(found.lines)
    found = command("fit", table, "--facets", "", "--method", "map")
    assert found.record["facets"] == []
    assert "Nothing was written: --out DIR keeps the result." in found.errors


def test_interactions_are_fitted(table: Path, command: Command) -> None:
    found = command("fit", table, "--method", "map", "--interactions", "retriever:icl")
    assert found.record["interactions"] == [["retriever", "icl"]]


def test_options_per_item_and_priors_are_those_of_the_call(table: Path, tmp_path: Path, command: Command) -> None:
    data = irt.without_constant_facets(irt.read_responses(table))
    options = {item: 2 + index % 3 for index, item in enumerate(data.items)}
    (tmp_path / "o.csv").write_text("item,options\n" + "".join(f"{item},{n}\n" for item, n in options.items()))
    words = ["--model", "3pl", "--method", "map", "--options", tmp_path / "o.csv", "--prior", "spread_a=0.2"]
    fit = irt.fit(data, "3pl", "map", options=options, priors=irt.Priors(spread_a=0.2))
    found = command("fit", table, *words)
    assert found.record["log_likelihood"] == pytest.approx(fit.log_likelihood)
    default = command("fit", table, "--model", "3pl", "--method", "map")
    assert default.record["log_likelihood"] != pytest.approx(fit.log_likelihood)


@pytest.mark.parametrize(
    ("how", "words"),
    [(["--model", "1pl"], ""), ([], "1 item"), (["--priors"], "12 items")],
    ids=["1pl", "2pl", "priors"],
)
def test_a_fit_by_mml_says_beside_its_criteria_how_many_items_priors_hold(
    how: list[str], words: str, tmp_path: Path, command: Command
) -> None:
    path = written(irt.simulate(60, 12, seed=1, miskeyed=1).data, tmp_path)
    found = command("fit", path, "--method", "mml", *how)
    assert found.record["diagnostics"]["items_held_by_priors"] == int(words.split()[0] if words else 0)
    assert found.lines[0].endswith(f" (not at their best: priors hold {words})") == bool(words)


@pytest.mark.parametrize("method", ["map", "nuts"])
def test_priors_are_refused_beside_a_method_that_has_its_own(
    table: Path, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(table), "--method", method, "--priors"]) == 2
    assert f"--priors: found with --method {method}; wanted --method mml, or no --priors" in capsys.readouterr().err


def test_ratings_by_mml_have_aic_and_bic(tmp_path: Path, command: Command) -> None:
    path = written(irt.simulate_graded(150, 6, top=3, seed=1).data, tmp_path)
    record, lines, _ = command("fit", path, "--model", "grm", "--method", "mml")
    found, deviance = record["diagnostics"], -2 * record["log_likelihood"]
    assert found["parameters"] == 24
    assert found["aic"] == pytest.approx(deviance + 48)
    assert found["bic"] == pytest.approx(deviance + 24 * np.log(150))
    assert f", AIC {found['aic']:.1f}, BIC {found['bic']:.1f}" in lines[0]


def test_an_unknown_backend_is_refused(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(table), "--method", "map", "--backend", "stan"]) == 2
    assert "has no backend 'stan'" in capsys.readouterr().err


def test_pruning_keeps_the_wanted_share(table: Path, tmp_path: Path, command: Command) -> None:
    found = command("prune", table, "--keep", "0.5", "--out", tmp_path / "pruned").record
    assert len(found["kept"]) == 10
    assert {drop["item"] for drop in found["dropped"]} | set(found["kept"]) == set(irt.read_responses(table).items)
    gain = found["heldout_gain"]
    assert gain["low"] <= gain["estimate"] <= gain["high"]
    assert (tmp_path / "pruned" / "prune.json").is_file()


def test_long_tables_are_cut_where_a_file_has_the_rest(tmp_path: Path, command: Command) -> None:
    path = written(irt.simulate(50, 10, seed=1).data, tmp_path)
    lines = command("fit", path, "--method", "mml", "--out", tmp_path / "fit").lines
    assert lines[-1] == f"... and 30 more: all in {tmp_path}/fit/abilities.csv"
    assert "s19" in "\n".join(lines)
    assert "s20" not in "\n".join(lines)
    assert command("fit", path, "--method", "mml").lines[-1] == "... and 30 more: --out DIR keeps all"


def test_a_pruning_prints_twenty_dropped_items_and_says_where_all_are(tmp_path: Path, command: Command) -> None:
    path = written(irt.simulate(20, 60, seed=1).data, tmp_path)
    found = command("prune", path, "--keep", "0.5", "--quantile", "0.5", "--out", tmp_path / "pruned")
    assert len(found.record["dropped"]) == 30
    assert sum(line.startswith("1\t") for line in found.lines) == 20
    assert found.lines[-1] == f"... and 10 more: all in {tmp_path}/pruned/prune.json"
