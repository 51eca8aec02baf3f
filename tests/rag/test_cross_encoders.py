"""Cross-encoders kept as ONNX, on a graph written here: the relevance is twice the sum of a passage's ids."""

import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from examcore import Chunk, Question, error_line
from rag import build_retriever
from rag.retrieval._fusion import CrossEncoder

WORDS = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "question": 3, "low": 5, "high": 50}


def _field(number: int, value: int | bytes | str) -> bytes:
    """One field of a protocol buffer."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    body = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _node(operator: str, inputs: list[str], output: str, **attributes: int | list[int]) -> bytes:
    node = b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(4, operator)
    for name, value in attributes.items():
        kind, body = (2, _field(3, value)) if isinstance(value, int) else (7, b"".join(_field(8, one) for one in value))
        node += _field(5, _field(1, name) + body + _field(20, kind))
    return _field(1, node)


def _tensor(name: str, kind: int, *sizes: str) -> bytes:
    shape = b"".join(_field(1, _field(2, size)) for size in sizes)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _graph() -> bytes:
    nodes = (
        _node("Cast", ["input_ids"], "ids", to=1)
        + _node("Cast", ["token_type_ids"], "types", to=1)
        + _node("Mul", ["ids", "types"], "read")
        + _node("ReduceSum", ["read"], "for", axes=[1], keepdims=1)
        + _node("Neg", ["for"], "against")
        + _node("Concat", ["against", "for"], "logits", axis=1)
    )
    inputs = b"".join(_field(11, _tensor(name, 7, "batch", "length")) for name in ("input_ids", "token_type_ids"))
    graph = nodes + _field(2, "pairs") + inputs + _field(12, _tensor("logits", 1, "batch", "outputs"))
    return _field(1, 6) + _field(7, graph) + _field(8, _field(2, 11))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.onnx").write_bytes(_graph())
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_relevance_is_the_distance_of_the_two_outputs(folder: Path) -> None:
    rerank = CrossEncoder(str(folder))
    separator = WORDS["[SEP]"]
    assert rerank("question", ["low", "high high", ""]) == [2 * (5 + separator), 2 * (100 + separator), 2 * separator]
    assert rerank("question", []) == []


def test_pairs_are_cut_to_what_the_model_reads(folder: Path) -> None:
    [score] = CrossEncoder(str(folder))("question", ["low " * 10_000])
    assert score == 2 * (5 * (512 - 4) + WORDS["[SEP]"])


def test_a_grid_can_re_rank_by_an_onnx_folder(folder: Path) -> None:
    chunks = [Chunk(name, name, text, 0, len(text)) for name, text in (("a", "low question"), ("b", "high question"))]
    retriever = build_retriever("bm25", chunks, reranker=str(folder), depth=2)
    question = Question("q", "question", ("one", "two"), 0, "a")
    assert [chunk.id for chunk in retriever.retrieve(question, 2)] == ["b", "a"]


def test_what_cannot_be_read_is_named_in_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(OSError, match=f"re-ranker {folder}: cannot be loaded: ") as caught:
        CrossEncoder(str(folder))("question", ["low"])
    assert "\n" not in str(caught.value)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(OSError, match=r"has no tokenizer\.json"):
        CrossEncoder(str(folder))("question", ["low"])
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModuleNotFoundError) as missing:
        CrossEncoder(str(folder))("question", ["low"])
    assert error_line(missing.value) == "onnxruntime is not installed; wanted pip install 'ragexam[onnx]'"
