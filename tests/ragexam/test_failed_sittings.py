"""Sittings that fail on the way, through the command: status 1, one line that says who failed at what, nothing lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from examcore import Prompt, Question, write_exam
from rag import AnswerStore
from ragexam.cli import main
from tests.rag.faulty_server import Body, Say, Server, listed_or_echoed, serving
from tests.scripted_model import ScriptedModel

ROOT = Path(__file__).parent.parent.parent
QUICK = {"retries": 1, "backoff": 0.01, "timeout": 5}
KEPT = "; what was done is kept, the same command goes on\n"
Sit = Callable[[dict[str, Any]], tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    questions = [
        Question(
            f"q{n}", f"Which number follows {n}?", (str(n + 1), str(n + 3)), 0, context=f"After {n} comes {n + 1}."
        )
        for n in range(25)
    ]
    write_exam(tmp_path / "exam.jsonl", questions)
    return tmp_path


def words(folder: Path, grid: dict[str, Any]) -> list[str]:
    (folder / "grid.yaml").write_text(json.dumps(grid))
    places = [folder / "exam.jsonl", "--pipelines", folder / "grid.yaml", "--out", folder / "out", "--quiet"]
    return ["sit", *map(str, places)]


@pytest.fixture
def sit(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Sit:
    """The status of the command and what it says on standard error."""

    def go(grid: dict[str, Any]) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["ragexam", *words(folder, grid)])
        with pytest.raises(SystemExit, match=r"^\d$") as ended:
            main()
        return int(ended.value.code or 0), capsys.readouterr().err

    return go


def boxed(system: str, **more: Any) -> dict[str, Any]:
    return {"black_boxes": [{"name": "ours", "system": system, **more}]}


def failing(said: Say, *numbers: int) -> Callable[[Server, str, Body], Say]:
    """A server that knows every answer but those to some questions, or to none."""
    bad = [f"follows {number}?" for number in numbers]

    def script(server: Server, path: str, body: Body) -> Say:
        if path == "search":
            return said
        if path != "ask":
            return listed_or_echoed(path, body) or said
        return said if not bad or any(one in body["question"] for one in bad) else Say({"choice": 0})

    return script


@pytest.mark.parametrize(
    ("said", "numbers", "status", "message"),
    [
        (
            Say({"error": "no index"}, 500),
            (3,),
            1,
            "1 prompt got no answer: ours (URL), question q3: status 500: no",
        ),
        (
            Say({"choice": 9}),
            (3,),
            1,
            'question q3: a reply of choice 9; wanted an index from 0 to 1: {"choice": 9}, 2',
        ),
        (Say({"choice": -1}), (3, 7), 1, "2 prompts got no answer: ours (URL), questions q"),
        (Say(b"", 503), (), 1, "no usable reply to 20 prompts in a row (status 503, 2 attempts); 19 prompts got no"),
        (Say({"error": "no route"}, 404), (), 2, "black box ours (URL): question 'q"),
        (Say({"error": "who?"}, 401), (), 2, "black box ours (URL): status 401: who?; wanted a key it accepts"),
    ],
)
def test_a_black_box_that_fails_is_named_with_its_questions(
    sit: Sit, folder: Path, said: Say, numbers: Sequence[int], status: int, message: str
) -> None:
    with serving(failing(said, *numbers)) as server:
        url = f"{server.url}/ask"
        ended, told = sit(boxed(url, server=QUICK))
        assert (ended, told.count("\n")) == (status, 1)
        assert message.replace("URL", url) in told
        assert told.endswith(KEPT) == (status == 1)
        if numbers:
            with AnswerStore(folder / "out" / "answers.sqlite") as store:
                assert {one.question for one in store.answers()} == {f"q{n}" for n in range(25) if n not in numbers}
        server.script, before = failing(Say(), 25), len(server.asked)
        assert sit(boxed(url, server=QUICK)) == (0, "")
        assert not numbers or len(server.asked) == before + len(numbers)


def broken(question: str) -> str:
    raise RuntimeError("no index\nloaded")


def sleepy(question: str) -> str:
    if place := os.environ.get("BEGUN"):
        Path(place).touch()
    time.sleep(1000)
    return ""


@pytest.mark.parametrize(
    ("grid", "status", "message"),
    [
        (boxed("http://127.0.0.1:9/ask"), 1, "black box ours (http://127.0.0.1:9/ask): cannot be reached"),
        (boxed(f"python:{__name__}:broken"), 1, "RuntimeError: no index, after 19 failures before it in a row; 19 pr"),
        (boxed(f"python:{__name__}:sleepy", timeout=0.2), 1, ":sleepy): question 'q0': no answer within 0.2 s; wanted"),
        (boxed(f"python:{__name__}:absent"), 2, "AttributeError: module"),
        (boxed("ftp://127.0.0.1/ask"), 2, "wanted an http address or python:package.module:name"),
        (
            {"llms": ["openai:m@http://127.0.0.1:9/v1"], "retrievers": ["closed-book"]},
            1,
            "server 127.0.0.1:9: cannot be reached",
        ),
    ],
)
def test_what_may_go_better_next_time_ends_with_1_and_what_is_to_be_mended_with_2(
    sit: Sit, grid: dict[str, Any], status: int, message: str
) -> None:
    ended, told = sit(grid)
    assert (ended, told.count("\n")) == (status, 1)
    assert message in told
    assert told.endswith(KEPT) == (status == 1)


@pytest.mark.parametrize("kind", ["letters", "search"])
def test_servers_and_retrievers_that_fail_end_with_1(sit: Sit, kind: str) -> None:
    with serving(failing(Say({"error": "gpu lost"}, 503))) as server:
        llm = {"name": "far", "model": f"openai:scripted@{server.url}", "server": QUICK, "answers": "letters"}
        found = {"name": "found", "kind": f"{server.url}/search", "server": QUICK}
        status, told = sit({"llms": [llm], "retrievers": ["closed-book" if kind == "letters" else found]})
    host = server.url.removeprefix("http://").removesuffix("/v1")
    message = {
        "letters": f"server {host}: no usable reply to 20 prompts in a row (status 503: gpu lost, 2 attempts)",
        "search": f"retriever found ({server.url}/search): question 'q0': status 503: gpu lost, 2 attempts",
    }[kind]
    assert (status, told.count("\n")) == (1, 1)
    assert told.startswith(f"ragexam: {message}")
    assert told.endswith(KEPT)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["function", "address"])
def test_ctrl_c_ends_a_sitting_at_once_whose_black_box_hangs(folder: Path, kind: str) -> None:
    with serving(failing(Say({}, silence=60), 3)) as server:
        begun = folder / "begun"
        system = f"{server.url}/ask" if kind == "address" else f"python:{__name__}:sleepy"
        # A background job of a shell ignores Ctrl-C and its children inherit that; a handler of our own they do not.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        job = subprocess.Popen(
            [sys.executable, "-m", "ragexam", *words(folder, boxed(system))],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "BEGUN": str(begun)},
        )
        signal.signal(signal.SIGINT, before)
        while (len(server.asked) < 25 if kind == "address" else not begun.exists()) and job.poll() is None:
            time.sleep(0.05)
        time.sleep(1)  # the last of those that came are stored
        began = time.monotonic()
        job.send_signal(signal.SIGINT)
        _, told = job.communicate(timeout=60)
        assert time.monotonic() - began < 10
    assert job.returncode == 130, told
    assert told == "ragexam: stopped; the same command goes on from here\n"
    with AnswerStore(folder / "out" / "answers.sqlite") as store:
        assert len(store.answers()) == (24 if kind == "address" else 0)


class Weary(ScriptedModel):
    """A model that scores `left` choices and then fails as a full graphics card does."""

    left = 0

    def score_of(self, prompt: Prompt, continuation: str) -> float:
        Weary.left -= 1
        if Weary.left < 0:
            raise RuntimeError("CUDA out of memory\nTried to allocate 20 GiB")
        return super().score_of(prompt, continuation)


def test_a_model_of_ones_own_that_raises_is_one_line_and_loses_nothing(sit: Sit, folder: Path) -> None:
    grid = {"llms": [f"python:{__name__}:Weary"], "retrievers": ["oracle"], "shots": [0]}
    Weary.left = 60
    status, message = sit(grid)
    assert (status, message) == (1, f"ragexam: model python:{__name__}:Weary: RuntimeError: CUDA out of memory{KEPT}")
    with AnswerStore(folder / "out" / "answers.sqlite") as store:
        kept = len(store.answers())
    assert 0 < kept < 25
    Weary.left = 1000
    assert sit(grid) == (0, "")
