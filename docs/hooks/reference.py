"""Pages of the reference, made from the commands' own help and from docstrings."""

from __future__ import annotations

import ast
import os
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer import Context
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from ragexam.cli import app

MODULES = {
    "ragexam": ("ragexam",),
    "irt": ("irt", "irt.checks", "irt.curves", "irt.kernels", "irt.plots"),
    "examcore": ("examcore",),
    "exam_gen": ("exam_gen", "exam_gen.rules", "exam_gen.review", "exam_gen.drafting"),
    "rag": ("rag", "rag.retrieval", "rag.servers", "rag.engines"),
    "taxonomy": ("taxonomy",),
    "grading": (
        "grading",
        "grading.banks",
        "grading.graders",
        "grading.nuggets",
        "grading.scores",
        "grading.reports",
        "grading.leaderboards",
    ),
}
"""The doors that each page of the Python reference shows; of a folder that lists no names, its modules."""
STATUS = "Exit status: 0 done, 1 failed, 2 bad input (one line with file, line, found and wanted), 130 stopped."
COLUMNS = "80"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add `command-help.md` and `python/*.md`."""
    root = Path(config.config_file_path).parent
    files.append(File.generated(config, "command-help.md", content=commands()))
    for room, modules in MODULES.items():
        files.append(File.generated(config, f"python/{room}.md", content=python(root, room, modules)))
    return files


def commands() -> str:
    """Every command with what its `--help` says."""
    parts = ["# Options of every command", "The output of `ragexam COMMAND --help`. " + STATUS]
    with patch.dict(os.environ, COLUMNS=COLUMNS):
        for words in _commands(get_command(app), ()):
            parts += _described(words)
    return "\n\n".join(parts) + "\n"


def _commands(command: object, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if words:
        yield words
    if isinstance(command, TyperGroup):
        for name in command.commands:
            # Some commands are loaded when they are asked for by name.
            yield from _commands(command.get_command(Context(command), name), (*words, name))


def _described(words: tuple[str, ...]) -> list[str]:
    """A heading, the sentence, the example, and the rest of the help as it stands."""
    said = CliRunner().invoke(app, [*words, "--help"], prog_name="ragexam", terminal_width=int(COLUMNS))
    if said.exit_code:
        raise RuntimeError(f"ragexam {' '.join(words)} --help: exit status {said.exit_code}")
    usage, sentence, *rest = re.split(r"\n\n+", said.stdout.strip())
    example = _one_line(rest.pop()) if "Example:" in rest[-1] else ""
    block = textwrap.indent("\n\n".join([textwrap.dedent(usage), *rest]), "    ")
    shown = ["```sh\n" + example.removeprefix("Example: ") + "\n```"] if example else []
    return [f"## ragexam {' '.join(words)}", _one_line(sentence), *shown, block]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def python(root: Path, room: str, modules: tuple[str, ...]) -> str:
    """A page with the public names of a room's modules."""
    said = [] if room in modules else [_docstring(root, room)]
    shown = [f"::: {name}" for module in modules for name in _modules(root, module)]
    return "\n\n".join([f"# Python: `{room}`", *said, *shown]) + "\n"


def _docstring(root: Path, room: str) -> str:
    return ast.get_docstring(ast.parse((root / room / "__init__.py").read_text(encoding="utf-8"))) or ""


def _modules(root: Path, module: str) -> list[str]:
    """The module itself when it lists its names, else the modules of its folder."""
    folder = root / Path(*module.split("."))
    if not folder.is_dir() or "__all__" in (folder / "__init__.py").read_text(encoding="utf-8"):
        return [module]
    return [f"{module}.{path.stem}" for path in sorted(folder.glob("_[a-z]*.py"))]
