"""Drawings on a given axes: what stands in them, whatever names they are given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import findSystemFonts, fontManager

from irt import plots
from irt.plots._fonts import font_families

THETA = np.linspace(-3, 3, 31)
HOSTILE = "$x_2$ <script> & a name that is much too long for a label"


def groups(names: dict[str, int]) -> pd.DataFrame:
    frames = [
        pd.DataFrame({"group": name, "n_items": n, "theta": THETA, "mean": 0.1 * (place + 1) * np.exp(-(THETA**2))})
        for place, (name, n) in enumerate(names.items())
    ]
    table = pd.concat(frames, ignore_index=True)
    return table.assign(mean_low=0.8 * table["mean"], mean_high=1.3 * table["mean"])


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_groups_are_named_with_their_number_of_questions_strongest_first() -> None:
    with plots.canvas() as (figure, ax):
        plots.grouped_information(ax, groups({"what": 12, "how": 3}))
        assert texts(figure) == ["how (3)", "what (12)"]
        assert len([line for line in ax.lines if len(line.get_xdata()) == len(THETA)]) == 2


def test_every_curve_has_its_interval_at_its_peak() -> None:
    with plots.canvas() as (_, ax):
        plots.grouped_information(ax, groups({"what": 12}))
        (bar,) = ax.collections
        (ends,) = bar.get_segments()
        assert ends[:, 0] == pytest.approx([0.0, 0.0])
        assert ends[:, 1] == pytest.approx([0.08, 0.13])


def test_dollar_signs_and_long_names_stay_text(tmp_path: Path) -> None:
    with plots.canvas() as (figure, ax):
        plots.grouped_information(ax, groups({HOSTILE: 12}))
        plots.save(figure, tmp_path / "figure")
        assert texts(figure)[0].startswith("$x_2$ <script>")
        assert "…" in texts(figure)[0]


def test_the_best_level_of_a_facet_stands_on_top() -> None:
    table = pd.DataFrame(
        {"facet": "retriever", "level": ["bm25", "oracle"], "effect": [-0.5, 0.5], "low": [-1, 0], "high": [0, 1]}
    )
    with plots.canvas(plots.forest_height(table)) as (_, ax):
        plots.component_forest(ax, table)
        labels = {text.get_text(): place for place, text in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
        assert labels["oracle"] > labels["bm25"]


def test_exam_information_marks_every_pipeline() -> None:
    table = pd.DataFrame({"theta": THETA, "total": 1.0, "total_low": 0.5, "total_high": 2.0})
    with plots.canvas() as (_, ax):
        plots.exam_information(ax, table, [-1.0, 0.5, 2.0])
        marks = [c for c in ax.collections if len(c.get_paths()) == 3]
        assert len(marks) == 1
        assert ax.get_ylim()[1] > 2.0


@pytest.mark.parametrize(("rounds", "named"), [(3, 3), (12, 2)])
def test_only_the_ends_of_a_long_pruning_are_named(rounds: int, named: int) -> None:
    frames = [pd.DataFrame({"round": n, "n_items": 40 - n, "theta": THETA, "mean": 1.0 + n}) for n in range(rounds)]
    with plots.canvas() as (figure, ax):
        plots.pruning_rounds(ax, pd.concat(frames))
        assert len(texts(figure)) == named
        assert texts(figure)[0] == "all 40 questions"
        assert len(ax.lines) == rounds


def test_heat_map_writes_percents_with_intervals() -> None:
    table = pd.DataFrame([("m", "bm25", 0.5, 0.4, 0.6), ("m", "oracle", 0.9, 0.8, 0.95)])
    table.columns = pd.Index(["row", "column", "accuracy", "low", "high"])
    with plots.canvas() as (_, ax):
        plots.heat_map(ax, table)
        assert [text.get_text() for text in ax.texts] == ["50\n40 to 60", "90\n80 to 95"]


def test_files_of_the_same_drawing_are_the_same(tmp_path: Path) -> None:
    def draw(stem: Path) -> bytes:
        with plots.canvas() as (figure, ax):
            plots.grouped_information(ax, groups({"what": 12}))
            return plots.save(figure, stem)[0].read_bytes()

    assert draw(tmp_path / "one") == draw(tmp_path / "two")


def test_text_is_shortened_in_the_middle() -> None:
    assert plots.shorten("short") == "short"
    short = plots.shorten("a" * 40 + "z" * 40, 21)
    assert len(short) == 21
    assert short.startswith("aaa")
    assert short.endswith("zzz")


def test_drawing_leaves_the_global_style_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with plots.canvas() as (_, ax):
        assert isinstance(ax, Axes)
    assert dict(mpl.rcParams) == before


UNDRAWABLE = "\U0001303f\U00013040"
"""Egyptian hieroglyphs, which no font of the list has."""


@pytest.mark.parametrize("name", ["日本語モデル", "中文模型"])
def test_names_in_chinese_and_japanese_are_drawn_where_a_font_is_installed(name: str, tmp_path: Path) -> None:
    if not plots.is_drawable(name):
        pytest.skip("needs a font with Chinese and Japanese characters")
    with plots.canvas() as (figure, ax):
        plots.grouped_information(ax, groups({name: 12}))
        plots.save(figure, tmp_path / "figure")  # a missing glyph would warn, and warnings are errors
    assert not (tmp_path / "figure.names.csv").exists()


def test_fonts_installed_since_matplotlib_listed_them_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fonts = sorted(findSystemFonts())
    if not fonts:
        pytest.skip("needs a font of the system")
    monkeypatch.setattr(fontManager, "ttflist", [one for one in fontManager.ttflist if one.fname != fonts[0]])
    font_families()
    assert fonts[0] in {one.fname for one in fontManager.ttflist}


def test_names_in_arabic_are_drawn(tmp_path: Path) -> None:
    with plots.canvas() as (figure, ax):
        plots.grouped_information(ax, groups({"نموذج": 12}))
        plots.save(figure, tmp_path / "figure")
    assert not (tmp_path / "figure.names.csv").exists()


def test_names_that_no_font_draws_are_numbered_in_the_files_and_stay_in_the_figure(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"facet": "llm", "level": ["plain", UNDRAWABLE], "effect": [-0.5, 0.5], "low": [-1, 0], "high": [0, 1]}
    )
    with plots.canvas() as (figure, ax):
        plots.component_forest(ax, table)
        before = [text.get_text() for text in ax.get_yticklabels()]
        with plots.marked_names(figure, tmp_path / "key.csv"):
            figure.draw_without_rendering()
            assert [text.get_text() for text in ax.get_yticklabels()] == [
                one.replace(UNDRAWABLE, "[1]") for one in before
            ]
        assert [text.get_text() for text in ax.get_yticklabels()] == before
        plots.save(figure, tmp_path / "figure")
    assert UNDRAWABLE in before
    assert (tmp_path / "figure.names.csv").read_text(encoding="utf-8") == f"mark,name\n[1],{UNDRAWABLE}\n"
