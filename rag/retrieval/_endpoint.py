"""A retriever at an HTTP address: send the question as JSON, receive passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from examcore import Chunk, FailedError, NoReply, Question
from rag.retrieval._third_party import ChunkLookup
from rag.servers._json_service import connect, refusal_error
from rag.servers._options import ServerOptions
from rag.servers._transport import RefusedError, ServerRequest, UnusableError


class EndpointRetriever:
    """POSTs `{"question": ..., "k": ...}` and reads `{"passages": [...]}`, each a chunk id, a text, or
    `{"id", "text", "title", "score"}`.

    A key is sent only if the options name its variable. Failed requests are retried as the options say.
    """

    def __init__(self, chunks: Sequence[Chunk], url: str, options: ServerOptions | None = None, name: str = "") -> None:
        self.name, self._url = name or urlsplit(url).netloc, url
        self._transport, self._path = connect(self.name, url, options)
        self._lookup = ChunkLookup(chunks)

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """At most k passages; ValueError for a refusal or a reply without passages, `FailedError` without a reply."""
        service = f"retriever {self.name} ({self._url})"
        where = f"{service}: question {question.id!r}"
        body = {"question": question.stem, "k": k}
        try:
            ((_, found),) = self._transport.stream([ServerRequest(self._path, lambda: body, _passages)])
        except RefusedError as error:
            raise refusal_error(service, question.id, error) from None
        if isinstance(found, NoReply):
            raise FailedError(f"{where}: {found.reason}")
        return self._lookup.chunks(found, k, where)


def _passages(reply: Mapping[str, Any]) -> list[Any]:
    found = reply.get("passages")
    if not isinstance(found, list):
        raise UnusableError("a reply without a list 'passages'")
    return found
