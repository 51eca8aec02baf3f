"""What is wrong with a question is read off the answers: guessable, keyed wrongly, dependent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import irt
from examcore import Question
from ragexam.report._question_faults import (
    DEPENDENT,
    GUESSABLE,
    MISKEYED,
    TOO_EASY,
    TOO_HARD,
    AnswerSigns,
    answer_signs,
    faults_of,
    reason,
)
from ragexam.report._questions_section import LISTED, questions_section
from ragexam.report._run_evidence import read_evidence
from tests.ragexam.report.run_folder import write_answers, write_run

CHOICES = ("a", "b", "c", "d")


def fitted(run: Path, model: str) -> None:
    data = irt.read_responses(run / "responses.csv")
    irt.fit(data, model=model, method="map", facets=["llm", "retriever", "icl"], seed=0).save(run / "fit")


def question(name: str, **more: object) -> Question:
    return Question(name, f"What is {name}?", CHOICES, 0, **more)  # type: ignore[arg-type]


def test_a_question_that_most_answer_without_a_passage_is_guessable() -> None:
    assert faults_of(question("q"), AnswerSigns({"q": 0.8}, {"q": (6, 8)})) == [GUESSABLE]
    assert faults_of(question("q"), AnswerSigns({"q": 0.8}, {"q": (5, 8)})) == []
    assert faults_of(question("q"), AnswerSigns({"q": 0.8}, {"q": (2, 2)})) == []
    assert "6 of 8 closed-book" in reason(question("q"), GUESSABLE, AnswerSigns({}, {"q": (6, 8)}), {})


def test_what_everyone_answers_is_too_easy_and_not_guessable_besides() -> None:
    assert faults_of(question("q"), AnswerSigns({"q": 1.0}, {"q": (8, 8)})) == [TOO_EASY]
    assert faults_of(question("q"), AnswerSigns({"q": 0.0}, {"q": (0, 8)})) == [TOO_HARD]


def test_a_dependent_question_names_its_partner_by_number() -> None:
    signs = AnswerSigns({"q": 0.5}, partners={"q": ["p"]})
    assert faults_of(question("q"), signs) == [DEPENDENT]
    assert reason(question("q"), DEPENDENT, signs, {"p": 7}).endswith("See question 7.")


def test_a_wrong_key_is_found_with_the_right_choice(tmp_path: Path) -> None:
    run = write_run(tmp_path, hostile=False, questions=30)
    table = pd.read_csv(run / "responses.csv", dtype={"score": int, "icl": str})
    able = table.groupby("student")["score"].mean().rank(pct=True) > 0.4
    rows = table["item"] == "q010"
    table.loc[rows, "score"] = (~table.loc[rows, "student"].map(able)).astype(int)
    table.to_csv(run / "responses.csv", index=False)
    (run / "answers.sqlite").unlink()
    write_answers(run)
    fitted(run, "2pl")
    evidence = read_evidence(run)
    signs = answer_signs(evidence)
    question = next(one for one in evidence.questions if one.id == "q010")
    assert MISKEYED in faults_of(question, signs)
    # In the simulated run whoever misses the key takes the choice after it.
    assert f"the more it chooses {chr(65 + (question.key + 1) % 4)}" in reason(question, MISKEYED, signs, {})
    assert set(signs.keys) == {"q010"}


def test_copies_of_a_question_depend_on_each_other(tmp_path: Path) -> None:
    run = write_run(tmp_path, hostile=False, questions=30)
    table = pd.read_csv(run / "responses.csv", dtype=str)
    rng = np.random.default_rng(0)
    # A thing of its own that two questions ask for, whatever else a pipeline can do.
    knows = {student: str(int(rng.random() < 0.5)) for student in table["student"].unique()}
    for item in ("q004", "q008"):
        rows = table["item"] == item
        table.loc[rows, "score"] = table.loc[rows, "student"].map(knows)
    table.to_csv(run / "responses.csv", index=False)
    fitted(run, "1pl")
    assert answer_signs(read_evidence(run)).partners == {"q004": ["q008"], "q008": ["q004"]}


def test_questions_of_one_passage_name_one_another() -> None:
    asked = [question("q", chunk_id="c"), question("p", chunk_id="c"), question("r", chunk_id="d")]
    section = questions_section(asked, AnswerSigns({"q": 0.5, "p": 0.5, "r": 0.5}))
    cards = {card.number: card.facts for group in section.parts for card in group.questions}
    assert "same passage as question 2" in cards[1]
    assert "same passage as question 1" in cards[2]
    assert not any("same passage" in fact for fact in cards[3])


def test_an_exam_too_long_for_a_page_says_how_much_is_shown() -> None:
    asked = [question(f"q{n}", context="x" * 5000) for n in range(LISTED + 200)]
    section = questions_section(asked, AnswerSigns({one.id: 0.0 if one.id == "q1100" else 0.5 for one in asked}))
    cards = [card for group in section.parts for card in group.questions]
    assert len(cards) == LISTED
    assert cards[0].number == 1101
    assert "1000 of 1200 questions are shown" in str(section.sentences)
    assert "of them are shown with their passage" in str(section.sentences)
    assert sum(len(card.passage) for card in cards) < 2_100_000


@pytest.mark.parametrize("topics", [("x", "x"), ("x", "y")])
def test_filters_offer_faults_and_topics_where_there_are_several(topics: tuple[str, str]) -> None:
    asked = [question(f"q{n}", topic=topic) for n, topic in enumerate(topics)]
    section = questions_section(asked, AnswerSigns({"q0": 1.0, "q1": 0.5}))
    filters, (table,) = section.filters, section.folded
    assert filters is not None
    assert [choice.label for choice in filters.choices] == ["state", "topic"][: len(set(topics))]
    assert ("everyone gets it right" in [text for _, text in filters.choices[0].options]) is True
    assert table.rows[0].cells[0].link == "#question-1"
