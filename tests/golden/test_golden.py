"""The command lines give what is kept of them.

To keep new results on purpose: `python -m tests.golden.keep`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.commands import PARTS
from tests.golden.compare import EXPECTED, SAMPLED, differences, names, read

ROOT = Path(__file__).parents[2]
SHOWN = 40
SLOW = ("svi", SAMPLED)
QUICK = [part for part in PARTS if part not in SLOW]
pytestmark = pytest.mark.timeout(1800)


def made(folder: Path, *parts: str) -> Path:
    words = [sys.executable, "-m", "tests.golden.make", str(folder), *parts]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def found(folder: Path, part: str) -> list[str]:
    kept = [name for name in names(EXPECTED, folder) if name.startswith(f"{part}/")]
    assert kept
    return [line for name in kept for line in differences(EXPECTED, folder, name)]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of everything that draws no posterior, from one process."""
    return made(tmp_path_factory.mktemp("golden"), *QUICK)


@pytest.mark.parametrize("part", QUICK)
def test_the_results_are_those_kept(quick: Path, part: str) -> None:
    lines = found(quick, part)
    assert not lines, "\n".join(lines[:SHOWN])


@pytest.mark.validate
@pytest.mark.parametrize("part", SLOW)
def test_drawn_results_are_those_kept_up_to_monte_carlo_error(tmp_path: Path, part: str) -> None:
    lines = found(made(tmp_path, part), part)
    assert not lines, "\n".join(lines[:SHOWN])


@pytest.mark.parametrize(
    ("name", "before", "after", "told"),
    [
        ("measurement/fit-2pl-mml.json", '"log_likelihood": -1533.2', '"log_likelihood": -1533.3', True),
        ("measurement/fit-2pl-mml.json", '"log_likelihood": -1533.27431', '"log_likelihood": -1533.27432', False),
        ("measurement/fit-2pl-map.json", '"n_items": 20', '"n_items": 21', True),
        ("measurement/fit-2pl-map.json", '"reliability"', '"dependability"', True),
        ("measurement/fit-2pl-map.json", "1 item was answered", "1 item is answered", False),
        ("measurement/fit-2pl-map.json", "1 item was answered", "2 items were answered", True),
        ("measurement/fit-2pl-map/components.csv", "m0,", "m9,", True),
        ("sampled/fit-2pl-nuts.json", '"converged": true', '"converged": false', True),
        ("sampled/fit-2pl-nuts.json", '"reliability": 0.75', '"reliability": 0.76', False),
        ("sampled/fit-2pl-nuts.json", '"reliability": 0.75', '"reliability": 0.65', True),
    ],
)
def test_a_change_is_told_or_allowed(tmp_path: Path, name: str, before: str, after: str, told: bool) -> None:
    text = read(EXPECTED, name)
    assert text is not None
    assert before in text
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(text.replace(before, after, 1), encoding="utf-8")
    assert bool(differences(EXPECTED, tmp_path, name)) == told
