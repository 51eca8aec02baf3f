"""Filters at scale: the similarity filters against their definition, and an exam of 39,000 questions.

    python benchmarks/filter_speed.py CORPUS [--documents 13000] [--embed 0]

CORPUS is any table of documents (arxiv.jsonl.gz): its words, in their frequencies, make documents as long as abstracts
and three questions on each. The definition is written out as plain loops over word n-grams and compared on the same
questions. One question in twenty is a copy of an earlier one with one word changed, which near-duplicate detection has
to find. Seconds are processor time. `--embed N` also encodes the texts of N documents, twice.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from exam_gen.corpora import gather
from exam_gen.language import ChoiceSimilarities, distractors, embedding_similarities, word_similarities
from exam_gen.rules import RULE_KINDS, apply_rules, rules_of, stem_words
from examcore import Question

SAMPLE = 150
"""Questions on which the definition is run."""
COPIES = 20
"""One question in so many is a near copy."""
LIMIT = RULE_KINDS["near-duplicate"].limit or 0.0


def jaccard(first: str, second: str) -> float:
    left, right = Counter(first.lower().split()), Counter(second.lower().split())
    union = (left | right).total()
    return (left & right).total() / union if union else 0.0


def definition(questions: Sequence[Question]) -> ChoiceSimilarities:
    """Both word similarities n-gram by n-gram, as the paper states them: texts compared with texts."""
    extra, intra = [], []
    for question in questions:
        n = max(1, sum(len(choice.split()) for choice in question.choices) // len(question.choices))
        words = question.context.split()
        grams = [" ".join(words[start : start + n]) for start in range(len(words) - n + 1)]
        closeness = {one: max((jaccard(one, gram) for gram in grams), default=0.0) for one in question.choices}
        wrong = distractors(question)
        extra.append(max(closeness[one] for one in wrong) - closeness[question.answer])
        intra.append(max(jaccard(one, question.answer) for one in wrong))
    return ChoiceSimilarities(np.array(extra), np.array(intra))


def exam(corpus: str, documents: int, seed: int = 0) -> tuple[list[Question], set[str]]:
    """Three questions on each of so many documents, and the ids of those that copy an earlier one nearly enough."""
    rng = np.random.default_rng(seed)
    counts = Counter(word for one in gather(corpus).documents for word in one.text.split())
    words = np.array(list(counts), dtype=object)
    pool = rng.choice(words, 1_000_000, p=np.array(list(counts.values())) / counts.total()).tolist()

    def some(size: int) -> list[str]:
        return [pool[place] for place in rng.integers(len(pool), size=size)]

    questions: list[Question] = []
    copies: set[str] = set()
    for number in range(documents):
        text = some(int(rng.integers(140, 210)))
        for place in range(3):
            stem = ["Which", "of", "the", *some(int(rng.integers(9, 16)))]
            name = f"d{number}-{place}"
            if len(questions) > 100 and rng.random() < 1 / COPIES:
                original = questions[int(rng.integers(len(questions)))]
                stem = original.stem.rstrip("?").split()
                stem[int(rng.integers(len(stem)))] = some(1)[0]
                left, right = stem_words(original), stem_words(Question(name, " ".join(stem) + "?", ("",), 0))
                if len(left & right) > LIMIT * len(left | right):
                    copies.add(name)
            cuts = [(int(rng.integers(0, 120)), int(rng.integers(4, 14))) for _ in range(4)]
            choices = [" ".join([*text[at : at + size // 2], *some(size - size // 2)]) for at, size in cuts]
            context = " ".join(text)
            where = {"document_id": f"d{number}", "context": context}
            questions.append(Question(name, " ".join(stem) + "?", tuple(choices), int(rng.integers(4)), **where))  # type: ignore[arg-type]
    return questions, copies


def seconds(work: object) -> tuple[float, object]:
    """Seconds of processor time, which other work on the machine disturbs least, and what the work gave."""
    start = time.process_time()
    result = work()  # type: ignore[operator]
    return time.process_time() - start, result


def gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def embedding(questions: Sequence[Question]) -> None:
    from rag import embed

    texts = list(dict.fromkeys(text for one in questions for text in (one.context, *one.choices)))
    with tempfile.TemporaryDirectory() as folder:
        embed(["warm up"], cache_dir=Path(folder))
        first, _ = seconds(lambda: embed(texts, cache_dir=Path(folder)))
        again, _ = seconds(lambda: embed(texts, cache_dir=Path(folder)))
    print(f"| embeddings of {len(texts):,} texts, first time | {first:.1f} | {first / len(texts) * 1e6:.0f} |")
    print(f"| the same from the cache | {again:.2f} | {again / len(texts) * 1e6:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--documents", type=int, default=13_000)
    parser.add_argument("--embed", type=int, default=0, metavar="N")
    asked = parser.parse_args()
    made, (questions, copies) = seconds(lambda: exam(asked.corpus, asked.documents))  # type: ignore[misc]
    held = gigabytes()
    print(f"{len(questions):,} questions on {asked.documents:,} documents, made in {made:.0f} s\n")
    sample = questions[:SAMPLE]
    word_similarities(sample)
    slow, expected = seconds(lambda: definition(sample))
    fast, found = min((seconds(lambda: word_similarities(sample)) for _ in range(5)), key=lambda one: one[0])
    worst = max(float(np.abs(a - b).max()) for a, b in zip(found, expected, strict=True))  # type: ignore[call-overload]
    print(f"definition {slow / SAMPLE * 1e6:.0f} us a question, ours {fast / SAMPLE * 1e6:.0f} us: ", end="")
    print(f"{slow / fast:.0f} times as fast; largest difference {worst:.1e}\n")
    print("| what | seconds | microseconds a question |\n|---|---|---|")
    took, _ = seconds(lambda: word_similarities(questions))
    print(f"| both word similarities | {took:.1f} | {took / len(questions) * 1e6:.0f} |")
    for name in ("near-duplicate", "repeated-fact"):
        took, kept = seconds(lambda name=name: apply_rules(questions, rules_of({}, only=[name])))
        print(f"| {name} | {took:.1f} | {took / len(questions) * 1e6:.0f} |")
        if name == "near-duplicate":
            lost = {one.question.id for one in kept.dropped}  # type: ignore[attr-defined]
    took, kept = seconds(lambda: apply_rules(questions, rules_of({"extra-words": "10%"})))
    print(f"| all usual rules and extra-words: 10% | {took:.1f} | {took / len(questions) * 1e6:.0f} |")
    words_only = gigabytes()
    vectors = np.random.default_rng(0)
    took, _ = seconds(
        lambda: embedding_similarities(
            questions, lambda texts: vectors.standard_normal((len(texts), 384), dtype=np.float32)
        )
    )
    print(
        f"| both by meaning, 384 numbers a text, encoding left out | {took:.1f} | {took / len(questions) * 1e6:.0f} |"
    )
    if asked.embed:
        embedding([one for one in questions if int(one.document_id[1:]) < asked.embed])
    print(f"\nnear copies planted {len(copies):,}, found {len(copies & lost):,}, others dropped {len(lost - copies):,}")
    print(f"peak memory in GB: {held:.2f} to make the exam, {words_only:.2f} with all rules on words, ", end="")
    print(f"{gigabytes():.2f} with meanings")
    assert worst <= 1e-9
    assert slow >= 50 * fast


if __name__ == "__main__":
    main()
