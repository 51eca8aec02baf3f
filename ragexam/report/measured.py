"""What the page needs from a fitted model, as plain tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragexam.report.scores import Interval
from ragexam.report.verdict import FacetDraws


@dataclass(frozen=True)
class Measured:
    """A fit in tables.

    `items` (index: question id) has `a, b, c, flags, information`, the last averaged over the pipelines' abilities;
    `abilities` has `student, theta, theta_low, theta_high`; `components` has `facet, level, effect, low, high`;
    `draws` are empty when the method gives none; `residual` is the scale of what components do not explain.
    """

    fit: Any
    model: str
    method: str
    converged: bool | None
    warnings: tuple[str, ...]
    diagnostics: Mapping[str, Any]
    items: pd.DataFrame
    abilities: pd.DataFrame
    components: pd.DataFrame
    draws: tuple[FacetDraws, ...]
    residual: Interval | None


def read_measured(folder: Path, renamed: Mapping[str, str]) -> Measured:
    raise NotImplementedError
