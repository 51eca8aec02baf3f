"""Scores of graded systems and what they say of one another: nuggets, agreement, leaderboard, qrels, cover, exam."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    del app
