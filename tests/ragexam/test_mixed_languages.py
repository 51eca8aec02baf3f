"""A run in several languages: what a reader is told, and how its texts stand in the pages and figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragexam._config import ExamConfig
from ragexam._exam_table import exam_table
from ragexam.report import analyse_run
from ragexam.report._component_names import level_name
from ragexam.report._page import render
from ragexam.report._question_groupings import FORM
from ragexam.report.comparison import write_comparison
from ragexam.review import BlindAudit, ExamEditor
from ragexam.review._marked_passage import pieces
from tests.command_line import ragexam_here
from tests.page_text import Seen
from tests.ragexam.mixed_languages import ARABIC, GERMAN, JAPANESE, mixed_run

NOTICE = "9 of 12 questions are not in English (3 in Arabic, 3 in Japanese and 3 in German): "


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mixed_run(tmp_path_factory.mktemp("mixed"))


@pytest.fixture(scope="module")
def html(run: Path) -> str:
    return render(analyse_run(run), {})


def test_page_statistics_and_the_end_of_a_run_say_which_rules_do_not_read_the_questions(run: Path, html: str) -> None:
    table = exam_table(run)
    assert table.notice.startswith(NOTICE)
    assert table.lines()[-1] == f"note: {table.notice}"
    assert table.record()["notice"] == table.notice
    assert table.record()["languages"] == {"ar": 3, "ja": 3, "de": 3, "en": 3}
    assert any(line.startswith(f"note: {NOTICE}") for line in analyse_run(run).lines())
    assert NOTICE in Seen(html).text


def test_texts_in_the_report_carry_their_language_and_direction(html: str) -> None:
    seen = [(tag, given.get("lang"), given.get("dir")) for tag, given in Seen(html).elements]
    for tag, each in (("span", 3), ("ol", 3), ("blockquote", 3), ("td", 6)):
        assert seen.count((tag, "ar", "rtl")) == each
        for code in ("ja", "de", "en"):
            assert seen.count((tag, code, "auto")) == each


def test_cards_of_a_comparison_carry_the_language_and_direction_of_their_question(run: Path, tmp_path: Path) -> None:
    other = mixed_run(tmp_path / "other", answers_seed=1)
    seen = [(tag, given.get("dir")) for tag, given in Seen(write_comparison(run, other).path.read_text()).elements]
    assert seen.count(("ol", "rtl")) == seen.count(("blockquote", "rtl")) > 0


def test_a_name_read_from_right_to_left_does_not_reorder_the_numbers_behind_it(html: str) -> None:
    assert level_name("llm", "small") == "small"
    assert level_name("llm", "نموذج") == "\u2068نموذج\u2069"
    assert "\u2068الميناء\u2069 (3)" in html
    assert "港 (3)" in html


def test_texts_in_any_language_are_escaped(html: str) -> None:
    page = Seen(html)
    assert "<b>الكبيرة</b>" not in html
    assert "&lt;b&gt;الكبيرة&lt;/b&gt;" in html
    assert "<bdi>箱 &amp; 袋</bdi>" in html
    assert page.count("script") == 1


def test_the_review_page_is_told_the_language_and_direction_of_texts(run: Path) -> None:
    editor, audit = ExamEditor(run), BlindAudit(run, 12, 0)
    wanted = [{"lang": code, "dir": "rtl" if code == "ar" else "auto"} for code in ("ar", "ja", "de", "en")]
    start = editor.reads["start"]({})
    assert [row["spoken"] for row in start["rows"][:4]] == wanted  # type: ignore[index]
    assert [editor.reads["question"]({"n": str(n)})["spoken"] for n in range(1, 5)] == wanted  # type: ignore[index]
    assert {str(audit.reads["item"]({"n": "1"})["spoken"])} <= set(map(str, wanted))  # type: ignore[index]


def test_a_key_is_marked_in_a_passage_without_spaces() -> None:
    passage = str(JAPANESE["context"])
    assert ("帳簿", "key") in pieces(passage, "帳簿")
    assert pieces("コマンドtarとstart", "tar") == [("コマンド", ""), ("tar", "key"), ("とstart", "")]
    assert ("Kisten", "key") not in pieces(str(GERMAN["context"]), "iste")
    assert ("السفن", "key") in pieces(str(ARABIC["context"]), "السفن")


def test_questions_are_grouped_by_the_words_of_their_own_language(run: Path) -> None:
    questions = analyse_run(run).evidence.questions
    grouped = FORM.groups(questions)
    known = [one.id for one in questions if one.language in ("en", "de")]
    assert sorted(name for ids in grouped.values() for name in ids) == known
    assert {one.id for one in questions if one.language == "de"} <= set(grouped["what"])


def test_the_language_of_an_exam_is_a_setting_that_a_run_stores_only_where_it_is_named(tmp_path: Path) -> None:
    given = {"run": tmp_path, "corpus": {"source": "documents"}}
    usual, german = (ExamConfig.model_validate({**given, "exam": exam}) for exam in ({}, {"language": "de"}))
    assert "language" not in usual.model_dump(mode="json")["exam"]
    assert german.model_dump(mode="json")["exam"]["language"] == "de"


def test_an_unknown_language_of_an_exam_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.txt").write_text(str(GERMAN["context"]), encoding="utf-8")
    done = ragexam_here("generate", "documents", "--out", "run", "--set", "exam.language=klingon", folder=tmp_path)
    assert done.returncode == 2
    assert "exam.language is 'klingon'; wanted one of ar, bg" in done.stderr
    assert len(done.stderr.splitlines()) == 1
