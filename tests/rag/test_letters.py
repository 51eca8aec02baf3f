"""Answering by letters: what is asked, and who may be asked so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examcore import Chunk, Exam, Prompt, Question
from rag import (
    NO_CHOICE,
    AnswerStore,
    ClosedBook,
    Pipeline,
    Shot,
    Sitting,
    Task,
    TaskFailure,
    draw_shots,
    exam_prompt,
    load_model,
    sit,
)
from rag.answering import LETTERS, ReplyExaminee
from rag.answering._letters import LETTERS_PROMPT_VERSION, letters_prompt
from rag.retrieval._protocol import Oracle
from rag.servers import ServerOptions
from tests.rag.faulty_server import Body, Say, Server, chat, serving


def task(question: Question, chunks: Sequence[Chunk] = (), shots: Sequence[Shot] = ()) -> Task:
    prompt = exam_prompt(question, chunks, shots)
    return Task(question, prompt, tuple(one.id for one in chunks), (), tuple(chunks), tuple(shots))


class Writer:
    """Says what it is told, one text for each prompt."""

    def __init__(self, *says: str) -> None:
        self.name, self.context_tokens = "writer", 4096
        self.says, self.asked = list(says), list[Prompt]()

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt], *, max_tokens: int, **_: Any) -> list[str]:
        assert max_tokens == LETTERS.max_tokens
        self.asked += prompts
        return [self.says.pop(0) for _ in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Any:
        raise AssertionError("no likelihood is asked for")


def test_shots_come_first_then_passages_then_the_question_with_its_choices(
    questions: list[Question], chunks: list[Chunk]
) -> None:
    shot = Shot("What melts sand?", "a furnace", "A furnace melts it.", ("a river", "a furnace"))
    prompt = letters_prompt(questions[1], chunks[1:2], [shot])
    assert prompt.user == (
        "Read the text and answer the question with the letter of the right choice alone; guess if you must.\n\n"
        "Text:\nA furnace melts it.\n\nQuestion: What melts sand?\nA) a river\nB) a furnace\nAnswer: B\n\n"
        "Text: Keeper\nThe lighthouse keeper of Skagen counts ships by night.\n\n"
        "Question: What does the lighthouse keeper count?\nA) sand\nB) ships\nC) yeast\nD) at noon"
    )
    assert prompt.reply == "Answer:"
    assert letters_prompt(questions[1], ()).user.startswith("Answer the question with the letter")


def test_choices_stand_in_the_order_of_the_exam(questions: list[Question]) -> None:
    for question in questions:
        lines = letters_prompt(question, ()).user.split("\n")[-4:]
        assert lines == [f"{letter}) {choice}" for letter, choice in zip("ABCD", question.choices, strict=True)]


def test_shots_of_a_pool_show_their_own_letters(pool: list[Question], exam: Exam) -> None:
    for question, shot in zip(
        sorted(pool, key=lambda one: one.id), sorted(draw_shots(pool, exam, 2), key=lambda one: one.stem), strict=False
    ):
        assert shot.choices in {one.choices for one in pool}
        solved = letters_prompt(question, (), [shot]).user
        assert f"\nAnswer: {'ABCD'[shot.choices.index(shot.answer)]}\n" in solved


def test_replies_are_read_and_kept_and_what_names_nothing_is_no_choice(questions: list[Question]) -> None:
    model = Writer(" B", "(d) at noon", "I cannot say", "A, C")
    said = list(ReplyExaminee(model, LETTERS).answer([task(one) for one in questions[:4]]))
    assert not any(isinstance(one, TaskFailure) for one in said)
    assert [one.chosen for one in said] == [1, 3, NO_CHOICE, NO_CHOICE]  # type: ignore[union-attr]
    assert [one.reply for one in said] == [" B", "(d) at noon", "I cannot say", "A, C"]  # type: ignore[union-attr]
    assert model.asked == [letters_prompt(one, ()) for one in questions[:4]]


def test_a_reply_that_no_file_can_hold_is_one_failure(questions: list[Question]) -> None:
    model = Writer(" B", "A \ud800", "C")
    _, lost, _ = ReplyExaminee(model, LETTERS).answer([task(one) for one in questions[:3]])
    assert lost == TaskFailure(1, "a reply with half a character (a lone surrogate)")


def test_settings_say_the_mode(hash_model: Any) -> None:
    hash_model.settings = {"model": "hash"}
    said = ReplyExaminee(hash_model, LETTERS).settings
    assert (said["answers"], said["prompt"], said["model"]) == ("letters", LETTERS_PROMPT_VERSION, "hash")


def test_more_choices_than_letters_are_refused(questions: list[Question]) -> None:
    many = replace(questions[0], choices=tuple(f"choice {n}" for n in range(27)))
    with pytest.raises(ValueError, match="question 'q-oder': 27 choices; wanted at most 26 where letters name them"):
        ReplyExaminee(Writer(), LETTERS).check([task(many)])


def test_a_local_model_answers_each_prompt_as_it_does_alone(
    tiny_folder: Callable[..., Path], questions: list[Question], chunks: list[Chunk]
) -> None:
    model = ReplyExaminee(load_model(str(tiny_folder("qwen2")), dtype="float32"), LETTERS)
    tasks = [task(one, chunks[place : place + 1]) for place, one in enumerate(questions)]
    together = {one.place: one.reply for one in model.answer(tasks)}  # type: ignore[union-attr]
    assert together == {
        place: next(iter(model.answer([one]))).reply  # type: ignore[union-attr]
        for place, one in enumerate(tasks)
    }


def write_b(server: Server, path: str, body: Body) -> Say:
    """A server that writes and gives no log-probabilities."""
    if path == "models":
        return Say({"data": [{"id": "scripted"}]})
    if path == "completions":
        return Say({"error": {"message": "not here"}}, 404)
    return Say(chat("Answer: B)", completion_tokens=4, prompt_tokens=77))


@pytest.fixture
def sat(exam: Exam, chunks: list[Chunk], pool: list[Question], tmp_path: Path) -> Callable[..., Any]:
    def go(build: Callable[[], Any]) -> list[Any]:
        kinds = {"closed-book": ClosedBook(), "oracle": Oracle(chunks)}
        pipelines = [Pipeline("far", kind, shots) for kind in kinds for shots in (0, 1)]
        with AnswerStore(tmp_path / "a.sqlite") as store:
            sit(Sitting(exam, pipelines, chunks, {"far": build}, kinds, pool), store)
            return store.answers()

    return go


def test_a_server_without_log_probabilities_sits_by_letters(sat: Callable[..., Any], exam: Exam) -> None:
    with serving(write_b) as server:
        far: Any = load_model(f"openai:scripted@{server.url}", server=ServerOptions(concurrency=4))
        answers = sat(lambda: ReplyExaminee(far, LETTERS))
        assert server.count("completions") == 0
        assert server.count("chat/completions") == len(answers) == 4 * len(exam)
        assert all(body["temperature"] == 0 for path, body in server.asked if path == "chat/completions")
    assert {(one.chosen, one.reply, one.normalization, one.prompt_tokens) for one in answers} == {(1, " B)", "", 77)}
    keys = {question.id: question.key for question in exam.questions}
    assert all(one.correct == (keys[one.question] == 1) for one in answers)


def test_a_server_without_log_probabilities_is_never_asked_for_letters_silently(sat: Callable[..., Any]) -> None:
    with serving(write_b) as server:
        far = load_model(f"openai:scripted@{server.url}", server=ServerOptions(retries=0))
        with pytest.raises(
            ValueError, match=r"gives no log-probabilities of a given text.*\(answers: letters\)"
        ) as error:
            sat(lambda: far)
        assert "\n" not in str(error.value)
        assert server.count("chat/completions") == 0
