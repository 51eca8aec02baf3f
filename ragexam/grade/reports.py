"""Reports with citations and texts compared: argue, similarity."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    del app
