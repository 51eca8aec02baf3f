"""The page of a run without its figures, which take most of the time and are looked at once."""

from __future__ import annotations

from pathlib import Path

from ragexam.report import analyse_run
from ragexam.report._page import render
from ragexam.report._run_figures import RunFigures
from tests.page_text import Seen


def page_of(run: Path) -> Seen:
    """The page of a run, without figures and without a file."""
    return Seen(render(analyse_run(run), RunFigures()))
