"""Counts in sentences."""

from __future__ import annotations


def counted(count: int, thing: str) -> str:
    """`1 attempt`, `2 attempts`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
