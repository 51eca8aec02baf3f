"""Exams written with a server, through the command line: whole, stopped, killed, faulty, and what they cost."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from exam_gen._prompts import ANSWER_VERSION, JSON_VERSION, LETTERS_VERSION, PAPER_VERSION
from examcore import Progress, Question, read_chunks, read_dropped, read_exam, write_exam
from rag import usage_lines
from ragexam._config import Config, GridSettings, generate_config
from ragexam._estimate import Machine, RunEstimate, estimate_run, write_work
from ragexam._run import HERE, run_exam, run_sitting
from tests.command_line import ragexam_here
from tests.rag.faulty_server import Body, Say, Server, chat, scripted, serving

ROOT = Path(__file__).parent.parent.parent
KEY = "sk-0123456789abcdef"
LIMITS = "timeout: 2, retries: 1, backoff: 0.01"
KEYED = f"writer.server={{{LIMITS}, api_key_env: EXAM_KEY}}"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAM_KEY", KEY)
    monkeypatch.syspath_prepend(ROOT / "tests" / "ragexam")


def written(server: Server, out: Path, *overrides: str, questions: int = 8) -> tuple[dict[str, Any], str]:
    """The result of `ragexam generate` and what it told on the way."""
    told = io.StringIO()
    given = {"writer.model": f"openai:scripted@{server.url}", "exam.questions": questions, "corpus.sample": 12}
    config = generate_config("python-docs", out, 3, given, ["writer.encoder=null", "pool=2", KEYED, *overrides])
    return run_exam(config, Progress(told)).record(), told.getvalue()


def command(server: Server, out: Path, *overrides: str, questions: int = 8) -> dict[str, Any]:
    """The same as a process of its own."""
    words = ["generate", "python-docs", "--out", str(out), "--sample", "12", "--questions", str(questions)]
    words += ["--seed", "3", "--writer", f"openai:scripted@{server.url}"]
    for one in ("writer.encoder=null", "pool=2", KEYED, *overrides):
        words += ["--set", one]
    return {"args": [sys.executable, "-m", "ragexam", *words], "cwd": ROOT}


def generate(server: Server, out: Path, *overrides: str) -> subprocess.CompletedProcess[str]:
    return ragexam_here(*command(server, out, *overrides)["args"][3:], "--quiet")


def files(run: Path) -> dict[str, str]:
    return {name: (run / name).read_text() for name in ("exam.jsonl", "dropped.jsonl", "shots.jsonl")}


def test_an_exam_is_written_and_verified_by_a_servers_likelihoods(tmp_path: Path) -> None:
    with serving(scripted) as server:
        result, _ = written(
            server, tmp_path / "run", f"writer.server={{{LIMITS}, price_per_million: {{prompt: 2, written: 10}}}}"
        )
    assert result["n_questions"] == 8
    exam = read_exam(tmp_path / "run" / "exam.jsonl")
    assert {q.metadata["verification"] for q in exam.questions} == {ANSWER_VERSION}
    assert all(q.metadata["model"] == q.metadata["verifier"] == "scripted" for q in exam.questions)
    used = result["usage"]["writing"]
    assert used["server"]["requests"] + 1 == len(server.asked), "the list of models is asked for once"
    assert used["cost"] == pytest.approx((used["prompt_tokens"] * 2 + used["written_tokens"] * 10) / 1e6, abs=1e-6)
    assert used["cost"] > 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["usage"] == result["usage"]
    assert f"cost {used['cost']:.4f}" in usage_lines(result["usage"])[0]


def test_an_exam_that_falls_short_says_why(tmp_path: Path) -> None:
    with serving(scripted) as server:
        result, told = written(server, tmp_path / "run", "corpus.sample=6", questions=400)
    count = result["n_questions"] + result["pool"]
    (note,) = result["usage"]["notes"]
    pattern = rf"the exam is shorter than wanted: {count} questions passed, 400 and 2 for the pool were asked for; all "
    assert re.fullmatch(pattern + r"\d+ facts of the corpus were used", note)
    assert f"note: {note}\n" in told
    assert usage_lines(result["usage"])[-1] == f"note: {note}"


def test_the_papers_questions_are_written_in_one_request_each(tmp_path: Path) -> None:
    with serving(scripted) as server:
        result, _ = written(server, tmp_path / "run", "exam.mode=paper")
        assert server.count("completions") == 0
        assert not any("response_format" in body for _, body in server.asked)
    exam = read_exam(tmp_path / "run" / "exam.jsonl")
    assert len(exam) == result["n_questions"] == 8
    assert {q.metadata["prompt"] for q in exam.questions} == {PAPER_VERSION}


@pytest.mark.parametrize("verification", ["likelihood", "letters"])
def test_a_strong_writer_is_asked_once_a_passage_and_its_questions_are_verified(
    tmp_path: Path, verification: str
) -> None:
    with serving(scripted) as server:
        result, _ = written(server, tmp_path / "run", "exam.mode=json", f"exam.verification={verification}")
        wrote = [body for _, body in server.asked if "response_format" in body]
        assert len(wrote) == len({str(body["messages"]) for body in wrote})
        assert (server.count("completions") > 0) == (verification == "likelihood")
    exam = read_exam(tmp_path / "run" / "exam.jsonl")
    assert len(exam) == result["n_questions"] == 8
    assert {q.metadata["prompt"] for q in exam.questions} == {JSON_VERSION}
    assert all(q.query("question").startswith("say, ") for q in exam.questions)


def without_likelihoods(server: Server, path: str, body: Body) -> Say:
    return Say({"error": {"message": "not here"}}, 404) if path == "completions" else scripted(server, path, body)


def test_a_server_without_likelihoods_is_told_of_before_anything_is_written(tmp_path: Path) -> None:
    with serving(without_likelihoods) as server:
        done = generate(server, tmp_path / "run", "exam.questions=9")
        assert server.count("chat/completions") == 0
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "gives no log-probabilities of a given text" in done.stderr
    assert "exam.verification=letters" in done.stderr


def test_letters_verify_where_likelihoods_cannot_and_the_metadata_says_so(tmp_path: Path) -> None:
    with serving(without_likelihoods) as server:
        written(server, tmp_path / "run", "exam.verification=letters")
    exam = read_exam(tmp_path / "run" / "exam.jsonl")
    assert len(exam) == 8
    for question in exam.questions:
        assert question.metadata["verification"] == LETTERS_VERSION
        assert question.metadata["support"] is None
        with_passage, without = question.metadata["letters"]  # type: ignore[misc]
        assert "A" in with_passage
        assert "A" not in without


def test_a_second_model_verifies_in_place_of_the_writer(tmp_path: Path) -> None:
    with serving(without_likelihoods) as server:
        result, _ = written(server, tmp_path / "run", "verifier.model=python:examinees:careful")
    exam = read_exam(tmp_path / "run" / "exam.jsonl")
    assert {(q.metadata["model"], q.metadata["verifier"]) for q in exam.questions} == {("scripted", "careful")}
    assert min(result["usage"][step]["calls"] for step in ("writing", "verifying")) > 8


def faulty(server: Server, path: str, body: Body) -> Say:
    """Two prompts of sixteen meet a fault that stays, two others fail once; every reply names another model."""
    if path == "models":
        return scripted(server, path, body)
    fate = zlib.crc32(json.dumps(body["messages"]).encode()) % 8
    with server.lock:
        first = sum(asked == body for _, asked in server.asked) == 1
    if fate == 0:
        return Say(b'{"choices": [')
    if fate == 1:
        return Say(b"<html>busy</html>")
    if fate == 2 and first:
        return Say({}, 500)
    if fate == 3 and first:
        return Say({}, 429, {"Retry-After": "0"})
    return Say({**scripted(server, path, body).content, "model": "another-model"})


def test_a_faulty_server_costs_questions_and_each_is_accounted_for(tmp_path: Path) -> None:
    with serving(faulty) as server:
        result, told = written(server, tmp_path / "run", "exam.mode=paper", questions=10)
        asked = Counter(json.dumps(body) for path, body in server.asked if path == "chat/completions")
    assert result["n_questions"] == 10
    lost = [one for one in read_dropped(tmp_path / "run" / "dropped.jsonl") if one.reason.startswith("no reply: ")]
    traffic = result["usage"]["writing"]["server"]
    assert result["dropped"]["no reply"] == len(lost) == traffic["lost"] > 0
    reasons = {'broken JSON: {"choices": [, 2 attempts', "HTML for JSON: <html>busy</html>, 2 attempts"}
    assert {one.reason for one in lost} <= {f"no reply: {one}" for one in reasons}
    assert all(one.chunk_id for one in lost)
    assert {"status 500", "status 429"} <= set(traffic["failed"])
    assert sum(asked.values()) == len(asked) - len(lost) + sum(traffic["failed"].values()) == traffic["requests"]
    assert told.count("its replies name another-model") == 1
    assert len(result["usage"]["notes"]) == 1


@pytest.mark.slow
def test_a_killed_run_repeats_no_request_it_had_a_reply_to_and_ends_with_the_same_exam(tmp_path: Path) -> None:
    with serving(scripted) as server:
        whole, _ = written(server, tmp_path / "whole", questions=14)
        requests = len(server.asked)
    with serving(scripted, pause=0.02) as server:
        kills = 0
        for share in (0.03, 0.3, 0.6):
            job = subprocess.Popen(
                **command(server, tmp_path / "run", questions=14), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            while len(server.asked) < share * requests and job.poll() is None:
                time.sleep(0.02)
            job.send_signal(signal.SIGKILL)
            kills += job.wait() == -signal.SIGKILL
        result, _ = written(server, tmp_path / "run", questions=14)
        chats = Counter(json.dumps(body) for path, body in server.asked if path == "chat/completions")
        texts = Counter(body["prompt"] for path, body in server.asked if path == "completions")
    assert kills == 3
    assert files(tmp_path / "run") == files(tmp_path / "whole")
    # Only what was under way when a run was killed may be asked again: at most eight requests each time.
    assert sum(chats.values()) - len(chats) <= 8 * kills
    # Likelihoods are kept by prompt, with its eleven requests; the probe of two is asked by every process.
    assert sum(texts.values()) - len(texts) <= (8 * 11 + 2) * kills
    used = result["usage"]["writing"]
    assert used["cached"] > 5
    assert used["prompt_tokens"] == whole["usage"]["writing"]["prompt_tokens"]


def test_ctrl_c_ends_at_once_although_the_server_hangs(tmp_path: Path) -> None:
    def script(server: Server, path: str, body: Body) -> Say:
        return scripted(server, path, body) if path != "chat/completions" else Say({}, silence=20)

    with serving(script) as server:
        # A background job of a shell ignores Ctrl-C and its children inherit that; a handler of our own they do not.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        job = subprocess.Popen(
            **command(server, tmp_path / "run", "writer.server={timeout: 60}"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        signal.signal(signal.SIGINT, before)
        while server.count("chat/completions") < 4:
            time.sleep(0.02)
        began = time.monotonic()
        job.send_signal(signal.SIGINT)
        _, told = job.communicate(timeout=30)
        assert time.monotonic() - began < 10
    assert job.returncode == 130
    assert told.splitlines()[-1] == "ragexam: stopped; the same command goes on from here"


@pytest.mark.parametrize(
    ("said", "status", "message"),
    [
        (Say({"error": {"message": f"bad key {KEY}"}}, 401), 2, "status 401: bad key ***; wanted a key it accepts"),
        (
            Say({"error": f"of {KEY}"}, 500),
            1,
            "no usable reply to 20 prompts in a row (status 500: of ***, 2 attempts);",
        ),
        (
            Say(f"<p>{KEY}".encode()),
            1,
            "20 prompts in a row (HTML for JSON: <p>***, 2 attempts); what was done is kept",
        ),
    ],
)
def test_a_server_that_will_not_work_is_one_line_and_the_key_is_nowhere(
    tmp_path: Path, said: Say, status: int, message: str
) -> None:
    with serving(lambda *_: said) as server:
        done = generate(server, tmp_path / "run", "exam.mode=paper", "exam.batch=40")
    assert done.returncode == status, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert message in done.stderr
    assert KEY not in done.stderr
    assert no_file_holds_the_key(tmp_path)


def no_file_holds_the_key(folder: Path) -> bool:
    return not [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_the_key_stands_in_no_file_of_a_run(tmp_path: Path) -> None:
    with serving(scripted) as server:
        result, told = written(server, tmp_path / "run", "exam.mode=paper", questions=4)
        assert {headers.get("Authorization") for headers in server.headers} == {f"Bearer {KEY}"}
    assert KEY not in json.dumps(result) + told
    assert no_file_holds_the_key(tmp_path)


def test_a_stopped_run_goes_on_with_other_limits(tmp_path: Path) -> None:
    def broken(server: Server, path: str, body: Body) -> Say:
        return scripted(server, path, body) if len(server.asked) < 6 else Say({}, 404)

    one_by_one = f"writer.server={{{LIMITS}, concurrency: 1}}"
    with serving(broken) as server:
        with pytest.raises(ValueError, match="status 404"):
            written(server, tmp_path / "run", "exam.mode=paper", one_by_one)
        server.script = scripted
        result, _ = written(server, tmp_path / "run", "exam.mode=paper", "writer.server={concurrency: 2, timeout: 3}")
    assert result["usage"]["writing"]["cached"] == 4


def test_a_server_sits_an_exam(tmp_path: Path) -> None:
    rows = [("Which statement ends a loop?", ("break", "pass"), 0), ("Which one waits?", ("pass", "await"), 1)]
    questions = [
        Question(f"q{n}", stem, choices, key, context=f"Use {choices[key]} here.")
        for n, (stem, choices, key) in enumerate(rows)
    ]
    write_exam(tmp_path / "exam.jsonl", questions)
    with serving(scripted) as server:
        llm = {"name": "far", "model": f"openai:scripted@{server.url}", "server": {"concurrency": 2}}
        grid = GridSettings(llms=[llm], retrievers=["oracle"])
        found = run_sitting(tmp_path / "exam.jsonl", grid, tmp_path / "out", HERE, 0, Progress(quiet=True))
    assert found.accuracy == {"far+oracle+icl0": 1.0}


def config(model: str, **exam: Any) -> Config:
    server = {"concurrency": 4, "price_per_million": {"prompt": 2, "written": 10}}
    return Config.model_validate(
        {
            "run": "unused",
            "corpus": {"source": "python-docs", "sample": 12},
            "writer": {"model": model, "server": server},
            "exam": {"questions": 12, **exam},
            "pool": 2,
            "grid": {"llms": ["org/tiny-135m"], "retrievers": ["oracle"]},
            "fit": {"method": "map"},
        }
    )


def test_an_estimate_tells_requests_and_cost_of_a_server_without_asking_it() -> None:
    def foreseen(**exam: Any) -> RunEstimate:
        return estimate_run(config("openai:some-7b@http://127.0.0.1:9/v1", **exam), Progress(quiet=True))

    likelihood, letters, paper = foreseen(), foreseen(verification="letters"), foreseen(mode="paper")
    for found in (likelihood, letters, paper):
        price = sum(
            (work.read_tokens * 2 + work.written_tokens * 10) / 1e6 for work in (found.writing, found.verifying)
        )
        assert found.cost == pytest.approx(price, abs=1e-3)
        assert f"servers: {found.requests:,} requests, cost {found.cost:.2f}" in "\n".join(found.lines())
    assert likelihood.requests > letters.requests > paper.requests


@pytest.mark.parametrize("verification", ["likelihood", "letters"])
def test_an_estimate_is_within_a_factor_of_what_is_asked(tmp_path: Path, verification: str) -> None:
    with serving(scripted) as server:
        written(server, tmp_path / "run", f"exam.verification={verification}", questions=12)
        asked = len(server.asked)
        chunks = read_chunks(tmp_path / "run" / "chunks.jsonl")
        works = write_work(config(f"openai:m@{server.url}", verification=verification), chunks, Machine(1e12, 1e10))
    # The scripted writer's questions hold several times as often as a small model's, on which the estimate rests.
    assert 1 / 3 < sum(work.requests for work in works) / asked < 5


def test_chat_replies_that_hold_no_question_are_counted_not_fatal(tmp_path: Path) -> None:
    def script(server: Server, path: str, body: Body) -> Say:
        said = scripted(server, path, body)
        return Say(chat("")) if len(json.dumps(body)) % 3 == 0 and path == "chat/completions" else said

    with serving(script) as server:
        result, _ = written(server, tmp_path / "run", "exam.mode=json", questions=6)
    assert result["dropped"]["unparsable"] > 0
