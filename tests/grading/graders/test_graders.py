"""Graders with a model that says what the test wants: rating, answers with verification, relevance."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from grading._records import BankQuestion, Combine, KeyAnswer
from grading.formats._grades import read_grades
from grading.formats._passages import Passage, PassageQuestion
from grading.graders._assessor import TOGETHER
from grading.graders._graders import (
    RELEVANCE,
    direct_relevance,
    grade_all,
    qa_grader,
    self_rating,
    write_grades,
)
from tests.grading.scripted import asking
from tests.scripted_model import ScriptedModel


def pair(
    *answers: str, query: str = "skin", passage: str = "p1", name: str = "q1", combine: Combine = "or"
) -> PassageQuestion:
    question = BankQuestion(name, query, f"What is {name}?", tuple(map(KeyAnswer, answers)), combine)
    return PassageQuestion(question, Passage(query, passage, f"The text of {passage} says something."))


def graded(reply: str, one: PassageQuestion, path: Path, verify: str = "words") -> tuple[float, str, str]:
    grader = qa_grader(
        asking(ScriptedModel(lambda prompt: "Yes." if prompt.reply == "Reply:" else reply), path), verify
    )  # type: ignore[arg-type]
    (found,) = grader.grade([one])
    return found.grade.grade, found.rule, found.grade.answer


@pytest.mark.parametrize(
    ("reply", "key", "expected"),
    [
        ("The epidermis.", "epidermis", (1, "match", "The epidermis.")),
        ("the dermis", "epidermis", (0, "no match", "the dermis")),
        ("unanswerable", "epidermis", (0, "unanswerable", "")),
        ("(iii)", "epidermis", (0, "ill-formed", "")),
        ("True", "true", (1, "match", "True")),
        ("No.", "no", (1, "match", "No.")),
        ("No.", "epidermis", (0, "unanswerable", "")),
        ("C", "C", (1, "match", "C")),
        ("unknown", "unknown", (1, "match", "unknown")),
    ],
)
def test_an_extracted_answer_is_1_only_when_it_meets_the_key(
    reply: str, key: str, expected: tuple[float, str, str], tmp_path: Path
) -> None:
    assert graded(reply, pair(key), tmp_path) == expected


def test_a_reply_without_words_is_no_grade_at_all(tmp_path: Path) -> None:
    grade, rule, answer = graded("...", pair("epidermis"), tmp_path)
    assert math.isnan(grade)
    assert (rule, answer) == ("unparsed", "")


def test_a_reply_that_no_file_can_hold_is_no_reply_and_the_rest_is_graded(tmp_path: Path) -> None:
    model = ScriptedModel(lambda prompt: "5 \ud800" if "p2" in prompt.user else "5")
    found = grade_all(self_rating(asking(model, tmp_path)), [pair(passage=f"p{number}") for number in range(1, 4)])
    assert [one.grade.passage for one in found.graded] == ["p1", "p3"]
    assert [one.grade.reply for one in found.lost] == ["a reply with half a character (a lone surrogate)"]


def test_a_model_verifies_only_what_the_words_reject_and_its_full_stop_is_no_no(tmp_path: Path) -> None:
    assert graded("the outermost one", pair("epidermis"), tmp_path, "model") == (1, "verified", "the outermost one")
    assert graded("unanswerable", pair("epidermis", passage="p3"), tmp_path, "model")[:2] == (0, "unanswerable")
    model = ScriptedModel(lambda prompt: "No" if prompt.reply == "Reply:" else "epidermis")
    grader = qa_grader(asking(model, tmp_path), "model")
    (found,) = grader.grade([pair("epidermis", passage="p2")])
    assert (found.rule, len(model.asked)) == ("match", 1)


def test_a_verification_that_fits_no_rule_is_unparsed(tmp_path: Path) -> None:
    model = ScriptedModel(lambda prompt: "perhaps" if prompt.reply == "Reply:" else "the outermost one")
    (found,) = qa_grader(asking(model, tmp_path), "model").grade([pair("epidermis")])
    assert math.isnan(found.grade.grade)
    assert (found.rule, found.grade.reply) == ("unparsed verification", "perhaps")


def test_questions_without_a_key_are_left_out_and_counted(tmp_path: Path) -> None:
    pairs = [pair("epidermis"), pair(name="q2")]
    found = grade_all(qa_grader(asking(ScriptedModel(lambda _: "epidermis"), tmp_path)), pairs)
    assert (len(found.graded), found.without_key) == (1, 1)
    with pytest.raises(ValueError, match=r"grader qa: no question has a key; wanted answers in the bank, or --grader"):
        grade_all(qa_grader(asking(ScriptedModel(), tmp_path)), pairs[1:])


def test_ratings_keep_their_order_over_several_groups(tmp_path: Path) -> None:
    pairs = [pair(passage=f"p{n}", name=f"q{n}") for n in range(TOGETHER + 9)]
    model = ScriptedModel(lambda prompt: str(int(prompt.user.rpartition("What is q")[2].rstrip("?")) % 6))
    found = list(self_rating(asking(model, tmp_path)).grade(pairs))
    assert [one.grade.grade for one in found] == [n % 6 for n in range(len(pairs))]
    assert [one.grade.passage for one in found] == [one.passage.id for one in pairs]


def test_relevance_asks_once_per_passage_by_the_querys_text(tmp_path: Path) -> None:
    model = ScriptedModel(lambda prompt: "2" if "Reply with one number" in prompt.user else "Yes.")
    pairs = [pair(name="q1"), pair(name="q2"), pair(name="q1", passage="p2")]
    for scale, grade in (("yes-no", 1), ("0-2", 2)):
        grader = direct_relevance(asking(model, tmp_path), scale, queries={"skin": "The integumentary system"})  # type: ignore[arg-type]
        found = list(grader.grade(grader.gradable(pairs)))
        assert [(one.grade.question, one.grade.passage, one.grade.grade) for one in found] == [
            (RELEVANCE, "p1", grade),
            (RELEVANCE, "p2", grade),
        ]
    assert all("Query: The integumentary system\n" in asked.user for asked in model.asked)


def test_shots_are_shown_with_both_ends_of_the_scale(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: "no")
    for shots, scale in ((0, "yes-no"), (4, "yes-no"), (4, "0-2")):
        list(direct_relevance(asking(model, tmp_path), scale, shots).grade([pair()]))  # type: ignore[arg-type]
    zero, words, levels = (one.user for one in model.asked)
    assert "Judgement:" not in zero
    assert words.count("Judgement: Yes") == words.count("Judgement: No") == 2
    assert [levels.count(f"Judgement: {n}") for n in (0, 1, 2)] == [2, 1, 1]


def test_the_summary_shows_what_could_not_be_parsed(tmp_path: Path) -> None:
    says = {"q0": "5", "q1": "...", "q2": "no number", "q3": "unanswerable"}
    model = ScriptedModel(lambda prompt: says[prompt.user.rpartition("What is ")[2].rstrip("?")])
    pairs = [pair(query=f"t{n // 2}", name=f"q{n}") for n in range(4)]
    run = grade_all(self_rating(asking(model, tmp_path)), pairs)
    told = run.summary()
    assert told["grades"] == {"0": 1, "1": 1, "5": 1}
    assert told["unparsed"] == 1
    assert told["unparsed_share"] == (0.25, 0.0, 0.5)
    assert told["unparsed_examples"] == [{"query": "t0", "passage": "p1", "question": "q1", "reply": "..."}]
    write_grades(tmp_path / "grades.jsonl", run.graded, "rating")
    again = read_grades(tmp_path / "grades.jsonl")
    assert [one.grade for one in again.grades if one.question != "q1"] == [5, 1, 0]
    assert again.unparsed == 1


def test_no_unparsed_reply_leaves_the_ends_of_the_share_open(tmp_path: Path) -> None:
    pairs = [pair(query=f"t{n}") for n in range(3)]
    told = grade_all(self_rating(asking(ScriptedModel(lambda _: "3"), tmp_path)), pairs).summary()
    assert told["unparsed_share"].as_dict() == {"estimate": 0.0, "low": None, "high": None}


def test_a_nugget_is_rated_as_a_fact_that_the_passage_states_and_not_as_a_question(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: "4")
    nugget = pair()._replace(question=BankQuestion("n1", "skin", "Skin has three layers", kind="nugget"))
    grader = self_rating(asking(model, tmp_path), nuggets=True)
    assert [one.grade.grade for one in grader.grade([nugget, pair()])] == [4, 4]
    fact, question = (one.user for one in model.asked)
    assert fact.endswith("Fact: Skin has three layers")
    assert "question" not in fact.lower()
    assert all(f"\n{level}: " in fact for level in range(6))
    assert question.endswith("Question: What is q1?")
    assert grader.settings == {"prompt": "rating-1", "nugget_prompt": "nugget-rating-1"}
    assert self_rating(asking(model, tmp_path)).settings == {"prompt": "rating-1"}


def test_the_prompt_holds_question_and_passage_and_the_scale(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: "3")
    list(self_rating(asking(model, tmp_path)).grade([pair()]))
    asked = model.asked[0].user
    assert "The text of p1 says something." in asked
    assert asked.endswith("Question: What is q1?")
    assert all(f"\n{level}: " in asked for level in range(6))
