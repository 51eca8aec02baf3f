"""The page: escaped, self-contained, honest about what is absent, readable at every width."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from pypdf import PdfReader

from ragexam.report import RunFindings, analyse_run, write_report
from tests.axe import axe_source, grave_faults
from tests.chromium import PROGRAM, Chromium
from tests.page_text import Seen
from tests.ragexam.report.page_of_run import page_of
from tests.ragexam.report.run_folder import HOSTILE, write_run

needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")
PAPER = 702
"""A4 less its margins, in CSS pixels."""


def summary_of(run: Path | RunFindings) -> dict[str, object]:
    """The summary of a run, or of what was found in it, as its record has it."""
    return (run if isinstance(run, RunFindings) else analyse_run(run)).record()


@pytest.fixture
def copy(bare: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(bare, folder, ignore=shutil.ignore_patterns("figures", "report.html"))
    return folder


def test_page_without_fit_and_pruning_says_so(bare: Path) -> None:
    page = Seen((bare / "report.html").read_text(encoding="utf-8"))
    assert "No measurement model was fitted: the verdict rests on accuracy alone." in page.text
    assert "The exam was not pruned" in page.text
    assert "Needs a fitted measurement model." in page.text


def test_hostile_question_text_is_text(bare: Path) -> None:
    html = (bare / "report.html").read_text(encoding="utf-8")
    page = Seen(html)
    assert page.count("script") == 1
    assert page.count("img") == 0
    assert page.count("h1") == 1
    assert "<script>document.title" not in html
    assert HOSTILE[0][:60] in page.text
    assert "{{ 7 * 7 }} $x_2$" in page.text


def test_the_page_of_free_text_grading_is_linked_where_there_is_one(copy: Path) -> None:
    (copy / "grading").mkdir()
    (copy / "grading" / "report.html").write_text("<p>grading")
    links = [given.get("href") for tag, given in page_of(copy).elements if tag == "a"]
    assert "grading/report.html" in links


def test_page_names_no_address_outside(bare: Path) -> None:
    page = Seen((bare / "report.html").read_text(encoding="utf-8"))
    links = [value for _, attrs in page.elements for name, value in attrs.items() if name in ("src", "href")]
    assert links
    assert all(str(link).startswith(("#", "figures/")) for link in links)
    policy = next(attrs for tag, attrs in page.elements if attrs.get("http-equiv") == "Content-Security-Policy")
    assert str(policy["content"]).startswith("default-src 'none'")


def test_every_link_of_the_page_leads_somewhere(bare: Path) -> None:
    page = Seen((bare / "report.html").read_text(encoding="utf-8"))
    ids = [str(attrs["id"]) for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in page.elements:
        link = str(attrs.get("href", ""))
        if link.startswith("#"):
            assert link[1:] in ids
        elif link.startswith("figures/"):
            assert (bare / link).is_file()


def test_summary_holds_json_types_and_agrees_with_the_page(bare: Path) -> None:
    summary = json.loads(json.dumps(summary_of(bare), allow_nan=False))
    text = Seen((bare / "report.html").read_text(encoding="utf-8")).text
    assert summary["n_questions"] == 50
    assert summary["n_pipelines"] == len(summary["accuracy"]) == 30
    gain = summary["oracle_minus_closed_book"]
    assert gain["low"] < gain["estimate"] < gain["high"]
    assert f"+{100 * gain['estimate']:.0f} points" in text
    assert summary["best"]["retriever"]["level"] not in ("oracle", "closed-book")
    assert summary["best"]["retriever"]["note"] in text
    assert summary["seconds"]["exam"] == 311.2


def test_one_language_model_is_not_compared(tmp_path: Path) -> None:
    run = write_run(tmp_path, llms={"smollm2-135m-instruct": 0.0}, hostile=False)
    found = analyse_run(run)
    best = summary_of(found)["best"]
    assert isinstance(best, dict)
    assert best["llm"]["probability"] is None
    assert best["llm"]["note"] == "Not compared: smollm2-135m-instruct is the only language model tried."
    assert "is the only language model tried" in page_of(found).text


def test_without_closed_book_the_value_of_passages_is_not_claimed(tmp_path: Path) -> None:
    run = write_run(tmp_path, retrievers={"bm25": 0.0, "oracle": 1.0}, hostile=False)
    found = analyse_run(run)
    gain = summary_of(found)["oracle_minus_closed_book"]
    assert gain == {"estimate": None, "low": None, "high": None}
    text = page_of(found).text
    assert "Needs both oracle and closed book among the retrievers." in text
    assert "bm25 is the only retriever tried" in text


def test_a_writer_that_also_sits_the_exam_is_pointed_out(tmp_path: Path) -> None:
    run = write_run(tmp_path, llms={"Qwen2.5-Coder-1.5B": 0.0, "gemma-3-270m": 0.1}, hostile=False)
    text = page_of(run).text
    assert "Qwen2.5-Coder-1.5B wrote and checked the questions and also sits the exam" in text
    other = write_run(tmp_path / "other", hostile=False)
    assert "also sits the exam" not in page_of(other).text


def test_a_passage_that_helps_nobody_is_pointed_out(tmp_path: Path) -> None:
    run = write_run(tmp_path, retrievers={"closed-book": 0.0, "bm25": 0.0, "oracle": 0.0}, hostile=False)
    text = page_of(run).text
    assert "this exam may not measure retrieval at all" in text


def test_longest_keys_are_pointed_out(copy: Path) -> None:
    lines = [json.loads(line) for line in (copy / "exam.jsonl").read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["choices"][line["answer"]] += " and this makes it the longest of them by far"
    (copy / "exam.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = analyse_run(copy)
    assert summary_of(found)["longest_answer_baseline"] == 1.0
    text = page_of(found).text
    assert "picking the longest choice pays" in text


def test_keys_always_at_the_same_position_are_pointed_out(copy: Path) -> None:
    lines = [json.loads(line) for line in (copy / "exam.jsonl").read_text(encoding="utf-8").splitlines()]
    (copy / "exam.jsonl").write_text("".join(json.dumps(line | {"answer": 1}) + "\n" for line in lines))
    found = analyse_run(copy)
    assert summary_of(found)["baselines_within_sampling_error"] == {"fixed": False, "longest": True}
    text = page_of(found).text
    assert "is too often at the same position" in text
    assert "not explained by chance" in text


def test_a_retriever_renamed_by_the_grid_is_still_a_bound(copy: Path) -> None:
    table = (copy / "responses.csv").read_text().replace("oracle", "gold-passage")
    (copy / "responses.csv").write_text(table)
    record = json.loads((copy / "run.json").read_text())
    record["configuration"]["grid"]["retrievers"] = ["bm25", {"name": "gold-passage", "kind": "oracle"}]
    (copy / "run.json").write_text(json.dumps(record))
    summary = summary_of(copy)
    assert summary["best"]["retriever"]["level"] != "gold-passage"  # type: ignore[index]
    assert summary["oracle_minus_closed_book"]["estimate"] > 0.2  # type: ignore[index]


def test_missing_answers_are_left_out_and_counted(copy: Path) -> None:
    lines = (copy / "responses.csv").read_text().splitlines()
    lines[1] = re.sub(r",[01],", ",,", lines[1])
    (copy / "responses.csv").write_text("\n".join(lines) + "\n")
    write_report(analyse_run(copy))
    with (copy / "figures" / "accuracy.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 10


def test_a_single_pipeline_gets_a_page_that_compares_nothing(tmp_path: Path) -> None:
    run = write_run(tmp_path, llms={"m": 0.0}, retrievers={"bm25": 0.0}, shots={"0": 0.0}, hostile=False)
    found = analyse_run(run)
    text = page_of(found).text
    assert "Nothing was compared: no component has two levels to choose from." in text
    assert summary_of(found)["verdict"] == ["Nothing was compared: no component has two levels to choose from."]


def test_responses_without_components_are_listed_by_pipeline(copy: Path) -> None:
    table = pd.read_csv(copy / "responses.csv", dtype=str)[["student", "item", "score"]]
    table.to_csv(copy / "responses.csv", index=False)
    text = page_of(copy).text
    assert "The answers name no components to compare." in text
    assert "gemma-3-270m+oracle+icl2" in text


@pytest.mark.parametrize("name", ["exam.jsonl", "responses.csv"])
def test_a_folder_that_is_no_run_is_refused_in_one_line(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(ValueError, match=rf"no {name}; wanted a run folder") as caught:
        analyse_run(copy)
    assert "\n" not in str(caught.value)
    assert not (copy / "report.html").exists()


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such folder; wanted a run folder"):
        summary_of(tmp_path / "nowhere")


def test_answers_of_another_exam_are_refused(copy: Path) -> None:
    table = (copy / "responses.csv").read_text().replace("q007", "z007")
    (copy / "responses.csv").write_text(table)
    with pytest.raises(ValueError, match=r"responses.csv:9: item 'z007' is no question of exam.jsonl"):
        analyse_run(copy)


def test_damaged_run_json_is_refused_by_name(copy: Path) -> None:
    (copy / "run.json").write_text("{")
    with pytest.raises(ValueError, match=r"run.json: malformed JSON .*; wanted one JSON object"):
        analyse_run(copy)


def test_a_page_without_run_json_still_stands(copy: Path) -> None:
    (copy / "run.json").unlink()
    assert "how the run was made is not known" in page_of(copy).text


@needs_chromium
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_page_never_scrolls_sideways(bare: Path, browser: Chromium, width: int) -> None:
    browser.open(bare / "report.html", width=width)
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    assert browser.evaluate("document.title").startswith("Which retrieval and prompting")


@needs_chromium
def test_page_asks_for_nothing_but_itself(bare: Path, browser: Chromium) -> None:
    page = bare / "report.html"
    browser.open(page, width=1280)
    assert browser.requests == [page.resolve().as_uri()]
    faults = [event for event in browser.events if event["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")]
    assert faults == []


@needs_chromium
def test_pipelines_sort_by_a_click(bare: Path, browser: Chromium) -> None:
    browser.open(bare / "report.html", width=1280)
    column = (
        "[...document.querySelector('#pipelines table.sortable').tBodies[0].rows].map(r => +r.cells[3].dataset.value)"
    )
    head = "document.querySelectorAll('#pipelines table.sortable th button')[3].click()"
    browser.evaluate(head)
    values = browser.evaluate(column)
    assert values == sorted(values)
    browser.evaluate(head)
    assert browser.evaluate(column) == sorted(values, reverse=True)


@needs_chromium
def test_empty_values_stay_last_in_either_direction(bare: Path, browser: Chromium) -> None:
    browser.open(bare / "report.html", width=1280)
    column = (
        "[...document.querySelector('#retrieval table.sortable').tBodies[0].rows].map(r => r.cells[3].dataset.value)"
    )
    head = "document.querySelectorAll('#retrieval table.sortable th button')[3].click()"
    for _ in range(2):
        browser.evaluate(head)
        assert browser.evaluate(column)[-1] == ""


@needs_chromium
def test_pipelines_are_filtered_by_component_and_counted(bare: Path, browser: Chromium) -> None:
    browser.open(bare / "report.html", width=1280)
    shown = (
        "[...document.querySelectorAll('#pipelines tbody tr')].filter(r => !r.hidden).map(r => r.cells[1].textContent)"
    )
    assert len(browser.evaluate(shown)) == 30
    browser.evaluate(
        """{const one = document.querySelectorAll('#pipelines select')[1];
        one.value = [...one.options].find(o => o.textContent === 'bm25').value;
        one.dispatchEvent(new Event('input'));}"""
    )
    assert browser.evaluate(shown) == ["bm25"] * 6
    assert browser.evaluate("document.querySelector('#pipelines output').textContent") == "6 of 30 pipelines shown"


@needs_chromium
def test_questions_are_filtered_by_fault_and_text(bare: Path, browser: Chromium) -> None:
    browser.open(bare / "report.html", width=1280)
    shown = (
        "[...document.querySelectorAll('#question-list [data-row]')].filter(r => r.checkVisibility()).map(r => r.id)"
    )
    browser.evaluate(
        """{const one = document.querySelector('#questions input');
        one.value = 'THIS WORD DO TO THE PAGE'; one.dispatchEvent(new Event('input'));}"""
    )
    assert browser.evaluate(shown) == ["question-13"]
    browser.evaluate(
        """{const one = document.querySelector('#questions select');
        one.value = 'none'; one.dispatchEvent(new Event('input'));}"""
    )
    assert browser.evaluate(shown) == []
    assert browser.evaluate("document.querySelector('#questions output').textContent") == "0 of 50 questions shown"


@needs_chromium
def test_a_link_to_a_question_opens_it_with_its_passage(bare: Path, browser: Chromium) -> None:
    browser.open(bare / "report.html", width=1280)
    assert not browser.evaluate("document.querySelector('#question-7 blockquote').checkVisibility()")
    browser.evaluate("document.querySelector('a[href=\"#question-7\"]').click()")
    browser.wait_until("document.querySelector('#question-7 blockquote').checkVisibility()")
    browser.open("about:blank", width=1280)
    browser.open(f"{(bare / 'report.html').resolve().as_uri()}#question-9", width=1280)
    browser.wait_until("document.querySelector('#question-9').open")


@needs_chromium
def test_essentials_stand_without_scripts(bare: Path, browser: Chromium) -> None:
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(bare / "report.html", width=1280)
        tree = browser.send("Accessibility.getFullAXTree")["nodes"]
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)
    names = {node.get("name", {}).get("value", "") for node in tree}
    assert {"Verdict", "What to change first", "Whole pipelines", "Questions"} <= names
    # Filters do nothing without scripts and are not shown.
    assert not any(node.get("role", {}).get("value") == "search" for node in tree)


@pytest.mark.skipif(PROGRAM is None or axe_source() is None, reason="needs Chromium and axe-core (AXE_CORE)")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_grave_fault(bare: Path, browser: Chromium, dark: bool, width: int) -> None:
    browser.open(bare / "report.html", width=width, dark=dark)
    assert grave_faults(browser) == []


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_from_its_ground(bare: Path, browser: Chromium, dark: bool) -> None:
    browser.open(bare / "report.html", width=1280, dark=dark)
    body = browser.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    assert _contrast(*body) >= 7
    soft = browser.evaluate("getComputedStyle(document.querySelector('.soft')).color")
    assert _contrast(soft, body[1]) >= 4.5


@needs_chromium
def test_tables_that_run_over_pages_repeat_their_heads_on_paper(bare: Path, browser: Chromium, tmp_path: Path) -> None:
    browser.open(bare / "report.html", width=1280)
    browser.print(tmp_path / "report.pdf")
    pages = [page.extract_text() for page in PdfReader(tmp_path / "report.pdf").pages]
    assert sum("remarks" in page for page in pages) >= 2
    assert f"1 / {len(pages)}" in pages[0]
    # Links to files beside the page are of no use on paper.
    assert not any("data · PDF" in page for page in pages)


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
def test_paper_is_white_nothing_is_wider_and_what_folds_is_unfolded(bare: Path, browser: Chromium, dark: bool) -> None:
    browser.open(bare / "report.html", width=PAPER, dark=dark)
    browser.send("Emulation.setEmulatedMedia", media="print")
    # What is too wide would make the browser print the whole page smaller.
    assert browser.evaluate("document.documentElement.scrollWidth") == PAPER
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.evaluate("document.querySelector('#pipelines table').checkVisibility({contentVisibilityAuto: true})")
    # Questions with their passages stay folded; filters are of no use.
    assert not browser.evaluate("document.querySelector('#questions .filters').checkVisibility()")


def _contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.1 between two `rgb(...)` colours."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
