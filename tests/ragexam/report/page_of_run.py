"""The page of a run without its figures, which take most of the time and are looked at once."""

from __future__ import annotations

from pathlib import Path

from ragexam.report import RunFindings, analyse_run
from ragexam.report._page import render
from tests.page_text import Seen


def page_of(run: Path | RunFindings) -> Seen:
    """The page of a run, or of what was found in it, without figures and without a file."""
    return Seen(render(run if isinstance(run, RunFindings) else analyse_run(run), {}))
