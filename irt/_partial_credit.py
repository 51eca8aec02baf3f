"""The partial credit models (Masters 1982, Muraki 1992): a score against the one below has the logit `a (theta - b_k)`.

P(score = k) is proportional to `exp(sum of a (theta - b_h) over h <= k)`. The steps `b_k` need not ascend: where two
stand in reverse, the score between them is at no ability the most likely one. With one `a` for all items it is the
partial credit model (`pcm`), whose sum of scores tells all of an ability; else the generalised one (`gpcm`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import log_softmax

from irt._graded import GradedParameters, real_thresholds
from irt._responses import Floats
from irt.kernels import InformationMoments


class PartialCreditParameters(GradedParameters):
    """Discrimination `[I]`, steps `[I, K]` (as `thresholds`), and highest score `[I]`."""

    __slots__ = ()

    def log_categories(self, theta: Floats) -> Floats:
        """Log probabilities `[..., K + 1]` of the scores, -inf beyond an item's highest."""
        distance = np.where(self._real, theta[..., None] - self.thresholds, 0.0)
        heights = np.cumsum(np.insert(self.a[..., None] * distance, 0, 0.0, axis=-1), axis=-1)
        return np.asarray(log_softmax(np.where(np.insert(self._real, 0, True, axis=-1), heights, -np.inf), axis=-1))

    def reached(self, theta: Floats) -> Floats:
        """Chances `[..., K]` of scores of at least 1, ..., K; 0 beyond an item's highest."""
        return np.cumsum(self._chances(theta)[..., :0:-1], axis=-1)[..., ::-1]

    def category_slopes(self, theta: Floats) -> Floats:
        """Derivatives `[..., K + 1]` of `log_categories`: `a (k - m)`, m the mean score."""
        return np.asarray(self.a[..., None] * self._residuals(self._chances(theta)))

    def information(self, theta: Floats) -> Floats:
        """Fisher information about ability: `a^2` times the variance of the score."""
        return self.moments(theta).information

    def moments(self, theta: Floats) -> InformationMoments:
        """Moments of one answer, broadcast as `information`; slopes of log P bend alike for all scores."""
        chances = self._chances(theta)
        residuals = self._residuals(chances)
        square, cube = (np.sum(chances * residuals**power, axis=-1) for power in (2, 3))
        return InformationMoments(np.asarray(self.a**2 * square), np.asarray(self.a**3 * cube))

    @property
    def _real(self) -> np.ndarray:
        return real_thresholds(self.top, self.thresholds.shape[-1])

    def _chances(self, theta: Floats) -> Floats:
        return np.exp(self.log_categories(theta))

    def _residuals(self, chances: Floats) -> Floats:
        score = np.arange(chances.shape[-1])
        return score - (chances @ score)[..., None]


RATED_ITEMS: Mapping[str, type[GradedParameters]] = {"thresholds": GradedParameters, "steps": PartialCreditParameters}
"""Items of ratings by the name that their thresholds or steps have among the values of a fit."""


def name_of(items: type[GradedParameters]) -> str:
    """The name of the thresholds or steps of such items among the values of a fit."""
    return next(name for name, kind in RATED_ITEMS.items() if kind is items)
