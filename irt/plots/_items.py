"""Pictures of items (their curves, their information, their place beside the students, their fit) and predictions."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from irt.plots._style import COLOURS, DASHES, FAINT, INK, grid, legend_below, records, shorten

NINETY = 1.645
"""Standard errors on either side of a 90 % interval."""
_MOST_CURVES_NAMED = 6
"""Curves that differ in colour and dash alike."""
_MOST_NAMES_ON_MAP = 30
"""Items whose names fit beside the scale."""
_MOST_MISFITS_NAMED = 8
"""Names that seldom touch."""
_BINS = 24
"""Bars on the scale: of about a quarter of a standard deviation."""
_USUAL = 3.0
"""Standardised mean squares that the axis always shows, so that chance is not magnified."""
_FAR = 3.0
"""Interquartile ranges beyond the quartiles at which an item lies outside the axis."""


def item_curve(ax: Axes, curve: pd.DataFrame, observed: pd.DataFrame) -> Axes:
    """Posterior of an item's curve as a band, shares observed by ability group as dots with intervals.

    `curve` has `theta, mean, low, high` and, to be the title, `item`; `observed` has `theta, share, low, high` (see
    `irt.curves.item_curve`).
    """
    ax.fill_between(curve["theta"], curve["low"], curve["high"], color=COLOURS[0], alpha=0.22, linewidth=0)
    ax.plot(curve["theta"], curve["mean"], color=COLOURS[0], linewidth=1.8, label="model")
    ax.vlines(observed["theta"], observed["low"], observed["high"], color=COLOURS[1], linewidth=1.1)
    ax.plot(observed["theta"], observed["share"], "o", color=COLOURS[1], markersize=4, label="observed")
    ax.set(xlim=(float(curve["theta"].min()), float(curve["theta"].max())), ylim=(-0.02, 1.02), xlabel="Ability")
    ax.set_ylabel("Probability correct")
    if "item" in curve:
        ax.set_title(shorten(str(curve["item"].iloc[0]), 40), fontsize="medium")
    grid(ax)
    legend_below(ax, columns=2)
    return ax


def calibration(ax: Axes, table: pd.DataFrame) -> Axes:
    """Shares of right answers over what was predicted of them, with 90 % intervals, and the line where both agree.

    `table` has `predicted, observed, se` (`irt.held_out_score(...).calibration`).
    """
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1, label="as predicted")
    half = NINETY * table["se"]
    low, high = (table["observed"] - half).clip(lower=0), (table["observed"] + half).clip(upper=1)
    ax.vlines(table["predicted"], low, high, color=COLOURS[0], linewidth=1.1)
    ax.plot(table["predicted"], table["observed"], "o", color=COLOURS[0], markersize=4, label="left-out answers")
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="Predicted probability", ylabel="Share right", aspect="equal")
    grid(ax)
    legend_below(ax, columns=2)
    return ax


def item_information(ax: Axes, table: pd.DataFrame) -> Axes:
    """Information of every item over ability; of many, those that peak highest are named and the rest are faint.

    `table` has `item, theta, mean`.
    """
    wide = table.pivot(index="theta", columns="item", values="mean")
    peaks = wide.max().sort_values(ascending=False, kind="stable")
    named = list(peaks.index[:_MOST_CURVES_NAMED])
    rest = wide.drop(columns=named)
    if len(rest.columns):
        ax.plot(rest.index, rest.to_numpy(), color=FAINT, linewidth=0.6, alpha=max(0.15, 8 / (8 + len(rest.columns))))
        ax.plot([], [], color=FAINT, linewidth=0.9, label=f"{len(rest.columns)} others")
    for place, name in enumerate(named):
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
        ax.plot(wide.index, wide[name], color=colour, linestyle=dash, linewidth=1.6, label=shorten(str(name), 18))
    ax.set(xlim=(float(wide.index.min()), float(wide.index.max())), ylim=(0, float(wide.to_numpy().max()) * 1.06))
    ax.set(xlabel="Ability", ylabel="Information of an item")
    grid(ax)
    legend_below(ax, columns=3)
    return ax


def person_item_map(ax: Axes, table: pd.DataFrame) -> Axes:
    """Students to the left and items to the right of one scale (Wright map); few items are named in their place.

    Items far from all others are marked at the edge with where they lie, so that they do not squeeze the rest.
    `table` has `kind` (student or item), `name, location`.
    """
    students, items = (table[table["kind"] == kind] for kind in ("student", "item"))
    low, high = _limits(items["location"])
    low, high = min(low, float(students["location"].min())), max(high, float(students["location"].max()))
    outside, inside = _apart(items, "location", low, high)
    edges = np.linspace(low - 1e-6, high + 1e-6, _BINS + 1)
    middles, thick = (edges[:-1] + edges[1:]) / 2, 0.85 * (edges[1] - edges[0])
    left, right = (np.histogram(part["location"], edges)[0] for part in (students, inside))
    # Each side fills its half, however many more items there are than students.
    ax.barh(middles, -left / max(left.max(), 1), height=thick, color=COLOURS[1])
    if len(items) <= _MOST_NAMES_ON_MAP:
        _names_in_bins(ax, inside, edges, middles)
    else:
        ax.barh(middles, right / max(right.max(), 1), height=thick, color=COLOURS[0])
    ax.axvline(0, color=INK, linewidth=0.7)
    for place, part, colour, word in ((-0.5, students, COLOURS[1], "students"), (0.5, items, COLOURS[0], "items")):
        ax.text(place, 1.01, f"{len(part)} {word}", color=colour, ha="center", va="bottom",
                transform=ax.get_xaxis_transform())  # fmt: skip
        # A difficulty far off would drag the mean of all.
        spot = float(part["location"].median())
        ax.plot(
            [np.sign(place) * 0.02, np.sign(place) * 1.04], [spot, spot], color=INK, linewidth=0.9, linestyle=DASHES[1]
        )
    for side, height, align in ((1, high, "top"), (-1, low, "bottom")):
        beyond = outside[np.sign(outside["location"] - middles.mean()) == side]
        if len(beyond):
            ax.text(0.04, height, _farther(beyond, "name", "location", "▲" if side > 0 else "▼"), va=align, fontsize=7,
                    color=COLOURS[0])  # fmt: skip
    ax.set_xlim(-1.06, 1.06)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_ylabel("Ability and difficulty (dashes: medians)")
    grid(ax, "y")
    return ax


def item_misfit(ax: Axes, table: pd.DataFrame) -> Axes:
    """How far each item's infit or outfit, the more extreme, lies from those the model makes, over difficulty.

    Those flagged are named. `table` has `item, difficulty, z, flag` (see `irt.curves.item_misfit`). Items far from all
    others in difficulty are drawn at the edge with where they lie.
    """
    low, high = _limits(table["difficulty"])
    outside, _ = _apart(table, "difficulty", low, high)
    edge = 0.08 * max(high - low, 1.0)
    table = table.assign(difficulty=table["difficulty"].clip(low - edge, high + edge))
    kinds = (("", FAINT, "o", "as expected"), ("erratic", COLOURS[1], "^", "erratic"),
             ("too regular", COLOURS[0], "v", "too regular"))  # fmt: skip
    for flag, colour, marker, word in kinds:
        part = table[table["flag"] == flag]
        if len(part):
            ax.plot(part["difficulty"], part["z"], marker, color=colour, markersize=4 if flag else 3,
                    alpha=1.0 if flag else 0.6, clip_on=False, label=f"{word} ({len(part)})")  # fmt: skip
    ax.axhline(0, color=FAINT, linewidth=0.7)
    worst = table[table["flag"] != ""].sort_values("z", key=np.abs, ascending=False)
    ax.margins(y=0.1)
    ax.set_xlim(low - edge, high + edge)
    bottom, top = ax.get_ylim()
    ax.set_ylim(min(bottom, -_USUAL), max(top, _USUAL))
    _name_points(ax, worst.head(_MOST_MISFITS_NAMED))
    for row in records(outside):
        right = float(row["difficulty"]) > high
        name = f"{shorten(str(row['item']), 16)} {row['difficulty']:.1f}"
        said, spot = (f"{name} ▶", high + edge) if right else (f"◀ {name}", low - edge)
        ax.annotate(said, (spot, float(row["z"])), (0, 4), textcoords="offset points",
                    ha="right" if right else "left", va="bottom", fontsize=7)  # fmt: skip
    ax.set(xlabel="Difficulty", ylabel="Infit or outfit, standardised\n(the more extreme)")
    grid(ax)
    legend_below(ax, columns=3)
    return ax


def _limits(values: pd.Series) -> tuple[float, float]:
    """Smallest and largest of the values that are not far from the rest."""
    first, third = (float(values.quantile(share)) for share in (0.25, 0.75))
    reach = _FAR * max(third - first, 1.0)
    near = values[values.between(first - reach, third + reach)]
    return float(near.min()), float(near.max())


def _apart(table: pd.DataFrame, column: str, low: float, high: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows outside and inside the limits."""
    inside = table[column].between(low, high).to_numpy(bool)
    return table.loc[~inside], table.loc[inside]


