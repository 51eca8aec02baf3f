"""What each kind of retriever alone promises; what all promise is in `test_retriever_contract.py`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from examcore import Chunk, Question
from rag import build_retriever
from rag.retrieval import _dense as encoders
from rag.retrieval._dense import Dense
from rag.retrieval._fusion import CrossEncoder, Hybrid, Reranked
from rag.retrieval._kinds import KINDS, PRESETS, parts_of
from rag.retrieval._lexical import Bm25, Lsa, TfIdf, TfIdfTable, stemmed_words
from rag.servers import ServerOptions
from tests.rag.letter_pairs import FakeEncoder, bag_of_letters


@pytest.fixture(autouse=True)
def fake_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeEncoder.calls = 0
    monkeypatch.setattr(encoders, "_load", lambda _: FakeEncoder())


def test_searching_retrievers_find_the_source(chunks: list[Chunk], questions: list[Question]) -> None:
    for kind in ("oracle", "bm25", "tfidf", "lsa", "dense", "hybrid"):
        retriever = build_retriever(kind, chunks, encoder="fake")
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


def test_reranker_orders_the_first_stage_to_its_depth_and_no_further(
    chunks: list[Chunk], questions: list[Question]
) -> None:
    class InOrder:
        name = "in-order"

        def retrieve(self, question: Question, k: int) -> list[Chunk]:
            return chunks[:k]

    def length(_: str, texts: Sequence[str]) -> list[float]:
        return [-len(text) for text in texts]

    found = Reranked(InOrder(), length, depth=4).retrieve(questions[0], 6)
    assert found[4:] == chunks[4:]
    assert found[:4] == sorted(chunks[:4], key=lambda one: len(f"{one.title}\n{one.text}"))
    assert found[:4] != chunks[:4]
    assert Reranked(InOrder(), lambda _, texts: [1.0] * len(texts)).retrieve(questions[0], 6) == chunks


def test_a_question_is_reranked_once_whatever_number_is_asked_for(
    chunks: list[Chunk], questions: list[Question]
) -> None:
    asked: list[str] = []

    def rerank(question: str, texts: Sequence[str]) -> list[float]:
        asked.append(question)
        return [float(place) for place in range(len(texts))]

    retriever = Reranked(TfIdf(chunks), rerank)
    found = [[retriever.retrieve(question, k) for k in (1, 2, 6)] for question in questions]
    assert asked == [question.stem for question in questions]
    for question, (one, two, all_) in zip(questions, found, strict=True):
        assert all_ == TfIdf(chunks).retrieve(question, 6)[::-1]
        assert (one, two) == (all_[:1], all_[:2])


def test_reranker_without_one_finite_number_a_passage_is_refused(
    chunks: list[Chunk], questions: list[Question]
) -> None:
    message = "retriever mine: question 'q-oder': the re-ranker gave 1 numbers; wanted 6 finite"
    with pytest.raises(ValueError, match=message):
        Reranked(Lsa(copies(chunks[0], 6)), lambda *_: [1.0], name="mine").retrieve(questions[0], 3)
    with pytest.raises(ValueError, match="gave a number that is not finite"):
        Reranked(Bm25(chunks), lambda _, texts: [float("nan")] * len(texts)).retrieve(questions[0], 3)


def copies(chunk: Chunk, count: int) -> list[Chunk]:
    return [replace(chunk, id=f"c{place}") for place in range(count)]


def test_tfidf_equals_the_textbook_formula(chunks: list[Chunk], questions: list[Question]) -> None:
    texts = [[*words] for words in stemmed_words([f"{chunk.title}\n{chunk.text}" for chunk in chunks])]
    idf = {
        word: 1 + np.log((1 + len(texts)) / (1 + sum(word in one for one in texts))) for one in texts for word in one
    }

    def vector(words: list[str]) -> dict[str, float]:
        raw = {word: (1 + np.log(words.count(word))) * idf[word] for word in words if word in idf}
        length = np.sqrt(sum(value**2 for value in raw.values()))
        return {word: value / length for word, value in raw.items()}

    for question in questions:
        asked = vector(stemmed_words([question.stem])[0])
        scores = [sum(asked.get(word, 0) * value for word, value in vector(one).items()) for one in texts]
        wanted = sorted((place for place in range(6) if scores[place] > 1e-9), key=lambda place: -scores[place])
        assert TfIdf(chunks).retrieve(question, 6) == [chunks[place] for place in wanted]


def test_lsa_finds_passages_that_share_no_word_with_the_question(questions: list[Question]) -> None:
    texts = (
        "ships harbour",
        "ships vessel",
        "vessel harbour",
        "vessel harbour sailor",
        "bread oven",
        "bread flour oven",
    )
    sea = [Chunk(f"c{place}", "d", text, 0, len(text)) for place, text in enumerate(texts)]
    question = replace(questions[0], stem="sailor")
    assert [chunk.id for chunk in TfIdf(sea).retrieve(question, 6)] == ["c3"]
    assert {chunk.id for chunk in Lsa(sea, topics=2).retrieve(question, 6)} == {"c0", "c1", "c2", "c3"}


def test_lsa_in_all_directions_compares_what_of_a_question_the_passages_span(
    chunks: list[Chunk], questions: list[Question]
) -> None:
    table = TfIdfTable(chunks)
    rows = table.passages.toarray()
    for question in questions:
        row = table.row(question)
        assert row is not None
        # The projection of the question on the span of the passages, by least squares.
        spanned = rows.T @ np.linalg.lstsq(rows.T, row.toarray()[0], rcond=None)[0]
        scores = np.round(rows @ spanned / np.linalg.norm(spanned), 6)
        wanted = [place for place in np.argsort(-scores, kind="stable") if scores[place] > 0]
        assert Lsa(chunks).retrieve(question, 6) == [chunks[int(place)] for place in wanted]


def test_dense_equals_brute_force_cosine(chunks: list[Chunk], questions: list[Question]) -> None:
    dense = Dense(chunks, "fake")
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


def test_what_is_still_to_be_encoded_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "BLOCK", 2)
    texts, told = ["one", "two", "two", "three", "four", "five"], list[tuple[int, int]]()
    encoders.embed(texts[:1], encoder="fake", cache_dir=tmp_path)
    for _ in range(2):
        encoders.embed(texts, encoder="fake", cache_dir=tmp_path, progress=lambda *done: told.append(done))
        assert told == [(0, 4), (2, 4)]


def test_unusable_cache_folder_does_not_stop_embedding(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert encoders.embed(["some text"], encoder="fake", cache_dir=tmp_path / "file").shape[0] == 1


def test_unknown_kinds_and_misplaced_rerankers_are_refused(chunks: list[Chunk]) -> None:
    with pytest.raises(ValueError, match="retriever 'bm52': unknown; wanted one of closed-book, oracle, bm25"):
        build_retriever("bm52", chunks)
    with pytest.raises(ValueError, match="retriever 'oracle': has nothing to re-rank"):
        build_retriever("oracle", chunks, reranker="org/ranker")
    with pytest.raises(ValueError, match="retriever 'tfidf': has no encoder; wanted a dense kind for 'org/questions'"):
        build_retriever("tfidf", chunks, query_encoder="org/questions")
    with pytest.raises(ValueError, match="retriever 'bm25': depth 5; wanted one of at least 1, on a hybrid or with a"):
        build_retriever("bm25", chunks, depth=5)
    with pytest.raises(ValueError, match="retriever 'bm25': is on no server"):
        build_retriever("bm25", chunks, server=ServerOptions())


def test_presets_stand_for_the_models_of_the_paper() -> None:
    assert PRESETS == ("siam", "multiqa", "dpr", "dprv2")
    lfqa = ("vblagoje/dpr-ctx_encoder-single-lfqa-base", "vblagoje/dpr-question_encoder-single-lfqa-base")
    assert parts_of("siam").encoders == parts_of("dpr").encoders == list(lfqa)
    assert parts_of("multiqa").encoders == ["sentence-transformers/multi-qa-MiniLM-L6-cos-v1"]
    assert [parts_of(kind).reranker for kind in ("siam", "dprv2")] == ["", "cross-encoder/ms-marco-MiniLM-L-6-v2"]
    # Another passage encoder is not asked with DPR's question encoder.
    assert parts_of("siam", encoder="org/mine").encoders == ["org/mine"]
    assert parts_of("bm25").encoders == []


def test_embedded_weights_of_another_kind_are_refused(chunks: list[Chunk], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="re-ranker 'embedded:minilm-l6': wanted embedded:reranker-tiny or a cross-"):
        build_retriever("hybrid", chunks, reranker="embedded:minilm-l6")
    monkeypatch.setattr(encoders, "locate_weights", lambda _: Path("smollm2.gguf"))
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


@pytest.mark.parametrize("kind", [Bm25, TfIdf])
def test_words_are_searched_for_in_the_language_of_the_passages(kind: type) -> None:
    german = [
        Chunk("schiff", "a", "Der Hafen nimmt nur die Schiffe der Fischer auf.", 0, 48, language="de"),
        Chunk("wald", "b", "Im Wald wachsen die Pilze, die man im Herbst sammelt.", 0, 53, language="de"),
    ]
    asked = Question("q", "Welche Wälder?", ("a", "b"), 0)
    assert [one.id for one in kind(german).retrieve(asked, 1)] == ["wald"]
    # With English stems alone, nothing is found.
    assert kind([replace(one, language="en") for one in german]).retrieve(asked, 1) == []


@pytest.mark.parametrize("kind", [Bm25, TfIdf])
def test_each_passage_of_a_mixed_corpus_is_read_in_its_language(kind: type) -> None:
    mixed = [
        Chunk("ja", "a", "港長は毎朝、最初の船が入る前に門を開けます。", 0, 22, language="ja"),
        Chunk("fr", "b", "Le capitaine ouvre les portes chaque matin.", 0, 43, language="fr"),
        Chunk("en", "c", "The captain opened the gates in the morning.", 0, 44),
    ]
    for code, stem in {
        "ja": "門を開けるのは誰ですか。",
        "fr": "Qui ouvre la porte ?",
        "en": "Who opens a gate?",
    }.items():
        asked = Question("q", stem, ("a", "b"), 0, metadata={} if code == "en" else {"language": code})
        assert [one.id for one in kind(mixed).retrieve(asked, 1)] == [code]
