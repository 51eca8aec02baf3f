"""Banks of questions: bank lint and what follows from edits, and grading with a model."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    del app
