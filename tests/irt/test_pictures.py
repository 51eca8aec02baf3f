"""Pictures of items and checks: what stands in them, at a column's width, for few and for hundreds of items."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import irt
from irt import curves, plots

COLUMN = 3.3
THETA = np.linspace(-3, 3, 31)
LONG = "$a_1$ a name that is much too long to be written in full"


def named(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def legend(ax: Axes) -> list[str]:
    figure = ax.get_figure(root=True)
    assert figure is not None
    return [text.get_text() for each in figure.legends for text in each.get_texts()]


def located(students: int, items: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kinds = ["student"] * students + ["item"] * items
    names = [f"s{n}" for n in range(students)] + [LONG if n == 0 else f"q{n}" for n in range(items)]
    return pd.DataFrame({"kind": kinds, "name": names, "location": rng.standard_normal(len(kinds))})


def test_an_item_curve_shows_every_group_with_its_interval() -> None:
    curve = pd.DataFrame({"theta": THETA, "mean": 0.5, "low": 0.4, "high": 0.6})
    observed = pd.DataFrame({"theta": [-1.0, 0.0, 1.0], "share": [0.2, 0.5, 0.9], "low": 0.1, "high": 0.95})
    with plots.canvas(width=COLUMN) as (_, ax):
        plots.item_curve(ax, curve.assign(item="Q 7"), observed)
        assert ax.get_title() == "Q 7"
        assert len(ax.collections[-1].get_paths()) == 3
        assert legend(ax) == ["model", "observed"]


@pytest.mark.parametrize(("items", "names"), [(4, 4), (300, 7)])
def test_information_names_the_highest_and_counts_the_rest(items: int, names: int) -> None:
    frames = [
        pd.DataFrame({"item": f"q{n}", "theta": THETA, "mean": (n + 1) * np.exp(-(THETA**2))}) for n in range(items)
    ]
    with plots.canvas(width=COLUMN) as (_, ax):
        plots.item_information(ax, pd.concat(frames))
        assert len(legend(ax)) == names
        assert f"q{items - 1}" in legend(ax)
        assert ("294 others" in legend(ax)) == (items == 300)


def test_precision_has_the_error_on_a_scale_of_its_own() -> None:
    total = 20 * np.exp(-(THETA**2)) + 1e-9
    error = 1 / np.sqrt(total)
    bands = {"total_low": total, "total_high": 1.2 * total, "error_low": 0.9 * error, "error_high": 1.1 * error}
    with plots.canvas(width=COLUMN) as (figure, ax):
        plots.exam_precision(ax, pd.DataFrame({"theta": THETA, "total": total, "error": error} | bands))
        right = figure.axes[1]
        assert right.get_ylim()[1] == pytest.approx(4 * error.min())
        assert "Standard error" in right.get_ylabel()


def test_a_map_names_few_items_and_counts_many() -> None:
    with plots.canvas(width=COLUMN) as (_, ax):
        plots.person_item_map(ax, located(40, 12))
        assert {"40 students", "12 items"} <= set(named(ax))
        assert any("…" in text for text in named(ax))
    with plots.canvas(width=COLUMN) as (_, ax):
        plots.person_item_map(ax, located(40, 400))
        assert set(named(ax)) == {"40 students", "400 items"}


def test_misfitting_items_are_named_unless_their_names_would_collide() -> None:
    z = np.zeros(200)
    z[:3] = [9.0, 5.0, 8.99]
    flags = ["erratic" if value > 2 else "" for value in z]
    difficulty = np.linspace(-2, 2, 200)
    table = pd.DataFrame({"item": [f"q{n}" for n in range(200)], "difficulty": difficulty, "z": z})
    with plots.canvas(width=COLUMN) as (_, ax):
        plots.item_misfit(ax, table.assign(flag=flags))
        assert named(ax) == ["q0", "q1"]
        assert legend(ax) == ["as expected (197)", "erratic (3)"]


def test_an_item_far_off_is_marked_at_the_edge_and_does_not_squeeze_the_rest() -> None:
    table = located(40, 12)
    table.loc[table["name"] == "q7", "location"] = 19.39
    with plots.canvas(width=COLUMN) as (_, ax):
        plots.person_item_map(ax, table)
        assert ax.get_ylim()[1] < 4
        assert any("q7 19.4" in text for text in named(ax))
    items = table[table["kind"] == "item"]
    misfit = pd.DataFrame({"item": items["name"], "difficulty": items["location"], "z": 0.3, "flag": ""})
    with plots.canvas(width=COLUMN) as (_, ax):
        plots.item_misfit(ax, misfit)
        assert ax.get_xlim()[1] < 4
        assert named(ax) == ["q7 19.4 ▶"]
        assert ax.texts[0].xy[0] == ax.get_xlim()[1]
        assert ax.get_ylabel().startswith("Infit or outfit")
        drawn = ax.lines[0].get_xydata()
        assert isinstance(drawn, np.ndarray)
        assert len(drawn) == 12
        assert drawn[:, 0].max() < 4


@pytest.mark.parametrize(("students", "names"), [(8, 8), (158, 1)])
def test_few_students_are_named_and_of_many_the_surprising_ones(students: int, names: int) -> None:
    share = np.linspace(0.1, 0.9, students)
    table = pd.DataFrame({"student": [f"s{n}" for n in range(students)], "observed": share, "expected": share})
    table = table.assign(low=share - 0.05, high=share + 0.05, surprising=[n == 3 for n in range(students)])
    with plots.canvas(plots.students_height(table), COLUMN) as (_, ax):
        plots.predicted_students(ax, table)
        assert len(ax.get_yticklabels()) == names
        assert "surprising" in legend(ax)


def test_a_score_distribution_has_a_bar_and_a_dot_per_bin() -> None:
    table = pd.DataFrame({"start": [0.0, 0.5], "end": [0.5, 1.0], "observed": [3, 7], "expected": [4.0, 6.0]})
    with plots.canvas(width=COLUMN) as (_, ax):
        plots.score_distribution(ax, table.assign(low=2, high=8))
        assert [bar.get_height() for bar in ax.patches] == [3, 7]


def test_pruning_gain_runs_from_the_whole_exam_to_the_short_one(tmp_path: Path) -> None:
    table = pd.DataFrame({"round": [0, 1, 2], "n_items": [40, 36, 32], "claimed": [0, 0.1, 0.2]})
    table = table.assign(heldout=[0, 0.02, 0.05], low=-0.1, high=0.2, random=0.0, random_low=-0.1, random_high=0.1)
    with plots.canvas(width=COLUMN) as (figure, ax):
        plots.pruning_gain(ax, table)
        left, right = ax.get_xlim()
        assert left > right
        assert set(legend(ax)) == {"random pruning", "claimed", "held out"}
        assert all(path.stat().st_size > 0 for path in plots.save(figure, tmp_path / "gain"))


def pictures(fit: irt.Fit) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every picture by name, with what it is drawn from."""
    yield "item_curve", curves.item_curve(fit, fit.data.items[0])[:2]
    yield "item_information", (curves.item_information(fit),)
    yield "item_misfit", (curves.item_misfit(fit),)
    yield "person_item_map", (curves.person_item_map(fit),)
    yield "exam_information", (curves.exam_precision(fit), fit.abilities["theta"])
    yield "exam_precision", (curves.exam_precision(fit),)
    grouped = fit.information_by({"first": fit.data.items[:6], "rest": fit.data.items[6:]}, curves.GRID)
    yield "grouped_information", (grouped,)
    yield "component_forest", (fit.components,)
    cells = pd.DataFrame({"row": ["a", "b"], "column": "c", "accuracy": [0.2, 0.9], "low": 0.1, "high": 0.95})
    yield "heat_map", (cells,)
    yield "predicted_students", (curves.student_scores(fit),)
    yield "calibration", (pd.DataFrame({"predicted": [0.2, 0.7], "observed": [0.25, 0.6], "se": [0.05, 0.3]}),)
    yield "score_distribution", (curves.score_distribution(fit),)
    yield "pruning_rounds", (grouped.assign(round=grouped["group"].eq("rest").astype(int)),)
    gains = pd.DataFrame({"n_items": [12, 9], "claimed": [0.0, 0.1], "heldout": [0.0, 0.05], "low": -0.1, "high": 0.2})
    yield "pruning_gain", (gains.assign(random=0.0, random_low=-0.1, random_high=0.1),)


