"""Which whole system is best: the verdict for who compares systems rather than parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from examcore import IntervalEstimate
from irt import Fit
from rag import OWN_FACETS
from ragexam.report._accuracy_tables import pipeline_accuracy
from ragexam.report._component_names import SYSTEM, pipeline_names
from ragexam.report._component_verdicts import FacetVerdict, judge
from ragexam.report._fitted_model import FittedModel, LevelDraws, facet_accuracy_draws
from ragexam.report._response_scores import bound_of, facets_of, pipelines_of

MOST = 12
"""Systems that are compared one by one; of more, which have no components, the list of pipelines says all."""


@dataclass(frozen=True)
class SystemDraws(LevelDraws):
    """Draws of the abilities of whole `students` of a fit, whose differences are those of `Fit.compare_students`."""

    students: tuple[str, ...] = ()

    @property
    def estimates(self) -> NDArray[np.float64]:
        """The ability of each."""
        assert self.fit is not None
        return np.asarray(self.fit.point["theta"][_places(self.fit, self.students)], float)

    def contrast(self, level: str, *others: str) -> IntervalEstimate:
        """One system minus another (90 %)."""
        assert self.fit is not None
        (other,) = others
        first, second = (self.students[self.levels.index(one)] for one in (level, other))
        found = self.fit.compare_students(first, second)
        return IntervalEstimate(found.estimate, found.low, found.high)


def system_verdict(scores: pd.DataFrame, model: FittedModel | None) -> FacetVerdict | None:
    """The best of the whole systems; None where there are not two to choose from.

    Systems are black boxes and, beside them, the most accurate pipeline of the grid; where answers name no components,
    all pipelines. By ability where the fit has them all, else by accuracy, resampled over questions.
    """
    systems = _systems(scores)
    if not 2 <= len(systems) <= MOST:
        return None
    of_systems = scores[scores["student"].isin(systems)]
    table = of_systems[["student", "item", "score"]].assign(**{SYSTEM: of_systems["student"].map(systems)})
    draws = facet_accuracy_draws(table, SYSTEM)
    if model is not None and set(systems) <= set(model.fit.data.students):
        theta = model.fit.draws["theta"][:, _places(model.fit, tuple(systems))]
        draws = SystemDraws(SYSTEM, tuple(systems.values()), theta, fit=model.fit, students=tuple(systems))
    return None if draws is None else judge(table, SYSTEM, draws)


def _places(fit: Fit, students: Sequence[str]) -> list[int]:
    return [fit.data.students.index(one) for one in students]


def _systems(scores: pd.DataFrame) -> Mapping[str, str]:
    """What each student that is a system to choose is called."""
    levels = pipelines_of(scores)
    if not facets_of(scores):
        return {name: name for name in levels}
    boxes = {name: own.get("llm", name) for name, own in levels.items() if own.get("retriever") == OWN_FACETS}
    grid = [name for name, own in levels.items() if name not in boxes and not any(map(bound_of, own.values()))]
    if not boxes or not grid:
        return boxes
    found = pipeline_accuracy(scores)
    best = max(grid, key=lambda name: found[name].estimate)
    return {**boxes, best: pipeline_names(scores)[best]}
