"""Where differences between answers come from: variance components on the logit scale (Cronbach et al. 1972)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from irt._design import Design, Term
from irt._model import ITEM_EFFECT_SCALE, flattening
from irt._printing import json_record, table_text
from irt._responses import Floats

ANSWER_VARIANCE = np.pi**2 / 3
"""Variance of the standard logistic distribution: an answer is right where the logit exceeds such a number."""
FEW_LEVELS = 3
"""So many levels hardly say how much others would differ: the prior of their scale does."""
UNIVERSES = {
    False: "Components are the levels at hand, questions a sample of questions like these.",
    True: "Levels of components are a sample of levels like these, questions a sample of questions like these.",
}
"""For whom the variances hold, by whether levels are random."""


class _Source(NamedTuple):
    """A source of variance: its name and kind, how many levels it has (0: not counted), and its draws `[D]`."""

    source: str
    kind: str
    levels: int
    variance: Floats
    note: str = ""


@dataclass(frozen=True)
class VarianceComponents:
    """The variance of each source in squared logits, for a question of typical discrimination.

    `table` has `source,kind,levels,variance,low,high,share,share_low,share_high,note`: means and intervals over draws,
    `share` being that of the sum of all sources. `kind` is `facet`, `covariate`, `interaction`, `residual` (pipelines
    beyond the sum of their parts), `item` (difficulty), `item x facet` or `answer` (logistic noise, pi^2/3).

    With `random`, the variance of a facet is that of a population its levels are drawn from; else that of the levels at
    hand (Gelman 2005), their squared effects over the degrees of freedom. Questions are always drawn.
    """

    table: pd.DataFrame
    random: bool
    interval: float

    def record(self) -> dict[str, Any]:
        """The components as JSON can hold them."""
        return json_record({"components": self.table, "random": self.random, "interval": self.interval})

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The components for a reader."""
        shown = self.table.drop(columns=["kind", "note", "share_low", "share_high"])
        notes = [f"{row['source']}: {row['note']}" for _, row in self.table.iterrows() if row["note"]]
        return [table_text(shown), UNIVERSES[self.random], *notes]


def variance_components(
    draws: Mapping[str, Floats], design: Design, tails: tuple[float, float], *, random: bool = False
) -> VarianceComponents:
    """The components of draws on the reported scale; ValueError where levels have no effects on items."""
    require_item_effects(design, "variance components")
    sources = list(_sources(draws, design, random))
    variances = np.array([np.broadcast_to(source.variance, len(draws["a"])) for source in sources])
    shares = variances / variances.sum(axis=0)
    columns: dict[str, object] = {name: [getattr(each, name) for each in sources] for name in _Source._fields}
    columns |= {"variance": variances.mean(axis=1)}
    for name, values in (("", variances), ("share_", shares)):
        columns |= dict(zip((f"{name}low", f"{name}high"), np.quantile(values, tails, axis=1), strict=True))
    columns |= {"share": shares.mean(axis=1), "note": [each.note for each in sources]}
    order = ["source", "kind", "levels", "variance", "low", "high", "share", "share_low", "share_high", "note"]
    return VarianceComponents(pd.DataFrame(columns)[order], random, tails[1] - tails[0])


def require_item_effects(design: Design, task: str) -> None:
    """ValueError for a design without effects of levels on items, which would leave out what pipelines share."""
    if not design.item_facets:
        raise ValueError(
            f"{task}: found a fit without effects of levels on items; wanted one with them (irt.fit by nuts, map or "
            "laplace, of students that share levels)"
        )


def logits_per_unit(draws: Mapping[str, Floats]) -> Floats:
    """By what a unit of ability moves the logit of a level's own students on a typical question `[D]`."""
    return np.asarray(np.exp(np.log(draws["a"]).mean(axis=1)) * flattening(draws))


def _sources(draws: Mapping[str, Floats], design: Design, random: bool) -> Iterator[_Source]:
    unit = logits_per_unit(draws)
    for term in design.terms:
        kind = "covariate" if term.smooth else "interaction" if len(term.facets) > 1 else "facet"
        few = random and len(term.levels) <= FEW_LEVELS
        note = f"the variance rests on its prior, {len(term.levels)} levels say little of others" if few else ""
        yield _Source(term.name, kind, len(term.levels), _term_variance(draws, term, random) * unit**2, note)
    if design.residual:
        yield _Source("residual", "residual", design.students, (draws["residual_scale"] * unit) ** 2)
    count = draws["a"].shape[1]
    yield _Source("item", "item", count, (draws["spread_b"] * unit) ** 2)
    for name in design.item_facets:
        scale = draws[f"{ITEM_EFFECT_SCALE}{name}"]
        yield _Source(f"item x {name}", "item x facet", count * len(design.term(name).levels), scale**2)
    yield _Source("answer", "answer", 0, np.array(ANSWER_VARIANCE))


def _term_variance(draws: Mapping[str, Floats], term: Term, random: bool) -> Floats:
    """Of a population of levels its scale squared, of those at hand their squares over the degrees of freedom."""
    if random:
        return np.asarray(draws[f"scale.{term.name}"] ** 2)
    return np.asarray((draws[f"effect.{term.name}"] ** 2).sum(axis=1) / term.freedom)
