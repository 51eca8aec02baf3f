"""Third-party retrievers: any callable, objects of LangChain's and LlamaIndex's kind, and services at an address."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from examcore import Chunk, FailedError, NoReply, Question
from rag._third_party import has_module_and_name, import_object, positional_parameters, third_party
from rag.servers._options import ServerOptions
from rag.servers._transport import RefusedError, ServerRequest, UnusableError, connect_service, refusal_error

Search = Callable[[str, int], Sequence[Any]]
"""From a question's text and k to passages: see `ChunkLookup.chunks`."""


class ThirdPartyRetriever:
    """A third-party search as a retriever; its results become chunks of the corpus where they match."""

    def __init__(self, chunks: Sequence[Chunk], search: Search, name: str) -> None:
        self.name = name
        self._lookup, self._search = ChunkLookup(chunks), search

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """At most k passages; `FailedError` when the search fails, ValueError for an invalid result, in one line."""
        where = f"retriever {self.name}: question {question.id!r}"
        with third_party(where, kind=FailedError):
            found = self._search(question.stem, k)
        return self._lookup.chunks(found, k, where)


class ChunkLookup:
    """The chunks of a corpus, by id and by text."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._places = {chunk.id: place for place, chunk in enumerate(chunks)}
        self._chunks = tuple(chunks)
        self._by_text = {_plain(chunk.text): chunk for chunk in reversed(chunks)}  # of equal texts the first one

    def chunks(self, found: object, k: int, where: str) -> list[Chunk]:
        """At most k different passages, best first.

        `found` is a list of chunk ids, texts, `(id or text, score)` pairs, mappings with `id` or `text` (and `score`,
        `title`), or LangChain's and LlamaIndex's results. With a score on each, the largest come first and equal ones
        follow the corpus; without scores their order is kept. A text of no chunk becomes a passage of its own, except a
        single word, which is taken for an id. Raises ValueError that begins with `where`.
        """
        if isinstance(found, str | Mapping) or not isinstance(found, Sequence):
            raise ValueError(f"{where}: got {type(found).__name__}; wanted a list of passages")
        hits = [_hit(one, where) for one in found]
        ones = [(self._chunk(hit, where), hit.score) for hit in hits]
        if ones and all(score is not None for _, score in ones):
            ones.sort(key=lambda one: (-float(one[1] or 0), self._places.get(one[0].id, len(self._chunks))))
        return list({chunk.id: chunk for chunk, _ in ones}.values())[:k]

    def _chunk(self, hit: SearchHit, where: str) -> Chunk:
        for name in hit.ids:
            if name in self._places:
                return self._chunks[self._places[name]]
        known = None if hit.text is None else self._by_text.get(_plain(hit.text))
        # A bare string is an id if it is a single word of ASCII characters, which no passage is.
        bare = hit.ids == (hit.text,) and str(hit.text).isascii() and len(str(hit.text).split()) == 1
        if known is None and (hit.text is None or bare):
            raise ValueError(f"{where}: {hit.ids[0]!r} is no chunk of the corpus; wanted a chunk's id, or a text")
        text = hit.text or ""
        name = f"text:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        return known or Chunk(name, "", text, 0, len(text), hit.title)


class SearchHit(NamedTuple):
    """One result: names that may be a chunk's id, its text, title and score."""

    ids: tuple[str, ...]
    text: str | None = None
    title: str = ""
    score: float | None = None


def load_search(place: str, chunks: Sequence[Chunk]) -> Search:
    """The search that `python:package.module:name` names.

    It is a function of question and k, an object of LangChain's (`invoke`) or LlamaIndex's (`retrieve`) kind, or a
    function of nothing, or of the chunks, that returns either. Raises ValueError in one line.
    """
    if not has_module_and_name(place):
        raise ValueError(f"retriever {place}: wanted python:package.module:name")
    with third_party(f"retriever {place}", "something to import"):
        thing = import_object(place)
    if _method(thing) is None and callable(thing) and positional_parameters(thing) < 2:
        with third_party(f"retriever {place}: making it failed"):
            thing = thing(chunks) if positional_parameters(thing) else thing()
    return as_search(thing, place)


def as_search(thing: Any, place: str) -> Search:
    """A function, or an object of LangChain's or LlamaIndex's kind, as a search; ValueError for anything else.

    Those objects do not take k: how many results they find is their own setting, and the first k are used.
    """
    method = _method(thing)
    if method is not None:
        return lambda text, _: method(text)
    if callable(thing) and positional_parameters(thing) >= 2:
        return lambda text, k: thing(text, k)
    raise ValueError(
        f"retriever {place}: {type(thing).__name__}; wanted a function of question and k, or an object with 'invoke' "
        "or 'retrieve'"
    )


def _method(thing: Any) -> Any:
    """The method of a LangChain (`invoke`) or LlamaIndex (`retrieve`) object; None for a class."""
    if isinstance(thing, type):
        return None
    found = getattr(thing, "invoke", None) or getattr(thing, "retrieve", None)
    return found if callable(found) else None


def _hit(item: Any, where: str) -> SearchHit:
    if isinstance(item, str):
        return SearchHit((item,), item)
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str):
        return SearchHit((item[0],), item[0], score=_score(item[1], where))
    if isinstance(item, Mapping):
        text, score, fields, names = item.get("text"), item.get("score"), item, [item.get("id")]
        if not isinstance(names[0], str | int) and not isinstance(text, str):
            raise ValueError(f"{where}: a passage with neither 'id' nor 'text'; wanted one of them")
    else:
        text = getattr(item, "page_content", None)
        if not isinstance(text, str):
            if not callable(getattr(item, "get_content", None)):
                found = type(item).__name__
                raise ValueError(f"{where}: got {found}; wanted an id, a text, or a pair of either with a score")
            text = str(item.get_content())
        metadata, score = getattr(item, "metadata", None), getattr(item, "score", None)
        fields = metadata if isinstance(metadata, Mapping) else {}
        names = [fields.get("chunk_id"), fields.get("id"), getattr(item, "node_id", None), getattr(item, "id", None)]
    ids = tuple(str(one) for one in names if isinstance(one, str | int))
    text, title = (one if isinstance(one, str) else None for one in (text, fields.get("title")))
    return SearchHit(ids, text, title or "", _score(score, where))


def _score(value: Any, where: str) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{where}: score {value!r}; wanted a number") from None
    if number != number:
        raise ValueError(f"{where}: a score is not a number (NaN); wanted a number")
    return number


def _plain(text: str) -> str:
    return " ".join(text.split())


class EndpointRetriever:
    """POSTs `{"question": ..., "k": ...}` and reads `{"passages": [...]}`, each a chunk id, a text, or
    `{"id", "text", "title", "score"}`.

    A key is sent only if the options name its variable. Failed requests are retried as the options say.
    """

    def __init__(self, chunks: Sequence[Chunk], url: str, options: ServerOptions | None = None, name: str = "") -> None:
        self.name, self._url = name or urlsplit(url).netloc, url
        self._transport, self._path = connect_service(self.name, url, options)
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
