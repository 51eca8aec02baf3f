"""Extractive readers, which find a span of the passage or none: models trained on SQuAD 2.0 (Rajpurkar et al. 2018).

A passage longer than the model's input is read in overlapping windows. The answer is the span with the highest sum of
start and end logits. A window's null score is that sum at its first token; the question is unanswerable if the best
span is not more than `threshold` above the lowest null score of any window.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import ReplyStore, StoredReply
from grading._records import Floats
from grading.formats._passages import PassageQuestion, keyed
from grading.graders._assessor import AssessorReply
from grading.graders._graders import Grader, GraderResult, graded_answer
from grading.graders._reply_parsing import UNANSWERABLE

LONGEST = 30
"""The most tokens of an answer."""
WINDOW, STRIDE = 384, 128
"""Tokens of a window, question included, and of the overlap of two windows."""


class Span(NamedTuple):
    """The best span of a passage in characters, its score, and the null score; `start` and `end` are 0 without one."""

    start: int
    end: int
    score: float
    null: float


def best_span(start: Floats, end: Floats, allowed: NDArray[np.bool_], longest: int = LONGEST) -> tuple[int, int, float]:
    """The span of tokens `(first, last)` with the highest `start[first] + end[last]`, and that sum.

    Both tokens are `allowed` and the span has 1 to `longest` tokens; the sum is -inf if there is none.
    """
    length = np.arange(len(end)) - np.arange(len(start))[:, None]
    possible = allowed[:, None] & allowed & (length >= 0) & (length < longest)
    sums = np.where(possible, start[:, None] + end, -np.inf)
    first, last = np.unravel_index(int(sums.argmax()), sums.shape)
    return int(first), int(last), float(sums[first, last])


def extractive_grader(reader: TransformersReader, store: ReplyStore, threshold: float = 0.0) -> Grader:
    """A grader that extracts spans and compares them with the key: 0 or 1. Spans are kept in a store.

    Questions without a key are left out.
    """

    def grade(pairs: Sequence[PassageQuestion]) -> Iterator[GraderResult]:
        for one in pairs:
            span = _span(reader, store, one.question.question, one.passage.text)
            is_answered = span.score - span.null > threshold
            text = one.passage.text[span.start : span.end].strip() if is_answered else ""
            yield graded_answer(one, AssessorReply(text or UNANSWERABLE[0]))

    return Grader("reader", {**reader.settings, "threshold": threshold}, grade, keyed)


def _span(reader: TransformersReader, store: ReplyStore, question: str, passage: str) -> Span:
    parts = ["span", reader.name, dict(reader.settings), question, passage]
    key = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
    kept = store.get(key)
    if kept is None:
        before = time.perf_counter()
        found = reader.read(question, passage)
        store.add([StoredReply(key, json.dumps(found), 0, 0, time.perf_counter() - before)])
        return found
    return Span(*json.loads(kept.value))


class TransformersReader:
    """A question-answering model of transformers with a fast tokenizer; name and settings determine its spans."""

    def __init__(self, model: Any, tokenizer: Any, name: str) -> None:
        self.name = name
        self._model, self._tokenizer = model.eval(), tokenizer
        self._window = min(one for one in (WINDOW, tokenizer.model_max_length, _positions(model)) if one)
        self._stride = min(STRIDE, self._window // 4)
        self.settings = {"window": self._window, "stride": self._stride, "longest": LONGEST}

    def read(self, question: str, passage: str) -> Span:
        """The best span, by windows of the passage that overlap."""
        import torch

        windows = self._windows(question, passage)
        offsets = windows.pop("offset_mapping")
        windows.pop("overflow_to_sample_mapping", None)
        sides = [windows.sequence_ids(row) for row in range(len(offsets))]
        tensors = {name: torch.tensor(value).to(self._model.device) for name, value in windows.items()}
        with torch.inference_mode():
            found = self._model(**tensors)
        starts, ends = (one.float().cpu().numpy().astype(np.float64) for one in (found.start_logits, found.end_logits))
        null, best = np.inf, Span(0, 0, -np.inf, np.inf)
        for row, side in enumerate(sides):
            # The null score is at the classification token, or the first where there is none.
            ids, token = list(windows["input_ids"][row]), self._tokenizer.cls_token_id
            nowhere = ids.index(token) if token in ids else 0
            null = min(null, float(starts[row, nowhere] + ends[row, nowhere]))
            first, last, score = best_span(starts[row], ends[row], np.array([one == 1 for one in side]))
            if score > best.score:
                best = Span(int(offsets[row][first][0]), int(offsets[row][last][1]), score, null)
        return best._replace(null=null)

    def _windows(self, question: str, passage: str) -> Any:
        room = self._window - self._stride - self._tokenizer.num_special_tokens_to_add(pair=True)
        if len(self._tokenizer(question, add_special_tokens=False)["input_ids"]) >= room:
            raise ValueError(f"question {question[:40]!r}: too long for {self.name}; wanted at most {room - 1} tokens")
        return self._tokenizer(
            question,
            passage,
            truncation="only_second",
            max_length=self._window,
            stride=self._stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            padding=True,
        )


def _positions(model: Any) -> int | None:
    """The longest input of a model, None for any; the positions of RoBERTa start after its padding index."""
    known = int(getattr(model.config, "max_position_embeddings", None) or 0)
    if known <= 0:
        return None
    tables = (one for name, one in model.named_modules() if name.endswith("position_embeddings"))
    padding = getattr(next(tables, None), "padding_idx", None)
    return known if padding is None else known - padding - 1


def load_reader(name: str, device: str = "auto") -> TransformersReader:
    """Load a SQuAD 2.0 reader by folder or hub name; raises `OSError` or `ValueError` with one line."""
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    from examcore import first_error_line
    from rag import hub_offline, quiet_libraries

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    options = {"local_files_only": hub_offline(name)}
    try:
        with quiet_libraries():
            tokenizer = AutoTokenizer.from_pretrained(name, **options)
            model, report = AutoModelForQuestionAnswering.from_pretrained(name, output_loading_info=True, **options)
    except Exception as error:  # whatever the libraries raise, the user gets one line
        raise OSError(f"reader {name}: cannot be loaded: {first_error_line(error)}") from error
    if any(one.startswith("qa_outputs") for one in report["missing_keys"]):
        raise ValueError(f"reader {name}: its weights have no question-answering head; wanted a SQuAD 2.0 model")
    if not tokenizer.is_fast:
        raise ValueError(f"reader {name}: its tokenizer has no offsets; wanted one with a tokenizer.json")
    short = Path(name).resolve().name if Path(name).is_dir() else name
    return TransformersReader(model.to(device), tokenizer, short)
