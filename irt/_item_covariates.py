"""What is known of the items before anybody answers: covariates that explain difficulty and effects of levels on items.

Every answer's logit has beside the effects of `irt._model`

    sum over covariates k of  x_ik (main_k + sum over facets of slope_k[level of s])

with `x` the covariates less their means and slopes that sum to zero over the levels of a facet (explanatory item
response models; De Boeck & Wilson 2004). A covariate of labels is one of 0 and 1 for each label but the most frequent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from irt._responses import Floats

ItemTable = Mapping[str, Mapping[str, float | str]]
"""Of each covariate a number or a label for every item, by the item's id."""
Mix = Mapping[str, float | str | Sequence[float] | Sequence[str]]
"""Of some covariates the value of the questions one has in mind, or those of a sample of them."""
IS = "="
"""Between a covariate and its label in the name of a column."""
COLLINEAR = 1e-6
"""Share of a covariate's variance that the others must leave unexplained."""
SLACK = 1e-9
"""Rounding that a mean may lie outside the range of its values by, as a share of the range."""


@dataclass(frozen=True)
class ItemCovariates:
    """`K` columns of numbers for `I` items: `values` `[I, K]` by name."""

    names: tuple[str, ...]
    values: Floats

    @property
    def centre(self) -> Floats:
        """Their means `[K]`."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def unit(self) -> Floats:
        """Their standard deviations `[K]`."""
        return np.asarray(self.values.std(axis=0))

    @property
    def deviations(self) -> Floats:
        """`[I, K]` from the means."""
        return np.asarray(self.values - self.centre)

    @property
    def standard(self) -> Floats:
        """The same in standard deviations."""
        return self.deviations / self.unit

    @property
    def steps(self) -> Floats:
        """Differences `[K]` to state effects for: the power of ten up to two standard deviations, 1 between labels."""
        two = np.array([len(set(column)) == 2 for column in self.values.T])
        return np.where(two, np.ptp(self.values, axis=0), 10.0 ** np.floor(np.log10(2 * self.unit)))

    def variance(self, slopes: Floats) -> Floats:
        """Variance over the items of what slopes `[..., K]` bring to them."""
        return np.asarray(
            np.sum(slopes @ np.cov(self.values.T, ddof=0).reshape(slopes.shape[-1], -1) * slopes, axis=-1)
        )

    def away(self, mix: Mix, draws: int, seed: int) -> tuple[Floats, Floats]:
        """How far a mix of questions is from the items on average: `[draws, K]`, and the estimate `[K]`.

        A sample of questions is weighted anew in every draw (Bayesian bootstrap, Rubin 1981), alike for covariates of
        as many questions. Covariates that are not named stay as they are. ValueError for what is unknown, and for means
        beyond the items' own values, where no answer was seen.
        """
        moved, weights = np.zeros((draws + 1, len(self.names))), {}
        for name, given in mix.items():
            sample = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
            if not sample:
                raise ValueError(f"at: item covariate '{name}' has no values; wanted at least one")
            if len(sample) not in weights:
                drawn = np.random.default_rng([seed, len(sample)]).dirichlet(np.ones(len(sample)), draws)
                weights[len(sample)] = np.vstack([np.full(len(sample), 1 / len(sample)), drawn])
            for column, values in self._columns(name, sample).items():
                moved[:, column] = weights[len(sample)] @ values - self.centre[column]
                self._require_seen(name, column, float(values.mean()))
        return moved[1:], moved[0]

    def _columns(self, name: str, sample: Sequence[Any]) -> dict[int, Floats]:
        """The numbers that values of a covariate are in each of its columns."""
        labels = {each.removeprefix(name + IS): at for at, each in enumerate(self.names) if each.startswith(name + IS)}
        if name in self.names:
            numbers = [_number(value) for value in sample]
            if None in numbers:
                raise ValueError(f"at: item covariate '{name}' is {sample[numbers.index(None)]!r}; wanted a number")
            return {self.names.index(name): np.array(numbers, dtype=np.float64)}
        if not labels:
            known = ", ".join(f"'{each}'" for each in dict.fromkeys(one.split(IS)[0] for one in self.names))
            raise ValueError(f"at: unknown item covariate '{name}'; the fit has {known}")
        return {at: np.array([float(str(value) == label) for value in sample]) for label, at in labels.items()}

    def _require_seen(self, name: str, column: int, mean: float) -> None:
        values = self.values[:, column]
        slack = SLACK * np.ptp(values)
        if not values.min() - slack <= mean <= values.max() + slack:
            raise ValueError(
                f"at: found '{name}' {mean:.3g}; wanted a mean from {values.min():.3g} to {values.max():.3g}, the "
                "values of the items"
            )


def read_item_table(table: ItemTable, items: Sequence[str]) -> ItemCovariates:
    """The columns of these items; ValueError names a covariate or item that cannot be used.

    Refused: a value that is missing or not finite, a covariate that is the same for all items, and one that others
    determine.
    """
    names: list[str] = []
    columns: list[Floats] = []
    for name, given in table.items():
        for item in items:
            if item not in given:
                raise ValueError(f"item covariate '{name}': item '{item}' has no value; wanted one for every item")
        found = _numbers_or_labels(name, {item: given[item] for item in items})
        names += found
        columns += found.values()
    values = np.column_stack(columns)
    _require_told_apart(names, values)
    return ItemCovariates(tuple(names), values)


def _numbers_or_labels(name: str, given: Mapping[str, object]) -> dict[str, Floats]:
    """The columns of one covariate, by name."""
    numbers = {item: _number(value) for item, value in given.items()}
    labels = all(isinstance(value, str) for value in given.values()) and None in numbers.values()
    counts = Counter(map(str, given.values()))
    if len(counts) == 1:
        raise ValueError(
            f"item covariate '{name}' is {next(iter(counts))} for every item; wanted one that varies, or leave it out"
        )
    if labels:
        rare = sorted(label for label, _ in counts.most_common()[1:])
        return {f"{name}{IS}{label}": np.array([float(each == label) for each in given.values()]) for label in rare}
    for item, value in numbers.items():
        if value is None or not np.isfinite(value):
            raise ValueError(f"item covariate '{name}': item '{item}' is {given[item]!r}; wanted a number")
    return {name: np.array(list(numbers.values()), dtype=np.float64)}


def _number(value: object) -> float | None:
    """A value as a number, None where it is none."""
    if isinstance(value, Real):
        return float(value)
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _require_told_apart(names: Sequence[str], values: Floats) -> None:
    """ValueError for a column that is a sum of those before it."""
    for column, name in enumerate(names):
        centred = values[:, : column + 1] - values[:, : column + 1].mean(axis=0)
        own = centred[:, column]
        left = own - centred[:, :column] @ np.linalg.lstsq(centred[:, :column], own, rcond=None)[0]
        if left @ left <= COLLINEAR * (own @ own) or len(values) < len(names) + 2:
            others = ", ".join(f"'{each}'" for each in names[:column]) or f"as few as {len(values)} items"
            raise ValueError(f"item covariate '{name}' cannot be told from {others}; wanted independent covariates")
