"""What pruning gained, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragexam.report.figures import Picture


def pruning_view(pruning: Mapping[str, Any] | None, figure: Picture | None) -> Mapping[str, object]:
    """How many questions were dropped and whether the shorter exam is better on pipelines that did not choose it."""
    if pruning is None:
        return {"sentences": ["The exam was not pruned."], "figure": None}
    return {"sentences": [], "figure": figure}
