"""One contract over every kind of retriever and every adapter to somebody else's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examcore import Chunk, Question
from rag import Retriever, build_retriever
from rag.retrieval import _dense as encoders
from rag.retrieval._fusion import CrossEncoder
from rag.retrieval._kinds import BOUNDS, KINDS
from rag.retrieval._third_party import ThirdPartyRetriever, as_search
from tests.rag.faulty_server import Body, Say, Server, serving
from tests.rag.letter_pairs import FakeCrossEncoder, FakeEncoder, bag_of_letters

MANUAL = (Path(__file__).parents[2] / "docs" / "retrievers.md").read_text(encoding="utf-8")
Make = Callable[[Sequence[Chunk]], Retriever]


def test_the_manual_has_a_row_for_every_kind() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", MANUAL.split("\n## ")[0], re.MULTILINE)
    assert rows == list(KINDS)


def ranked(chunks: Sequence[Chunk], text: str) -> list[tuple[Chunk, float]]:
    """What the tests' own search finds: chunks with scores, in the order of the corpus."""
    asked = bag_of_letters([text])[0]
    return [(one, float(asked @ bag_of_letters([f"{one.title}\n{one.text}"])[0])) for one in chunks]


class LangChainDocument:
    def __init__(self, chunk: Chunk) -> None:
        self.page_content, self.metadata, self.id = chunk.text, {"title": chunk.title}, chunk.id


class LangChain:
    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks

    def invoke(self, query: str) -> list[LangChainDocument]:
        return [LangChainDocument(one) for one, _ in sorted(ranked(self._chunks, query), key=lambda one: -one[1])]


class LlamaNode:
    def __init__(self, chunk: Chunk, score: float) -> None:
        self.node_id, self.score, self._text = chunk.id, score, chunk.text

    def get_content(self) -> str:
        return self._text


class LlamaIndex:
    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks

    def retrieve(self, query: str) -> list[LlamaNode]:
        # Backwards: the scores say the order, and equal ones follow the corpus.
        return [LlamaNode(*one) for one in reversed(ranked(self._chunks, query))]


def adapters(chunks: Sequence[Chunk]) -> dict[str, Any]:
    def best(text: str) -> list[tuple[Chunk, float]]:
        return sorted(ranked(chunks, text), key=lambda one: -one[1])

    return {
        "callable-ids": lambda text, k: [one.id for one, _ in best(text)[:k]],
        "callable-texts": lambda text, _: [f"  {one.text}\n" for one, _ in best(text)],
        "callable-scores": lambda text, _: [(one.id, score) for one, score in reversed(ranked(chunks, text))],
        "langchain": LangChain(chunks),
        "llamaindex": LlamaIndex(chunks),
    }


SEARCHES = [kind for kind, parts in KINDS.items() if parts.family not in BOUNDS]
RERANKED = [f"{kind}-reranked" for kind in SEARCHES if not KINDS[kind].reranker]
MADE = [*KINDS, *RERANKED, *adapters([]), "endpoint"]
SEARCHING = [name for name in MADE if name not in ("closed-book", "oracle")]
BY_WORDS = [f"{kind}{end}" for kind in SEARCHES if not KINDS[kind].encoder for end in ("", "-reranked")]


@pytest.fixture(autouse=True)
def small_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "_load", lambda _: FakeEncoder())
    monkeypatch.setattr(CrossEncoder, "_model", FakeCrossEncoder())


@pytest.fixture
def address(request: pytest.FixtureRequest) -> Iterator[Callable[[Sequence[Chunk]], str]]:
    """From chunks to the address of an endpoint that searches them."""
    held: list[Sequence[Chunk]] = [()]

    def script(_: Server, path: str, body: Body) -> Say:
        assert path == "search"
        found = sorted(ranked(held[0], body["question"]), key=lambda one: -one[1])[: body["k"]]
        return Say({"passages": [{"id": one.id, "text": one.text, "score": score} for one, score in found]})

    with serving(script) as server:

        def of(chunks: Sequence[Chunk]) -> str:
            held[0] = chunks
            return f"{server.url}/search"

        yield of


