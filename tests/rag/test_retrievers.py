"""One contract over all retrievers, and what each of them alone promises."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exam_gen.records import Chunk, Question
from rag import encoders, retrievers
from rag.retrievers import KINDS, Bm25, CrossEncoder, Dense, Hybrid, Retriever, build_retriever


def bag_of_letters(texts: Sequence[str]) -> Any:
    """A tiny encoder: letter-pair counts, unit length."""
    vectors = np.zeros((len(texts), 26 * 26), dtype=np.float32)
    for row, text in enumerate(texts):
        letters = [ord(one) - 97 for one in text.lower() if "a" <= one <= "z"]
        for pair in itertools.pairwise(letters):
            vectors[row, pair[0] * 26 + pair[1]] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


class FakeEncoder:
    calls = 0

    def encode(self, texts: Sequence[str], **_: Any) -> Any:
        FakeEncoder.calls += 1
        return bag_of_letters(texts)


@pytest.fixture(autouse=True)
def fake_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeEncoder.calls = 0
    monkeypatch.setattr(encoders, "_load", lambda _: FakeEncoder())


@pytest.fixture(params=list(KINDS))
def retriever(request: pytest.FixtureRequest, chunks: list[Chunk], tmp_path: Path) -> Retriever:
    return build_retriever(request.param, chunks, encoder="fake", cache_dir=tmp_path)


def test_contract_of_every_retriever(retriever: Retriever, chunks: list[Chunk], questions: list[Question]) -> None:
    for question in questions:
        for k in (1, 3, 100):
            found = retriever.retrieve(question, k)
            assert len(found) <= min(k, len(chunks))
            assert len({chunk.id for chunk in found}) == len(found)
            assert set(found) <= set(chunks)
            assert found == retriever.retrieve(question, k)
        assert retriever.retrieve(question, 3)[:1] == retriever.retrieve(question, 1)


def test_no_retriever_looks_at_the_choices(retriever: Retriever, questions: list[Question]) -> None:
    for question in questions:
        turned = replace(question, choices=("w", "x", "y", "z"), key=0)
        assert retriever.retrieve(question, 3) == retriever.retrieve(turned, 3)


def test_searching_retrievers_find_the_source(chunks: list[Chunk], questions: list[Question], tmp_path: Path) -> None:
    for kind in ("oracle", "bm25", "dense", "hybrid"):
        retriever = build_retriever(kind, chunks, encoder="fake", cache_dir=tmp_path)
        found = [retriever.retrieve(question, 1)[0].id == question.chunk_id for question in questions]
        assert sum(found) >= 4, kind


def test_closed_book_finds_nothing_and_oracle_only_the_source(chunks: list[Chunk], questions: list[Question]) -> None:
    assert build_retriever("closed-book", chunks).retrieve(questions[0], 5) == []
    assert [chunk.id for chunk in build_retriever("oracle", chunks).retrieve(questions[0], 5)] == ["c-oder"]


def test_oracle_without_the_source_is_refused(chunks: list[Chunk], questions: list[Question]) -> None:
    with pytest.raises(ValueError, match="'q-oder' comes from chunk 'c-oder', which is not among the chunks"):
        build_retriever("oracle", chunks[1:]).retrieve(questions[0], 1)


def test_bm25_stems_and_ignores_what_shares_no_word(chunks: list[Chunk], questions: list[Question]) -> None:
    bm25 = Bm25(chunks)
    assert bm25.retrieve(replace(questions[0], stem="Counting a ship?"), 6) == [chunks[1]]
    assert bm25.retrieve(replace(questions[0], stem="Zebra?"), 6) == []
    assert bm25.retrieve(replace(questions[0], stem="? !"), 6) == []


def test_equal_scores_keep_the_order_of_the_chunks(questions: list[Question], tmp_path: Path) -> None:
    twins = [Chunk(f"c{place}", "d", "Same words here.", 0, 16) for place in range(30)]
    question = replace(questions[0], stem="Same words?", chunk_id="c0")
    for kind in ("bm25", "dense", "hybrid"):
        found = build_retriever(kind, twins, encoder="fake", cache_dir=tmp_path).retrieve(question, 5)
        assert [chunk.id for chunk in found] == ["c0", "c1", "c2", "c3", "c4"], kind


def test_reciprocal_rank_fusion_adds_inverse_ranks(chunks: list[Chunk], questions: list[Question]) -> None:
    class Fixed:
        def __init__(self, *order: int) -> None:
            self.name = "fixed"
            self.order = order

        def retrieve(self, question: Question, k: int) -> list[Chunk]:
            return [chunks[place] for place in self.order][:k]

    # 1/61 + 1/63 for chunk 0, 1/62 + 1/61 for chunk 1, 1/63 for chunk 2, 1/62 for chunk 3.
    fused = Hybrid([Fixed(0, 1, 2), Fixed(1, 3, 0)]).retrieve(questions[0], 4)
    assert [chunks.index(chunk) for chunk in fused] == [1, 0, 3, 2]
    shortest = Hybrid([Fixed(0, 1, 2), Fixed(1, 3, 0)], lambda _, texts: [-len(text) for text in texts])
    lengths = [len(f"{chunk.title}\n{chunk.text}") for chunk in shortest.retrieve(questions[0], 4)]
    assert lengths == sorted(lengths)


def test_dense_equals_brute_force_cosine(chunks: list[Chunk], questions: list[Question], tmp_path: Path) -> None:
    dense = Dense(chunks, "fake", tmp_path)
    texts = bag_of_letters([f"{chunk.title}\n{chunk.text}" for chunk in chunks])
    for question in questions:
        order = np.argsort(-(texts @ bag_of_letters([question.stem])[0]), kind="stable")
        assert dense.retrieve(question, 6) == [chunks[int(place)] for place in order]


def test_embeddings_are_computed_once_per_content(chunks: list[Chunk], tmp_path: Path) -> None:
    texts = [chunk.text for chunk in chunks]
    first = encoders.embed(texts, encoder="fake", cache_dir=tmp_path)
    assert FakeEncoder.calls == 1
    assert np.array_equal(first, encoders.embed(texts, encoder="fake", cache_dir=tmp_path))
    assert FakeEncoder.calls == 1
    changed = encoders.embed([texts[0], "changed", texts[0]], encoder="fake", cache_dir=tmp_path)
    assert np.array_equal(changed, np.stack([first[0], bag_of_letters(["changed"])[0], first[0]]))
    encoders.embed(texts, encoder="other", cache_dir=tmp_path)
    assert FakeEncoder.calls == 3
    for file in tmp_path.glob("*.sqlite"):
        file.write_bytes(b"damaged" * 1000)
    assert np.array_equal(first, encoders.embed(texts, encoder="fake", cache_dir=tmp_path))
    assert np.array_equal(first, encoders.embed(texts, encoder="fake", cache_dir=tmp_path))
    assert FakeEncoder.calls == 4
    assert encoders.embed([], encoder="fake", cache_dir=tmp_path).shape[0] == 0


def test_unusable_cache_folder_does_not_stop_embedding(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert encoders.embed(["some text"], encoder="fake", cache_dir=tmp_path / "file").shape[0] == 1


def test_unknown_kinds_and_misplaced_rerankers_are_refused(chunks: list[Chunk]) -> None:
    with pytest.raises(ValueError, match="retriever 'bm52': unknown; wanted one of closed-book, oracle, bm25"):
        build_retriever("bm52", chunks)
    with pytest.raises(ValueError, match="retriever 'bm25': has no re-ranker"):
        build_retriever("bm25", chunks, reranker="org/ranker")


def test_embedded_weights_of_another_kind_are_refused(chunks: list[Chunk], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="re-ranker 'embedded:reranker-tiny': wanted a cross-encoder's folder"):
        build_retriever("hybrid", chunks, reranker="embedded:reranker-tiny")
    monkeypatch.setattr(encoders, "locate", lambda _: Path("smollm2.gguf"))
    with pytest.raises(ValueError, match="encoder embedded:smollm2-135m: is no sentence encoder"):
        encoders.embed(["text"], encoder="embedded:smollm2-135m")


def test_name_in_the_grid_is_kept(chunks: list[Chunk]) -> None:
    assert build_retriever("dense", chunks, name="siam").name == "siam"
    assert [build_retriever(kind, chunks).name for kind in KINDS] == list(KINDS)


def test_cross_encoder_that_cannot_be_loaded_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(OSError, match="re-ranker nobody/ranker: cannot be loaded") as caught:
        CrossEncoder("nobody/ranker")("question", ["passage"])
    assert "\n" not in str(caught.value)


def test_empty_collection_is_searched_without_a_fault(questions: list[Question], tmp_path: Path) -> None:
    for kind in ("bm25", "dense", "hybrid"):
        assert build_retriever(kind, [], encoder="fake", cache_dir=tmp_path).retrieve(questions[0], 2) == []
    assert retrievers.top([], 3) == []
