"""A retrieval-augmented answerer behind HTTP: a system of one's own, to sit an exam in free text.

`python examples/answering_server.py chunks.jsonl --model embedded:smollm2-135m --retriever bm25 --port 9000`, then a
grid with `black_boxes: [{name: mine, system: "http://127.0.0.1:9000/ask", choices: false}]`. It reads the passages of a
run's `chunks.jsonl`, searches them for the question, and answers `{"answer": ..., "passages": [ids]}`.
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from examcore import Prompt, Question, read_chunks
from rag import Retriever, build_retriever, load_model

PASSAGES = 2
"""Passages that an answer is written from."""
MAX_TOKENS = 48
"""Enough for a sentence."""


class Answerer:
    """A language model that answers from what a retriever finds."""

    def __init__(self, retriever: Retriever, model: str) -> None:
        self._retriever, self._model = retriever, load_model(model)

    def answer(self, asked: str) -> dict[str, Any]:
        """The answer to a question and the ids of the passages that it was written from."""
        found = self._retriever.retrieve(Question("asked", asked, (), 0), PASSAGES)
        texts = "\n\n".join(one.text for one in found)
        instruction = "Answer the question from the text, in one sentence. Say so if the text does not tell."
        prompt = Prompt(user=f"{instruction}\n\n{texts}\n\nQuestion: {asked}")
        (reply,) = self._model.generate([prompt], max_tokens=MAX_TOKENS)
        return {"answer": reply.strip(), "passages": [one.id for one in found]}


def server_of(answerer: Answerer, port: int) -> HTTPServer:
    """A server that answers one request at a time."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = json.dumps(answerer.answer(asked["question"])).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            """Say nothing of each request."""

    return HTTPServer(("127.0.0.1", port), Handler)


def main() -> None:
    """Read the words of this script and serve until it is stopped."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("chunks", type=Path)
    words.add_argument("--model", default="embedded:smollm2-135m")
    words.add_argument("--retriever", default="bm25")
    words.add_argument("--port", type=int, default=9000)
    given = words.parse_args()
    answerer = Answerer(build_retriever(given.retriever, read_chunks(given.chunks)), given.model)
    with server_of(answerer, given.port) as server:
        print(f"http://127.0.0.1:{server.server_port}/ask", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