@pytest.fixture
def making(address: Callable[[Sequence[Chunk]], str]) -> Callable[[str], Make]:
    def of(name: str) -> Make:
        if name == "endpoint":
            return lambda chunks: build_retriever(address(chunks), chunks)
        if name in adapters([]):
            return lambda chunks: ThirdPartyRetriever(chunks, as_search(adapters(chunks)[name], name), name)
        kind = name.removesuffix("-reranked")
        options = {"reranker": "fake"} if name in RERANKED else {}
        return lambda chunks: build_retriever(kind, chunks, encoder="fake", **options)  # type: ignore[arg-type]

    return of


@pytest.mark.parametrize("name", MADE)
def test_at_most_k_different_chunks_and_the_same_every_time(
    name: str, making: Callable[[str], Make], chunks: list[Chunk], questions: list[Question]
) -> None:
    retriever, again = making(name)(chunks), making(name)(chunks)
    for question in questions:
        for k in (1, 3, 100):
            found = retriever.retrieve(question, k)
            assert len(found) <= min(k, len(chunks))
            assert len({chunk.id for chunk in found}) == len(found)
            assert set(found) <= set(chunks)
            assert found == retriever.retrieve(question, k) == again.retrieve(question, k)
        # Best first: a longer list begins like a shorter one.
        assert retriever.retrieve(question, 100)[:2] == retriever.retrieve(question, 2)


@pytest.mark.parametrize("name", MADE)
def test_no_retriever_looks_at_the_choices(
    name: str, making: Callable[[str], Make], chunks: list[Chunk], questions: list[Question]
) -> None:
    retriever = making(name)(chunks)
    for question in questions:
        turned = replace(question, choices=("w", "x", "y", "z"), key=0)
        assert retriever.retrieve(question, 3) == retriever.retrieve(turned, 3)


@pytest.mark.parametrize("name", SEARCHING)
def test_the_source_comes_first_for_most_questions(
    name: str, making: Callable[[str], Make], chunks: list[Chunk], questions: list[Question]
) -> None:
    retriever = making(name)(chunks)
    firsts = [retriever.retrieve(question, 1)[0].id for question in questions]
    assert sum(first == question.chunk_id for first, question in zip(firsts, questions, strict=True)) >= 4


@pytest.mark.parametrize("name", [name for name in SEARCHING if name != "callable-texts"])
def test_equal_passages_keep_the_order_of_the_corpus(
    name: str, making: Callable[[str], Make], questions: list[Question]
) -> None:
    twins = [Chunk(f"c{place}", "d", "Same words here.", 0, 16) for place in range(30)]
    found = making(name)(twins).retrieve(replace(questions[0], stem="Same words?", chunk_id="c0"), 5)
    assert [chunk.id for chunk in found] == ["c0", "c1", "c2", "c3", "c4"]


@pytest.mark.parametrize("name", [name for name in MADE if name != "oracle"])
def test_an_empty_corpus_holds_nothing_to_find(
    name: str, making: Callable[[str], Make], questions: list[Question]
) -> None:
    assert making(name)([]).retrieve(questions[0], 2) == []


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("stem", ["? !", "", "the of and"])
def test_a_question_without_words_is_searched_without_a_fault(
    name: str, stem: str, making: Callable[[str], Make], chunks: list[Chunk], questions: list[Question]
) -> None:
    found = making(name)(chunks).retrieve(replace(questions[0], stem=stem), 3)
    assert len(found) <= 3
    if name in BY_WORDS:
        assert found == []


@pytest.mark.parametrize("name", MADE)
def test_a_corpus_without_words_is_searched_without_a_fault(
    name: str, making: Callable[[str], Make], questions: list[Question]
) -> None:
    signs = [Chunk(questions[0].chunk_id, "d", "--- 。", 0, 5), Chunk("c2", "d", "...", 0, 3)]
    assert len(making(name)(signs).retrieve(questions[0], 3)) <= 2


def test_bounds_find_nothing_and_only_the_source(
    making: Callable[[str], Make], chunks: list[Chunk], questions: list[Question]
) -> None:
    for question in questions:
        assert making("closed-book")(chunks).retrieve(question, 5) == []
        assert [chunk.id for chunk in making("oracle")(chunks).retrieve(question, 5)] == [question.chunk_id]