def _farther(table: pd.DataFrame, name: str, column: str, mark: str) -> str:
    """Where the items beyond the edge lie: by name when there is one, else counted up to the farthest."""
    farthest = table.iloc[int(table[column].abs().to_numpy().argmax())]
    one = shorten(str(farthest[name]), 16) if len(table) == 1 else f"{len(table)} items, up to"
    return f"{mark} {one} {farthest[column]:.1f}"


def _names_in_bins(ax: Axes, items: pd.DataFrame, edges: np.ndarray, middles: np.ndarray) -> None:
    place = np.clip(np.digitize(items["location"], edges) - 1, 0, len(middles) - 1)
    for spot in np.unique(place):
        names = [shorten(str(name), 14) for name in items["name"][place == spot]]
        ax.text(0.04, middles[spot], shorten("  ".join(names), 30), va="center", fontsize=7, color=COLOURS[0])


def _name_points(ax: Axes, table: pd.DataFrame) -> None:
    """Names beside points, on the side with room, left out where one would lie on another."""
    low, high = ax.get_xlim()
    taken: list[tuple[float, float]] = []
    span = float(np.ptp(ax.get_ylim()))
    for row in records(table):
        x, y = float(row["difficulty"]), float(row["z"])
        if any(abs(x - u) < 0.35 * (high - low) and abs(y - v) < 0.055 * span for u, v in taken):
            continue
        taken.append((x, y))
        right = x > (low + high) / 2
        ax.annotate(shorten(str(row["item"]), 16), (x, y), (-4 if right else 4, 0), textcoords="offset points",
                    ha="right" if right else "left", va="center", fontsize=7.5)  # fmt: skip
