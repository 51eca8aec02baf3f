"""Cross-encoders, which read a question and a passage together, as re-rankers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examcore import first_error_line
from rag.weights._embedded import is_embedded, locate_weights
from rag.weights._hub import hub_offline, quiet_libraries

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
        return [_relevance(np.ravel(score)) for score in scores]

    @cached_property
    def _model(self) -> Any:
        place = str(locate_weights(self._name)) if is_embedded(self._name) else self._name
        try:
            if (Path(place) / "model.onnx").is_file() and not (Path(place) / "config.json").is_file():
                return OnnxCrossEncoder(Path(place))
            import sentence_transformers

            with quiet_libraries():
                return sentence_transformers.CrossEncoder(place, local_files_only=hub_offline(place))
        except ImportError as error:
            raise OSError(f"re-ranker {self._name}: needs {error.name}; wanted pip install 'ragexam[onnx]'") from None
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
        return [self._session.run(None, self._fed(*pair))[0][0] for pair in pairs]

    def _fed(self, question: str, passage: str) -> dict[str, NDArray[np.int64]]:
        read = self._tokenizer.encode(question, passage)
        fed = {"input_ids": read.ids, "attention_mask": read.attention_mask, "token_type_ids": read.type_ids}
        return {name: np.array([row], dtype=np.int64) for name, row in fed.items() if name in self._inputs}


def _relevance(outputs: NDArray[Any]) -> float:
    return float(outputs[1] - outputs[0]) if len(outputs) == 2 else float(outputs[-1])
