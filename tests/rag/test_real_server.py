"""A real server on this machine: the one that transformers brings, where its web framework is installed."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from examcore import Chunk, Exam, Prompt
from rag import Answer, AnswerStore, ClosedBook, Pipeline, Sitting, load_model, sit
from rag.answering import LETTERS, ReplyExaminee
from rag.retrieval._protocol import Oracle
from rag.servers import ServerOptions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("fastapi", "uvicorn", "openai")),
        reason="transformers serve needs fastapi, uvicorn and openai",
    ),
]
PROMPTS = [Prompt("What does the keeper count?"), Prompt("Bread needs", system="Be brief."), Prompt("When at noon?")]


@pytest.fixture(scope="module")
def served(tiny_folder: Callable[..., Path]) -> Iterator[tuple[str, str]]:
    """The folder of a small random model and the address it is served at."""
    folder = str(tiny_folder("llama"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "from transformers.cli.transformers import main; main()"
    words = ["serve", folder, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    job = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    try:
        for _ in range(600):
            if job.poll() is not None:
                pytest.skip("transformers serve ended before it began")
            with httpx.Client(trust_env=False) as client:
                try:
                    client.get(f"http://127.0.0.1:{port}/health", timeout=2)
                    break
                except httpx.TransportError:
                    time.sleep(0.2)
        yield folder, f"http://127.0.0.1:{port}/v1"
    finally:
        job.terminate()
        job.wait()


def test_a_served_model_writes_what_it_writes_here(served: tuple[str, str]) -> None:
    folder, url = served
    far: Any = load_model(f"openai:{folder}@{url}", server=ServerOptions(tokenizer=folder, retries=1))
    here = load_model(folder, dtype="float32")
    assert far.generate(PROMPTS, max_tokens=12) == [text.strip() for text in here.generate(PROMPTS, max_tokens=12)]
    assert far.traffic.requests == len(PROMPTS)
    assert far.traffic.written_tokens > 0
    assert not far.traffic.failed
    assert not far.traffic.notes


def sat(build: Callable[[], Any], exam: Exam, chunks: list[Chunk], store: AnswerStore) -> dict[tuple[str, str], Answer]:
    kinds = {"closed-book": ClosedBook(), "oracle": Oracle(chunks)}
    sit(Sitting(exam, [Pipeline("x", kind) for kind in kinds], chunks, {"x": build}, kinds), store)
    return {(one.pipeline, one.question): one for one in store.answers()}


def test_a_served_model_answers_by_letters_what_it_answers_here(
    served: tuple[str, str], exam: Exam, chunks: list[Chunk], tmp_path: Path
) -> None:
    folder, url = served
    options = ServerOptions(chat=False, tokenizer=folder, concurrency=2, retries=1)
    far: Any = load_model(f"openai:{folder}@{url}", server=options)
    with AnswerStore(tmp_path / "far.sqlite") as one, AnswerStore(tmp_path / "here.sqlite") as two:
        there = sat(lambda: ReplyExaminee(far, LETTERS), exam, chunks, one)
        here = sat(lambda: ReplyExaminee(load_model(folder, dtype="float32"), LETTERS), exam, chunks, two)
        assert one.settings("x+oracle+icl0")["model"]["answers"] == "letters"  # type: ignore[index]
    assert there.keys() == here.keys()
    assert len(there) == 2 * len(exam)
    for key, one_there in there.items():
        assert (one_there.chosen, one_there.reply.strip()) == (here[key].chosen, here[key].reply.strip())
    assert far.traffic.requests == len(there)
    assert not far.traffic.failed


def test_a_served_model_without_log_probabilities_is_found_out(served: tuple[str, str]) -> None:
    folder, url = served
    far: Any = load_model(f"openai:{folder}@{url}")
    with pytest.raises(ValueError, match=r"\(answers: letters\)"):
        far.need_likelihoods()
