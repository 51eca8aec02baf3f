"""Published judges by name: what each is shown, how its reply is read, and the table of the manual."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import get_args

import pytest

from grading._records import BankQuestion
from grading.formats._grades import ReadGrades
from grading.formats._passages import Passage, PassageQuestion
from grading.graders._graders import RELEVANCE, published_judge
from grading.graders._grading_run import JudgeName
from grading.graders._relevance_judges import RELEVANCE_JUDGES, SOLVED_EXAMPLES
from grading.page._evidence import default_tau
from tests.grading.scripted import asking
from tests.grading.test_known_faults import ROOT
from tests.scripted_model import ScriptedModel

QUERY, TEXT = "the integumentary system", "Skin has three layers."


def graded(name: str, reply: str, path: Path) -> tuple[float, str]:
    question = BankQuestion("q1", "t1", "Which layers has it?")
    pairs = [PassageQuestion(question, Passage("t1", "p1", TEXT))]
    grader = published_judge(asking(ScriptedModel(reply), path), name, {"t1": QUERY})
    (found,) = grader.grade(grader.gradable([*pairs, *pairs]))
    assert (grader.name, found.grade.question, found.grade.passage) == (name, RELEVANCE, "p1")
    return found.grade.grade, found.rule


@pytest.mark.parametrize(
    ("name", "reply", "grade"),
    [
        ("umbrela", "M: 3\nT: 2\n##final score: 2", 2),
        ("umbrela", "##final score: 3", 3),
        ("umbrela", "M: 1, T: 3, O: 0", 0),
        ("umbrela", '{"M": 2, "T": 1, "O": 1}', 1),
        ("umbrela", "2", 2),
        ("thomas", "2", 2),
        ("thomas", "1 = relevant", 1),
        ("faggioli", "Yes", 1),
        ("faggioli-few", "No.", 0),
        ("helm", "Yes.", 1),
        ("sun", "No", 0),
        ("sun-few", "Yes", 1),
    ],
)
def test_a_reply_on_the_scale_of_the_source_is_the_grade(name: str, reply: str, grade: float, tmp_path: Path) -> None:
    assert graded(name, reply, tmp_path)[0] == grade


@pytest.mark.parametrize("name", RELEVANCE_JUDGES)
@pytest.mark.parametrize("reply", ["", "perhaps", "5", "yes and no"])
def test_a_reply_on_no_scale_is_unparsed_and_neither_0_nor_relevant(name: str, reply: str, tmp_path: Path) -> None:
    grade, rule = graded(name, reply, tmp_path)
    assert (math.isnan(grade), rule) == (True, "unparsed")


@pytest.mark.parametrize("name", RELEVANCE_JUDGES)
def test_a_judge_is_shown_the_querys_text_the_passage_and_every_level(name: str) -> None:
    judge = RELEVANCE_JUDGES[name]
    asked = judge.prompt(QUERY, TEXT).user
    assert f"{judge.asked_as}: {QUERY}" in asked
    assert f"Passage: {TEXT}" in asked
    if judge.highest > 1:
        assert all(f"\n{level}: " in asked for level in range(judge.highest + 1))
    else:
        assert "Yes" in asked
        assert "No" in asked


@pytest.mark.parametrize("name", ["faggioli-few", "sun-few"])
def test_few_shot_judges_see_two_queries_answered_yes_no_no_yes_then_the_passage_before_the_query(name: str) -> None:
    asked = RELEVANCE_JUDGES[name].prompt(QUERY, TEXT).user
    assert re.findall(r"^Answer: (\w+)$", asked, re.MULTILINE) == ["Yes", "No", "No", "Yes"]
    assert [one.query for one in SOLVED_EXAMPLES[::2]] == [one.query for one in SOLVED_EXAMPLES[1::2]]
    assert asked.index(TEXT) < asked.index(QUERY)
    zero = RELEVANCE_JUDGES[name.removesuffix("-few")].prompt(QUERY, TEXT).user
    assert zero.index(QUERY) < zero.index(TEXT)
    assert "Answer:" not in zero
    assert asked.split("\n\n")[0] == zero.split("\n\n")[0]


def test_umbrela_weighs_match_and_trust_before_the_final_score() -> None:
    asked = RELEVANCE_JUDGES["umbrela"].prompt(QUERY, TEXT).user
    places = [asked.index(one) for one in (TEXT, "(M)", "(T)", "(O)", "##final score")]
    assert places == sorted(places)


def test_every_judge_has_a_name_on_the_command_line_and_a_row_of_the_manual() -> None:
    assert get_args(JudgeName) == tuple(RELEVANCE_JUDGES)
    page = (ROOT / "docs" / "free-text" / "banks.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| [^|]+ \| 0 (?:or|to) (\d) \| \d \|", page, re.MULTILINE))
    assert rows == {name: str(one.highest) for name, one in RELEVANCE_JUDGES.items()}


def test_the_page_takes_the_level_from_which_the_source_calls_a_passage_relevant() -> None:
    levels = {name: default_tau(ReadGrades(()), {"grader": name}) for name in RELEVANCE_JUDGES}
    assert levels["umbrela"] == 2
    assert {level for name, level in levels.items() if name != "umbrela"} == {1}
