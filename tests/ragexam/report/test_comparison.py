"""Two runs side by side: changes are found with their intervals, and what cannot be compared is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from ragexam.cli import app
from ragexam.report.comparison import ComparisonPage, write_comparison
from ragexam.report.comparison._change_sections import not_compared
from ragexam.report.comparison._changes import AbilityChanges, PairedRuns, ability_changes, accuracy_changes, pair_runs
from ragexam.report.comparison._question_drift import drift_section
from tests.axe import axe_source, grave_faults
from tests.chromium import PROGRAM, Chromium
from tests.page_text import Seen
from tests.ragexam.report.fitted_run import write_fitted
from tests.ragexam.report.run_folder import RETRIEVERS, write_run

RISE = 1.5
"""By how much dense is abler in the second run, on the scale of the simulation."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same exam sat twice; in the second run dense is abler, and one question was given away to everybody."""
    folder = tmp_path_factory.mktemp("two")
    write_fitted(folder / "before", answers_seed=5)
    after = write_run(folder / "after", answers_seed=6, retrievers={**RETRIEVERS, "dense": RETRIEVERS["dense"] + RISE})
    table = pd.read_csv(after / "responses.csv", dtype=str)
    table.loc[table["item"] == "q010", "score"] = "0"
    table.loc[(table["item"] == "q010") & (table.index % 9 == 0), "score"] = "1"
    table.to_csv(after / "responses.csv", index=False)
    import irt

    data = irt.read_responses(after / "responses.csv")
    irt.fit(data, model="2pl", method="map", facets=["llm", "retriever", "icl"], seed=0).save(after / "fit")
    return folder / "before", after


@pytest.fixture(scope="module")
def both(runs: tuple[Path, Path]) -> PairedRuns:
    return pair_runs(*runs)


@pytest.fixture(scope="module")
def ability(both: PairedRuns) -> AbilityChanges:
    found = ability_changes(both)
    assert isinstance(found, AbilityChanges)
    return found


@pytest.fixture(scope="module")
def page(runs: tuple[Path, Path]) -> ComparisonPage:
    """The page, written once."""
    return write_comparison(*runs)


