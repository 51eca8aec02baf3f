"""The document of all figures and tables."""

from __future__ import annotations

import importlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from paper_figs import paper
from paper_figs._command_line import script
from paper_figs._task_results import TaskResults
from tests.paper_figs.released_folder import write_released

ROOT = Path(__file__).parents[2]


def test_tasks_without_answers_are_left_out_by_name(tmp_path: Path, cache: Path) -> None:
    for name in ("paper_grid", "stackexchange_grid", "quickstart", "sec_filings"):
        write_released(tmp_path / name / "released")
    (tmp_path / "sec_filings" / "released" / "responses.csv").unlink()
    found = paper.discover(tmp_path, cache)
    assert [(run.task, run.folder.parent.name) for run in found.runs] == [
        ("DevOps", "paper_grid"),
        ("StackExchange", "stackexchange_grid"),
    ]
    told = "\n".join(found.left_out)
    assert "Arxiv: no answers are kept" in told
    assert "SEC filings: no answers are kept" in told
    assert "quickstart/released: none of the paper's tasks." in told


def test_a_second_folder_of_a_task_is_named(tmp_path: Path, cache: Path) -> None:
    for name in ("devops", "paper_grid"):
        write_released(tmp_path / name / "released")
    found = paper.discover(tmp_path, cache)
    assert len(found.runs) == 1
    assert any("paper_grid" in one and "stands for DevOps" in one for one in found.left_out)


class Sources(HTMLParser):
    """What a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.found += [value or "" for name, value in attrs if name == "src"]


@pytest.mark.slow
def test_the_document_holds_every_part_and_fetches_nothing(hard: TaskResults, tmp_path: Path) -> None:
    path = paper.write(paper.given([hard]), tmp_path)
    page = path.read_text(encoding="utf-8")
    for label in paper.PARTS:
        assert f"<h2>{label}</h2>" in page
    assert "Not shown" not in page
    assert "DevOps: no run was given." in page
    sources = Sources()
    sources.feed(page)
    assert sources.found
    assert all(one.startswith("data:image/svg+xml;base64,") for one in sources.found)
    assert not {"script", "link", "i", "b"} & set(sources.tags)
    linked = set(re.findall(r'href="([^"#]+)"', page))
    assert linked
    assert all((tmp_path / name).is_file() for name in linked)


def test_what_a_task_lacks_is_said_and_the_others_are_shown(hard: TaskResults, tmp_path: Path, cache: Path) -> None:
    folder = write_released(tmp_path / "bare")
    lines = (folder / "responses.csv").read_text(encoding="utf-8").splitlines()
    (folder / "responses.csv").write_text("\n".join(line.rsplit(",", 3)[0] for line in lines), encoding="utf-8")
    section = paper.assembled("Table 2", paper.PARTS["Table 2"], [hard, TaskResults(folder, "Bare", cache)])
    assert set(section.made[0].data["task"]) == {"hard & long"}  # type: ignore[union-attr]
    assert section.lacking[0].startswith("Bare: ")
    assert "wanted the parts of the pipelines" in section.lacking[0]


def test_nothing_to_draw_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert paper.main([]) == 2
    assert "wanted a RUN" in capsys.readouterr().err


def test_the_gallery_names_every_script_and_its_command_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery = (ROOT / "paper_figs" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)\.py`", gallery, re.MULTILINE))
    scripts = {path.stem for path in (ROOT / "paper_figs").glob("*.py") if "__main__" in path.read_text("utf-8")}
    assert named == scripts
    shown = re.search(r"^python paper_figs/(\w+)\.py (.*) --out figures$", gallery, re.MULTILINE)
    assert shown
    monkeypatch.chdir(ROOT)
    module = importlib.import_module(f"paper_figs.{shown[1]}")
    assert script(module.build, module.__doc__, [*shown[2].split(), "--out", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_every_part_of_the_document_is_a_script_of_its_own() -> None:
    scripts = {path.stem for path in (ROOT / "paper_figs").glob("*.py") if "__main__" in path.read_text("utf-8")}
    assert {build.__module__.split(".")[-1] for build in paper.PARTS.values()} == scripts - {"paper"}
