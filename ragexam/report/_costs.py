"""What pipelines cost: tokens, seconds and money for a question, and which are worth their cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from examcore.page import chance, percent, plain_number
from irt.plots import COLOURS
from rag.servers import Price
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._figure_files import Picture, picture
from ragexam.report._page_tables import PageTable, TableCell, TableRow, column_heads, number_cell, text_cell
from ragexam.report._response_scores import bound_of, facets_of

NAME = "quality_and_cost"
DRAWS = 2000
COLUMNS = ("student", "tokens", "seconds", "cost")
MEASURES = {"cost": "costs of 1,000 questions", "seconds": "seconds per question", "tokens": "tokens read per question"}
LIKELY = 0.1
"""Pipelines on the frontier with at least this chance are listed."""


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
    from ragexam._config import GridSettings

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
    could = scores[~_bounded(scores)].dropna(subset=["score"])
    wide = could.pivot_table(index="item", columns="student", values="score", aggfunc="mean").dropna(axis=0)
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


def costs_view(scores: pd.DataFrame, costs: pd.DataFrame, figures: Path) -> Mapping[str, object]:
    """What the template shows: what each component costs, and the frontier as a table and a figure."""
    measure = next((name for name in MEASURES if len(costs) and bool(_known(scores, costs, name))), None)
    if measure is None:
        lines = ["There is no store of answers with tokens or seconds, so nothing is said about cost."]
        return {"sentences": lines, "tables": [], "figure": None}
    found = frontier(scores, costs, measure)
    names = _names(scores)
    lines = [_words(found, measure, names), *_cautions(costs, measure)]
    tables = [_frontier_table(found, costs, measure, names), *_component_tables(scores, costs)]
    return {"sentences": lines, "tables": tables, "figure": _figure(found, measure, names, figures)}


def _known(scores: pd.DataFrame, costs: pd.DataFrame, measure: str) -> bool:
    """Whether every pipeline that could be chosen has the measure."""
    chosen = scores.loc[~_bounded(scores), "student"].unique()
    return len(chosen) > 1 and bool(costs.set_index("student")[measure].reindex(chosen).notna().all())


def _names(scores: pd.DataFrame) -> dict[str, str]:
    """Each pipeline by its levels."""
    facets = facets_of(scores)
    first = scores.drop_duplicates("student").set_index("student")
    return {
        str(name): " + ".join(level_name(facet, str(row[facet])) for facet in facets) or str(name)
        for name, row in first.iterrows()
    }


def _words(found: pd.DataFrame, measure: str, names: Mapping[str, str]) -> str:
    on = found[found["on"]]
    cheapest, best = on.iloc[0], on.iloc[-1]
    unit = MEASURES[measure]
    if len(on) == 1:
        name = names[cheapest["student"]]
        return f"{name} is both the cheapest (by {unit}) and the most accurate: nothing is traded off."
    ratio = float(best["x"]) / float(cheapest["x"]) if cheapest["x"] > 0 else math.inf
    return (
        f"{len(on)} of {len(found)} pipelines are worth their cost: no cheaper one is as accurate. From the cheapest, "
        f"{names[cheapest['student']]} ({percent(cheapest['accuracy'])}), to the most accurate, "
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


def _frontier_table(found: pd.DataFrame, costs: pd.DataFrame, measure: str, names: Mapping[str, str]) -> PageTable:
    listed = found[found["on"] | (found["chance"] >= LIKELY)]
    by_name = costs.set_index("student")
    numbers = _numbers(found)
    rows = tuple(
        TableRow(
            (
                number_cell(f"{numbers[row['student']]}" if row["on"] else "–", numbers.get(row["student"], math.nan)),
                text_cell(names[str(row["student"])]),
                number_cell(percent(row["accuracy"]), row["accuracy"]),
                *measured_cells(by_name.loc[row["student"]], costs),
                number_cell(chance(row["chance"]), row["chance"]),
            )
        )
        for row in listed.to_dict("records")
    )
    caption = (
        f"The frontier by {MEASURES[measure]}, and pipelines that may be on it: chance over samples of questions, "
        "costs taken as known; bounds left out"
    )
    heading = column_heads(
        "#mark", "pipeline", "#accuracy", *measure_heads(costs), "#chance on the frontier", words=("pipeline",)
    )
    return PageTable(caption, heading, rows, sortable=True, headed=False)


def _numbers(found: pd.DataFrame) -> dict[str, int]:
    """The marks of the frontier's pipelines in the figure."""
    return {str(name): place for place, name in enumerate(found.loc[found["on"], "student"], start=1)}