def changed(run: Path, **fields: object) -> None:
    """Change fields of the first question of an exam."""
    lines = (run / "exam.jsonl").read_text(encoding="utf-8").splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | fields)
    (run / "exam.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def renamed(run: Path, **columns: str) -> None:
    """Put a mark behind every value of columns of the responses."""
    table = pd.read_csv(run / "responses.csv", dtype=str)
    for name, mark in columns.items():
        table[name] += mark
    table.to_csv(run / "responses.csv", index=False)


def test_the_component_that_improved_is_the_clearest_change(both: PairedRuns) -> None:
    found = accuracy_changes(both)
    assert found is not None
    assert found.n_questions == 50
    first = found.levels.iloc[0]
    assert (first["facet"], first["level"]) == ("retriever", "dense")
    assert first["low"] > 0
    assert first["after"] - first["before"] == pytest.approx(first["estimate"])
    other = found.levels[found.levels["facet"] == "retriever"].set_index("level").drop("dense")
    assert ((other["low"] <= 0) & (other["high"] >= 0)).all()


def test_the_lead_of_the_component_grows_on_the_linked_scale(ability: AbilityChanges) -> None:
    rows = ability.levels[ability.levels["facet"] == "retriever"].set_index("level")
    assert rows.loc["dense", "low"] > 0
    assert set(rows.index) == {"bm25", "dense", "hybrid"}
    # Zero-sum over the common levels, before as after.
    assert rows["estimate"].sum() == pytest.approx(0, abs=1e-9)
    change = ability.pipelines.set_index("student")["estimate"]
    dense = change[[name for name in change.index if "+dense+" in name]].mean()
    assert dense > change.drop([name for name in change.index if "+dense+" in name]).mean() + 0.3


def test_a_question_that_became_harder_for_everybody_is_named(both: PairedRuns, ability: AbilityChanges) -> None:
    assert "q010" in ability.link.dropped
    section = drift_section(both, accuracy_changes(both), ability)
    table = section.tables[0]
    stem = next(question.stem for question in both.b.questions if question.id == "q010")
    row = next(row for row in table.rows if row.cells[0].text == stem[:140])
    assert row.cells[1].text.startswith("−")


def test_the_page_says_all_of_it(runs: tuple[Path, Path], page: ComparisonPage) -> None:
    assert page.path == runs[1] / "comparison.html"
    text = Seen(page.path.read_text(encoding="utf-8")).text
    assert "the retriever dense (+" in text
    assert "on the scale of A" in text
    assert "questions drifted" in text
    result = json.loads(json.dumps(page.record(), allow_nan=False))
    assert result["questions"] == {"common": 50, "reworded": 0, "only_a": 0, "only_b": 0}
    assert "q010" in result["link"]["drifted"]
    assert len(result["accuracy"]["pipelines"]) == 30


def test_a_run_against_its_copy_has_changed_nothing(runs: tuple[Path, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(runs[0], tmp_path / "copy")
    text = Seen(write_comparison(runs[0], copy).path.read_text(encoding="utf-8")).text
    assert "gave the same right and wrong answers in both" in text
    assert "students have the same answers to the common items in both fits" in text


def test_a_question_with_another_key_is_another_question(runs: tuple[Path, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(runs[1], tmp_path / "copy")
    first = json.loads((copy / "exam.jsonl").read_text(encoding="utf-8").splitlines()[0])
    changed(copy, answer=(first["answer"] + 1) % 4)
    both = pair_runs(runs[0], copy)
    assert both.reworded == ("q000",)
    assert len(both.questions) == 49
    assert "1 questions have the same id and another text, key or choices" in " ".join(not_compared(both, None))


def test_choices_in_another_order_are_the_same_question(runs: tuple[Path, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(runs[1], tmp_path / "copy")
    first = json.loads((copy / "exam.jsonl").read_text(encoding="utf-8").splitlines()[0])
    changed(copy, answer=3 - first["answer"], choices=first["choices"][::-1])
    assert len(pair_runs(runs[0], copy).questions) == 50


def test_other_questions_leave_the_verdicts_side_by_side_and_say_why(runs: tuple[Path, Path], tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", seed=3, hostile=False)
    for name in ("exam.jsonl", "responses.csv"):
        path = other / name
        path.write_text(path.read_text(encoding="utf-8").replace("q0", "z0"), encoding="utf-8")
    text = Seen(write_comparison(runs[0], other).path.read_text(encoding="utf-8")).text
    assert "No question is word for word the same in both runs" in text
    assert "other has no fitted measurement model" in text
    assert "What each run by itself says is best" in text


def test_runs_with_nothing_in_common_are_refused_in_one_line(runs: tuple[Path, Path], tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", seed=3, hostile=False)
    for name in ("exam.jsonl", "responses.csv"):
        path = other / name
        path.write_text(path.read_text(encoding="utf-8").replace("q0", "z0"), encoding="utf-8")
    renamed(other, student="!", llm="!", retriever="!", icl="9")
    with pytest.raises(ValueError, match="no question, pipeline or component in common with") as caught:
        pair_runs(runs[0], other)
    assert "\n" not in str(caught.value)


def test_a_run_is_not_compared_with_itself(runs: tuple[Path, Path]) -> None:
    with pytest.raises(ValueError, match="the same folder as"):
        pair_runs(runs[0], runs[0])


def test_answers_that_only_one_run_has_are_left_out_and_counted(runs: tuple[Path, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(runs[1], tmp_path / "copy")
    table = pd.read_csv(copy / "responses.csv", dtype=str)
    table.loc[(table["item"] == "q003") & (np.arange(len(table)) < 10), "score"] = ""
    table.to_csv(copy / "responses.csv", index=False)
    found = accuracy_changes(pair_runs(runs[0], copy))
    assert found is not None
    assert (found.n_questions, found.left_out) == (49, 1)


def test_the_command_writes_where_it_is_told(runs: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "pages" / "two.html"
    done = CliRunner().invoke(app, ["report", *map(str, runs), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert done.output.strip() == str(out)
    assert out.stat().st_size < 5_000_000
    alone = CliRunner().invoke(app, ["report", str(runs[0]), "--out", str(out)])
    assert alone.exit_code != 0
    assert "wanted two runs with it" in str(alone.exception)


@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_of_two_runs_never_scrolls_sideways(page: ComparisonPage, browser: Chromium, width: int) -> None:
    browser.open(page.path, width=width)
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    assert browser.requests == [page.path.resolve().as_uri()]


@pytest.mark.skipif(PROGRAM is None or axe_source() is None, reason="needs Chromium and axe-core (AXE_CORE)")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_grave_fault_in_the_page_of_two_runs(page: ComparisonPage, browser: Chromium, dark: bool) -> None:
    browser.open(page.path, width=1280, dark=dark)
    assert grave_faults(browser) == []
