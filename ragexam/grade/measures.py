"""What scores say of systems and of one another: nuggets, agreement, leaderboard."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    del app