def test_every_picture_is_drawn_on_an_axes_of_a_figure_of_ones_own_and_returns_it() -> None:
    fit = irt.fit(irt.simulate(items=12, facets={"llm": 4, "retriever": 6}, seed=2).data, method="map", seed=0)
    drawn = dict(pictures(fit))
    found = {name: getattr(plots, name) for name in plots.__all__}
    assert set(drawn) == {
        name
        for name, each in found.items()
        if inspect.isfunction(each) and "_style" not in each.__module__ and "ax" in inspect.signature(each).parameters
    }
    for name, tables in drawn.items():
        figure, (ax, other) = plt.subplots(1, 2, layout="constrained")
        assert found[name](ax, *tables) is ax
        assert ax.has_data(), name
        assert not other.has_data(), name
        assert not figure.legends, name  # it would be one of both axes
        figure.canvas.draw()
        plt.close(figure)


def test_a_legend_under_an_axes_of_plain_style_lies_below_its_label() -> None:
    figure, ax = plt.subplots()
    curve = pd.DataFrame({"theta": THETA, "mean": 0.5, "low": 0.4, "high": 0.6})
    observed = pd.DataFrame({"theta": [0.0], "share": [0.5], "low": 0.1, "high": 0.95})
    plots.item_curve(ax, curve, observed)
    figure.canvas.draw()
    found = ax.get_legend()
    assert found is not None
    assert found.get_window_extent().y1 < ax.xaxis.label.get_window_extent().y0
    plt.close(figure)
