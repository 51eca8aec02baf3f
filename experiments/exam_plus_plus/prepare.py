"""Queries, passages and rankings for an EXAM++ run on StackExchange: titles are asked, answers are searched.

    python experiments/exam_plus_plus/prepare.py stackexchange.jsonl.gz runs/exam_plus_plus

Writes `topics.csv` (`query, text`: titles drawn by a seed), a TREC run of each system over passages of the answers
(`bm25.run`, `lsa.run`, `dense.run`), and `passages.jsonl`, what any of them found. A question's own words are in no
passage, so that a title does not find its answer by being its first line.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from exam_gen.corpora import ChunkBounds, chunk, gather
from examcore import Chunk, Document, Question
from rag import Retriever, build_retriever

SYSTEMS = ("bm25", "lsa", "dense")
ANSWER = "Top answer:"
BOUNDS = ChunkBounds(min_characters=200, max_characters=700)


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("out", type=Path)
    parser.add_argument("--queries", type=int, default=12)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    documents = gather(words.corpus).documents
    passages = chunk(
        [one for document in documents if (one := answered(document))], BOUNDS, lambda text: round(len(text) / 4)
    )
    asked = queries(documents, passages, words.queries, words.seed)
    words.out.mkdir(parents=True, exist_ok=True)
    found: dict[tuple[str, str], str] = {}
    for name in SYSTEMS:
        retriever = build_retriever(name, passages)
        lines = []
        for query in asked:
            best = ranked(retriever, query, words.depth)
            found |= {(query.id, one.id): one.text for one in best}
            lines += [f"{query.id} Q0 {one.id} {rank} {1 / rank:.6f} {name}" for rank, one in enumerate(best, start=1)]
        (words.out / f"{name}.run").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (words.out / "topics.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("query", "text"), *((one.id, one.stem) for one in asked)])
    rows = [{"query": query, "passage": passage, "text": text} for (query, passage), text in found.items()]
    (words.out / "passages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{len(asked)} queries, {len(passages)} passages, {len(rows)} found by any of {len(SYSTEMS)} systems")


def answered(document: Document) -> Document | None:
    """The document without its question; None where it has no answer."""
    _, divider, answer = document.text.partition(ANSWER)
    text = answer.strip()
    return replace(document, title="", text=text) if divider and text else None


def queries(documents: Sequence[Document], passages: Sequence[Chunk], count: int, seed: int) -> list[Question]:
    """Titles of answered documents, drawn by the seed, as questions without choices that matter."""
    there = {one.document_id for one in passages}
    titled = [one for one in documents if one.id in there and len(one.title.split()) > 5]
    drawn = random.Random(seed).sample(titled, count)
    return [Question(re.sub(r"\W+", "-", one.id), one.title, ("yes", "no"), 0, one.id) for one in drawn]


def ranked(retriever: Retriever, query: Question, depth: int) -> list[Chunk]:
    """The best passages, ids fit for TREC's files."""
    return [replace(one, id=re.sub(r"\s", "_", one.id)) for one in retriever.retrieve(query, depth)]


if __name__ == "__main__":
    main()
