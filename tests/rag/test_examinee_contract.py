"""What every examinee promises: each task once and for itself, stopped and resumed without a trace, its mode stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from examcore import Chunk, Exam, Question
from rag import (
    NO_CHOICE,
    OWN_FACETS,
    Answer,
    AnswerStore,
    BlackBoxSpec,
    ClosedBook,
    Examinee,
    ExamineeFactory,
    LikelihoodExaminee,
    PassageLimits,
    PassageLookup,
    Pipeline,
    Sitting,
    TaskAnswer,
    draw_shots,
    load_model,
    sit,
    tasks_of,
)
from rag.answering import LETTERS, ReplyExaminee, build_black_box
from rag.retrieval._protocol import Oracle
from rag.servers import ServerOptions
from tests.rag.faulty_server import Body, Say, Server, chat, listed_or_echoed, serving

MODES = ("local", "echo", "local letters", "server letters", "endpoint", "called")
HERE = __name__


def guess(question: str, choices: Sequence[str]) -> str:
    """A system of somebody else's: a letter that depends on the question, or nothing of use."""
    place = sum(map(ord, question)) % (len(choices) + 1)
    return f"({'ABCDE'[place]})" if place < len(choices) else "I do not know"


def script(server: Server, path: str, body: Body) -> Say:
    if found := listed_or_echoed(path, body):
        return found
    if path == "ask":
        return Say({"answer": guess(body["question"], body["choices"])})
    lines = [line for line in body["messages"][-1]["content"].split("\n") if line[1:2] == ")"]
    return Say(chat(guess(json.dumps(body), lines[-4:])))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(script) as running:
        yield running


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def build(
    mode: str, server: Server, tiny_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> ExamineeFactory:
    """How to make the examinee anew, as the next process would."""
    far = f"openai:scripted@{server.url}"
    options = ServerOptions(concurrency=3)
    asked = BlackBoxSpec.model_validate(f"{server.url}/ask")
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    called = BlackBoxSpec.model_validate(f"python:{guess.__module__}:guess")
    builds: Mapping[str, ExamineeFactory] = {
        "local": lambda: load_model(str(tiny_folder("llama")), dtype="float32"),
        "echo": lambda: load_model(far, server=options),
        "local letters": lambda: ReplyExaminee(load_model(str(tiny_folder("llama")), dtype="float32"), LETTERS),
        "server letters": lambda: ReplyExaminee(load_model(far, server=options), LETTERS),
        "endpoint": lambda: build_black_box(asked),
        "called": lambda: build_black_box(called),
    }
    return builds[mode]


@pytest.fixture
def examinee(build: ExamineeFactory) -> Examinee:
    made = build()
    return made if isinstance(made, Examinee) else LikelihoodExaminee(made, "character")


@pytest.fixture
def pipelines(mode: str) -> list[Pipeline]:
    if mode in ("endpoint", "called"):
        return [Pipeline("x", OWN_FACETS)]
    return [Pipeline("x", kind, shots) for kind in ("closed-book", "oracle") for shots in (0, 1)]


def timeless(said: TaskAnswer, place: int) -> TaskAnswer:
    return said._replace(seconds=0.0, place=place)


def test_each_task_is_answered_once_and_as_it_would_be_alone(
    examinee: Examinee, pipelines: list[Pipeline], exam: Exam, chunks: list[Chunk], pool: list[Question]
) -> None:
    kinds = {"closed-book": ClosedBook(), "oracle": Oracle(chunks), OWN_FACETS: ClosedBook(OWN_FACETS)}
    asked = [(one, name) for one in pipelines for name in exam.ids]
    tasks = tasks_of(exam, asked, PassageLookup(kinds, PassageLimits()), draw_shots(pool, exam, 1))
    examinee.check(tasks)
    said = sorted((one for one in examinee.answer(tasks) if isinstance(one, TaskAnswer)), key=lambda one: one.place)
    assert [one.place for one in said] == list(range(len(tasks)))
    for one, task in zip(said, tasks, strict=True):
        assert one.chosen in (NO_CHOICE, *range(len(task.question.choices)))
        assert one.seconds >= 0
        assert bool(one.likelihoods.sums) != bool(one.reply), "likelihoods or a reply"
        (alone,) = examinee.answer([task])
        assert isinstance(alone, TaskAnswer)
        assert timeless(alone, 0) == timeless(one, 0)
    backwards = [one for one in examinee.answer(tasks[::-1]) if isinstance(one, TaskAnswer)]
    assert {(len(tasks) - 1 - one.place, one.chosen) for one in backwards} == {(one.place, one.chosen) for one in said}
    assert list(examinee.answer([])) == []


def test_a_sitting_stopped_after_any_answer_goes_on_to_the_same_answers(
    build: ExamineeFactory,
    mode: str,
    pipelines: list[Pipeline],
    exam: Exam,
    chunks: list[Chunk],
    pool: list[Question],
    tmp_path: Path,
) -> None:
    kinds = {"closed-book": ClosedBook(), "oracle": Oracle(chunks), OWN_FACETS: ClosedBook(OWN_FACETS)}

    def go(name: str, stop: int = -1) -> list[Answer]:
        def progress(done: int, total: int) -> None:
            if done == stop:
                raise KeyboardInterrupt

        with AnswerStore(tmp_path / name) as store:
            try:
                sit(Sitting(exam, pipelines, chunks, {"x": build}, kinds, pool), store, progress=progress)
            except KeyboardInterrupt:
                assert len(store.answers()) == stop
            settings = store.settings(pipelines[0].id)["model"]
            assert isinstance(settings, dict)
            assert settings.get("answers", "likelihood") == {
                "local letters": "letters",
                "server letters": "letters",
                "endpoint": "endpoint",
                "called": "endpoint",
            }.get(mode, "likelihood")
            return sorted((replace(one, seconds=0.0) for one in store.answers()), key=lambda one: one.pipeline)

    whole = go("whole.sqlite")
    assert len(whole) == len(pipelines) * len(exam)
    for stop in {1, len(whole) - 1}:
        go(f"{stop}.sqlite", stop)
        assert go(f"{stop}.sqlite") == whole
