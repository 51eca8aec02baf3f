"""Retrievers of somebody else's: what they may return, what becomes of it, and what is said when they fail."""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from examcore import Chunk, FailedError, Question
from rag import build_retriever
from rag.retrieval._third_party import ThirdPartyRetriever, as_search
from rag.servers import ServerOptions
from tests.rag.faulty_server import Say, serving

QUICK = ServerOptions(retries=1, backoff=0.01, timeout=5.0)


def returning(found: Any, chunks: Sequence[Chunk]) -> ThirdPartyRetriever:
    return ThirdPartyRetriever(chunks, lambda text, k: found, "mine")


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """An importable module called `mine`."""
    made = types.ModuleType("mine")
    monkeypatch.setitem(sys.modules, "mine", made)
    return made


class WithRetrieve:
    def __init__(self, found: Any) -> None:
        self._found = found

    def retrieve(self, query: str) -> Any:
        return self._found


def test_passages_are_known_by_id_by_text_and_by_metadata(chunks: list[Chunk], questions: list[Question]) -> None:
    class Document:
        page_content = "another cut of the same text"
        metadata = {"chunk_id": "c-train", "title": "Ignored"}  # noqa: RUF012

    found = ["c-oder", f"\n {chunks[1].text.replace(' ', '  ')}", {"id": "c-bread", "text": "as indexed"}, Document()]
    assert returning(found, chunks).retrieve(questions[0], 9) == chunks[:4]
    assert returning(found, chunks).retrieve(questions[0], 2) == chunks[:2]
    assert returning([*found, "c-oder"], chunks).retrieve(questions[0], 9) == chunks[:4]


def test_what_it_prints_goes_to_standard_error(
    chunks: list[Chunk], questions: list[Question], capsys: pytest.CaptureFixture[str]
) -> None:
    def search(text: str, k: int) -> list[str]:
        print("looking")
        return [chunks[0].id]

    assert ThirdPartyRetriever(chunks, search, "mine").retrieve(questions[0], 1) == chunks[:1]
    assert capsys.readouterr() == ("", "looking\n")


def test_a_text_that_is_no_chunk_becomes_a_passage_of_its_own(chunks: list[Chunk], questions: list[Question]) -> None:
    (one,) = returning([{"text": "Something else.", "title": "Elsewhere"}], chunks).retrieve(questions[0], 3)
    assert (one.text, one.title, one.document_id) == ("Something else.", "Elsewhere", "")
    assert returning(["Something else."], chunks).retrieve(questions[0], 3)[0].id == one.id
    assert one.id not in {chunk.id for chunk in chunks}


def test_scores_order_and_without_them_the_order_stays(chunks: list[Chunk], questions: list[Question]) -> None:
    scored = [("c-bread", 0.5), ("c-keeper", 2), ("c-oder", 0.5)]
    assert returning(scored, chunks).retrieve(questions[0], 3) == [chunks[1], chunks[0], chunks[2]]
    partly = [{"id": "c-bread"}, {"id": "c-oder", "score": 9}]
    assert returning(partly, chunks).retrieve(questions[0], 3) == [chunks[2], chunks[0]]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, "got NoneType; wanted a list of passages"),
        ("c-oder", "got str; wanted a list of passages"),
        ([7], "got int; wanted an id, a text, or a pair"),
        ([{"score": 1}], "a passage with neither 'id' nor 'text'"),
        ([{"id": "c-99"}], "'c-99' is no chunk of the corpus"),
        (["c-99"], "'c-99' is no chunk of the corpus"),
        ([("c-99", 0.5)], "'c-99' is no chunk of the corpus"),
        ([("c-oder", "high")], "score 'high'; wanted a number"),
        ([("c-oder", float("nan"))], "a score is not a number"),
    ],
)
def test_what_is_no_passage_is_refused_by_retriever_and_question(
    found: Any, message: str, chunks: list[Chunk], questions: list[Question]
) -> None:
    with pytest.raises(ValueError, match=f"^retriever mine: question 'q-oder': {message}") as caught:
        returning(found, chunks).retrieve(questions[0], 3)
    assert "\n" not in str(caught.value)


