"""The scripts of the paper's figures: what they compute, write and refuse."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import irt
from irt.selecting.selection import prune
from ragexam.report import write_report
from tests.report.run_folder import write_run

NAMES = (
    "component_contrasts",
    "exam_information",
    "information_by_bloom",
    "information_by_question_word",
    "information_over_pruning",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_run(tmp_path_factory.mktemp("run"), questions=30, llms={"only": 0.0}, hostile=False)
    data = irt.read_responses(folder / "responses.csv", facets=["retriever", "icl"])
    irt.fit(data, model="2pl", method="map", seed=0).save(folder / "fit")
    prune(data, keep=0.7, seed=0).save(folder / "pruned")
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_script_writes_table_pdf_and_png(
    name: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert importlib.import_module(f"paper_figs.{name}").main([str(run), "--out", str(tmp_path)]) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [path.name for path in written] == [f"{name}.csv", f"{name}.pdf", f"{name}.png"]
    assert written[1].read_bytes().startswith(b"%PDF")
    assert written[2].read_bytes().startswith(b"\x89PNG")


def test_scripts_and_report_draw_the_same_numbers(run: Path, tmp_path: Path) -> None:
    write_report(run)
    for name in NAMES:
        assert importlib.import_module(f"paper_figs.{name}").main([str(run), "--out", str(tmp_path)]) == 0
        ours = pd.read_csv(tmp_path / f"{name}.csv")
        theirs = pd.read_csv(run / "figures" / f"{name}.csv")
        pd.testing.assert_frame_equal(ours, theirs, rtol=1e-5)


def test_information_of_a_level_is_the_mean_over_its_questions(run: Path) -> None:
    from paper_figs.information_by_question_word import compute

    table = compute(run)
    fit = irt.load_fit(run / "fit")
    assert table.drop_duplicates("group")["n_items"].sum() == 30
    where = np.unique(table["theta"].to_numpy(float))
    total = table.groupby("theta")["total"].sum().to_numpy(float)
    assert total == pytest.approx(fit.information(where).total, rel=1e-6)


def test_first_pruning_round_is_the_whole_exam(run: Path) -> None:
    from paper_figs.information_over_pruning import compute

    table = compute(run).drop_duplicates("round")
    assert table["n_items"].iloc[0] == 30
    assert table["n_items"].is_monotonic_decreasing
    assert table["n_items"].iloc[-1] == len(json.loads((run / "pruned" / "prune.json").read_text())["kept"])


@pytest.mark.parametrize("name", NAMES)
def test_script_refuses_a_folder_without_its_files_in_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert importlib.import_module(f"paper_figs.{name}").main([str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "no such file" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_damaged_pruning_is_refused_by_name(tmp_path: Path) -> None:
    from paper_figs.information_over_pruning import compute

    (tmp_path / "pruned").mkdir()
    (tmp_path / "pruned" / "prune.json").write_text('{"trajectory": [{}]}')
    with pytest.raises(ValueError, match=r"prune.json: KeyError 'round'; wanted the record of a pruning"):
        compute(tmp_path)


def test_script_runs_as_a_module(run: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "paper_figs.information_over_pruning", str(run), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "information_over_pruning.csv").is_file()
