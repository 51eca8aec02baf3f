"""The page of free-text grading: its numbers are those of the commands, its words are honest, hostile text is text."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ragexam.cli import app
from tests.axe import axe_source, grave_faults
from tests.chromium import PROGRAM, Chromium
from tests.grading.page.graded_folder import HOSTILE, SUBJECTS, lines, options, write_example
from tests.page_text import Seen

needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")


def told(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["grade", *words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


def page(folder: Path) -> Seen:
    return Seen((folder / "graded" / "report.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_example(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def result(place: Path) -> dict[str, Any]:
    found = told(
        "report", str(place / "graded"), *options(place), "--tau", "5", "--qrels", str(place / "official.qrels")
    )
    shutil.copy(place / "graded" / "report.html", place / "whole.html")
    return found


def whole(place: Path) -> Seen:
    return Seen((place / "whole.html").read_text(encoding="utf-8"))


def test_the_leaderboard_is_that_of_cover(place: Path, result: dict[str, Any]) -> None:
    runs = [str(place / f"{name}.run") for name in ("dense", "bm25", "random")]
    bank = ("--bank", str(place / "bank.jsonl"))
    cover = told("cover", str(place / "graded" / "grades.jsonl"), *runs, "--tau", "5", *bank)
    assert result["systems"] == {name: found["cover"] for name, found in cover["runs"].items()}
    assert (result["best"], result["systems"]["dense"]["estimate"]) == ("dense", pytest.approx(3 / 4))
    apart = {pair["second"]: pair["told_apart"] for pair in cover["pairs"] if pair["first"] == "dense"}
    assert result["told_apart_from_best"] == [name for name, one in apart.items() if one]


def test_the_verdict_names_the_best_system_and_how_sure_that_is(place: Path, result: dict[str, Any]) -> None:
    text = whole(place).text
    assert "dense answers most: 75 % (90 % interval 75 to 75 %) of the questions at tau 5." in text
    assert re.search(r"The data (cannot )?tell dense from (bm25|random)", text)
    assert "Intervals resample 6 queries; with fewer than 10 they are too narrow." in text
    assert text.index("dense answers most") < text.index("Probability of being best") < text.index("Tau is a choice")


def test_systems_that_tie_share_the_first_place(place: Path) -> None:
    found = told("report", str(place / "graded"), *options(place), "--tau", "4")
    assert found["systems"]["dense"] == found["systems"]["bm25"]
    text = page(place).text
    assert "dense and bm25 share the first place: each answers 75 % (90 % interval 75 to 75 %)" in text
    assert "tell dense from bm25" not in text


def test_questions_that_tell_nothing_are_counted_and_readable(place: Path, result: dict[str, Any]) -> None:
    assert (result["questions"], result["answered"], result["dead"], result["universal"]) == (24, 18, 6, 0)
    text = whole(place).text
    assert "Answered by no system (6)" in text
    assert "Does skin sing opera?" in text
    assert "Best passage: skin-p0, grade 5 epidermis plays a role here" in text


def test_replies_that_fit_no_rule_are_counted_and_shown(place: Path, result: dict[str, Any]) -> None:
    assert result["unparsed"] == 24
    text = whole(place).text
    assert "24 replies fit no rule, a share of 20 %" in text
    assert all(f"{query}-p4" in text for query in list(SUBJECTS)[:5])


def test_tau_is_chosen_by_judgements_and_other_taus_are_told(place: Path, result: dict[str, Any]) -> None:
    chosen = told("tau", str(place / "graded" / "grades.jsonl"), str(place / "official.qrels"))
    assert result["tau_held_out"] == {"tau": chosen["tau"], "kappa": chosen["held_out"]}
    text = whole(place).text
    assert "Used here: 5, as asked for (--tau)." in text
    assert "tau 5 (used)" in text
    unsaid = told("report", str(place / "graded"), "--qrels", str(place / "official.qrels"))
    assert unsaid["tau"] == chosen["tau"]


def test_what_was_left_out_and_how_it_was_made_stand_there(place: Path, result: dict[str, Any]) -> None:
    text = whole(place).text
    assert "Queries of the bank that random skips, counted 0: 1 (rust)." in text
    assert "Passages of random without a grade, of 10: 5 (skin-p4" in text
    assert "rating-1" in text
    assert "--grader rating --model python:assessors:seeker" in text
    assert "ragexam grade report" in text


def test_without_systems_passages_and_questions_are_told(place: Path) -> None:
    found = told("report", str(place / "graded"))
    assert (found["best"], found["systems"], found["tau"]) == (None, {}, 4.0)
    text = page(place).text
    assert "18 of 24 questions are answered by some passage at tau 4." in text
    assert "No system is compared: no run is given, and the grades name no system." in text


def test_articles_that_name_their_system_need_no_run(tmp_path: Path) -> None:
    (tmp_path / "graded").mkdir()
    names = ("A", "B")
    records = [
        {"query": f"t{n}", "passage": who, "system": who, "question": f"q{m}", "grade": int(who == "A" or m > n)}
        for n in range(3)
        for who in names
        for m in range(3)
    ]
    lines(tmp_path / "graded" / "grades.jsonl", records)
    found = told("report", str(tmp_path / "graded"))
    assert (found["best"], found["tau"], found["k"]) == ("A", 1.0, None)
    assert found["systems"]["B"]["estimate"] == pytest.approx((2 + 1 + 0) / 9)
    text = page(tmp_path).text
    assert "EXAM, tau 1" in text
    assert "No bank is known" in text
    assert "run.json absent" in text


def test_the_command_that_is_kept_grades_the_same(place: Path) -> None:
    grades, record = place / "graded" / "grades.jsonl", json.loads((place / "graded" / "run.json").read_text())
    before = grades.read_bytes()
    again = told(*shlex.split(record["command"])[2:])
    assert (again["usage"]["calls"], grades.read_bytes()) == (again["usage"]["cached"], before)


def test_systems_that_returned_the_passages_are_compared(place: Path, tmp_path: Path) -> None:
    texts = [json.loads(line) for line in (place / "passages.jsonl").read_text().splitlines()]
    returned = [{**one, "system": "even" if int(one["passage"][-1]) % 2 == 0 else "odd"} for one in texts]
    found = told("report", str(place / "graded"), "--passages", str(lines(tmp_path / "passages.jsonl", returned)))
    assert set(found["systems"]) == {"even", "odd"}
    assert "The systems are those of the file of passages, in its order." in page(place).text


def test_a_bank_that_changed_since_is_not_read(tmp_path: Path) -> None:
    folder = write_example(tmp_path)
    with (folder / "bank.jsonl").open("a") as bank:
        bank.write('{"id": "new", "query": "skin", "question": "What else?"}\n')
    assert told("report", str(folder / "graded"))["questions"] == 24
    assert "has changed since and is not read" in page(folder).text
    assert told("report", str(folder / "graded"), "--bank", str(folder / "bank.jsonl"))["questions"] == 25
    assert "Without a parsed grade (1)" in page(folder).text


def test_hostile_text_is_text_and_long_words_are_clipped(tmp_path: Path) -> None:
    folder = write_example(tmp_path, hostile=HOSTILE + "x" * 10_000)
    told("report", str(folder / "graded"), *options(folder))
    seen = page(folder)
    assert seen.count("script") == 1
    assert seen.count("img") == 0
    assert "<script>document.title='owned'</script>" in seen.text
    assert "characters in all)" in seen.text
    assert not re.search("x{1000}", seen.text)


def test_texts_name_their_language_and_direction(tmp_path: Path) -> None:
    arabic = "القطار الأحمر يصل إلى المحطة ظهرا وينتظر هناك ساعة كاملة"
    texts = {"trains": f"{arabic}.", "skin": "The outermost layer of the skin is the epidermis, and it has no vessels."}
    asked = {"trains": f"متى {arabic}؟", "skin": "Which layer of the skin is the outermost one of all?"}
    bank = lines(tmp_path / "bank.jsonl", [{"id": one, "query": one, "question": asked[one]} for one in asked])
    given = lines(tmp_path / "p.jsonl", [{"query": one, "passage": "p", "text": texts[one]} for one in texts])
    words = [str(bank), str(given), "--model", "python:assessors:seeker", "--out", str(tmp_path / "out"), "-q"]
    assert CliRunner().invoke(app, ["grade", "run", *words]).exit_code == 0
    told("report", str(tmp_path / "out"))
    page = (tmp_path / "out" / "report.html").read_text()
    for one, attributes in (("trains", 'lang="ar" dir="rtl"'), ("skin", 'lang="en" dir="auto"')):
        assert f'<p class="stem" {attributes}>{asked[one]}</p>' in page
        assert f"<blockquote {attributes}>{texts[one]}</blockquote>" in page


def test_the_page_names_no_address_outside_and_its_links_lead_somewhere(place: Path, result: dict[str, Any]) -> None:
    seen = whole(place)
    named = [value for _, given in seen.elements for key, value in given.items() if key in ("href", "src")]
    anchors = {given.get("id") for _, given in seen.elements}
    assert named
    assert all(value and value.startswith("#") and value[1:] in anchors for value in named)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("grades.jsonl", None, r"has no grades.jsonl; wanted a folder that `ragexam grade run` wrote"),
        ("run.json", "{", r"run.json:1: malformed JSON .*; wanted one JSON object"),
        ("run.json", "[]", r"run.json: found JSON list; wanted an object"),
    ],
)
def test_a_folder_that_is_none_is_refused(place: Path, tmp_path: Path, name: str, content: str, message: str) -> None:
    shutil.copytree(place / "graded", tmp_path / "graded")
    if content is None:
        (tmp_path / "graded" / name).unlink()
    else:
        (tmp_path / "graded" / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        told("report", str(tmp_path / "graded"))


def test_judgements_and_taus_that_do_not_fit_are_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "other.qrels").write_text("q9 0 d 1\n")
    with pytest.raises(ValueError, match=r"other.qrels: none of its 1 judgements \(such as of 'd' of query 'q9'\) is"):
        told("report", str(place / "graded"), "--qrels", str(tmp_path / "other.qrels"))
    with pytest.raises(ValueError, match=r"tau: 0; wanted above 0"):
        told("report", str(place / "graded"), "--tau", "0")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--tau 9", r"grades.jsonl: the highest grade is 5; wanted one of 9 or more \(--tau\)"),
        (
            "--run other.run",
            r"other.run: none of its 1 passages \(such as 'd' of query 'skin'\) is graded in .*grades.js",
        ),
        (
            "--bank other.jsonl",
            r"other.jsonl: has none of the questions graded \(such as 'skin-0' of query 'skin'\); want",
        ),
        ("--bank wide.jsonl", r"wide.jsonl: 2 of 3 queries \(such as 'moss', question 'm'\) have no grade in .*grades"),
        (
            "--passages texts.jsonl",
            r"texts.jsonl: has none of the passages graded \(such as 'skin-p0' of query 'skin'\)",
        ),
    ],
)
def test_what_has_nothing_in_common_with_the_grades_is_refused(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.run").write_text("skin Q0 d 1 1.0 other\n")
    lines(Path("other.jsonl"), [{"id": "other", "query": "skin", "question": "Why?"}])
    wide = {"skin": "skin-0", "moss": "m", "fern": "f"}
    lines(Path("wide.jsonl"), [{"id": name, "query": query, "question": "Why?"} for query, name in wide.items()])
    lines(Path("texts.jsonl"), [{"query": "skin", "passage": "other", "text": "Nothing"}])
    with pytest.raises(ValueError, match=message):
        told("report", str(place / "graded"), *words.split())


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_its_window_and_asks_for_nothing(
    place: Path, result: dict[str, Any], browser: Chromium, width: int
) -> None:
    browser.open(place / "whole.html", width=width)
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    assert browser.requests == [(place / "whole.html").resolve().as_uri()]
    assert [one for one in browser.events if one["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")] == []
    if width == 1280:
        assert browser.evaluate("document.querySelector('.verdict table').getBoundingClientRect().bottom") < 900


@pytest.mark.skipif(PROGRAM is None or axe_source() is None, reason="needs Chromium and axe-core (AXE_CORE)")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_grave_fault_in_the_page_of_grading(
    place: Path, result: dict[str, Any], browser: Chromium, dark: bool
) -> None:
    browser.open(place / "whole.html", width=1280, dark=dark)
    assert grave_faults(browser) == []
