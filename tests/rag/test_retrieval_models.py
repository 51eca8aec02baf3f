"""Encoders and re-rankers loaded from folders: small random models, made on the spot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examcore import Chunk, Question
from rag import build_retriever, embed
from rag.retrieval._dense import encode

WORDS = "the river oder rises in hills lighthouse keeper counts ships what does where baker bread lifts bees dance why"


def _tokenizer(folder: Path, kind: str) -> None:
    import transformers

    folder.mkdir()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (folder / "vocab.txt").write_text("\n".join([*special, *WORDS.split()]))
    name = f"{kind}Tokenizer" if kind.startswith("DPR") else "BertTokenizer"
    getattr(transformers, name)(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)


def _save(folder: Path, kind: str, **settings: Any) -> str:
    import torch
    import transformers

    _tokenizer(folder, kind)
    config = transformers.DPRConfig if kind.startswith("DPR") else transformers.BertConfig
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    with torch.random.fork_rng():
        torch.manual_seed(len(kind))
        made = getattr(transformers, kind)(
            config(vocab_size=5 + len(WORDS.split()), initializer_range=0.5, **size, **settings)
        )
    made.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folders of a DPR pair, another passage encoder, a sentence encoder and a cross-encoder."""
    place = tmp_path_factory.mktemp("models")
    return {
        "questions": _save(place / "questions", "DPRQuestionEncoder", projection_dim=8),
        "passages": _save(place / "passages", "DPRContextEncoder", projection_dim=8),
        "wider": _save(place / "wider", "DPRContextEncoder", projection_dim=12),
        "sentences": _save(place / "sentences", "BertModel"),
        "ranker": _save(place / "ranker", "BertForSequenceClassification", num_labels=1),
    }


def _pooled(folder: str, kind: str, text: str) -> Any:
    """The vector of one text, straight from transformers."""
    import torch
    import transformers

    tokenizer = transformers.BertTokenizerFast.from_pretrained(folder)
    with torch.inference_mode():
        return getattr(transformers, kind).from_pretrained(folder).eval()(**tokenizer(text, return_tensors="pt"))


def test_the_parts_of_dpr_are_compared_by_inner_product(
    folders: dict[str, str], chunks: list[Chunk], questions: list[Question]
) -> None:
    siam = build_retriever("siam", chunks, encoder=folders["passages"], query_encoder=folders["questions"])
    rows = [_pooled(folders["passages"], "DPRContextEncoder", f"{one.title}\n{one.text}") for one in chunks]
    passages = np.stack([row.pooler_output[0].numpy() for row in rows])
    assert passages.shape == (6, 8)
    assert np.ptp(np.linalg.norm(passages, axis=1)) > 0.1, "unit vectors would not tell cosine from inner product"
    for question in questions:
        asked = _pooled(folders["questions"], "DPRQuestionEncoder", question.stem).pooler_output[0].numpy()
        wanted = [chunks[int(place)].id for place in np.argsort(-(passages @ asked), kind="stable")]
        assert [chunk.id for chunk in siam.retrieve(question, 6)] == wanted


def test_a_text_longer_than_the_encoder_reads_is_cut(folders: dict[str, str]) -> None:
    assert encode(["ships " * 5000], folders["passages"]).shape == (1, 8)


def test_encoders_of_two_models_are_refused(
    folders: dict[str, str], chunks: list[Chunk], questions: list[Question]
) -> None:
    mixed = build_retriever("dense", chunks, encoder=folders["wider"], query_encoder=folders["questions"])
    with pytest.raises(ValueError, match=r"retriever dense: question 'q-oder': encoder .* gives 8 numbers and .* 12"):
        mixed.retrieve(questions[0], 1)


def test_multiqa_is_a_sentence_encoder(
    folders: dict[str, str], chunks: list[Chunk], questions: list[Question], tmp_path: Path
) -> None:
    multiqa = build_retriever("multiqa", chunks, encoder=folders["sentences"])
    vectors = embed([f"{one.title}\n{one.text}" for one in chunks], encoder=folders["sentences"], cache_dir=tmp_path)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(6), abs=1e-5)
    for question in questions:
        scores = vectors @ encode([question.stem], folders["sentences"])[0]
        wanted = [chunks[int(place)] for place in np.argsort(-np.round(scores, 6), kind="stable")]
        assert multiqa.retrieve(question, 6) == wanted


@pytest.mark.parametrize("kind", ["dpr", "dprv2", "bm25"])
def test_a_cross_encoder_orders_what_the_first_stage_found(
    kind: str, folders: dict[str, str], chunks: list[Chunk], questions: list[Question]
) -> None:
    encoder = {
        "dpr": {"encoder": folders["passages"], "query_encoder": folders["questions"]},
        "dprv2": {"encoder": folders["sentences"]},
        "bm25": {},
    }[kind]
    retriever = build_retriever(kind, chunks, reranker=folders["ranker"], **encoder)  # type: ignore[arg-type]

    def relevance(question: Question, chunk: Chunk) -> float:
        import torch
        import transformers

        tokenizer = transformers.BertTokenizerFast.from_pretrained(folders["ranker"])
        model = transformers.BertForSequenceClassification.from_pretrained(folders["ranker"]).eval()
        with torch.inference_mode():
            pair = tokenizer(question.stem, f"{chunk.title}\n{chunk.text}", return_tensors="pt")
            return float(model(**pair).logits[0, 0])

    question = questions[1]
    found = retriever.retrieve(question, 6)
    scores = [relevance(question, chunk) for chunk in found]
    assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-4)
    assert len(found) == (6 if kind != "bm25" else len(build_retriever("bm25", chunks).retrieve(question, 6)))