def _component_tables(scores: pd.DataFrame, costs: pd.DataFrame) -> list[PageTable]:
    """Means by level of each facet, all else equal only in a full grid."""
    facets = [facet for facet in facets_of(scores) if scores[facet].nunique() > 1]
    joined = scores.drop_duplicates("student").merge(costs, on="student")
    rows = [
        TableRow(
            (
                TableCell(facet_name(facet)),
                TableCell(level_name(facet, str(level))),
                *measured_cells(part[list(COLUMNS[1:])].mean(), costs),
            )
        )
        for facet in facets
        for level, part in joined.groupby(facet, sort=False)
    ]
    heading = column_heads("component", "level", *measure_heads(costs))
    return (
        [PageTable("What a question costs by component, averaged over its pipelines", heading, tuple(rows))]
        if rows
        else []
    )


def measure_heads(costs: pd.DataFrame) -> list[str]:
    """The heads of `measured_cells`; cost only where any pipeline has a price."""
    return ["#tokens", "#seconds", *(["#cost of 1,000"] if priced(costs) else [])]


def priced(costs: pd.DataFrame) -> bool:
    """Whether the price of any pipeline is known."""
    return bool(costs["cost"].notna().any())


def measured_cells(row: Any, costs: pd.DataFrame) -> tuple[TableCell, ...]:
    """Tokens and seconds for a question and, where any is known, the cost of 1,000, as cells; `row` may be None."""
    tokens, seconds, cost = (math.nan if row is None else float(row[name]) for name in COLUMNS[1:])
    cells = (
        number_cell(f"{tokens:,.0f}" if math.isfinite(tokens) else "–", tokens),
        number_cell(_in_seconds(seconds), seconds),
        number_cell(f"{cost:.4g}" if math.isfinite(cost) else "–", cost),
    )
    return cells if priced(costs) else cells[:2]


def _in_seconds(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "–"
    return "< 0.001" if 0 < seconds < 0.0005 else f"{seconds:.3f}" if seconds < 1 else f"{seconds:.3g}"


def _figure(found: pd.DataFrame, measure: str, names: Mapping[str, str], folder: Path) -> Picture:
    numbers = _numbers(found)
    table = found.assign(mark=[numbers.get(str(name), "") for name in found["student"]])
    caption = (
        f"Accuracy against {MEASURES[measure]}; each dot is a pipeline one could choose, the numbered ones are the "
        "frontier of the table."
    )
    tips = {f"tip-{NAME}-{place}": names[str(name)] for place, name in enumerate(table["student"])}
    return picture(
        folder, NAME, "Quality and cost", caption, table, lambda ax, rows: _draw(ax, rows, measure), 3.2, tips=tips
    )


def _draw(ax: Axes, table: pd.DataFrame, measure: str) -> None:
    x, y = table["x"].to_numpy(float), 100 * table["accuracy"].to_numpy(float)
    on = table["on"].to_numpy(bool)
    ax.step(x[on], y[on], where="post", color=COLOURS[0], linewidth=1.3, alpha=0.7)
    for place, (left, height, best) in enumerate(zip(x, y, on, strict=True)):
        colour = COLOURS[0] if best else COLOURS[7]
        (dot,) = ax.plot(left, height, "o", color=colour, markersize=6 if best else 4, alpha=1 if best else 0.6)
        dot.set_gid(f"tip-{NAME}-{place}")
    _mark(ax, x[on], y[on])
    if x.min() > 0 and x.max() / x.min() > 4:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel(MEASURES[measure][:1].upper() + MEASURES[measure][1:])
    ax.set_ylabel("Right answers, %")
    ax.grid(color=COLOURS[7], alpha=0.2, linewidth=0.6)
    ax.set_axisbelow(True)


def _mark(ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Numbers above and left of the frontier's dots, where its line never runs."""
    for place, (left, height) in enumerate(zip(x, y, strict=True), start=1):
        ax.annotate(f"{place}", (left, height), (-4, 4), textcoords="offset points", ha="right", fontsize=8)
