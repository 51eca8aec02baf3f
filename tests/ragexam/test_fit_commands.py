"""`ragexam score adaptive link compare power`: a saved fit in, an answer out."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import irt
from irt.kernels import ItemParameters
from ragexam.cli import app
from tests.irt.calibrated_fit import calibrated


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("fits")
    rng = np.random.default_rng(2)
    fit = calibrated(ItemParameters(np.ones(12), rng.normal(0, 1, 12), np.zeros(12), np.ones(12)), students=5)
    fit.save(home / "fit")
    irt.write_responses(fit.data, home / "answers.csv")
    return home


@pytest.mark.parametrize(
    ("words", "keys"),
    [
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
    record = CliRunner().invoke(app, [*words, "--json"])
    assert keys <= json.loads(record.stdout).keys()
