"""What README and docs show is run: Python snippets as they stand, commands with models that answer at once."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import pytest
from typer.main import get_command

import irt
from ragexam import cli
from ragexam.cli import app
from tests.command_line import done_in, run_here, snippet_here

ROOT = Path(__file__).parent.parent
COMMANDS = ROOT / "docs" / "commands.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FAST = [
    *["--set", "writer.model=python:examinees:writer", "--set", "writer.encoder=null"],
    *["--set", "grid.llms=['python:examinees:careful', 'python:examinees:hasty']"],
    *["--set", "grid.retrievers=[closed-book, bm25, oracle]"],
    *["--set", "fit.method=map", "--set", "exam.questions=12"],
]


def fences(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


SNIPPETS = [(page.name, number, code) for page in PAGES for number, code in enumerate(fences(page, "python"))]
LINES = [(page.name, line) for page in PAGES for block in fences(page, "sh") for line in block.splitlines() if line]


@pytest.mark.parametrize(("page", "number", "code"), SNIPPETS, ids=[f"{page}-{number}" for page, number, _ in SNIPPETS])
def test_a_python_snippet_runs(page: str, number: int, code: str, tmp_path: Path) -> None:
    snippet_here(tmp_path, code)


@pytest.mark.parametrize("line", sorted({line for _, line in LINES if line.startswith("make ")}))
def test_a_make_target_that_is_shown_exists(line: str) -> None:
    target = shlex.split(line, comments=True)[1]
    done = subprocess.run(["make", "-n", target], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the documents that the commands of the README speak of."""
    folder = tmp_path_factory.mktemp("workplace")
    (folder / "experiments").symlink_to(ROOT / "experiments")
    home = folder / "home" / "notes"
    home.mkdir(parents=True)
    names = sorted(topics, key=lambda name: -len(topics[name]))[:30]
    for name in names:
        (home / f"{name}.md").write_text(f"# {name}\n\n{topics[name]}", encoding="utf-8")
    with gzip.open(folder / "notes.jsonl.gz", "wt", encoding="utf-8") as notes:
        for name in names:
            notes.write(json.dumps({"id": name, "title": name, "text": topics[name]}) + "\n")
    return folder


def test_the_commands_of_the_readme_the_list_and_the_tutorial_run_in_their_order(workplace: Path) -> None:
    shown = [
        line
        for page, line in LINES
        if page in {"README.md", "commands.md", "tutorial.md"} and not line.startswith("make ")
    ]
    (workplace / "runs").mkdir()
    (workplace / "runs" / "quickstart").symlink_to("notes")
    assert sum("ragexam" in line for line in shown) >= 4
    for line in shown:
        words = line.partition("  #")[0]
        if "ragexam run " in words or "ragexam estimate " in words:
            words = f"{words} {shlex.join(FAST)}"
        if "--minutes" in words:  # another exam than that of the notes
            words += " --set run=runs/look"
        done_in(workplace, words)
    assert (workplace / "my-exam" / "run" / "report.html").is_file()
    assert (workplace / "runs" / "notes" / "report.html").is_file()


