"""A folder of released answers with simulated answers and names that are hard to print."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

LLMS = ("a_model & 100 % $more$ #1", "модель-β~^\\{x}")
RETRIEVERS = ("closed-book", "bm25", "a retriever with a name that is very much too long for any label <b>", "oracle")
TOPICS = ("s3", "a_topic & a very long name of it", "<i>vpc</i>")
LABELS = ({"bloom": ["remember", "apply"], "form": ["which"]}, {"bloom": ["create"], "form": ["what"]},
          {"bloom": ["apply"], "form": ["how"]})  # fmt: skip
CORPUS = {
    "documents": 9,
    "chunks": 40,
    "words": 1234,
    "vocabulary": 300,
    "topics": 3,
    "chunks_per_document": 40 / 9,
    "words_per_document": {"mean": 137.1, "least": 12, "most": 400},
    "words_per_chunk": {"mean": 30.85, "least": 5, "most": 60},
}
STATISTICS = {
    "generated": 60,
    "unparsable": {"no stem": 10, "key & stem": 5},
    "dropped": {"ambiguous": 20},
    "beyond": 1,
    "set_aside": 0,
    "surviving": 24,
    "stem_length": {"mean": 80.0, "sd": 12.0, "least": 40, "most": 120},
    "choice_length": {"mean": None, "sd": None, "least": None, "most": None},
}
EFFECTS = {"closed-book": -1.5, "bm25": 0.4, "oracle": 1.3}


def write_released(folder: Path, *, questions: int = 24, counts: bool = True, seed: int = 0) -> Path:
    """Two language models, four retrievers and two prompting modes on questions of three topics."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    ids = [f"q{number:02d}#{'é' * (number % 3)}" for number in range(questions)]
    difficulty = rng.normal(0, 1, questions)
    with (folder / "responses.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["student", "item", "score", "llm", "retriever", "icl"])
        for llm in LLMS:
            for retriever in RETRIEVERS:
                for icl in "01":
                    theta = EFFECTS.get(retriever, 0.0) + (0.3 if llm == LLMS[0] else -0.3) + rng.normal(0, 0.2)
                    right = rng.random(questions) < 1 / (1 + np.exp(1.4 * (difficulty - theta)))
                    for one, score in zip(ids, right, strict=True):
                        out.writerow([f"{llm}+{retriever}+icl{icl}", one, int(score), llm, retriever, icl])
    with (folder / "questions.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["question", "key", "choices", "topic", "chunk", "stem_words", "choice_words", "labels"])
        for number, one in enumerate(ids):
            topic = TOPICS[0 if number < questions // 2 else 1 + number % 2]
            out.writerow([one, number % 4, 4, topic, f"c{number}", 10 + number % 5, "2 2 3 1",
                          json.dumps(LABELS[number % len(LABELS)])])  # fmt: skip
    if counts:
        (folder / "corpus.json").write_text(json.dumps(CORPUS))
        (folder / "statistics.json").write_text(json.dumps(STATISTICS))
    return folder


def scores(folder: Path, ids: Sequence[str] | None = None, **levels: str) -> np.ndarray:
    """Scores of the answers at these levels, read without any of the code that is tested."""
    with (folder / "responses.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if all(row[name] == level for name, level in levels.items())]
    return np.array([float(row["score"]) for row in rows if ids is None or row["item"] in ids])
