"""The rooms import one another only along the arrows of the plan."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ARROWS: dict[str, set[str]] = {
    "irt": set(),
    "taxonomy": set(),
    "exam_gen": set(),
    "rag": {"exam_gen"},
    "grading": {"exam_gen", "rag", "irt", "taxonomy"},
    "ragexam": {"exam_gen", "rag", "irt", "taxonomy", "grading"},
    "paper_figs": {"irt", "taxonomy"},
}
OURS = {*ARROWS, "experiments", "benchmarks", "tests"}


def imports(path: Path) -> set[str]:
    """The top-level names a file imports, at any depth."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


def modules_after(statement: str) -> set[str]:
    """The top-level modules loaded once a fresh interpreter has run a statement."""
    code = f"{statement}; import sys; print(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


@pytest.mark.parametrize("room", ARROWS)
def test_a_room_imports_only_what_the_plan_allows(room: str) -> None:
    files = sorted((ROOT / room).rglob("*.py"))
    assert files
    for file in files:
        foreign = imports(file) & OURS - {room} - ARROWS[room]
        assert not foreign, f"{file.relative_to(ROOT)} imports {sorted(foreign)}"


def test_irt_needs_no_torch() -> None:
    loaded = modules_after("import irt")
    assert not loaded & {"torch", "transformers", "sentence_transformers", "datasets"}


def test_the_command_line_loads_no_heavy_library() -> None:
    loaded = modules_after("import ragexam.cli")
    assert not loaded & {"torch", "transformers", "jax", "pymc", "numpyro", "matplotlib", "pandas", "arviz"}
