"""What each pipeline costs, which are worth it, and both in words and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from examcore.page import chance, percent, plain_number
from irt.plots import records
from rag.servers import Price
from ragexam._config import GridSettings
from ragexam.report._component_names import facet_name, level_name, pipeline_names
from ragexam.report._page_parts import (
    PageSection,
    PageTable,
    Picture,
    TableCell,
    column_heads,
    number_cell,
    percent_cell,
    table_row,
    text_cell,
)
from ragexam.report._response_scores import bound_of, facets_of, pipelines_of

LIKELY = 0.1
"""Pipelines on the frontier with at least this chance are listed."""
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
        return {name: place for place, name in enumerate(on, start=1)}


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
    models = pipelines_of(scores)
    named = [models.get(name, {}).get("llm", "") for name in table["student"]]
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


def frontier(scores: pd.DataFrame, costs: pd.DataFrame, measure: str) -> pd.DataFrame:
    """`student,x,accuracy,on,chance`: pipelines one could choose, the cheapest first.

    `on` says that none as cheap is more accurate, and none cheaper as accurate; `chance` in how many of the bootstrap
    samples of questions it is so, costs taken as known.
    """
    chosen = _choosable(scores).dropna(subset=["score"])
    wide = chosen.pivot_table(index="item", columns="student", values="score", aggfunc="mean").dropna(axis=0)
    x = costs.set_index("student")[measure].reindex(wide.columns).dropna()
    x = x.sort_values(kind="stable")
    wide = wide[x.index]
    columns = ["student", "x", "accuracy", "on", "chance"]
    if wide.empty:
        return pd.DataFrame(columns=columns)
    values, n = wide.to_numpy(float), len(wide)
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS)
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


def _choosable(scores: pd.DataFrame) -> pd.DataFrame:
    """The rows of pipelines without a bound."""
    facets = list(facets_of(scores))
    return scores[scores[facets].map(lambda level: bound_of(level) is None).all(axis=1)]


def _known(scores: pd.DataFrame, costs: pd.DataFrame, measure: str) -> bool:
    """Whether every pipeline that could be chosen has the measure."""
    chosen = _choosable(scores)["student"].unique()
    return len(chosen) > 1 and bool(costs.set_index("student")[measure].reindex(chosen).notna().all())


def costs_section(
    scores: pd.DataFrame, costs: pd.DataFrame, found: CostFrontier | None, figure: Picture | None
) -> PageSection:
    """What each component costs, and the frontier of quality and cost as a table and a figure."""
    if found is None:
        return PageSection(("No tokens and no seconds are stored with the answers, so costs are unknown.",))
    names = pipeline_names(scores)
    lines = [_trade_off(found, names), *_cautions(costs, found.measure)]
    tables = (_frontier_table(found, costs, names), *_component_tables(scores, costs))
    return PageSection(lines, tables=tables, figure=figure)


def _trade_off(found: CostFrontier, names: Mapping[str, str]) -> str:
    on = found.pipelines[found.pipelines["on"]]
    cheapest, best = on.iloc[0], on.iloc[-1]
    unit = found.unit
    if len(on) == 1:
        name = names[cheapest["student"]]
        return f"{name} is both the cheapest (by {unit}) and the most accurate: nothing is traded off."
    ratio = float(best["x"]) / float(cheapest["x"]) if cheapest["x"] > 0 else math.inf
    return (
        f"{len(on)} of {len(found.pipelines)} pipelines are worth their cost: no cheaper one is as accurate. From the "
        f"cheapest, {names[cheapest['student']]} ({percent(cheapest['accuracy'])}), to the most accurate, "
        f"{names[best['student']]} ({percent(best['accuracy'])}), the {unit} grow {plain_number(ratio, 1)}-fold."
    )


def _cautions(costs: pd.DataFrame, measure: str) -> list[str]:
    lines = []
    if measure != "cost":
        lines.append(
            "No prices are configured (price_per_million of a server), so cost is counted in "
            f"{'time' if measure == 'seconds' else 'tokens'}."
        )
    if costs["seconds"].notna().any():
        lines.append(
            "Seconds are each answer's share of its batch on the machine that sat the exam, under its load at the "
            "time: compare them with one another, not with a server of your own."
        )
    return lines


def _frontier_table(found: CostFrontier, costs: pd.DataFrame, names: Mapping[str, str]) -> PageTable:
    listed = found.pipelines[found.pipelines["on"] | (found.pipelines["chance"] >= LIKELY)]
    by_name, marks = costs.set_index("student"), found.marks
    rows = tuple(
        table_row(
            number_cell(f"{marks[row['student']]}" if row["on"] else "–", marks.get(row["student"], math.nan)),
            text_cell(names[row["student"]]),
            percent_cell(row["accuracy"]),
            *measured_cells(by_name.loc[row["student"]], costs),
            number_cell(chance(row["chance"]), row["chance"]),
        )
        for row in records(listed)
    )
    caption = (
        f"The frontier by {found.unit}, and pipelines that may be on it: chance over samples of questions, "
        "costs taken as known; bounds left out"
    )
    names_of = ("#mark", "~pipeline", "#accuracy", *measure_heads(costs), "#chance on the frontier")
    return PageTable(caption, column_heads(*names_of), rows, sortable=True, headed=False)


def _component_tables(scores: pd.DataFrame, costs: pd.DataFrame) -> list[PageTable]:
    """Means by level of each facet, all else equal only in a full grid."""
    joined, measures = scores.drop_duplicates("student").merge(costs, on="student"), list(COLUMNS[1:])
    rows = tuple(
        table_row(facet_name(facet), level_name(facet, str(level)), *measured_cells(part[measures].mean(), costs))
        for facet in facets_of(scores)
        if scores[facet].nunique() > 1
        for level, part in joined.groupby(facet, sort=False)
    )
    caption = "What a question costs by component, averaged over its pipelines"
    return [PageTable(caption, column_heads("component", "level", *measure_heads(costs)), rows)] if rows else []


def measure_heads(costs: pd.DataFrame) -> list[str]:
    """The heads of `measured_cells`; cost only where any pipeline has a price."""
    return ["#tokens", "#seconds", *(["#cost of 1,000"] if costs["cost"].notna().any() else [])]


def measured_cells(row: Any, costs: pd.DataFrame) -> tuple[TableCell, ...]:
    """Tokens and seconds for a question and, where any is known, the cost of 1,000, as cells; `row` may be None."""
    tokens, seconds, cost = (math.nan if row is None else float(row[name]) for name in COLUMNS[1:])
    cells = (
        number_cell(f"{tokens:,.0f}" if math.isfinite(tokens) else "–", tokens),
        number_cell(_in_seconds(seconds), seconds),
        number_cell(f"{cost:.4g}" if math.isfinite(cost) else "–", cost),
    )
    return cells if costs["cost"].notna().any() else cells[:2]


def _in_seconds(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "–"
    return "< 0.001" if 0 < seconds < 0.0005 else f"{seconds:.3f}" if seconds < 1 else f"{seconds:.3g}"
