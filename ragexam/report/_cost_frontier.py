"""Tokens, seconds and money of each pipeline, and the pipelines that are worth their cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rag.servers import Price
from ragexam._config import GridSettings
from ragexam.report._response_scores import bound_of, facets_of

DRAWS = 2000
"""Bootstrap samples: the chance of being on the frontier is then known to about a point."""
COLUMNS = ("student", "tokens", "seconds", "cost")
MEASURES = {"cost": "costs of 1,000 questions", "seconds": "seconds per question", "tokens": "tokens read per question"}
"""What cost is counted in, the best of them first, as it is called in a sentence."""


@dataclass(frozen=True)
class CostFrontier:
    """The pipelines that one could choose by their cost in `measure`; see `frontier` for the columns of `pipelines`."""

    measure: str
    pipelines: pd.DataFrame

    @property
    def unit(self) -> str:
        """What the measure is called in a sentence."""
        return MEASURES[self.measure]

    @property
    def marks(self) -> dict[str, int]:
        """The number of each pipeline on the frontier, in the table and in the figure, from 1 for the cheapest."""
        on = self.pipelines.loc[self.pipelines["on"], "student"]
        return {str(name): place for place, name in enumerate(on, start=1)}


def cost_frontier(scores: pd.DataFrame, costs: pd.DataFrame) -> CostFrontier | None:
    """The frontier by the first of `MEASURES` that is known of all pipelines one could choose; None without one."""
    measure = next((name for name in MEASURES if len(costs) and _known(scores, costs, name)), None)
    pipelines = None if measure is None else frontier(scores, costs, measure)
    return None if measure is None or pipelines is None or pipelines.empty else CostFrontier(measure, pipelines)


def pipeline_costs(answers: pd.DataFrame | None, scores: pd.DataFrame, prices: Mapping[str, Price]) -> pd.DataFrame:
    """`student,tokens,seconds,cost`: tokens read and seconds for a question, and what 1,000 questions cost.

    `prices` are those of the language models, by name; `cost` is NaN for a pipeline without one. It counts the tokens
    read: written ones, a letter or so where anything is written, are not stored.
    """
    if answers is None:
        return pd.DataFrame(columns=list(COLUMNS))
    table = answers.groupby("student", sort=False)[["prompt_tokens", "seconds"]].mean().reset_index()
    models = scores.drop_duplicates("student").set_index("student")
    named = [str(models["llm"].get(name, "")) if "llm" in models else "" for name in table["student"]]
    cost = [
        prices[model].of(1000, 0) * float(tokens) if model in prices else math.nan
        for model, tokens in zip(named, table["prompt_tokens"], strict=True)
    ]
    table = table.rename(columns={"prompt_tokens": "tokens"}).assign(cost=cost)
    # A store of answers made elsewhere may know no times and no tokens.
    counts = ["tokens", "seconds"]
    return table.assign(**{name: table[name].where(table[name] > 0) for name in counts})[list(COLUMNS)]


def prices_of(configuration: Mapping[str, Any]) -> dict[str, Price]:
    """The price of a million tokens by the language model's name, of those whose configuration gives one."""
    try:
        models = GridSettings.model_validate(configuration.get("grid", {})).grid.llms
    except ValueError:
        return {}
    priced = {one.name: one.server.price_per_million for one in models if one.server is not None}
    return {name: price for name, price in priced.items() if price.prompt > 0 or price.written > 0}


def frontier(
    scores: pd.DataFrame, costs: pd.DataFrame, measure: str, *, draws: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """`student,x,accuracy,on,chance`: pipelines one could choose, the cheapest first.

    `on` says that none as cheap is more accurate, and none cheaper as accurate; `chance` in how many of the bootstrap
    samples of questions it is so, costs taken as known.
    """
    choosable = scores[~_bounded(scores)].dropna(subset=["score"])
    wide = choosable.pivot_table(index="item", columns="student", values="score", aggfunc="mean").dropna(axis=0)
    x = costs.set_index("student")[measure].reindex(wide.columns).dropna()
    x = x.sort_values(kind="stable")
    wide = wide[x.index]
    columns = ["student", "x", "accuracy", "on", "chance"]
    if wide.empty:
        return pd.DataFrame(columns=columns)
    values, n = wide.to_numpy(float), len(wide)
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws)
    price = x.to_numpy(float)
    share = _on_frontier(price, counts @ values / n).mean(axis=0)
    means = values.mean(axis=0)
    rows = zip(x.index, price, means, _on_frontier(price, means[None])[0], share, strict=True)
    return pd.DataFrame(list(rows), columns=columns)


def _on_frontier(price: NDArray[np.float64], accuracy: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Of pipelines `[P]` from cheap to dear with accuracies `[D, P]`: whether none that costs no more is as good."""
    best = np.maximum.accumulate(accuracy, axis=1)
    before = np.concatenate([np.full((len(accuracy), 1), -1.0), best[:, :-1]], axis=1)
    # Of pipelines that cost the same only the most accurate is on the frontier.
    last = np.searchsorted(price, price, side="right") - 1
    return (accuracy > before + 1e-12) & (accuracy >= best[:, last] - 1e-12)


def _bounded(scores: pd.DataFrame) -> pd.Series:
    found = pd.Series(False, index=scores.index)
    for facet in facets_of(scores):
        found |= scores[facet].map(lambda level: bound_of(str(level)) is not None)
    return found


def _known(scores: pd.DataFrame, costs: pd.DataFrame, measure: str) -> bool:
    """Whether every pipeline that could be chosen has the measure."""
    chosen = scores.loc[~_bounded(scores), "student"].unique()
    return len(chosen) > 1 and bool(costs.set_index("student")[measure].reindex(chosen).notna().all())
