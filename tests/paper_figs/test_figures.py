"""Figures: their numbers against direct computation, and that every name stands within the picture, large enough."""

from __future__ import annotations

import importlib
import itertools
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

import irt
from irt import plots
from irt.selecting._selection import prune
from paper_figs import _cached_fits as fits
from paper_figs import _figure_files as drawing
from paper_figs import _grouped_information as grouping
from paper_figs import (
    accuracy_by_topic,
    bloom_levels,
    component_abilities,
    component_contrasts,
    exam_process,
    information_over_pruning,
    irt_plates,
)
from paper_figs._command_line import script
from paper_figs._task_results import TaskResults, read_run
from taxonomy import FORMS, LEVELS
from tests.paper_figs.released_folder import CORPUS, LLMS, RETRIEVERS, TOPICS, scores, write_released
from tests.ragexam.report.run_folder import write_run

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
FIGURES = ("accuracy_by_topic", "bloom_levels", "component_contrasts", "exam_process", "information_by_bloom",
           "information_by_question_word", "information_over_pruning", "irt_plates")  # fmt: skip
TABLES = ("accuracy_by_pipeline", "bloom_examples", "component_abilities", "corpora", "exam_statistics", "model_fit")


@pytest.mark.parametrize("name", [*FIGURES, *TABLES])
def test_script_writes_its_files_for_hard_names(
    name: str, released: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = importlib.import_module(f"paper_figs.{name}")
    assert script(module.build, module.__doc__, [str(released), "--out", str(tmp_path), "--cache", str(cache)]) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    wanted = ["csv", "pdf", "png", "svg", "png"] if name in FIGURES else ["csv", "md", "tex"]
    assert [path.suffix[1:] for path in written] == wanted * (len(written) // len(wanted))
    assert all(path.stat().st_size for path in written)


@pytest.mark.parametrize("name", FIGURES)
def test_text_is_large_enough_and_within_the_picture(name: str, hard: TaskResults) -> None:
    for plate in importlib.import_module(f"paper_figs.{name}").build([hard]):
        for size in drawing.SIZES:
            with drawing.drawn(plate, size) as figure, warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Glyph")
                figure.draw_without_rendering()
                texts = list(drawn_texts(figure))
                assert texts
                assert min(one.get_fontsize() for one in texts) >= 7
                for one in texts:
                    require_inside(one, figure)


def drawn_texts(figure: Figure) -> Iterator[Text]:
    """Every text that is seen: ticks beyond the ends of an axis are not."""
    for legend in figure.findobj(Legend):
        yield from legend.get_texts()
    for ax in figure.findobj(Axes):
        yield from (one for one in ax.texts if one.get_visible())
        if not ax.axison:
            continue
        yield from (one for one in (ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label) if one.get_text())
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            yield from (one for place, one in ticks if low <= place <= high and one.get_text())


def require_inside(text: Text, figure: Figure) -> None:
    box, width, height = text.get_window_extent(), figure.bbox.width, figure.bbox.height
    assert -2 < box.x0 < box.x1 < width + 2, text
    assert -2 < box.y0 < box.y1 < height + 2, text


def test_topic_accuracy_is_the_share_right_and_few_questions_are_marked(hard: TaskResults) -> None:
    table = accuracy_by_topic.compute(hard).set_index(["facet", "level", "topic"])
    ids = hard.labelled("topic")[TOPICS[1]]
    found = table.loc[("llm", LLMS[0], TOPICS[1])]
    assert found["accuracy"] == pytest.approx(scores(hard.folder, ids, llm=LLMS[0]).mean())
    assert found["questions"] == len(ids) == 6
    assert table["few"].all()
    (plate,) = accuracy_by_topic.build([hard])
    assert "† where there are fewer than 15" in plate.caption


def test_beyond_twelve_topics_and_beyond_six_of_few_questions_topics_are_pooled() -> None:
    groups = {f"t{n}": [f"q{n}-{m}" for m in range(20 - n)] for n in range(15)}
    pooled = accuracy_by_topic._pooled(groups)
    assert len(pooled) == 13
    assert len(pooled["3 other topics"]) == 8 + 7 + 6
    assert sum(map(len, pooled.values())) == sum(map(len, groups.values()))
    few = {name: ["q"] * count for name, count in zip("abcdefgh", (9, 4, 4, 4, 3, 3, 3, 2), strict=True)}
    assert list(accuracy_by_topic._pooled(few)) == [*"abcdef", "2 other topics"]
    assert list(accuracy_by_topic._pooled({"a": ["1"] * 9, "b": ["2"]})) == ["a", "b"]


def test_names_of_thirteen_topics_do_not_overlap(hard: TaskResults, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("retriever", level, f"Rather_Long_Name_of_Topic_{n}", 8, True, 0.5, 0.3, 0.7)
            for level in RETRIEVERS for n in range(13)]  # fmt: skip
    columns = ["facet", "level", "topic", "questions", "few", "accuracy", "low", "high"]
    monkeypatch.setattr(accuracy_by_topic, "compute", lambda _: pd.DataFrame(rows, columns=columns))
    (plate,) = accuracy_by_topic.build([hard])
    with drawing.drawn(plate, drawing.PRINT) as figure:
        figure.draw_without_rendering()
        names = [one for one in drawn_texts(figure) if "(8)" in one.get_text()]
        assert len(names) == 13
        assert names[0].get_text().replace("\n", " ") == "Rather Long Name of Topic 0 (8)†"
        for one, other in itertools.combinations(names, 2):
            assert not one.get_window_extent().overlaps(other.get_window_extent()), (one, other)


def test_shares_of_levels_count_every_label(hard: TaskResults) -> None:
    table = bloom_levels.compute(hard).set_index("level")
    assert table["questions"].to_dict()["apply"] == 16
    assert table.loc["apply", "share"] == pytest.approx(16 / 24)
    assert table.loc["understand", "low"] == 0
    assert 0 < table.loc["understand", "high"] < 0.15


def test_information_of_the_forms_adds_up_to_that_of_the_exam(hard: TaskResults) -> None:
    table = grouping.information(hard, "form", FORMS)
    total = table.groupby("theta")["total"].sum().to_numpy(float)
    assert total == pytest.approx(fits.item_fit(hard).information(grouping.THETA).total, rel=1e-6)
    assert list(dict.fromkeys(table["group"])) == ["what", "which", "how"]


def test_plate_holds_the_curves_of_the_fit(hard: TaskResults) -> None:
    table = irt_plates.compute(hard)
    fit = fits.item_fit(hard)
    mean = table[(table["panel"] == "curve") & (table["group"] == "mean")]
    theta = mean["theta"].to_numpy(float)[:, None]
    a, b = (fit.thinned(400)[name][:, None, :] for name in "ab")
    direct = (1 / (1 + np.exp(-a * (theta - b)))).mean(axis=(0, 2))
    assert mean["value"].to_numpy(float) == pytest.approx(direct)
    pipelines = table[table["panel"] == "pipeline"]
    assert list(pipelines["theta"]) == pytest.approx(list(fit.abilities["theta"]))
    item = table[(table["panel"] == "information") & (table["group"] == hard.data.items[3])]
    assert item["value"].to_numpy(float) == pytest.approx(fit.information(grouping.THETA, [hard.data.items[3]]).mean[0])


def test_pruning_starts_with_the_whole_exam_and_ends_with_what_is_kept(hard: TaskResults) -> None:
    rounds = information_over_pruning.curves(hard).drop_duplicates("round")["n_items"].tolist()
    assert rounds[0] == 24
    assert rounds[-1] == len(fits.pruning(hard)["kept"]) == 17
    gains = information_over_pruning.gains(hard)
    assert gains["n_items"].tolist() == rounds
    assert (gains["low"] <= gains["heldout"]).all()


def test_the_process_counts_what_the_results_tell(hard: TaskResults, tmp_path: Path, cache: Path) -> None:
    counts = exam_process.compute(hard).set_index("step")["count"]
    assert counts["Corpus"] == CORPUS["chunks"]
    assert counts["Filters"] == 35
    assert counts["Answers"] == 16 * 24
    untold = read_run(str(write_released(tmp_path / "run", counts=False)), cache)
    assert exam_process.compute(untold).set_index("step")["count"].isna().sum() == 3


def test_what_stands_in_a_box_of_the_process_fits_it(released: Path, hard: TaskResults, cache: Path) -> None:
    runs = [hard, *(read_run(f"{name} of a very long name={released}", cache) for name in ("One", "Two", "Three"))]
    (plate,) = exam_process.build(runs)
    for size in drawing.SIZES:
        with drawing.drawn(plate, size) as figure:
            figure.draw_without_rendering()
            (ax,) = figure.findobj(Axes)
            boxes = [one.get_window_extent() for one in ax.patches if isinstance(one, FancyBboxPatch)]
            words = [one.get_window_extent() for one in ax.texts if one.get_text() != "next round"]
            assert len(words) == 3 * len(boxes) == 24
            for place, box in enumerate(boxes):
                title, what, counts = words[3 * place : 3 * place + 3]
                assert max(one.x1 for one in (title, what, counts)) < box.x1
                assert box.y1 > title.y1 > title.y0 > what.y1
                assert what.y0 > counts.y1 > counts.y0 > box.y0


def test_a_level_has_one_colour_in_all_panels(hard: TaskResults) -> None:
    table = grouping.information(hard, "bloom", LEVELS)
    with plots.canvas() as (_, ax):
        plots.grouped_information(ax, table[table["group"] != "remember"], LEVELS)
        colours = {line.get_label(): line.get_color() for line in ax.lines}
    assert colours["apply (16)"] == plots.COLOURS[2]
    assert colours["create (8)"] == plots.COLOURS[5]


def test_several_runs_have_a_panel_or_a_figure_each(released: Path, hard: TaskResults, cache: Path) -> None:
    twin = read_run(f"Twin={released}", cache)
    (plate,) = information_over_pruning.build([hard, twin])
    assert [panel.title for panel in plate.panels][::2] == ["hard & long", "Twin"]
    assert set(plate.table["task"]) == {"hard & long", "Twin"}
    names = [plate.name for plate in component_contrasts.build([hard, twin])]
    assert names == ["component_contrasts-hard-long", "component_contrasts-twin"]


def test_data_of_panels_that_share_a_table_stand_once(hard: TaskResults) -> None:
    (plate,) = irt_plates.build([hard])
    assert len(plate.table) == len(plate.panels[0].table)


def test_the_same_results_give_the_same_files(hard: TaskResults, tmp_path: Path) -> None:
    (plate,) = bloom_levels.build([hard])
    first, second = (plate.save(tmp_path / name) for name in ("one", "two"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_a_run_gives_the_components_and_rounds_of_its_own_files(tmp_path: Path, cache: Path) -> None:
    folder = write_run(tmp_path / "run", questions=30, llms={"only": 0.0}, hostile=False)
    data = irt.read_responses(folder / "responses.csv", facets=["retriever", "icl"])
    fit = irt.fit(data, model="2pl", method="map", seed=0)
    fit.save(folder / "fit")
    pruned = prune(data, keep=0.5, seed=0)
    pruned.save(folder / "pruned")
    run = read_run(str(folder), cache)
    ours = component_abilities.compute(run).query("scale == 'ability'")[["facet", "level", "effect", "low", "high"]]
    pd.testing.assert_frame_equal(ours, fit.components[list(ours.columns)], check_dtype=False)
    rounds = information_over_pruning.curves(run)
    assert list(rounds.drop_duplicates("round")["n_items"]) == [row.n_items for row in pruned.trajectory]
    assert rounds["mean"].to_numpy() == pytest.approx(
        np.concatenate([row.mean_information for row in pruned.trajectory])
    )


@pytest.mark.parametrize("name", [*FIGURES, *TABLES])
def test_script_refuses_a_folder_without_its_files_in_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = importlib.import_module(f"paper_figs.{name}")
    (tmp_path / "empty").mkdir()
    folder, out = str(tmp_path / "empty"), str(tmp_path / "out")
    if name == "corpora":  # a corpus may be untold
        assert script(module.build, module.__doc__, [folder, "--out", out]) == 0
        return
    assert script(module.build, module.__doc__, [folder, "--out", out, "--cache", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "no such file" in error
    assert error.count("\n") == 1
    assert not Path(out).exists()


def test_two_runs_of_one_name_are_refused(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script(bloom_levels.build, None, [str(released), f"Hard  long={released}"]) == 2
    assert "wanted TASK=FOLDER to tell them" in capsys.readouterr().err


def test_script_runs_as_a_file(released: Path, tmp_path: Path) -> None:
    command = [sys.executable, "paper_figs/corpora.py", str(released), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "corpora.tex").is_file()
