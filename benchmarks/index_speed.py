"""How long it takes to index passages and to search them, by kind; passages are running text with many rare words.

`python benchmarks/index_speed.py` prints seconds and milliseconds.
"""

from __future__ import annotations

import random
import time
from pydoc_data.topics import topics

from examcore import Chunk, Question
from rag import build_retriever

SIZES = (1_000, 13_000)
"""A small corpus, and the largest of the paper's four."""
RARE = 30_000
QUESTIONS = 50


def passages(count: int, seed: int = 0) -> list[Chunk]:
    """Passages of 150 words: 120 in the order of the Python reference, 30 from a heavy-tailed vocabulary."""
    words = " ".join(topics.values()).split()
    lottery = random.Random(seed)
    made = []
    for number in range(count):
        start = lottery.randrange(len(words) - 120)
        rare = [f"w{min(int(lottery.paretovariate(0.8)), RARE)}" for _ in range(30)]
        text = " ".join([*words[start : start + 120], *rare])
        made.append(Chunk(f"c{number}", "d", text, 0, len(text)))
    return made


def main() -> None:
    for size in SIZES:
        chunks = passages(size)
        questions = [
            Question(f"q{n}", " ".join(chunks[n].text.split()[10:22]), ("a", "b"), 0) for n in range(QUESTIONS)
        ]
        for kind in ("bm25", "tfidf", "lsa"):
            began = time.perf_counter()
            retriever = build_retriever(kind, chunks)
            retriever.retrieve(questions[0], 10)
            built = time.perf_counter()
            for question in questions:
                retriever.retrieve(question, 10)
            each = (time.perf_counter() - built) / len(questions)
            print(f"{size:>6} passages  {kind:<6} index {built - began:5.1f} s  question {each * 1e3:5.1f} ms")


if __name__ == "__main__":
    main()
