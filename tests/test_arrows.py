"""The rooms import one another only along the arrows of the plan."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import house

ROOT = Path(__file__).parent.parent
ARROWS: dict[str, set[str]] = {
    "examcore": set(),
    "irt": set(),
    "taxonomy": set(),
    "exam_gen": {"examcore"},
    "rag": {"examcore"},
    "grading": {"examcore", "rag", "irt"},
    "ragexam": {"examcore", "exam_gen", "rag", "irt", "taxonomy", "grading"},
    "paper_figs": {"examcore", "irt", "taxonomy"},
}
OURS = {*ARROWS, "experiments", "benchmarks", "tests"}


def modules_after(statement: str) -> set[str]:
    """The top-level modules loaded once a fresh interpreter has run a statement."""
    code = f"{statement}; import sys; print(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


@pytest.mark.parametrize("room", ARROWS)
def test_a_room_imports_only_what_the_plan_allows(room: str) -> None:
    known = house.modules(room)
    assert known
    for module in known.values():
        foreign = {one.source.partition(".")[0] for one in house.imports(module)} & OURS - {room} - ARROWS[room]
        assert not foreign, f"{module.name} imports {sorted(foreign)}"


def test_no_modules_import_one_another() -> None:
    assert house.circles(*house.ROOMS) == []


def test_rooms_import_one_another_through_their_doors() -> None:
    assert house.deep_imports(*house.THROUGH_DOORS) == []


def test_a_door_has_what_it_lists() -> None:
    assert house.untrue_doors() == []


def test_modules_that_others_must_not_import_begin_with_an_underscore() -> None:
    assert house.public_modules() == []


def test_a_class_name_means_one_thing() -> None:
    assert house.repeated_class_names() == {}


def test_no_function_takes_more_than_ten_parameters() -> None:
    assert house.crowded_functions() == []


def test_every_constant_has_its_reason() -> None:
    assert house.bare_constants() == []


@pytest.mark.parametrize("room", ["examcore", "exam_gen", "rag", "taxonomy"])
def test_a_door_loads_no_model_library(room: str) -> None:
    assert not modules_after(f"import {room}") & {"torch", "transformers", "sentence_transformers", "jax", "pymc"}


def test_importing_ragexam_loads_no_library_at_all() -> None:
    assert not modules_after("import ragexam") & {"numpy", "pandas", "pydantic", "yaml", "typer", "rag", "irt"}


def test_the_command_line_loads_no_heavy_library() -> None:
    loaded = modules_after("import ragexam.cli")
    assert not loaded & {"torch", "transformers", "jax", "pymc", "numpyro", "matplotlib", "pandas", "arviz"}