def test_an_object_that_answers_instead_of_searching_is_refused(chunks: list[Chunk], questions: list[Question]) -> None:
    with pytest.raises(ValueError, match="question 'q-oder': got str; wanted a list of passages"):
        ThirdPartyRetriever(chunks, as_search(WithRetrieve("The Oder rises in the hills."), "x"), "mine").retrieve(
            questions[0], 3
        )


def test_a_search_that_fails_is_told_in_one_line(chunks: list[Chunk], questions: list[Question]) -> None:
    def search(text: str, k: int) -> list[str]:
        raise RuntimeError("index\nis gone")

    with pytest.raises(FailedError, match=r"^retriever mine: question 'q-oder': RuntimeError: index$"):
        ThirdPartyRetriever(chunks, search, "mine").retrieve(questions[0], 3)


def test_a_name_stands_for_a_function_an_object_or_what_makes_them(
    module: Any, chunks: list[Chunk], questions: list[Question]
) -> None:
    class Class:
        def __init__(self, chunks: Sequence[Chunk]) -> None:
            self._last = chunks[-1].id

        def invoke(self, query: str) -> list[str]:
            return [self._last]

    module.search = lambda text, k: ["c-oder", "c-bread", "c-train"][:k]
    module.thing = WithRetrieve(["c-oder", "c-bread", "c-train"])
    module.make = lambda: WithRetrieve(["c-oder", "c-bread"])
    module.make_from = lambda chunks: lambda text, k: [one.id for one in chunks[::2]]
    module.Class = Class
    found = {
        name: [one.id for one in build_retriever(f"python:mine:{name}", chunks).retrieve(questions[0], 2)]
        for name in ("search", "thing", "make", "make_from", "Class")
    }
    usual = ["c-oder", "c-bread"]
    assert found == {"search": usual, "thing": usual, "make": usual, "make_from": usual, "Class": ["c-bees"]}


