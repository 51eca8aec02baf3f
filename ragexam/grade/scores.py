"""Scores of graded passages and articles: exam, cover, qrels, items."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    del app
