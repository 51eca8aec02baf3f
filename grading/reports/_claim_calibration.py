"""The cut above which a language model's likelihoods count a claim as stated.

A small model says Yes to nearly everything. So it is also asked about texts of other questions, which state nothing of
a claim, and counts as saying Yes only where its log-odds exceed those: the cut is the quantile that at most `SHARE` of
claims exceed beside such a text (split conformal prediction; Vovk, Gammerman and Shafer 2005). Where claims were
labelled by hand, a logistic regression of the labels sets the cut, on the log-odds beside the text and on their mean
beside unrelated ones: how readily the model says Yes to this claim is taken off as far as the labels tell to.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

UNRELATED = 3
"""Texts of other questions that each claim is held against; each costs a reading."""
FEWEST_UNRELATED = 2
"""One alone says little of how readily the model says Yes to a claim."""
SHARE = 0.05
"""Share of claims that may count as stated beside an unrelated text: the usual level of a test."""
FEWEST_LABELS = 5
"""Labels of either kind from which the cut is theirs: with fewer a single one moves it far."""


class ClaimOdds(NamedTuple):
    """The log-odds of Yes, in nats, to whether a text states a claim, and to whether unrelated ones do."""

    beside: float
    unrelated: tuple[float, ...]

    @property
    def readiness(self) -> float:
        """The mean over the unrelated texts."""
        return float(np.mean(self.unrelated))


class ClaimCut(NamedTuple):
    """What the log-odds of a claim must exceed to count as stated, less `weight` times its readiness.

    It rests on `labels` given by hand, or else on `claims` beside unrelated texts, of which at most `share` exceed it.
    """

    odds: float
    share: float
    claims: int
    weight: float = 0.0
    labels: int = 0

    def states(self, one: ClaimOdds) -> bool:
        """Whether a claim counts as stated."""
        return one.beside - self.weight * one.readiness > self.odds

    def record(self) -> dict[str, Any]:
        """The cut as JSON types."""
        return self._asdict()

    def lines(self) -> list[str]:
        """The cut for a reader."""
        if self.labels:
            return [
                f"Stated is what has log-odds above {self.odds:.2f} nats, less {self.weight:.2f} times their mean "
                f"beside texts of other questions: {self.labels} labels given by hand are even there."
            ]
        return [
            f"Stated is what has log-odds above {self.odds:.2f} nats: at most {self.share:.0%} of {self.claims} claims "
            "have more beside a text of another question."
        ]


def cut_of_unrelated(claims: Sequence[ClaimOdds]) -> ClaimCut:
    """The cut that unrelated texts give, of at least one claim; few claims hold a larger share than `SHARE`."""
    level = min(1.0, math.ceil((len(claims) + 1) * (1 - SHARE)) / len(claims))
    cut = float(np.quantile([each for one in claims for each in one.unrelated], level, method="higher"))
    return ClaimCut(cut, max(SHARE, 1 / (len(claims) + 1)), len(claims))


def cut_of_labels(odds: Sequence[ClaimOdds], stated: NDArray[np.bool_], cut: ClaimCut) -> ClaimCut:
    """The cut of labels, in place of another; that one where they are few or contradict the odds."""
    if min(stated.sum(), (~stated).sum()) < FEWEST_LABELS:
        return cut
    from sklearn.linear_model import LogisticRegression

    fit = LogisticRegression(C=np.inf).fit([(one.beside, one.readiness) for one in odds], stated)
    slope, readiness = map(float, fit.coef_[0])
    if slope <= 0:
        return cut
    return cut._replace(odds=-float(fit.intercept_[0]) / slope, weight=-readiness / slope, labels=len(odds))


def held_out_verdicts(
    odds: Sequence[ClaimOdds], stated: NDArray[np.bool_], groups: Sequence[Hashable], cut: ClaimCut
) -> list[bool]:
    """Whether each labelled claim counts as stated by the cut of the labels of other groups."""
    cuts: dict[Hashable, ClaimCut] = {}
    for name in dict.fromkeys(groups):
        rest = [place for place, one in enumerate(groups) if one != name]
        cuts[name] = cut_of_labels([odds[place] for place in rest], stated[rest], cut)
    return [cuts[name].states(one) for name, one in zip(groups, odds, strict=True)]
