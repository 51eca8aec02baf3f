"""An OpenAI-compatible server on this machine that does what a script tells it, faults included."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.rag.scripted_author import author

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Say:
    """What the server sends back: status, content (JSON when it is no bytes), headers, seconds of silence before."""

    content: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    silence: float = 0.0


Script = Callable[["Server", str, Body], Say]


class Server:
    """A running server: `url` to ask it, `asked` with the path and body of every request, in order."""

    def __init__(self, script: Script, pause: float = 0.0) -> None:
        self.script, self.pause = script, pause
        self.asked: list[tuple[str, Body]] = []
        self.headers: list[Mapping[str, str]] = []
        self.times: list[float] = []
        self.under_way = self.most_under_way = 0
        self.lock = threading.Lock()
        self.http = _Quiet(("127.0.0.1", 0), _handler(self))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def count(self, path: str) -> int:
        return sum(one == path for one, _ in self.asked)


@contextmanager
def serving(script: Script, pause: float = 0.0) -> Iterator[Server]:
    server = Server(script, pause)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()


class _Quiet(ThreadingHTTPServer):
    # A connection that finds the usual queue of 5 full is tried again after a second.
    request_queue_size = 128
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: Any) -> None:
        """Clients that are killed leave broken connections behind."""


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        # One connection for many requests, each reply in one piece: as fast as the client asks.
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Body) -> None:
            path = self.path.removeprefix("/v1/")
            with server.lock:
                server.asked.append((path, body))
                server.headers.append(dict(self.headers))
                server.times.append(time.monotonic())
                server.under_way += 1
                server.most_under_way = max(server.most_under_way, server.under_way)
            try:
                time.sleep(server.pause)
                said = server.script(server, path, body)
                time.sleep(said.silence)
                self._send(said)
            except (BrokenPipeError, ConnectionResetError):
                pass
            finally:
                with server.lock:
                    server.under_way -= 1

        def _send(self, said: Say) -> None:
            content = said.content if isinstance(said.content, bytes) else json.dumps(said.content).encode()
            self.send_response(said.status)
            for name, value in {"Content-Length": str(len(content)), **said.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()
            self.close_connection = len(content) != int(dict(said.headers).get("Content-Length", len(content)))

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def chat(text: str, model: str = "scripted", **usage: int) -> dict[str, Any]:
    """The JSON of a chat reply."""
    return {
        "model": model,
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": len(text.split()), **usage},
    }


def tokens(text: str) -> list[str]:
    """Words with the blank before them, as a tokenizer would cut them."""
    return re.findall(r"\s*\S+", text)


def listed_or_echoed(path: str, body: Body) -> Say | None:
    """What a server with log-probabilities says where it is not asked to write: its model, or a text with its logs."""
    if path == "models":
        return Say({"data": [{"id": "scripted", "max_model_len": 8192}]})
    return Say(echo(body["prompt"])) if path == "completions" else None


def echo(text: str, model: str = "scripted") -> dict[str, Any]:
    """The JSON of an echoed prompt with log-probabilities, and one written token."""
    cut = tokens(text)
    logs = [None, *log_probabilities(text)[1:]]
    return {
        "model": model,
        "choices": [{"text": text, "logprobs": {"tokens": [*cut, " and"], "token_logprobs": [*logs, -0.5]}}],
        "usage": {"prompt_tokens": len(cut), "completion_tokens": 1},
    }


def prompt_logprobs(text: str) -> dict[str, Any]:
    """The same numbers in vLLM's other form."""
    cut = tokens(text)
    logs = zip(cut, log_probabilities(text), strict=True)
    entries = [{word: {"logprob": log, "rank": 1, "decoded_token": word}} for word, log in logs]
    return {
        "model": "scripted",
        "choices": [{"text": " and", "prompt_logprobs": [None, *entries[1:]]}],
        "usage": {"prompt_tokens": len(cut), "completion_tokens": 1},
    }


def log_probabilities(text: str) -> list[float]:
    """The script's log-probability of each token: likely where its word stood before, else by a lottery.

    A proposed answer is right when it stands in what was read before it.
    """
    seen: set[str] = set()
    logs = []
    cut = tokens(text)
    for token in cut:
        word = token.strip(" .,?\"'\n").lower()
        luck = zlib.crc32(f"{word}{len(cut)}".encode()) / 2**32
        logs.append(-0.1 - 0.1 * luck if word in seen else -5.0 - luck)
        seen.add(word)
    if text.endswith(("Reply: No", "Reply: Yes")):
        passage, _, asked = text.rpartition("Proposed answer: ")
        logs[-1] = -0.1 if (asked.split("\n")[0] in passage) is text.endswith("Yes") else -9.0
    return logs


def scripted(server: Server, path: str, body: Body) -> Say:
    """A server without faults that writes the questions asked of it."""
    if path == "models":
        return Say({"data": [{"id": "scripted", "max_model_len": 8192}]})
    if path == "completions":
        return Say(echo(body["prompt"]))
    return Say(chat(question(body["messages"][-1]["content"])))


def question(asked: str) -> str:
    """A reply to the prompts of exam writing, made from what they hold."""
    if "Candidates:" in asked:
        return letters(asked)
    begun = re.search(r"Begin your reply with: (Question|Answer|Wrong answers|In plain words|Reply):", asked)
    if begun:
        return author(asked[: begun.start()].rstrip())
    if '"queries"' in asked:
        return author(asked)
    words = list(dict.fromkeys(re.findall(r"\b[a-z]{5,}\b", asked.partition("\n\n")[2])))
    start = int(hashlib.sha256(asked.encode()).hexdigest(), 16) % max(len(words) - 10, 1)
    named = words[start : start + 10]
    stem = f"Which of the words {', '.join(named[4:])} stands nearest to the {named[4]} of the {named[5]} {named[6]}?"
    choices = "\n".join(f"{letter}) {word}" for letter, word in zip("ABCD", named, strict=False))
    return f"Question: {stem}\n{choices}\nCorrect Answer: B"


def letters(asked: str) -> str:
    """The letters of the candidates that stand in the passage beside the words of the question, or a guess."""
    passage = asked.split('"""')[1] if '"""' in asked else ""
    stem = re.search(r"Question: (.*)", asked).group(1)  # type: ignore[union-attr]
    options = re.findall(r"^([A-Z])\) (.*)$", asked, re.MULTILINE)
    if not passage:
        return options[len(stem) % len(options)][0]
    words = set(re.findall(r"\w+", stem.lower()))
    said = max(re.split(r"(?<=[.!?:])\s+", passage), key=lambda one: len(words & set(re.findall(r"\w+", one.lower()))))
    return ", ".join(letter for letter, text in options if text.lower() in said.lower()) or "none"
