"""Two labellers of the same questions: how far they agree, on the whole and level by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

from examcore import IntervalEstimate, cohen_kappa, krippendorff_alpha, wilson

Labelling = Mapping[str, Sequence[str]]
"""The levels that a labeller gave each question, by its id; perhaps none."""


class LevelAgreement(NamedTuple):
    """Questions to which the first, the second and both gave a level, and Cohen's kappa of giving it or not.

    Kappa is 0 by definition where one of them gave it to all questions or to none; there it has no interval.
    """

    first: int
    second: int
    both: int
    kappa: IntervalEstimate


class LabellerAgreement(NamedTuple):
    """The agreement of two labellers over the `n` questions that both labelled; `equal` got the same levels of both.

    `kappa` is Cohen's over the whole set of levels; `alpha` is Krippendorff's, nominal where a question has one level,
    else by the MASI distance of the sets. Both are NaN where they are undefined.
    """

    n: int
    equal: int
    kappa: IntervalEstimate
    alpha: IntervalEstimate
    levels: dict[str, LevelAgreement]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]

    def equal_share(self, interval: float) -> IntervalEstimate:
        """The share of equal labels with Wilson's interval."""
        share = self.equal / self.n
        return IntervalEstimate(share, *wilson(share, self.n, interval))

    def record(self, interval: float) -> dict[str, Any]:
        """The agreement as JSON types: the first labeller is `ours`, the second `theirs`."""
        return {
            "n": self.n,
            "equal": {"count": self.equal, **self.equal_share(interval).as_dict()},
            "kappa": self.kappa.as_dict(),
            "alpha": self.alpha.as_dict(),
            "levels": {
                name: {"ours": one.first, "theirs": one.second, "both": one.both, "kappa": one.kappa.as_dict()}
                for name, one in self.levels.items()
            },
            "only_ours": list(self.only_first),
            "only_theirs": list(self.only_second),
        }


def compare_labels(
    first: Labelling,
    second: Labelling,
    levels: Sequence[str],
    *,
    interval: float = 0.9,
    draws: int = 1000,
    seed: int = 0,
) -> LabellerAgreement:
    """Compare two labellers over the questions in common; intervals resample questions.

    `levels` names those that are told one by one. Raises `ValueError` when no question is labelled by both.
    """
    common = [name for name in first if name in second]
    if not common:
        raise ValueError(f"labels: found {len(first)} and {len(second)} questions; wanted some in common")
    pair = [[frozenset(labelling[name]) for name in common] for labelling in (first, second)]
    several = any(len(one) > 1 for row in pair for one in row)

    def kappa(rows: Sequence[Sequence[object]]) -> IntervalEstimate:
        return cohen_kappa(rows[0], rows[1], interval=interval, draws=draws, seed=seed)

    def of_level(level: str) -> LevelAgreement:
        given = [[level in one for one in row] for row in pair]
        both = sum(a and b for a, b in zip(*given, strict=True))
        found = kappa(given)
        # Who gives a level always or never cannot agree more or less than by chance: 0 by definition, sure of nothing.
        constant = any(len(set(row)) == 1 for row in given)
        return LevelAgreement(
            sum(given[0]), sum(given[1]), both, found._replace(low=nan, high=nan) if constant else found
        )

    alpha = krippendorff_alpha(pair, metric="masi" if several else "nominal", interval=interval, draws=draws, seed=seed)
    return LabellerAgreement(
        n=len(common),
        equal=sum(a == b for a, b in zip(*pair, strict=True)),
        kappa=kappa(pair),
        alpha=alpha,
        levels={level: of_level(level) for level in levels},
        only_first=tuple(name for name in first if name not in second),
        only_second=tuple(name for name in second if name not in first),
    )
