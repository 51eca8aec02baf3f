"""The page of a run that was fitted and pruned."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import irt
from examcore import IntervalEstimate
from ragexam.report import RunFindings, analyse_run, draw_costs, draw_retrieval, write_report
from ragexam.report._measurement_sections import components_section
from ragexam.report._page import render
from ragexam.report._pruning import pruning_record, pruning_section
from ragexam.report._question_groupings import BLOOM
from ragexam.report._run_evidence import read_evidence
from ragexam.report._run_figures import FIGURE_NAMES, grouped_information
from tests.chromium import PROGRAM, Chromium
from tests.page_text import Seen
from tests.ragexam.report.fitted_run import edit_json, write_fitted
from tests.ragexam.report.page_of_run import page_of

NOT_CONVERGED = "The measurement model did not converge"


@pytest.fixture
def copy(fitted: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(fitted, folder, ignore=shutil.ignore_patterns("figures", "report.html"))
    return folder


def test_every_figure_lies_as_pdf_and_png_beside_its_data(fitted: Path) -> None:
    for name in FIGURE_NAMES:
        assert (fitted / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert (fitted / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert len(pd.read_csv(fitted / "figures" / f"{name}.csv")) > 2


def test_figures_of_an_earlier_fit_do_not_stay(copy: Path) -> None:
    (copy / "figures").mkdir()
    (copy / "figures" / "exam_information.png").write_bytes(b"old")
    (copy / "figures" / "my own notes.txt").write_text("kept")
    shutil.rmtree(copy / "fit")
    write_report(analyse_run(copy))
    assert not (copy / "figures" / "exam_information.png").exists()
    assert (copy / "figures" / "my own notes.txt").exists()


def test_the_pictures_of_a_run_are_drawn_on_an_axes_of_ones_own_and_returned(findings: RunFindings) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    frontier = findings.frontier
    assert frontier is not None
    assert draw_costs(left, frontier.pipelines, frontier.unit) is left
    assert draw_retrieval(right, findings.reading) is right
    assert len(left.lines) == len(frontier.pipelines) + 1
    assert left.get_ylabel() == right.get_ylabel() == "Right answers, %"
    plt.close(figure)


def test_the_same_run_gives_the_same_page(fitted: Path, copy: Path) -> None:
    first = (fitted / "report.html").read_bytes()
    assert write_report(analyse_run(copy)).read_bytes() == first
    assert len(first) < 5_000_000


def test_figures_in_the_page_share_no_id_and_speak_to_a_screen_reader(fitted: Path) -> None:
    page = Seen((fitted / "report.html").read_text(encoding="utf-8"))
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    pictures = [attrs for tag, attrs in page.elements if tag == "svg"]
    assert len(pictures) == 7
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in pictures)
    assert page.count("style") == 1


def test_verdict_comes_from_the_fit_and_leaves_bounds_out(fitted: Path, findings: RunFindings) -> None:
    fit = irt.load_fit(fitted / "fit")
    best = findings.record()["best"]
    assert isinstance(best, dict)
    assert best["retriever"]["scale"] == "ability"
    ranked = fit.components[fit.components["facet"] == "retriever"].sort_values("effect", ascending=False)
    real = [level for level in ranked["level"] if level not in ("oracle", "closed-book")]
    assert ranked["level"].iloc[0] == "oracle"
    assert best["retriever"]["level"] == real[0]
    gap = fit.contrast("retriever", best["retriever"]["level"], best["retriever"]["runner_up"])
    assert best["retriever"]["gap"]["low"] == pytest.approx(gap.low, abs=1e-4)
    assert best["retriever"]["gap"]["high"] == pytest.approx(gap.high, abs=1e-4)


def test_probability_of_being_best_is_larger_without_the_oracle(fitted: Path, findings: RunFindings) -> None:
    everyone = irt.load_fit(fitted / "fit").probability_best("retriever").set_index("level")["probability"]
    best = findings.record()["best"]
    assert isinstance(best, dict)
    assert best["retriever"]["probability"] > everyone[best["retriever"]["level"]] + 0.3


@pytest.mark.parametrize("converged", [True, False])
def test_a_fit_that_did_not_converge_is_announced_beside_the_verdict(copy: Path, converged: bool) -> None:
    edit_json(copy / "fit" / "fit.json", converged=converged)
    found = analyse_run(copy)
    html = render(found, {})
    verdict = html[html.index('id="verdict"') : html.index('id="numbers"')]
    assert (NOT_CONVERGED in verdict) is not converged
    assert found.record()["converged"] is converged


def test_the_question_that_is_keyed_wrongly_is_shown_first(fitted: Path) -> None:
    html = (fitted / "report.html").read_text(encoding="utf-8")
    worst = html[html.index("To look at first") : html.index("Questions that carry the exam")]
    assert 'id="question-50"' in worst
    carry = html[html.index("Questions that carry the exam") : html.index("All other questions")]
    assert 'id="question-50"' not in carry


def test_components_table_shows_the_posterior_of_the_fit(fitted: Path) -> None:
    table = pd.read_csv(fitted / "figures" / "component_contrasts.csv")
    fit = irt.load_fit(fitted / "fit").components
    assert list(table["level"]) == list(fit["level"])
    assert table["low"].to_numpy() == pytest.approx(fit["low"].to_numpy(), abs=1e-5)


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (
            {"estimate": 0.12, "low": 0.03, "high": 0.22},
            "tells 12 % more than a question of an exam shortened at random",
        ),
        ({"estimate": 0.05, "low": -0.04, "high": 0.15}, "no gain can be claimed"),
        ({"estimate": -0.2, "low": -0.3, "high": -0.1}, "keep the whole exam"),
    ],
)
def test_gain_of_pruning_is_claimed_only_when_its_interval_excludes_zero(
    fitted: Path, gain: dict[str, float], words: str
) -> None:
    path = fitted / "pruned" / "prune.json"
    content = json.loads(path.read_text())
    sentences = pruning_section(pruning_record(path, content | {"heldout_gain": gain}), None).sentences
    assert words in " ".join(sentences).replace("\u00a0", " ")


def test_damaged_pruning_is_refused_by_name(copy: Path) -> None:
    (copy / "pruned" / "prune.json").write_text('{"kept": []}')
    with pytest.raises(ValueError, match=r"prune.json: no 'dropped'; wanted the record of a pruning"):
        analyse_run(copy)


def test_a_fit_of_a_newer_version_is_refused_in_one_line(copy: Path) -> None:
    edit_json(copy / "fit" / "fit.json", format=99)
    with pytest.raises(ValueError, match=r"fit.json: format 99") as caught:
        analyse_run(copy)
    assert "\n" not in str(caught.value)


def test_components_that_do_not_add_up_are_pointed_out(findings: RunFindings) -> None:
    model = findings.evidence.model
    assert model is not None
    apart = components_section(replace(model, residual=IntervalEstimate(0.8, 0.6, 1.0)), None)
    together = components_section(replace(model, residual=IntervalEstimate(0.05, 0.0, 0.1)), None)
    assert any("do not add up" in line for line in apart.warnings)
    assert list(together.warnings) == []


def test_labels_stored_with_a_question_win_over_those_read_off_its_text(copy: Path, findings: RunFindings) -> None:
    lines = [json.loads(line) for line in (copy / "exam.jsonl").read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["labels"] = {"bloom": ["evaluate"]}
    (copy / "exam.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    model = findings.evidence.model
    assert model is not None
    drawn = grouped_information(model, read_evidence(copy).questions, BLOOM)
    assert set(drawn["group"]) == {"evaluate"}


def test_one_language_model_leaves_a_page_with_two_components(tmp_path: Path) -> None:
    run = write_fitted(tmp_path, llms={"only": 0.0}, hostile=False, questions=30)
    assert "only is the only language model tried" in page_of(run).text
    model = read_evidence(run).model
    assert model is not None
    assert set(model.components["facet"]) == {"retriever", "icl"}


@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_figures_fit_the_screen_and_letters_stay_readable(fitted: Path, browser: Chromium, width: int) -> None:
    browser.open(fitted / "report.html", width=width)
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    edges = browser.evaluate("[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().right)")
    assert len(edges) == 7
    assert max(edges) <= width
    heights = browser.evaluate(
        "[...document.querySelectorAll('figure svg text')].map(t => t.getBoundingClientRect()"
        ").map(r => Math.min(r.width, r.height))"
    )
    assert min(heights) >= 4


@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")
def test_no_label_of_a_figure_is_cut(fitted: Path, browser: Chromium) -> None:
    browser.open(fitted / "report.html", width=1280)
    outside = browser.evaluate(
        """[...document.querySelectorAll('figure svg')].flatMap(s => {
          const box = s.getBoundingClientRect();
          return [...s.querySelectorAll('text')].filter(t => {
            const r = t.getBoundingClientRect();
            return r.left < box.left - 2 || r.right > box.right + 2 || r.top < box.top - 2 || r.bottom > box.bottom + 2;
          }).map(t => t.textContent);
        })"""
    )
    assert outside == []
