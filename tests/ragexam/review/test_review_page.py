import json
import re
from pathlib import Path
from typing import Any

import pytest

from exam_gen.review._edits import read_edits
from examcore import read_exam
from ragexam.review import BlindAudit, ExamEditor
from tests.chromium import PROGRAM, Chromium
from tests.ragexam.review.reviewed_run import HOSTILE, hostile_run, plain_run, served

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")
DIALOG = "Page.javascriptDialogOpening"
TITLE = "document.querySelector('#question h2')?.textContent"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return plain_run(tmp_path / "run")


def said(tab: Chromium, words: str) -> None:
    tab.wait_until(f"document.getElementById('said').textContent.includes({json.dumps(words)})")


def at(tab: Chromium, number: int) -> None:
    tab.wait_until(f"{TITLE} === 'Question {number}'")


def faults(tab: Chromium) -> list[Any]:
    return [one["params"] for one in tab.events if one["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")]


def choose_filter(tab: Chromium, name: str) -> None:
    tab.evaluate(f"document.getElementById('filter').value = {json.dumps(name)}")
    tab.evaluate("document.getElementById('filter').dispatchEvent(new Event('change'))")


def test_an_exam_is_reviewed_from_the_keyboard_alone(run: Path, browser: Chromium) -> None:
    with served(ExamEditor(run)) as server:
        browser.open(server.address, width=1280)
        at(browser, 1)
        browser.press("j")
        browser.press("j")
        browser.press("k")
        at(browser, 2)
        browser.press("a")
        at(browser, 3)
        browser.press("r")
        browser.press("1")
        said(browser, "Retired")
        browser.press("u")
        said(browser, "Undone: retire of question 3")
        browser.press("e")
        browser.wait_until("document.activeElement.id === 'edit-stem'")
        browser.evaluate("document.activeElement.select()")
        browser.write("Which </textarea><b>new</b> stem?")
        browser.press("Enter", control=True)
        said(browser, "Saved")
        assert browser.evaluate("document.querySelector('.stem').textContent") == "Which </textarea><b>new</b> stem?"
        browser.press("w")
        said(browser, "12 questions written")
        assert faults(browser) == []
    actions = [(edit.action, edit.question) for edit in read_edits(run / "edits.jsonl")]
    assert actions == [("accept", "q1"), ("retire", "q2"), ("undo", "q2"), ("edit", "q2")]
    assert read_exam(run / "reviewed.jsonl").questions[2].stem == "Which </textarea><b>new</b> stem?"


def test_a_dropped_question_is_found_and_restored(run: Path, browser: Chromium) -> None:
    with served(ExamEditor(run)) as server:
        browser.open(server.address, width=1280)
        at(browser, 1)
        choose_filter(browser, "rule:answer leak")
        at(browser, 13)
        assert (
            browser.evaluate("document.querySelector('.reason').textContent") == "Out of the exam: answer leak: 3 words"
        )
        browser.press("r")
        said(browser, "Restored")
        browser.press("/")
        browser.wait_until("document.activeElement.id === 'search'")
        browser.write("d3")
        at(browser, 16)
        assert browser.evaluate("document.querySelectorAll('.row').length") == 1
    assert [edit.action for edit in read_edits(run / "edits.jsonl")] == ["restore"]


def test_keys_that_are_typed_decide_nothing(run: Path, browser: Chromium) -> None:
    with served(ExamEditor(run)) as server:
        browser.open(server.address, width=1280)
        at(browser, 1)
        browser.press("/")
        browser.wait_until("document.activeElement.id === 'search'")
        for key in "aru":
            browser.press(key)
        browser.press("Escape")
        browser.press("?")
        browser.wait_until("document.getElementById('keys').open")
        for key in "aru":
            browser.press(key)
        browser.press("Escape")
        browser.wait_until("!document.getElementById('keys').open")
        browser.press("a", control=True)
        browser.press("j")
    assert read_edits(run / "edits.jsonl") == []


def test_what_cannot_be_saved_is_said_and_the_text_kept(run: Path, browser: Chromium) -> None:
    with served(ExamEditor(run)) as server:
        browser.open(server.address, width=1280)
        at(browser, 1)
        browser.press("e")
        browser.wait_until("!!document.querySelector('.editor')")
        browser.evaluate("document.querySelectorAll('.editor li textarea')[1].value = 'answer 0'")
        browser.press("Enter", control=True)
        said(browser, 'choice "answer 0" stands twice')
        assert browser.evaluate("document.querySelectorAll('.editor li textarea')[1].value") == "answer 0"
        browser.press("Escape")
        browser.wait_until("!document.querySelector('.editor')")
        assert [one["params"]["type"] for one in browser.events if one["method"] == DIALOG] == ["confirm"]
    assert read_edits(run / "edits.jsonl") == []


def test_two_pages_do_not_decide_over_each_other(run: Path, browser: Chromium) -> None:
    desk = ExamEditor(run)
    with served(desk) as server:
        browser.open(server.address, width=1280)
        at(browser, 1)
        desk.act("q0", "retire", seen=0, content={})
        browser.press("a")
        said(browser, "another page changed the review")
        browser.wait_until("document.querySelector('.reason')?.textContent.includes('retired')")
        browser.press("u")
        said(browser, "Undone: retire")
    assert [edit.action for edit in read_edits(run / "edits.jsonl")] == ["retire", "undo"]


