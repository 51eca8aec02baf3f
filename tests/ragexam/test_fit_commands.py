"""The measurement commands of `ragexam`: those of `python -m irt`, word for word."""

import gc
import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import irt
from irt.commands import COMMANDS
from irt.commands import main as irt_main
from irt.kernels import ItemParameters
from ragexam.cli import MEASUREMENT, app, main
from tests.irt.calibrated_fit import calibrated


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("fits")
    rng = np.random.default_rng(2)
    fit = calibrated(ItemParameters(np.ones(12), rng.normal(0, 1, 12), np.zeros(12), np.ones(12)), students=5)
    fit.save(home / "fit")
    irt.write_responses(fit.data, home / "answers.csv")
    table = irt.simulate(items=15, facets={"llm": 6, "icl": 3}, seed=1).data
    irt.write_responses(table, home / "table.csv")
    irt.fit(table, method="map").save(home / "facets")
    return home


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (["fit", "{}/table.csv", "--method", "map", "--out", "{}/new"], {"model", "converged", "warnings"}),
        (["prune", "{}/table.csv", "--out", "{}/pruned", "--stop", "auto"], {"kept", "dropped", "heldout_gain"}),
        (["information", "{}/fit", "--low", "-2"], {"theta", "total", "items"}),
        (["check", "{}/facets"], {"sentences", "skipped", "tables"}),
        (["dif", "{}/facets", "--facet", "icl", "--out", "{}/dif"], {"flagged", "items"}),
        (["score", "{}/fit", "{}/answers.csv", "--method", "wle"], {"method", "students"}),
        (["adaptive", "{}/fit", "--pipeline", "s1"], {"items", "theta", "sd", "full_sd", "stopped"}),
        (["link", "{}/fit", "{}/fit"], {"slope", "intercept", "anchors", "drift"}),
        (["compare", "{}/fit", "s0", "s1"], {"ability", "accuracy", "test"}),
        (["power", "{}/fit", "--gap", "0.2"], {"questions", "low", "high"}),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else None,
)
def test_it_answers_in_lines_and_in_json(words: list[str], keys: set[str], folder: Path) -> None:
    words = [word.format(folder) for word in words]
    lines = CliRunner().invoke(app, words)
    assert lines.exit_code == 0, lines.output
    assert lines.stdout.strip()
    alone = run_alone(words)
    assert lines.stdout == alone
    record = CliRunner().invoke(app, [*words, "--json"])
    assert keys <= json.loads(record.stdout).keys()


def run_alone(words: list[str]) -> str:
    with redirect_stdout(StringIO()) as printed, redirect_stderr(StringIO()):
        assert irt_main(words) == 0
    return printed.getvalue()


def test_the_commands_are_those_of_the_measurement_package() -> None:
    assert list(MEASUREMENT) == list(COMMANDS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit"], "RESPONSES: missing (see --help)"),
        (["fit", "none.csv", "--method", "map"], "none.csv: no such file"),
        (["check", "none"], "no such file"),
        (["power", "none", "--gap", "wide"], "--gap: Input should be a valid number"),
    ],
)
def test_bad_input_is_one_line_and_status_two(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["ragexam", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if not line.endswith(" ...")]
    assert message in line


def test_garbage_is_collected_again_once_a_command_is_loaded() -> None:
    for words in (["fit", "--help"], ["fit"]):
        CliRunner().invoke(app, words)
        assert gc.isenabled()
