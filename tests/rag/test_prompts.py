"""The exam prompt: order, sharing, and shots that never come from the exam."""

from dataclasses import replace

import pytest

from examcore import Chunk, Exam, Question
from rag import Shot, continuation, draw_shots, exam_prompt
from rag.answering._prompts import NEUTRAL

SHOTS = (Shot("Who bakes?", "the baker"), Shot("Who counts?", "the keeper", "The keeper counts."))


def test_shots_stand_before_passages_and_passages_before_the_question(
    questions: list[Question], chunks: list[Chunk]
) -> None:
    text = exam_prompt(questions[0], chunks[:2], SHOTS).user
    places = [text.index(part) for part in ("the baker", "the keeper", chunks[0].text, chunks[1].text)]
    assert [*places, text.index(questions[0].stem)] == sorted([*places, text.index(questions[0].stem)])
    assert text.endswith(f"Question: {questions[0].stem}")


def test_prompt_never_shows_the_choices(questions: list[Question]) -> None:
    prompt = exam_prompt(questions[1], (), ())
    assert not any(choice in prompt.user for choice in questions[1].choices if len(choice) > 5)


def test_prompts_with_fewer_shots_begin_like_those_with_more(questions: list[Question], chunks: list[Chunk]) -> None:
    one, two = (exam_prompt(questions[0], chunks[:1], SHOTS[:count]).user for count in (1, 2))
    assert two.startswith(one[: one.index(chunks[0].title)].rpartition("Text:")[0])


def test_every_prompt_ends_in_the_same_words_before_the_choice(questions: list[Question], chunks: list[Chunk]) -> None:
    replies = {exam_prompt(questions[0], chunks[:n], SHOTS[:n]).reply for n in range(3)} | {NEUTRAL.reply}
    assert replies == {"Answer:"}
    assert continuation(" ships ") == " ships"


def test_shots_are_drawn_once_per_seed_and_nested(exam: Exam, pool: list[Question]) -> None:
    assert draw_shots(pool, exam, 2, seed=1) == draw_shots(pool[::-1], exam, 2, seed=1)
    assert {draw_shots(pool, exam, 2, seed=seed)[0] for seed in range(8)} == set(draw_shots(pool, exam, 2))
    assert draw_shots(pool, exam, 2)[:1] == draw_shots(pool, exam, 2)[:1]
    assert all(shot.passage for shot in draw_shots(pool, exam, 2, with_passages=True))
    assert draw_shots([], exam, 0) == ()


def test_pool_that_shares_a_question_with_the_exam_is_refused(exam: Exam, pool: list[Question]) -> None:
    with pytest.raises(ValueError, match="'q-oder' of the pool stands in the exam"):
        draw_shots([*pool, exam.questions[0]], exam, 1)
    twin = replace(exam.questions[0], id="other", stem=exam.questions[0].stem.upper())
    with pytest.raises(ValueError, match="'other' of the pool stands in the exam"):
        draw_shots([*pool, twin], exam, 1)
    with pytest.raises(ValueError, match="holds 2 questions; wanted at least 3"):
        draw_shots(pool, exam, 3)