def test_hostile_text_neither_runs_nor_breaks_the_page(tmp_path: Path, browser: Chromium) -> None:
    desk = ExamEditor(hostile_run(tmp_path / "run"))
    with served(desk) as server:
        browser.open(server.address, width=1280)
        at(browser, 1)
        choose_filter(browser, "all")
        browser.wait_until("document.getElementById('count').textContent.includes('of 24')")
        for number in range(1, 25):
            at(browser, number)
            browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
            assert browser.evaluate("document.documentElement.scrollWidth") == 1280
            if number <= len(HOSTILE):
                browser.press("e")
                browser.wait_until("!!document.querySelector('.editor')")
                browser.press("Escape")
            browser.press("j")
        said(browser, "This is the last")
        assert (
            browser.evaluate("document.querySelectorAll('#question script, #question img, #question svg, base').length")
            == 0
        )
        assert browser.evaluate("'pwned' in window") is False
        assert browser.evaluate("document.querySelectorAll('style').length") == 0
        assert all(one.startswith((server.address, "data:")) for one in browser.requests)
        assert faults(browser) == []
        assert [one for one in browser.events if one["method"] == DIALOG] == []


def test_an_edit_of_one_choice_leaves_hostile_characters_as_they_were(tmp_path: Path, browser: Chromium) -> None:
    run = hostile_run(tmp_path / "run")
    desk = ExamEditor(run)
    with served(desk) as server:
        browser.open(server.address, width=1280)
        at(browser, 1)
        for number in range(2, 7):
            browser.press("j")
            at(browser, number)
        browser.press("e")
        browser.wait_until("!!document.querySelector('.editor')")
        browser.evaluate("document.querySelectorAll('.editor li textarea')[0].value = 'plain'")
        browser.press("Enter", control=True)
        said(browser, "Saved")
    written = read_exam(run / "exam.jsonl").questions[5]
    edit = read_edits(run / "edits.jsonl")[0]
    assert edit.after == {"choices": ["plain", *written.choices[1:]], "read": True}


def test_a_blind_audit_is_judged_from_the_keyboard(run: Path, browser: Chromium) -> None:
    desk = BlindAudit(run, 3, 0)
    with served(desk) as server:
        browser.open(server.address, width=1280)
        for number in range(1, 7):
            browser.wait_until(f"{TITLE} === 'Item {number} of 6'")
            assert browser.evaluate("document.querySelectorAll('.key, mark').length") == 0
            assert "leak" not in browser.evaluate("document.body.textContent")
            browser.press("2")
            browser.wait_until("!!document.querySelector('.judging')")
            if number == 4:
                browser.press("1")
                browser.press("3")
                browser.press("Enter")
            else:
                browser.press("s")
        browser.wait_until(f"{TITLE} === 'The audit is complete'")
        assert "answer leak" in browser.evaluate("document.body.textContent")
        assert faults(browser) == []
    assert {number: one.faults for number, one in desk.judgments.items()} == {
        **dict.fromkeys(range(1, 7), ()),
        4: ("wrong key", "not self-contained"),
    }


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 800, 1280])
def test_the_page_fits_its_width_and_every_text_stands_out(
    run: Path, browser: Chromium, width: int, dark: bool
) -> None:
    desk = ExamEditor(run)
    desk.act("q0", "accept", seen=0, content={})
    desk.act("d0", "restore", seen=1, content={})
    with served(desk) as server:
        browser.open(server.address, width=width, dark=dark)
        at(browser, 1)
        assert browser.evaluate("document.documentElement.scrollWidth") == width
        low = [one for one in browser.evaluate(CONTRASTS) if one[1] < 4.5]
        assert low == []
        browser.press("Tab")
        assert browser.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
        unnamed = browser.evaluate(
            "[...document.querySelectorAll('input, select, textarea, button')].filter(one =>"
            " !one.labels?.length && !one.ariaLabel && !one.textContent.trim()).map(one => one.outerHTML)"
        )
        assert unnamed == []


CONTRASTS = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const ground = (one) => {
    for (let up = one; up; up = up.parentElement) {
      const colour = rgb(getComputedStyle(up).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const hasText = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  return [...document.querySelectorAll('body *')]
    .filter((one) => one.checkVisibility() && one.tagName !== 'KBD' && !one.disabled && hasText(one))
    .map((one) => {
      const [high, low] = [light(rgb(getComputedStyle(one).color)), light(ground(one))].sort((x, y) => y - x);
      return [`${one.tagName}.${one.className} ${one.textContent.slice(0, 30)}`, (high + 0.05) / (low + 0.05)];
    });
})()
"""


def test_the_contrasts_are_measured(run: Path, browser: Chromium) -> None:
    with served(ExamEditor(run)) as server:
        browser.open(server.address, width=1280)
        at(browser, 1)
        found = browser.evaluate(CONTRASTS)
        assert len(found) > 20
        assert max(ratio for _, ratio in found) <= 21
        assert any(re.match(r"H1", name) and ratio > 12 for name, ratio in found)
