"""Retrievers built from others: fused by rank, or re-ranked by a cross-encoder, which reads question and passage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examcore import Chunk, Question, first_error_line
from rag.retrieval._protocol import Retriever, searched_text, top_indices
from rag.weights._embedded import is_embedded, locate_weights
from rag.weights._sources import hub_offline, quiet_libraries

RRF = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""

DEPTH = 50
"""Passages that each part of a hybrid contributes, and that a re-ranker reads."""

Reranker = Callable[[str, Sequence[str]], Sequence[float]]
"""The relevance of each passage to a question; larger is better."""


class Hybrid:
    """Reciprocal rank fusion of several retrievers."""

    def __init__(self, parts: Sequence[Retriever], *, depth: int = DEPTH, name: str = "hybrid") -> None:
        self.name, self._parts, self._depth = name, tuple(parts), depth

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k best of the fused list; ties by the order in which the parts found them."""
        fused: dict[str, float] = {}
        found: dict[str, Chunk] = {}
        for part in self._parts:
            for rank, chunk in enumerate(part.retrieve(question, max(k, self._depth)), start=1):
                fused[chunk.id] = fused.get(chunk.id, 0.0) + 1 / (RRF + rank)
                found.setdefault(chunk.id, chunk)
        return [found[one] for one in sorted(fused, key=lambda one: -fused[one])][:k]


class Reranked:
    """Re-orders the first `depth` passages of another retriever; those below keep their order."""

    def __init__(self, first: Retriever, rerank: Reranker, *, depth: int = DEPTH, name: str = "") -> None:
        self.name = name or first.name
        self._first, self._rerank, self._depth = first, rerank, depth
        self._ordered: dict[str, list[Chunk]] = {}

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k best; ties in the first stage's order. Raises ValueError when the re-ranker gives unusable numbers."""
        best = self._best(question)
        if k <= len(best):
            return best[:k]
        known = {chunk.id for chunk in best}
        return [*best, *(chunk for chunk in self._first.retrieve(question, k) if chunk.id not in known)][:k]

    def _best(self, question: Question) -> list[Chunk]:
        """The passages that the re-ranker reads, in its order; computed once per question, because it is slow."""
        if question.stem not in self._ordered:
            read = self._first.retrieve(question, self._depth)
            order = top_indices(self._scores(question, read), len(read))
            self._ordered[question.stem] = [read[index] for index in order]
        return self._ordered[question.stem]

    def _scores(self, question: Question, read: Sequence[Chunk]) -> NDArray[np.float64]:
        scores = np.asarray(self._rerank(question.stem, [searched_text(chunk) for chunk in read]), dtype=np.float64)
        if scores.shape != (len(read),) or not np.isfinite(scores).all():
            found = f"{scores.size} numbers" if np.isfinite(scores).all() else "a number that is not finite"
            raise ValueError(
                f"retriever {self.name}: question {question.id!r}: the re-ranker gave {found}; wanted {len(read)} "
                "finite numbers"
            )
        return scores


MAX_PAIR_TOKENS = 512
"""An ONNX cross-encoder reads at most this many tokens of question and passage together."""


class CrossEncoder:
    """A cross-encoder as a re-ranker, loaded at first use.

    `model` is a folder or hub name that sentence-transformers reads, a folder with `model.onnx` and `tokenizer.json`,
    or `embedded:reranker-tiny`. With two outputs the second stands for "relevant", and the relevance is the second
    minus the first.
    """

    def __init__(self, model: str) -> None:
        self._name = model

    def __call__(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """The relevance of each passage; OSError with one line when the model cannot be loaded."""
        pairs = [(question, passage) for passage in passages]
        scores = self._model.predict(pairs, show_progress_bar=False) if pairs else []
        outputs = (np.ravel(score) for score in scores)
        return [float(one[1] - one[0]) if len(one) == 2 else float(one[-1]) for one in outputs]

    @cached_property
    def _model(self) -> Any:
        place = str(locate_weights(self._name)) if is_embedded(self._name) else self._name
        try:
            if (Path(place) / "model.onnx").is_file() and not (Path(place) / "config.json").is_file():
                return OnnxCrossEncoder(Path(place))
            import sentence_transformers

            with quiet_libraries():
                return sentence_transformers.CrossEncoder(place, local_files_only=hub_offline(place))
        except (OSError, ValueError, RuntimeError) as error:
            raise OSError(f"re-ranker {self._name}: cannot be loaded: {first_error_line(error)}") from error


class OnnxCrossEncoder:
    """A folder with `model.onnx` and `tokenizer.json`, read by onnxruntime."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        if not (folder / "tokenizer.json").is_file():
            raise OSError(f"{folder}: has no tokenizer.json")
        options = onnxruntime.SessionOptions()
        # Threads that spin while waiting slow down other work on the machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(
                folder / "model.onnx", options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's errors have no narrower common class
            raise OSError(first_error_line(error)) from error
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_PAIR_TOKENS)
        self._tokenizer.no_padding()

    def predict(self, pairs: Sequence[tuple[str, str]], **_: Any) -> list[NDArray[np.float32]]:
        """The outputs for each pair, one by one: with integer weights a score depends on the rest of its batch."""
        outputs = []
        for read in (self._tokenizer.encode(*pair) for pair in pairs):
            fed = {"input_ids": read.ids, "attention_mask": read.attention_mask, "token_type_ids": read.type_ids}
            rows = {name: np.array([row], dtype=np.int64) for name, row in fed.items() if name in self._inputs}
            outputs.append(self._session.run(None, rows)[0][0])
        return outputs
