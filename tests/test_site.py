"""The site of the documentation: it builds strictly, shows all it should, and loads nothing from another host."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from examcore import RunFolder
from examcore._run_folder import RunFile
from irt import plots

ROOT = Path(__file__).parent.parent
needs_mkdocs = pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="needs ragexam[docs]: make docs")


def hook(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "hooks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_mkdocs
def test_every_command_stands_in_the_reference_with_its_options_and_an_example() -> None:
    page = hook("reference").commands()
    parts = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert {"ragexam run", "ragexam prune", "ragexam grade", "ragexam grade bank edit"} <= set(parts)
    for words, text in parts.items():
        assert re.search(rf"usage: {words}", text, re.IGNORECASE), words
        assert "--help" in text, words
        if not re.search(r"^    Commands:", text, re.MULTILINE):
            assert f"```sh\n{words} " in text or f"```sh\n{words}\n" in text, words


@needs_mkdocs
def test_links_between_places_in_the_repository_become_links_between_pages() -> None:
    from types import SimpleNamespace

    def linked(uri: str, target: str) -> str:
        page = SimpleNamespace(file=SimpleNamespace(src_uri=uri))
        return str(hook("outside").on_page_markdown(f"[x]({target})", page, None, None))

    assert linked("models.md", "../benchmarks/RESULTS.md#engines") == "[x](benchmarks/RESULTS.md#engines)"
    assert linked("free-text/scores.md", "../models.md") == "[x](../models.md)"
    assert linked("benchmarks/RESULTS.md", "../docs/corpora.md") == "[x](../corpora.md)"
    assert linked("models.md", "../irt/fit.py") == "[x](../irt/fit.py)"  # left as it is, for the strict build to refuse


def test_the_gallery_shows_every_picture_of_irt() -> None:
    drawn = set(re.findall(r"plots\.(\w+)\(ax", (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")))
    found = {name: getattr(plots, name) for name in plots.__all__}
    functions = {name for name, each in found.items() if inspect.isfunction(each) and "_style" not in each.__module__}
    assert drawn == {name for name in functions if "ax" in inspect.signature(getattr(plots, name)).parameters}


def test_the_page_on_files_names_every_file_of_a_run() -> None:
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    folder = RunFolder(Path("run"))
    places = [getattr(folder, name) for name, kind in vars(RunFolder).items() if isinstance(kind, RunFile)]
    names = {path.relative_to("run").as_posix() for path in places}
    assert {"exam.jsonl", "fit"} <= names
    for name in names:
        assert f"`{name}`" in page or f"`{name}/`" in page, name


@needs_mkdocs
@pytest.mark.slow
def test_the_site_builds_strictly_and_loads_nothing_from_another_host(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path).as_posix(): path.read_text("utf-8") for path in tmp_path.rglob("*.html")}
    for name, text in pages.items():
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']?(https?:[^\"'> ]*)", text)
        assert not loaded, f"{name} loads {loaded}"
    assert all(f'id="irt.{name}"' in pages["python/irt.html"] for name in ("fit", "prune", "Fit", "plots.item_curve"))
    assert 'id="grading.scores.' in pages["python/grading.html"]
    pictures = set(re.findall(r'src="(gallery/[a-z-]+\.png)"', pages["gallery.html"]))
    saved = re.findall(r"plots\.save\(", (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8"))
    assert len(pictures) == len(saved)
    assert all((tmp_path / picture).stat().st_size > 5_000 for picture in pictures)
