"""Whole systems of somebody else's: what they are sent, what they may reply, and every way they can fail."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from examcore import Chunk, Exam, FailedError, Question
from rag import (
    ABSTAINED,
    NO_CHOICE,
    OWN_FACETS,
    Answer,
    AnswerStore,
    BlackBoxSpec,
    ClosedBook,
    Pipeline,
    Sitting,
    grid_of,
    sit,
)
from rag.answering._black_box import build_black_box, check_black_box, read_reply
from tests.rag.faulty_server import Body, Say, Server, serving

QUICK = {"timeout": 0.5, "retries": 1, "backoff": 0.01}
CHOICES = ("the Moravian hills", "at noon", "yeast")


@pytest.fixture
def sat(chunks: list[Chunk], tmp_path: Path) -> Callable[..., list[Answer]]:
    """The answers of a black box to an exam."""

    def go(spec: BlackBoxSpec, exam: Exam, name: str = "a.sqlite") -> list[Answer]:
        with AnswerStore(tmp_path / name) as store:
            sit(
                Sitting(
                    exam,
                    [Pipeline(spec.name, OWN_FACETS)],
                    chunks,
                    {spec.name: partial(build_black_box, spec)},
                    {OWN_FACETS: ClosedBook(OWN_FACETS)},
                ),
                store,
            )
            return store.answers()

    return go


def at(server: Server, **options: Any) -> BlackBoxSpec:
    choices = options.pop("choices", True)
    entry = {"name": "box", "system": f"{server.url}/ask", "choices": choices, "server": {**QUICK, **options}}
    return BlackBoxSpec.model_validate(entry)


def right(exam: Exam) -> Callable[[Server, str, Body], Say]:
    """A system that knows every answer, and says it by index."""
    keys = {question.stem: question.key for question in exam.questions}
    return lambda server, path, body: Say({"choice": keys[body["question"]]})


def test_question_and_choices_go_out_and_nothing_else(sat: Any, exam: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with serving(right(exam)) as server:
        answers = sat(at(server), exam)
        assert {path for path, _ in server.asked} == {"ask"}
        assert sorted(map(str, (body for _, body in server.asked))) == sorted(
            str({"question": one.stem, "choices": list(one.choices)}) for one in exam.questions
        )
        assert all("Authorization" not in headers for headers in server.headers)
        sat(at(server, choices=False), exam, "alone.sqlite")
        assert all(list(body) == ["question"] for _, body in server.asked[len(exam) :])
    assert all(one.correct and one.passages == () and one.log_likelihoods == () for one in answers)
    assert [one.reply for one in answers] == [str(one.chosen) for one in answers]


def test_the_key_that_is_named_is_sent(sat: Any, exam: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOX_KEY", "box-secret")
    with serving(right(exam)) as server:
        sat(at(server, api_key_env="BOX_KEY"), exam)
        assert {headers["Authorization"] for headers in server.headers} == {"Bearer box-secret"}


@pytest.mark.parametrize(
    ("reply", "place", "written"),
    [
        ({"choice": 1}, 1, "1"),
        ({"choice": "B"}, 1, "B"),
        ({"choice": "b)"}, 1, "b)"),
        ({"choice": "at noon"}, 1, "at noon"),
        ({"answer": "It arrives at noon."}, 1, "It arrives at noon."),
        ({"answer": "B"}, 1, "B"),
        ({"choice": 1, "answer": "Because of the timetable."}, 1, "Because of the timetable."),
        ({"choice": None, "answer": "at noon"}, 1, "at noon"),
        ({"choice": None}, NO_CHOICE, ""),
        ({"choice": "D"}, NO_CHOICE, "D"),
        ({"answer": "I do not know"}, NO_CHOICE, "I do not know"),
        ({"answer": "yeast, or at noon"}, NO_CHOICE, "yeast, or at noon"),
        ({"answer": ""}, NO_CHOICE, ""),
        (1, 1, "1"),
        ("B", 1, "B"),
        (None, NO_CHOICE, ""),
    ],
)
def test_a_reply_is_an_index_a_letter_or_a_text(reply: object, place: int, written: str) -> None:
    assert read_reply(reply, CHOICES) == (place, written, ())


@pytest.mark.parametrize(
    "reply",
    [{}, {"answer": 3}, {"answer": None}, {"choice": True}, {"choice": 1.0}, {"choice": 3}, -1, 9, [1], {"a": 1}],
)
def test_a_reply_that_is_nothing_of_this_is_unusable(reply: object) -> None:
    with pytest.raises(ValueError, match="a reply"):
        read_reply(reply, CHOICES)


@pytest.mark.parametrize(
    ("named", "passages"),
    [
        ({"passages": ["c1", "c7"]}, ("c1", "c7")),
        ({"citations": [{"id": "c1", "text": "At noon."}, {"text": "By night."}, 3]}, ("c1", "By night.", "3")),
        ({"passages": "c1"}, ("c1",)),
        ({"passages": None}, ()),
        ({}, ()),
    ],
)
def test_passages_that_a_system_names_are_kept(named: dict[str, Any], passages: tuple[str, ...]) -> None:
    assert read_reply({"answer": "at noon", **named}, CHOICES) == (1, "at noon", passages)


def test_a_system_that_was_shown_no_choices_may_decline() -> None:
    assert read_reply({"answer": "I do not know."}, CHOICES, letters=False).chosen == ABSTAINED
    assert read_reply({"answer": "I do not know."}, CHOICES).chosen == NO_CHOICE


def test_letters_mean_nothing_to_a_system_that_was_shown_none() -> None:
    assert read_reply({"answer": "B"}, CHOICES, letters=False)[0] == NO_CHOICE
    assert read_reply({"answer": "at noon"}, CHOICES, letters=False)[0] == 1


FAULTS = {
    "no answer within 0.5 s": Say({}, silence=1.5),
    "status 500: oops": Say(b"oops", 500),
    """broken JSON: {"choice":""": Say(b'{"choice": '),
    """a reply with neither 'choice' nor 'answer': {"passages": []}""": Say({"passages": []}),
    "passages of [1.5]; wanted a list of ids": Say({"choice": 1, "passages": [1.5]}),
    "a reply of bool True": Say({"choice": True}),
    "a reply with half a character (a lone surrogate)": Say({"answer": "A \ud800"}),
    "connection: Error -3 while decompressing": Say(b"plain", headers={"Content-Encoding": "gzip"}),
    "status 204": Say(b"", 204),
    "a reply of choice " + 80 * "9" + "...": Say({"choice": int(1000 * "9")}),
    "an empty reply": Say(b" "),
    "content encoding gzip, gzip": Say(b"plain", headers={"Content-Encoding": "gzip, gzip"}),
    "a reply above 10 MB": Say({"answer": "A" * 10 * 1024 * 1024}),
    """a reply of choice 9; wanted an index from 0 to 3: {"choice": 9}""": Say({"choice": 9}),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_costs_one_question_and_the_same_command_goes_on(sat: Any, exam: Exam, kind: str) -> None:
    bad = exam.questions[1].stem

    def script(server: Server, path: str, body: Body) -> Say:
        return FAULTS[kind] if body["question"] == bad else right(exam)(server, path, body)

    with serving(script) as server:
        with pytest.raises(FailedError, match=r"^1 prompt got no answer: ") as caught:
            sat(at(server), exam)
        assert f"box, question {exam.questions[1].id}: {kind}" in str(caught.value)
        assert str(caught.value).endswith(", 2 attempts")
        assert sum(body["question"] == bad for _, body in server.asked) == 2
        server.script, before = right(exam), len(server.asked)
        assert len(sat(at(server), exam)) == len(exam)
        assert [body["question"] for _, body in server.asked[before:]] == [bad]


def test_what_fails_once_is_asked_again(sat: Any, exam: Exam) -> None:
    def script(server: Server, path: str, body: Body) -> Say:
        return Say({}, 503) if len(server.asked) == 1 else right(exam)(server, path, body)

    with serving(script) as server:
        assert len(sat(at(server, concurrency=1), exam)) == len(exam)
        assert len(server.asked) == len(exam) + 1


def test_a_refused_question_is_named_on_one_line(sat: Any, exam: Exam) -> None:
    refused = exam.questions[2]

    def script(server: Server, path: str, body: Body) -> Say:
        return (
            Say({"error": "not\nallowed"}, 451) if body["question"] == refused.stem else right(exam)(server, path, body)
        )

    with (
        serving(script) as server,
        pytest.raises(
            ValueError, match=rf"^black box box \({server.url}/ask\): question '{refused.id}': status 451: not allowed$"
        ),
    ):
        sat(at(server), exam)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_told_with_what_is_wanted_and_no_question(sat: Any, exam: Exam, status: int) -> None:
    wanted = r"wanted a key it accepts \(server: \{api_key_env: NAME\}\)$"
    with (
        serving(lambda *_: Say({"error": "who are you?"}, status)) as server,
        pytest.raises(
            ValueError, match=rf"^black box box \({server.url}/ask\): status {status}: who are you\?; {wanted}"
        ),
    ):
        sat(at(server), exam)


def test_several_questions_are_under_way_at_once(sat: Any, questions: list[Question]) -> None:
    exam = Exam(tuple(replace(one, id=f"{one.id}-{n}") for n in range(4) for one in questions))
    for wanted in (1, 3):
        with serving(right(exam), pause=0.05) as server:
            sat(at(server, concurrency=wanted, timeout=5), exam, f"{wanted}.sqlite")
            assert server.most_under_way == wanted


def test_a_system_that_is_gone_stops_the_sitting_and_what_came_is_kept(sat: Any, questions: list[Question]) -> None:
    exam = Exam(tuple(replace(one, id=f"{one.id}-{n}") for n in range(8) for one in questions))

    replies = itertools.count()  # two requests at a time: each takes a number of its own

    def dying(server: Server, path: str, body: Body) -> Say:
        return right(exam)(server, path, body) if next(replies) < 10 else Say(b"", 502)

    with serving(dying) as server:
        spec = at(server, concurrency=2, retries=0)
        gone = r"no usable reply to 20 prompts in a row \(status 502, 1 attempt\); 19 prompts got no answer: box, q"
        with pytest.raises(FailedError, match=gone):
            sat(spec, exam)
        server.script, before = right(exam), len(server.asked)
        assert len(sat(spec, exam)) == len(exam)
        assert len(server.asked) - before == len(exam) - 10


def knows(question: str, choices: Sequence[str]) -> object:
    return choices.index("at noon") if "at noon" in choices else None


def reads(question: str) -> str:
    return "I would say: at noon."


class Wise:
    def __call__(self, question: str, choices: Sequence[str]) -> dict[str, object]:
        return {"choice": knows(question, choices)}


def made() -> Wise:
    return Wise()


def broken(question: str, choices: Sequence[str]) -> object:
    raise RuntimeError("no index\nloaded")


def odd(question: str, choices: Sequence[str]) -> object:
    return 1.5


def far(question: str, choices: Sequence[str]) -> object:
    return 9


def halved(question: str, choices: Sequence[str]) -> object:
    return {"choice": 0, "answer": "A \ud800"}


def moody(question: str, choices: Sequence[str]) -> object:
    return 9 if "count" in question else 0


def leaves(question: str, choices: Sequence[str]) -> object:
    raise SystemExit(3)


release = threading.Event()


def sleeps(question: str, choices: Sequence[str]) -> object:
    if "count" in question:
        release.wait(30)
    return 0


def spins(question: str, choices: Sequence[str]) -> object:
    while "count" in question and not release.is_set():
        pass
    return 0


class Threaded:
    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def __call__(self, question: str) -> str:
        here = threading.get_ident()
        return "same thread" if here == self.thread != threading.main_thread().ident else "another thread"


def goes() -> object:
    raise SystemExit(3)


def never() -> object:
    raise OSError("no weights")


NUMBER = 3


def called(name: str, **more: Any) -> BlackBoxSpec:
    return BlackBoxSpec.model_validate({"system": f"python:{__name__}:{name}", **more})


@pytest.mark.parametrize("name", ["knows", "reads", "Wise", "made"])
def test_a_function_is_asked_with_what_it_takes(sat: Any, exam: Exam, name: str) -> None:
    answers = sat(called(name), exam)
    noon = {one.id: one.choices.index("at noon") if "at noon" in one.choices else NO_CHOICE for one in exam.questions}
    assert {one.question: one.chosen for one in answers} == noon


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken", r"^\d prompts got no answer: broken, questions q-oder, .*: RuntimeError: no index$"),
        ("odd", r"^\d prompts got no answer: odd, .*: a reply of float 1.5; wanted an index, a letter or a text$"),
        ("far", r"^\d prompts got no answer: far, .*: a reply of choice 9; wanted an index from 0 to 3$"),
        ("leaves", r"^\d prompts got no answer: leaves, .*: SystemExit: 3$"),
        ("halved", r"^\d prompts got no answer: halved, .*: a reply with half a character \(a lone surrogate\)$"),
        ("goes", "^black box python:.*:goes: SystemExit: 3; wanted a function of question and choices$"),
        ("never", "^black box python:.*:never: OSError: no weights; wanted a function of question and choices$"),
        ("absent", "^black box python:.*:absent: AttributeError: module .* has no attribute 'absent'; wanted a"),
        ("NUMBER", "^black box python:.*:NUMBER: int; wanted a function of question and choices$"),
    ],
)
def test_a_function_that_fails_is_one_line(sat: Any, exam: Exam, name: str, message: str) -> None:
    # What fails while it runs is no bad input, as what cannot be begun is.
    with pytest.raises(FailedError if "got no answer" in message else ValueError, match=message):
        sat(called(name), exam)


def test_a_question_that_a_function_fails_on_is_one_failure_and_the_rest_goes_on(
    sat: Any, exam: Exam, tmp_path: Path
) -> None:
    wanted = exam.questions[1].id
    with pytest.raises(FailedError, match=f"^1 prompt got no answer: moody, question {wanted}: a reply of choice 9"):
        sat(called("moody"), exam)
    with AnswerStore(tmp_path / "a.sqlite") as store:
        assert {one.question for one in store.answers()} == {one.id for one in exam.questions} - {wanted}


def test_a_function_that_always_fails_is_given_up(sat: Any, questions: list[Question]) -> None:
    exam = Exam(tuple(replace(one, id=f"{one.id}-{n}") for n in range(8) for one in questions))
    given_up = (
        "^black box broken .*RuntimeError: no index, after 19 failures before it in a row; 19 prompts got no answer"
    )
    with pytest.raises(FailedError, match=given_up):
        sat(called("broken"), exam)


@pytest.mark.parametrize("name", ["sleeps", "spins"])
def test_a_function_that_hangs_is_given_up_and_the_answers_before_are_kept(
    sat: Any, exam: Exam, name: str, tmp_path: Path
) -> None:
    hung, began = exam.questions[1].id, time.monotonic()
    message = rf"^black box {name} .*: question '{hung}': no answer within 0\.3 s; wanted one, or a longer timeout$"
    release.clear()
    with pytest.raises(FailedError, match=message):
        sat(called(name, timeout=0.3), exam)
    assert time.monotonic() - began < 10
    with AnswerStore(tmp_path / "a.sqlite") as store:
        assert [one.question for one in store.answers()] == [exam.questions[0].id]
    release.set()
    assert len(sat(called(name, timeout=5), exam)) == len(exam)


def test_a_function_and_what_made_it_live_on_one_thread_of_their_own(sat: Any, exam: Exam) -> None:
    assert all(one.reply == "same thread" for one in sat(called("Threaded"), exam))


def test_settings_say_what_was_shown_and_how_it_was_read(exam: Exam, chunks: list[Chunk], tmp_path: Path) -> None:
    for name, shown in (("knows", True), ("reads", False)):
        spec = called(name)
        with AnswerStore(tmp_path / f"{name}.sqlite") as store:
            sit(
                Sitting(
                    exam,
                    [Pipeline(name, OWN_FACETS)],
                    chunks,
                    {name: partial(build_black_box, spec)},
                    {OWN_FACETS: ClosedBook(OWN_FACETS)},
                ),
                store,
            )
            found = store.settings(f"{name}+own+icl0")["model"]
            reading = "choice-1" if shown else "free-text-1, choice-1"
        assert found == {"answers": "endpoint", "choices": shown, "reading": reading}


def test_an_address_where_nothing_answers_is_found_out_before_anything_is_asked(exam: Exam) -> None:
    with serving(right(exam)) as server:
        spec = at(server)
        server.script = lambda *_: Say(b"", 405)
        check_black_box(spec)
    with pytest.raises(FailedError, match=r"black box box \(.*\): cannot be reached \(.*\); wanted a service at its"):
        check_black_box(spec)
    check_black_box(called("knows"))
    with pytest.raises(ValueError, match="has no attribute 'absent'"):
        check_black_box(called("absent"))


def test_black_boxes_stand_beside_the_grid() -> None:
    grid = {"llms": ["org/a", {"model": "org/b", "answers": "letters"}], "retrievers": ["bm25"], "shots": [0, 1]}
    boxes = ["http://localhost:9000/ask", {"name": "mine", "system": "python:package.module:ask", "choices": False}]
    found = grid_of({**grid, "black_boxes": boxes})
    assert [one.id for one in found.pipelines] == [
        *("a+bm25+icl0", "a+bm25+icl1", "b+bm25+icl0", "b+bm25+icl1"),
        *("localhost:9000+own+icl0", "mine+own+icl0"),
    ]
    assert found.modes == {"a": "likelihood", "b": "letters", "localhost:9000": "endpoint", "mine": "text"}
    assert found.measured == found.pipelines[:4]
    alone = grid_of({"black_boxes": boxes})
    assert alone.measured == alone.pipelines == found.pipelines[4:]
    crossed = grid_of({**grid, "passages": [1, 3], "black_boxes": boxes}).pipelines
    assert [one.id for one in crossed][-2:] == ["localhost:9000+own+icl0+k1", "mine+own+icl0+k1"]
    assert {**found.llms[1].identity} == {**found.llms[1].identity, "answers": "letters"}
    assert "answers" not in found.llms[0].identity


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("ftp://host/ask", r"black_boxes\.0: 'ftp://host/ask'; wanted an http address or python:package.module:name"),
        ("python:module", r"python:module; wanted python:package\.module:name"),
        ({"name": "x"}, r"no setting 'black_boxes\.0\.system'; wanted a value"),
        ({"system": "http://h/a", "model": "m"}, r"unknown setting 'black_boxes\.0\.model'"),
        ({"system": "http://h/a", "choices": "no"}, "choices: 'no'; wanted true or false"),
        ({"system": "http://h/a", "server": {"timeout": 0}}, r"server\.timeout is 0.*; wanted a number above 0"),
        ({"system": "python:a:b", "server": {"timeout": 1}}, "python:a:b is on no server"),
        ({"system": "python:a:b", "timeout": 0}, r"timeout: 0; wanted a number of seconds above 0"),
        ({"system": "python:a:b", "timeout": "soon"}, r"timeout: 'soon'; wanted a number of seconds above 0"),
        ({"system": "http://h/a", "timeout": 60}, r"timeout: 60; wanted server: \{timeout: 60\}, for an address"),
        ("http://user:secret@host/ask", r"the address holds more than http://host:port/path; wanted the key in the"),
        ({"name": "bm25+x", "system": "http://h/a"}, "wanted text without blanks"),
        ({"name": "a", "system": "http://h/a"}, "llms: name 'a' stands twice"),
    ],
)
def test_mistakes_in_a_grid_are_placed_and_no_password_is_repeated(entry: object, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        grid_of({"llms": ["org/a"], "retrievers": ["bm25"], "black_boxes": [entry]})
    assert "secret" not in str(error.value)


def test_the_retriever_of_black_boxes_is_nobody_elses_name() -> None:
    retriever = {"name": OWN_FACETS, "kind": "bm25"}
    with pytest.raises(ValueError, match="retrievers: name 'own' stands twice"):
        grid_of({"llms": ["a"], "retrievers": [retriever], "black_boxes": ["http://h/a"]})
    with pytest.raises(ValueError, match=r"llms: no entry; wanted a list with at least one"):
        grid_of({"retrievers": ["bm25"], "black_boxes": ["http://h/a"]})
    with pytest.raises(ValueError, match="answers: 'words'; wanted 'likelihood', 'letters' or 'text'"):
        grid_of({"llms": [{"model": "a", "answers": "words"}], "retrievers": ["bm25"]})
