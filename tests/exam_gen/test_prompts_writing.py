import pytest

from exam_gen import closed_prompt, open_prompt, question_prompt, wrong_answers_prompt
from exam_gen._prompts import completion_stem, paper_prompt, subject_of


def test_the_question_prompt_ends_with_title_and_sentence_and_leaves_the_question_to_be_written():
    prompt = question_prompt("Tides.", "The tide is highest after the new moon in spring.")
    assert prompt.user.endswith("\n\nTopic: Tides\nSentence: The tide is highest after the new moon in spring.")
    assert prompt.reply == "Question:"


def test_all_question_prompts_begin_alike_so_that_the_beginning_is_read_once():
    first, second = question_prompt("Tides", "One sentence."), question_prompt("Harbours", "Another one.")
    shared = first.user[: first.user.rindex("Topic: ")]
    assert first.system == second.system
    assert second.user.startswith(shared)


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("Does lemon juice clean brass?", "lemon juice clean brass"),
        ("Is there any proof of tides in lakes?", "proof of tides in lakes"),
        ("How do eels find the sea?", "eels find the sea"),
        ("Tides and currents.", "Tides and currents"),
    ],
)
def test_a_title_that_asks_is_shown_without_its_question_form(title, subject):
    assert subject_of(title) == subject
    assert f"Topic: {subject}\n" in question_prompt(title, "A sentence.").user


def test_wrong_answers_are_asked_for_with_question_and_key():
    prompt = wrong_answers_prompt("When is the tide highest?", "after the new moon")
    assert prompt.user.endswith("Question: When is the tide highest?\nRight answer: after the new moon")


def test_only_the_open_prompt_holds_the_passage():
    passage = "Spring tides follow the new moon."
    assert passage in open_prompt("Tides", passage, "When?").user
    assert passage not in closed_prompt("When?").user
    assert passage in paper_prompt("Tides", passage).user


def test_a_completion_names_its_topic_and_keeps_the_sentence():
    stem = completion_stem("Do tides matter?", "The tide is highest at ____ in spring.")
    assert stem == 'Do tides matter: which answer completes the statement "The tide is highest at ____ in spring."?'
