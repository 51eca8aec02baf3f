"""What the reader of any fit is told about its table: constant items, groups that share no item, no differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from irt._packed_answers import pack
from irt._responses import ResponseMatrix
from irt._result import Fit

FEW = 3
"""Students whose own spread is no scale to measure their differences by."""
UNTOLD = 0.1
"""Reliability below which students count as not told apart."""


def cautions(fit: Fit) -> list[str]:
    """One plain sentence per caution."""
    extremes = [] if fit.graded is not None else _constant_items(fit.data)
    by_design = [*_shared_levels(fit), *_few_students(fit)] if fit.design.terms else _separate_groups(fit.data)
    return [*extremes, *by_design, *_no_differences(fit)]


def joined_students(data: ResponseMatrix) -> NDArray[np.bool_]:
    """Students `[S]` that shared items join to the first one, directly or through others."""
    student, item = np.nonzero(data.asked)
    size = sum(data.asked.shape)
    joins = coo_array((np.ones(len(student)), (student, len(data.students) + item)), shape=(size, size))
    _, group = connected_components(joins, directed=False)
    return np.asarray(group[: len(data.students)] == group[0])


def _constant_items(data: ResponseMatrix) -> list[str]:
    """Sentences about items whose answers alone cannot place them."""
    right, wrong = pack(data).by_item
    notes = []
    for word, extreme in (("correctly", wrong == 0), ("wrongly", right == 0)):
        count = int(extreme.sum())
        if count:
            noun = "item was" if count == 1 else "items were"
            notes.append(f"{count} {noun} answered {word} by every student; the prior places them.")
    return notes


def _separate_groups(data: ResponseMatrix) -> list[str]:
    joined = joined_students(data)
    if joined.all():
        return []
    apart = int(np.argmin(joined))
    return [
        f"The answers fall into groups that share no item: none links '{data.students[apart]}' to "
        f"'{data.students[0]}' ({int(joined.sum())} of {len(joined)} students are linked to the latter). Abilities and "
        "difficulties of different groups compare only if the groups come from one population."
    ]


def _shared_levels(fit: Fit) -> list[str]:
    shared = fit.design.shared_facets
    if not shared or fit.design.item_facets or fit.method == "mml":
        return []
    return [
        f"Students share levels of {' and '.join(shared)}, and the model has no effects of these on the items: where "
        "students of a level answer the same items alike, intervals of contrasts are too narrow (item_effects)."
    ]


def _few_students(fit: Fit) -> list[str]:
    count = len(fit.data.students)
    if count > FEW:
        return []
    return [
        f"The unit of ability is the standard deviation of {count} students, which hardly lets their differences vary "
        "(of two it is always 2): read them in logits (irt.compare, or Fit.contrast with logits=True)."
    ]


def _no_differences(fit: Fit) -> list[str]:
    if fit.reliability >= UNTOLD:
        return []
    return [
        f"The answers hardly tell these students apart (reliability {fit.reliability:.2f}): their order and the items' "
        "discriminations mean little."
    ]
