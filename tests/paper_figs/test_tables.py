"""Tables: their numbers against direct computation, and their text in every form."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from examcore import IntervalEstimate
from paper_figs import _cached_fits as fits
from paper_figs import _table_files as tabling
from paper_figs import (
    accuracy_by_pipeline,
    bloom_examples,
    component_abilities,
    corpora,
    exam_statistics,
    model_fit,
)
from paper_figs._task_results import TaskResults, read_run
from tests.paper_figs.released_folder import LLMS, RETRIEVERS, scores, write_released
from tests.ragexam.report.run_folder import write_run

SPECIAL = "a & b % c_d # $e$ {f} ~g ^h \\i <j> |k| [l] −1 – “m” * `n`"


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> TaskResults:
    folder = write_released(tmp_path_factory.mktemp("other"), questions=18, counts=False, seed=4)
    return read_run(f"Second={folder}", cache)


def test_accuracy_is_the_share_right_and_the_average_that_of_the_tasks(hard: TaskResults, other: TaskResults) -> None:
    table = accuracy_by_pipeline.compute([hard, other]).set_index(["task", "llm", "retriever"])
    ours = [scores(run.folder, llm=LLMS[1], retriever="bm25").mean() for run in (hard, other)]
    found = [table.loc[(task, LLMS[1], "bm25"), "accuracy"] for task in (hard.task, "Second", "Average")]
    assert found == pytest.approx([*ours, np.mean(ours)])
    assert (table["low"] <= table["accuracy"]).all()
    assert (table["accuracy"] <= table["high"]).all()


def test_bounds_are_never_best_and_nothing_else_is_better(hard: TaskResults) -> None:
    table = accuracy_by_pipeline.compute([hard])
    best = table[table["best"]]
    assert len(best) == 1
    assert best["retriever"].iloc[0] not in ("closed-book", "oracle")
    chosen = table[~table["retriever"].isin(["closed-book", "oracle"])]
    assert best["accuracy"].iloc[0] == chosen["accuracy"].max()
    assert table["behind"].to_numpy() == pytest.approx((best["accuracy"].iloc[0] - table["accuracy"]).to_numpy())


def test_contrasts_of_accuracy_sum_to_zero_and_are_differences_of_means(hard: TaskResults) -> None:
    table = component_abilities.accuracy_contrasts(hard)
    assert table.groupby("facet")["effect"].sum().to_numpy() == pytest.approx(np.zeros(3), abs=1e-12)
    means = {level: scores(hard.folder, retriever=level).mean() for level in RETRIEVERS}
    found = table[table["facet"] == "retriever"].set_index("level")["effect"]
    assert found["bm25"] == pytest.approx(means["bm25"] - np.mean(list(means.values())))


def test_contrasts_of_ability_are_those_of_the_saved_fit_or_of_one_made_now(hard: TaskResults, cache: Path) -> None:
    made = fits.components(hard)
    assert set(made["facet"]) == {"llm", "retriever", "icl"}
    assert made.groupby("facet")["effect"].sum().to_numpy() == pytest.approx(np.zeros(3), abs=1e-6)
    kept = [one for one in cache.glob("components-*") if (one / "done").is_file()]
    stamp = max((one / "done").stat().st_mtime_ns for one in kept)
    fits.components(hard)
    assert max((one / "done").stat().st_mtime_ns for one in kept) == stamp


def test_a_run_without_facets_is_refused_for_contrasts(tmp_path: Path, cache: Path) -> None:
    folder = write_released(tmp_path / "run")
    lines = (folder / "responses.csv").read_text(encoding="utf-8").splitlines()
    (folder / "responses.csv").write_text("\n".join(line.rsplit(",", 3)[0] for line in lines), encoding="utf-8")
    run = read_run(str(folder), cache)
    with pytest.raises(ValueError, match="no facet has two levels; wanted columns such as llm and retriever"):
        fits.components(run)
    with pytest.raises(ValueError, match="no facets llm and retriever; wanted the parts of the pipelines"):
        accuracy_by_pipeline.compute([run])


def test_exam_statistics_count_what_was_lost_and_what_guessing_earns(hard: TaskResults, other: TaskResults) -> None:
    table = exam_statistics.compute(hard).set_index("attribute")["value"]
    assert table["Written"] == 60
    assert table["Unparsable"] == 15
    assert table["In the exam"] == 24
    assert table["Best fixed position"] == pytest.approx(6 / 24)
    assert table["Longest choice"] == pytest.approx(6 / 24)  # the third choice is the longest, six keys are the third
    assert table["Choice, words"] == pytest.approx(2.0)
    assert np.isnan(table["Choice, characters"])
    assert np.isnan(exam_statistics.compute(other).set_index("attribute")["value"]["Written"])


def test_equally_long_choices_share_the_luck() -> None:
    assert exam_statistics._longest({"key": 1, "choice_words": (2, 2, 1, 2)}) == pytest.approx(1 / 3)
    assert exam_statistics._longest({"key": 2, "choice_words": (2, 2, 1, 2)}) == 0


def test_corpora_leave_out_tasks_that_do_not_tell_and_name_them(hard: TaskResults, other: TaskResults) -> None:
    (table,) = corpora.build([hard, other])
    assert table.heads == ("", "hard & long")
    assert "Not told by the results: Second." in table.note
    (nothing,) = corpora.build([other])
    assert nothing.rows[0].cells[0].text == "No task's results tell of its corpus."


def test_model_fit_has_the_accuracy_and_parameters_of_the_fit(hard: TaskResults) -> None:
    table = model_fit.compute(hard).set_index("attribute")["value"]
    assert table["mean over pipelines"] == pytest.approx(scores(hard.folder).mean())
    assert table["difficulty b: mean"] == pytest.approx(fits.item_fit(hard).draws["b"].mean())
    assert table["2PL"] > table[model_fit.IN_SAMPLE]
    gain = table["question and pipeline means"] - table["2PL"]
    assert table[model_fit.GAIN] == pytest.approx(gain)


def test_bloom_examples_show_ids_without_text_and_questions_with_it(
    hard: TaskResults, tmp_path: Path, cache: Path
) -> None:
    data = bloom_examples.compute(hard).set_index("level")
    groups = hard.labelled("bloom")
    assert data["questions"].to_list() == [8, 0, 16, 0, 0, 8]
    assert data.loc["create", "accuracy"] == pytest.approx(scores(hard.folder, groups["create"]).mean())
    (table,) = bloom_examples.build([hard])
    assert {cells[-1].text for cells in (row.cells for row in table.rows)} <= {"–", *hard.data.items}
    run = read_run(str(write_run(tmp_path / "run", questions=12, llms={"one": 0.0}, hostile=False)), cache)
    told = [row.cells[-1].text for row in bloom_examples.build([run])[0].rows]
    stems = [" ".join(text.split()[:5]) for text in run.questions["text"]]
    assert any(one.startswith(stem) for one in told for stem in stems)


def hostile_table() -> tabling.PaperTable:
    rows = (tabling.heading(SPECIAL), tabling.row(SPECIAL, tabling.PaperCell("[0.1, 0.2]", strong=True)))
    return tabling.PaperTable("hostile", SPECIAL, SPECIAL, pd.DataFrame({"x": [1]}), ("", SPECIAL), rows)


def test_latex_has_no_bare_special_character() -> None:
    text = tabling.in_latex(SPECIAL)
    bare = re.sub(r"\\(?:[a-z]+\{\}|[&%$#_{}])|\$-\$|\{[\[\]]\}", "", text)
    assert not set(bare) & set("&%$#_{}^\\<>|[]")
    body = tabling.as_latex(hostile_table())
    assert body.count(r"\begin") == body.count(r"\end") == 2
    assert body.count("{") == body.count("}")
    for line in body.splitlines():
        if line.endswith(r"\\") and "multicolumn" not in line:
            assert len(re.findall(r"(?<!\\)&", line)) == 1


def test_markdown_lines_have_as_many_cells_as_heads() -> None:
    lines = [line for line in tabling.as_markdown(hostile_table()).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {3}


def test_html_shows_names_as_text() -> None:
    page = tabling.as_html(hostile_table())
    assert "<j>" not in page
    assert "&lt;j&gt;" in page


def test_numbers_have_a_true_minus_and_no_negative_zero() -> None:
    assert tabling.number(-1234.5, 1) == "−1,234.5"
    assert tabling.number(-0.001, 1, sign=True) == "0.0"
    assert tabling.number(float("nan")) == "–"
    assert tabling.with_limits(IntervalEstimate(0.5, 0.25, 0.75), 0, scale=100) == "50 [25, 75]"


def test_a_table_is_written_in_three_forms(hard: TaskResults, tmp_path: Path) -> None:
    (table,) = accuracy_by_pipeline.build([hard])
    written = table.save(tmp_path)
    assert [path.name.rsplit(".")[-1] for path in written] == ["csv", "md", "tex"]
    assert r"a\_model \& 100 \% \$more\$ \#1" in written[2].read_text(encoding="utf-8")
