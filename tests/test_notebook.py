"""The notebook is run cell by cell, as a reader runs it; what it shows is kept out of the repository."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib.pyplot as plt

from tests.command_line import snippet_here

ROOT = Path(__file__).parent.parent
CELLS = json.loads((ROOT / "examples" / "quickstart.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


def test_the_notebook_holds_text_before_each_cell_and_no_output() -> None:
    kinds = [cell["cell_type"] for cell in CELLS]
    assert kinds == ["markdown", "code"] * len(CODE)
    assert [(cell["outputs"], cell["execution_count"]) for cell in CELLS[1::2]] == [([], None)] * len(CODE)


def test_every_cell_of_the_notebook_runs(tmp_path: Path) -> None:
    for name in ("experiments", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    folder = tmp_path / "examples"
    folder.mkdir()
    plt.close("all")
    shown = snippet_here(folder, "\n".join(CODE))
    drawn = [ax.get_title() for number in plt.get_fignums() for ax in plt.figure(number).axes]
    plt.close("all")
    titles = ["Where the exam measures well", "What each component is worth", "Retrieval beside answers"]
    assert drawn == titles
    assert "Lead of careful over hasty" in shown
    assert "oracle minus closed book: +" in shown
    assert "tfidf" in shown
    assert (folder / "runs" / "scripted" / "report.html").is_file()
