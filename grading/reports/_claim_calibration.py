"""The cut above which a language model's likelihoods count a claim as stated.

A small model says Yes to nearly everything, and to some claims more readily than to others. So a text counts by how
much likelier it makes Yes than unrelated texts make it for the same claim: its lead, in nats. The unrelated texts, each
held against the others, have leads of which it is known that nothing states the claim. The cut is the quantile of these
that at most `SHARE` of them exceed (split conformal prediction; Vovk, Gammerman and Shafer 2005), or, where claims were
labelled by hand, the lead at which a logistic regression of the labels is even.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

UNRELATED = 3
"""Texts of other questions that each claim is held against; one more halves no error, and each costs a reading."""
FEWEST_UNRELATED = 2
"""With one alone nothing is known of how leads vary."""
SHARE = 0.05
"""Share of claims that may count as stated beside an unrelated text: the usual level of a test."""
FEWEST_LABELS = 5
"""Labels of either kind from which the cut is theirs: with fewer a single one moves it far."""


class ClaimOdds(NamedTuple):
    """The log-odds of Yes, in nats, to whether a text states a claim, and to whether unrelated ones do."""

    beside: float
    unrelated: tuple[float, ...]

    @property
    def lead(self) -> float:
        """How far the text is ahead of the mean of the unrelated ones."""
        return self.beside - float(np.mean(self.unrelated))

    @property
    def unrelated_leads(self) -> list[float]:
        """How far each unrelated text is ahead of the mean of the others."""
        total, others = sum(self.unrelated), len(self.unrelated) - 1
        return [one - (total - one) / others for one in self.unrelated]


class ClaimCut(NamedTuple):
    """The lead above which a claim counts as stated, and what it rests on.

    `labels` given by hand, or else `claims` beside unrelated texts, of which at most `share` exceed it.
    """

    lead: float
    share: float
    claims: int
    labels: int = 0

    def record(self) -> dict[str, Any]:
        """The cut as JSON types."""
        return self._asdict()

    def lines(self) -> list[str]:
        """The cut for a reader."""
        how = (
            f"{self.labels} labels given by hand are even there"
            if self.labels
            else f"at most {self.share:.0%} of {self.claims} claims lead by more beside an unrelated text"
        )
        return [f"Stated is what leads by more than {self.lead:.2f} nats over texts of other questions: {how}."]


def cut_of_unrelated(claims: Sequence[ClaimOdds]) -> ClaimCut:
    """The cut that unrelated texts give, of at least one claim; few claims hold a larger share than `SHARE`."""
    leads = [lead for one in claims for lead in one.unrelated_leads]
    level = min(1.0, math.ceil((len(claims) + 1) * (1 - SHARE)) / len(claims))
    cut = float(np.quantile(leads, level, method="higher"))
    return ClaimCut(cut, max(SHARE, 1 / (len(claims) + 1)), len(claims))


def cut_of_labels(leads: NDArray[np.float64], stated: NDArray[np.bool_], cut: ClaimCut) -> ClaimCut:
    """The cut of labels, in place of another; that one where they are few or contradict the leads."""
    if min(stated.sum(), (~stated).sum()) < FEWEST_LABELS:
        return cut
    from sklearn.linear_model import LogisticRegression

    fit = LogisticRegression(C=np.inf).fit(leads[:, None], stated)
    slope = float(fit.coef_[0, 0])
    return cut._replace(lead=-float(fit.intercept_[0]) / slope, labels=len(leads)) if slope > 0 else cut


def held_out_verdicts(
    leads: NDArray[np.float64], stated: NDArray[np.bool_], groups: Sequence[Hashable], cut: ClaimCut
) -> list[bool]:
    """Whether each labelled claim counts as stated by the cut of the labels of other groups."""
    places: Mapping[Hashable, list[int]] = {name: [] for name in groups}
    for place, name in enumerate(groups):
        places[name].append(place)
    found = np.zeros(len(leads), dtype=bool)
    for own in places.values():
        rest = np.delete(np.arange(len(leads)), own)
        found[own] = leads[own] > cut_of_labels(leads[rest], stated[rest], cut).lead
    return found.tolist()