def test_names_that_stand_for_no_retriever_are_refused(
    module: Any, chunks: list[Chunk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module.number = 7
    module.broken = lambda: 1 / 0
    module.leaves = lambda: sys.exit(3)
    (tmp_path / "my_broken_search.py").write_text("raise RuntimeError('no licence')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for kind, message in {
        "python:mine": "wanted python:package.module:name",
        "python:mine:none": "has no attribute 'none'; wanted something to import",
        "python:no.such:thing": "No module named 'no'; wanted something to import",
        "python:mine:number": "int; wanted a function of question and k, or an object with 'invoke' or 'retrieve'",
        "python:mine:broken": "making it failed: ZeroDivisionError: division by zero",
        "python:mine:leaves": "making it failed: SystemExit: 3",
        "python:my_broken_search:find": "RuntimeError: no licence; wanted something to import",
    }.items():
        with pytest.raises(ValueError, match=message) as caught:
            build_retriever(kind, chunks)
        assert str(caught.value).startswith(f"retriever {kind}: ")


def test_langchain_retrievers_are_asked_as_they_are(chunks: list[Chunk], questions: list[Question]) -> None:
    core = pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Last(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            return [Document(page_content=one.text, metadata={"source": one.document_id}) for one in chunks[::-1]]

    assert core
    assert ThirdPartyRetriever(chunks, as_search(Last(), "x"), "mine").retrieve(questions[0], 4) == chunks[:1:-1]


def test_llamaindex_retrievers_are_asked_as_they_are(chunks: list[Chunk], questions: list[Question]) -> None:
    core = pytest.importorskip("llama_index.core")
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Scored(BaseRetriever):  # type: ignore[misc]
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            nodes = [TextNode(id_=one.id, text=f"{one.title}: {one.text}") for one in chunks]
            return [NodeWithScore(node=node, score=float(place)) for place, node in enumerate(nodes)]

    assert core
    assert ThirdPartyRetriever(chunks, as_search(Scored(), "x"), "mine").retrieve(questions[0], 4) == chunks[:1:-1]


def test_an_endpoint_is_asked_with_question_and_k(
    chunks: list[Chunk], questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-another")
    monkeypatch.setenv("SEARCH_KEY", "mine")
    with serving(lambda *_: Say({"passages": ["c-keeper", {"text": "New."}]})) as server:
        url = f"{server.url}/find/it"
        found = build_retriever(url, chunks, name="remote", server=QUICK).retrieve(questions[0], 3)
        assert [one.text for one in found] == [chunks[1].text, "New."]
        assert server.asked == [("find/it", {"question": questions[0].stem, "k": 3})]
        assert "Authorization" not in server.headers[0]
        build_retriever(url, chunks, server=ServerOptions(api_key_env="SEARCH_KEY")).retrieve(questions[0], 1)
        assert server.headers[1]["Authorization"] == "Bearer mine"


def test_an_endpoint_that_fails_once_is_asked_again(chunks: list[Chunk], questions: list[Question]) -> None:
    for fault in (Say(status=503), Say({"passage": []}), Say(b"<html>")):
        said = iter([fault, Say({"passages": ["c-oder"]})])
        with serving(lambda *_, said=said: next(said)) as server:
            assert build_retriever(f"{server.url}/s", chunks, server=QUICK).retrieve(questions[0], 1) == chunks[:1]
            assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        (Say({"error": "no index"}, 404), ValueError, "status 404: no index$"),
        (Say({"error": "no index"}, 500), FailedError, "status 500: no index, 2 attempts$"),
        (Say({"passages": {}}), FailedError, """a reply without a list 'passages': {"passages": {}}, 2 attempts$"""),
        (Say({"passages": [{"id": "c-99"}]}), ValueError, "'c-99' is no chunk of the corpus"),
    ],
)
def test_an_endpoint_that_goes_on_failing_names_retriever_and_question(
    said: Say, kind: type[Exception], message: str, chunks: list[Chunk], questions: list[Question]
) -> None:
    with serving(lambda *_: said) as server:
        remote = build_retriever(f"{server.url}/s", chunks, name="remote", server=QUICK)
        with pytest.raises(kind, match=rf"^retriever remote \({server.url}/s\): question 'q-oder': {message}"):
            remote.retrieve(questions[0], 1)


def test_an_endpoint_that_refuses_the_key_says_what_is_wanted(chunks: list[Chunk], questions: list[Question]) -> None:
    with serving(lambda *_: Say({"error": "who?"}, 401)) as server:
        remote = build_retriever(f"{server.url}/s", chunks, name="remote", server=QUICK)
        with pytest.raises(
            ValueError, match=r"/s\): status 401: who\?; wanted a key it accepts \(server: \{api_key_env"
        ):
            remote.retrieve(questions[0], 1)


def test_an_endpoint_that_hangs_is_given_up(chunks: list[Chunk], questions: list[Question]) -> None:
    slow = ServerOptions(retries=0, timeout=0.2)
    with serving(lambda *_: Say({"passages": []}, silence=10.0)) as server:
        began = time.monotonic()
        with pytest.raises(FailedError, match=r"question 'q-oder': no answer within 0\.2 s, 1 attempt$"):
            build_retriever(f"{server.url}/s", chunks, server=slow).retrieve(questions[0], 1)
        assert time.monotonic() - began < 8


def test_an_address_with_a_password_is_refused_without_repeating_it(chunks: list[Chunk]) -> None:
    with pytest.raises(ValueError, match="holds more than http://host:port/path") as caught:
        build_retriever("http://me:hunter2@host/search", chunks)
    assert "hunter2" not in str(caught.value)
