"""`python -m irt`: files in, files out, one line when the input is bad."""

import json
from pathlib import Path

import pytest

import irt
from irt.cli import FORMS, main


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    data = irt.simulate(None, 15, facets={"llm": 1, "retriever": 4, "icl": 3}, seed=1).data
    irt.write_responses(data, tmp_path / "responses.csv")
    return tmp_path / "responses.csv"


def test_fit_then_information(answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(answers), "--method", "map", "--out", str(tmp_path / "fit"), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == json.loads((tmp_path / "fit" / "fit.json").read_text())
    assert "left out, one level only: llm" in printed.err
    assert main(["information", str(tmp_path / "fit"), "--points", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "theta,information,low,high,standard_error"
    assert main(["information", str(tmp_path / "fit"), "--points", "3", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["items"]) == 15


def test_prune_writes_what_it_prints(answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prune", str(answers), "--out", str(tmp_path / "p"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "p" / "prune.json").read_text())
    assert main(["prune", str(answers)]) == 0
    assert "held-out gain in mean information" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "none.csv"], "none.csv: no such file"),
        (["fit", "{}", "--method", "em"], "unknown method 'em'"),
        (["fit", "{}", "--facets", "vendor"], "unknown facet 'vendor'"),
        (["information", "nowhere"], "no such file"),
    ],
)
def test_bad_input_is_one_line_and_status_two(
    arguments: list[str], message: str, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([part.format(answers) for part in arguments]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert message in lines[-1]


@pytest.mark.parametrize("command", list(FORMS))
def test_help_shows_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"python -m irt {command}" in " ".join(capsys.readouterr().out.split())