def test_the_commands_of_the_manual_run_in_their_order(tmp_path: Path) -> None:
    shown = [line for page, line in LINES if page == "measurement.md"]
    assert len({line.split()[3] for line in shown}) >= 8
    data = irt.simulate(36, 20, facets={"llm": 3, "retriever": 4}, seed=1).data
    irt.write_responses(data, tmp_path / "responses.csv")
    irt.write_responses(irt.simulate_graded(80, 6, top=3, seed=1).data, tmp_path / "ratings.csv")
    topics = "".join(f"{item},topic {number % 3}\n" for number, item in enumerate(data.items))
    (tmp_path / "topics.csv").write_text(f"item,group\n{topics}")
    for line in shown:
        assert done_in(tmp_path, line).strip(), line
    assert {"fit", "checks", "pruned"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("page", ["prune.md", "adapt.md", "link.md"])
def test_the_commands_that_use_a_table_run_in_their_order(page: str, tmp_path: Path) -> None:
    shown = [line for name, line in LINES if name == page]
    assert len(shown) >= 3
    data = irt.simulate(items=30, facets={"llm": 6, "retriever": 10}, seed=1).data
    irt.write_responses(data, tmp_path / "responses.csv")
    irt.write_responses(data.select_students(["llm0|retriever1"]), tmp_path / "new.csv")
    irt.write_responses(data.select(data.items[:22]).select_students(data.students[::2]), tmp_path / "before.csv")
    irt.write_responses(data.select(data.items[8:]).select_students(data.students[1::2]), tmp_path / "after.csv")
    for name, items in {"before": data.items[:22], "after": data.items[8:]}.items():
        records = [{"id": item, "question": f"{item}?", "choices": ["yes", "no"], "answer": 0} for item in items]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    topics = "".join(f"{item},topic {number % 3}\n" for number, item in enumerate(data.items))
    (tmp_path / "topics.csv").write_text(f"item,group\n{topics}")
    for line in shown:
        assert done_in(tmp_path, line).strip(), line


def test_the_commands_on_corpora_run_in_their_order(tmp_path: Path) -> None:
    shown = [line for page, line in LINES if page == "corpora.md"]
    assert {line.split()[1] for line in shown} == {"corpus", "generate", "statistics", "assemble", "diff"}
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    text = "An abstract of the usual length says what was done and found. " * 20
    record = {"id": "1801.00001", "title": "A paper", "abstract": text, "categories": ["cs.CL"]}
    (tmp_path / "abstracts.jsonl").write_text(json.dumps(record) + "\n")
    for line in shown:
        words = f"{line} {shlex.join(FAST[:4])}" if " generate " in line else line
        assert done_in(tmp_path, words).strip(), line
    assert (tmp_path / "short.version.json").is_file()


def commands() -> list[str]:
    return sorted(get_command(app).commands)  # type: ignore[attr-defined]


def test_every_command_stands_on_the_page_of_commands_and_has_an_example() -> None:
    page = COMMANDS.read_text(encoding="utf-8")
    assert len(commands()) >= 25
    for command in commands():
        assert f"ragexam {command}" in page
        status, shown, _ = run_here(ROOT, "ragexam", [command, "-h"])
        assert status == 0
        assert f"Example: ragexam {command}" in " ".join(shown.split())


@pytest.mark.parametrize(("words", "fewest"), [("", 20), ("grade", 15), ("grade bank", 4), ("grade nuggets", 3)])
def test_the_summary_of_every_command_fits_into_a_line_of_help(
    words: str, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    status, shown, _ = run_here(ROOT, "ragexam", [*words.split(), "--help"])
    lines = [line for line in shown.splitlines() if re.match("  [a-z]+  ", line)]
    assert status == 0
    assert len(lines) >= fewest
    assert [line for line in lines if line.endswith("...")] == []


@pytest.mark.parametrize("command", sorted(set(cli.LISTED) - set(cli.MEASUREMENT)))
def test_a_command_that_loads_much_is_listed_with_its_own_first_sentence(command: str) -> None:
    _, shown, _ = run_here(ROOT, "ragexam", [command, "--help"])
    assert f"\n\n  {cli.LISTED[command]}" in shown


def test_every_command_on_free_text_has_an_example() -> None:
    from typer.main import get_command

    from grading.commands import app

    group: Any = get_command(app)
    shown = {f"{name} {inner}" if inner else name: one for name, one, inner in _leaves(group)}
    assert len(shown) >= 20
    for name, one in shown.items():
        assert f"Example: ragexam grade {name} " in str(one.epilog)


def _leaves(group: Any) -> list[tuple[str, Any, str]]:
    found = []
    for name, one in group.commands.items():
        inside = getattr(one, "commands", None)
        found += [(name, each, inner) for inner, each in inside.items()] if inside else [(name, one, "")]
    return found


def test_links_to_files_lead_somewhere() -> None:
    for page in [*PAGES, *sorted((ROOT / "docs" / "free-text").glob("*.md"))]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
