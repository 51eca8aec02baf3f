"""The recipes of CONTRIBUTING, followed: what is added in the place they name is known everywhere it should be."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import typer
from pydantic import TypeAdapter

import irt
from exam_gen import language_notice
from exam_gen._prompts import version_in
from exam_gen.language import _known_languages as known
from exam_gen.rules import RULE_KINDS, each, rules_of
from exam_gen.rules import _catalogue as catalogue
from examcore import Chunk, LanguageModel, Prompt, Question
from examcore.console import AsJson, show_result
from irt import FitSettings
from irt import _estimation as estimation
from irt import _fit_settings as methods
from irt.commands import application, with_records
from irt.commands._application import COMMANDS, Command
from irt.fitting._mode import find_mode
from rag import _models as models
from rag import build_retriever, load_model
from rag.grid._specs import LlmSpec, RetrieverSpec
from rag.retrieval import _kinds as kinds
from rag.servers import ServerOptions
from ragexam import cli
from ragexam._config import ExamConfig
from tests.command_line import ragexam_here, run_here
from tests.scripted_model import ScriptedModel

ROOT = Path(__file__).parent.parent
RECIPES = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## How to add something")[1].split("\n## ")[0]
QUESTION = Question("q1", "WHICH HALL HOLDS THE COPIES?", ("north", "south"), 0, context="Copies stand in the north.")


def test_every_file_and_folder_that_a_recipe_names_is_there() -> None:
    named = re.findall(r"`((?:\w+/)+[\w.-]*)`", RECIPES)
    assert len(named) >= 25
    assert [one for one in named if not (ROOT / one).exists()] == []


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(_?[A-Z][A-Z_]{3,}|[A-Z][a-z]+[A-Z]\w+)`", RECIPES))))
def test_every_name_that_a_recipe_speaks_of_is_in_the_code(name: str) -> None:
    if name == "NAME":
        return
    defined = re.compile(rf"^(?:class )?{name}\b", re.MULTILINE)
    assert any(defined.search(path.read_text(encoding="utf-8")) for path in _modules()), name


def _modules() -> list[Path]:
    rooms = ("examcore", "exam_gen", "rag", "irt", "taxonomy", "grading", "ragexam")
    return [path for room in rooms for path in (ROOT / room).rglob("*.py")]


class LastFirst:
    """A retriever that gives the last passages first."""

    def __init__(self, chunks: Sequence[Chunk], name: str) -> None:
        self.chunks, self.name = chunks, name

    def retrieve(self, _: Question, k: int) -> list[Chunk]:
        return list(self.chunks[: -k - 1 : -1])


def test_a_retriever_is_a_line_in_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds.FAMILIES, "last-first", lambda one: LastFirst(one.chunks, one.name))  # type: ignore[attr-defined]
    monkeypatch.setitem(kinds.KINDS, "last-first", kinds.RetrieverParts("last-first"))  # type: ignore[attr-defined]
    chunks = [Chunk(f"d#{n}", "d", f"text {n}", 0, 6) for n in range(3)]
    assert [one.id for one in build_retriever("last-first", chunks).retrieve(QUESTION, 2)] == ["d#2", "d#1"]
    assert RetrieverSpec.model_validate("last-first").name == "last-first"


def test_a_question_rule_is_a_line_in_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = catalogue.RuleKind(
        "stems in capitals", lambda _: each(lambda one: "in capitals" if one.stem.isupper() else None)
    )
    assert "shouting" not in RULE_KINDS, "or nothing is tested here"
    monkeypatch.setitem(RULE_KINDS, "shouting", kind)  # type: ignore[attr-defined]
    assert "shouting" in [one.name for one in rules_of({})]
    given = {"run": "r", "corpus": {"source": "texts"}, "filters": {"shouting": False}}
    assert ExamConfig.model_validate(given).filters == {"shouting": False}


def test_a_language_of_questions_is_a_line_in_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    italian = replace(known.MODULES["es"], code="it", prompts=replace(known.MODULES["es"].prompts, version="it-1"))
    monkeypatch.setattr(known, "MODULES", {**known.MODULES, "it": italian})
    known.exam_language.cache_clear()
    try:
        assert version_in("question-1", "it") == "question-it-1"
        assert "know no words" not in language_notice([replace(QUESTION, metadata={"language": "it"})])
    finally:
        known.exam_language.cache_clear()


def test_a_model_back_end_is_a_line_in_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(name: str, _: ServerOptions | None) -> list[str]:
        if not name.removeprefix("mine:"):
            raise ValueError("model mine:: wanted mine:NAME")
        return []

    def load(name: str, _: ServerOptions | None) -> LanguageModel:
        return ScriptedModel(lambda prompt: f"{name}: {prompt.user}")

    monkeypatch.setitem(models.BACK_ENDS, "mine:", models.BackEnd(load, check))  # type: ignore[attr-defined]
    assert load_model("mine:echo").generate([Prompt("hello")], max_tokens=9) == ["mine:echo: hello"]
    assert models.check_model("mine:echo") == []
    with pytest.raises(ValueError, match="wanted mine:NAME"):
        models.check_model("mine:")
    assert LlmSpec.model_validate("mine:echo").model == "mine:echo"


def test_a_fit_method_is_a_line_in_two_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(methods.BACKENDS, "mine", ("numpy",))  # type: ignore[attr-defined]
    monkeypatch.setattr(methods, "METHODS", (*methods.METHODS, "mine"))
    monkeypatch.setitem(
        estimation.ESTIMATORS,  # type: ignore[arg-type]
        "mine",
        lambda problem, settings, progress: replace(find_mode(problem, settings, progress), notes=("by mine",)),
    )
    fit = irt.fit(irt.simulate(12, 6, seed=0).data, "1pl", "mine", facets=())
    assert fit.method == "mine"
    assert "by mine" in fit.notes


@dataclass(frozen=True)
class PatientFit(FitSettings):
    """The settings of a fit with one option more."""

    patience: int = field(default=3, metadata={"help": "how long to wait"})


def test_an_option_of_a_fit_is_a_field_of_one_record() -> None:
    """A field is an argument of the call, an option of the command and a setting of a run."""

    def command(settings: PatientFit, options: int = 4, priors: bool = False) -> None:
        """Fit; the options that are no plain values have parameters of their own, as in `fit`."""

    app = typer.Typer()
    app.command()(with_records(command))
    (option,) = [one for one in typer.main.get_command(app).params if one.name == "patience"]
    assert (option.opts, option.default, option.help) == (["--patience"], 3, "how long to wait")
    assert TypeAdapter(PatientFit).validate_python({"patience": 5, "chains": 3}).patience == 5
    commands = typer.main.get_group(application()).commands["fit"].params
    assert {"chains", "seed", "interval"} <= {one.name for one in commands}


class Length:
    """The result of a command: how long a text is."""

    def __init__(self, text: str) -> None:
        self.characters = len(text)

    def record(self) -> dict[str, int]:
        """For JSON."""
        return {"characters": self.characters}

    def lines(self) -> list[str]:
        """For print."""
        return [f"{self.characters} characters"]


def length(text: str, as_json: AsJson = False) -> None:
    """Say how long a text is."""
    show_result(Length(text), as_json=as_json)


def test_a_command_is_a_function_with_a_place_in_the_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.app, "registered_commands", [*cli.app.registered_commands])
    monkeypatch.setitem(cli.TASKS, "Read", (*cli.TASKS["Read"], "length"))
    cli.app.command("length", epilog="Example: ragexam length word")(length)
    assert "Say how long a text is" in ragexam_here("--help").stdout
    assert ragexam_here("length", "word").stdout == "4 characters\n"
    assert json.loads(ragexam_here("length", "word", "--json").stdout) == {"characters": 4}


def test_a_measurement_command_is_a_line_in_each_of_two_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "length", Command(length, "word"))
    monkeypatch.setitem(cli.LISTED, "length", "Say how long a text is.")
    for module in ("irt", "ragexam"):
        status, out, _ = run_here(ROOT, module, ["length", "word"])
        assert (status, out) == (0, "4 characters\n")
