"""Does an exam rank retrievers as people's questions do? On a collection of questions with known sources.

    python benchmarks/external_validity.py COLLECTION [--exam RUN] [--questions 60] [--json]
    python benchmarks/external_validity.py COLLECTION --sample 50

COLLECTION is a folder of `corpus.jsonl.gz` (`id, title, text`), `queries.jsonl.gz` (`id, text`) and `qrels.jsonl.gz`
(`query, doc`, and `start, end` of the answer in the text where they are known). The exam is that of the run folder RUN;
where there is none, it is written there from the corpus alone: the people's questions are not looked at.

`--sample N` writes no exam: it says in what share of samples of N of people's questions BM25 stands to the dense
retriever as with all of them, which is how far the check with `users:` can be trusted that has so many.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ragexam
from exam_gen import corpora
from examcore import (
    STEM,
    Chunk,
    Document,
    Progress,
    Question,
    RunFolder,
    bootstrap_mean,
    read_chunks,
    read_dropped,
    read_exam,
)
from rag import build_retriever
from rag.retrieval import Search, find_sources, passage_index
from ragexam.validity import UserQuestion, ValidityTable, compare, searched_questions

RETRIEVERS = ("bm25", "tfidf", "lsa", "dense", "hybrid")
ENCODER = "embedded:minilm-l6"
BOUNDS = corpora.ChunkBounds(min_characters=350, max_characters=1100)
SETTINGS = ("corpus.chunks.min_characters=350", "corpus.chunks.max_characters=1100", "pool=0")
NORMAL_90 = 1.645
"""Standard errors on either side of a mean that hold 90 % of a normal distribution."""
DRAWS = 20_000
"""Samples of people's questions: the sampling error of a share near .95 is then .0015."""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a gzipped JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def people(collection: Path, chunks: list[Chunk]) -> list[UserQuestion]:
    """The questions with their sources: passages where the place of the answer is known, else documents."""
    texts = {row["id"]: row["text"] for row in rows(collection / "queries.jsonl.gz")}
    by_document: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.document_id, []).append(chunk)
    documents: dict[str, list[str]] = {}
    passages: dict[str, list[str]] = {}
    for row in rows(collection / "qrels.jsonl.gz"):
        documents.setdefault(row["query"], []).append(row["doc"])
        if "start" in row:
            found = [one.id for one in by_document[row["doc"]] if one.start < row["end"] and row["start"] < one.end]
            passages.setdefault(row["query"], []).extend(found)
    return [
        UserQuestion(name, texts[name], tuple(each), tuple(passages.get(name, ()))) for name, each in documents.items()
    ]


def measured(collection: Path, run: Path, questions: int, progress: Progress) -> ValidityTable:
    """The retrievers by people and by the exam of a run, which is written first where there is none."""
    folder = RunFolder(run)
    if not folder.exam.is_file():
        corpus = str(collection / "corpus.jsonl.gz")
        ragexam.generate(corpus, run, questions=questions, overrides=SETTINGS, progress=progress)
    chunks = read_chunks(folder.chunks)
    with progress.step_if_told("passages") as report:
        index = passage_index(chunks, ENCODER, progress=report)
    retrievers = {name: build_retriever(name, chunks, index=index) for name in RETRIEVERS}
    with progress.step("retrieval") as report:
        asked = searched_questions(read_exam(folder.exam).questions, read_dropped(folder.dropped))
        return compare(retrievers, asked, people(collection, chunks), chunks, progress=report)


class SampledSign(NamedTuple):
    """BM25 minus dense by all of `questions` in mean nDCG@10, and how samples of `size` of them say it.

    `same_sign`: the share of samples (without replacement) whose difference has the sign of all. `told`: the share
    whose own 90 % interval (normal) excludes 0, and `told_wrongly` of all samples those told with the other sign.
    """

    questions: int
    difference: float
    low: float
    high: float
    size: int
    same_sign: float
    told: float
    told_wrongly: float


def sampled_sign(collection: Path, size: int) -> SampledSign:
    """How well a sample of people's questions says whether BM25 or the dense retriever finds more."""
    documents = [Document(row["id"], row["title"], row["text"]) for row in rows(collection / "corpus.jsonl.gz")]
    chunks = corpora.chunk(documents, BOUNDS)
    index = passage_index(chunks, ENCODER)
    retrievers = {name: build_retriever(name, chunks, index=index) for name in ("bm25", "dense")}
    asked = people(collection, chunks)
    if not 1 < size < len(asked):
        raise SystemExit(f"--sample is {size}; wanted 2 to {len(asked) - 1}, fewer than there are questions")
    by_document = not all(one.passages for one in asked)
    searches = [
        Search(Question(one.id, one.text, (), 0), STEM, frozenset(sources), by_document)
        for one in asked
        if (sources := one.documents if by_document else one.passages)
    ]
    lexical, dense = (one.measured()["ndcg@10"] for one in find_sources(retrievers, searches))
    gaps = np.asarray(lexical) - np.asarray(dense)
    rng = np.random.default_rng(0)
    drawn = gaps[np.array([rng.choice(len(gaps), size, replace=False) for _ in range(DRAWS)])]
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / np.sqrt(size)
    same = np.sign(means) == np.sign(gaps.mean())
    told = np.abs(means) > NORMAL_90 * errors
    shares = [float(one.mean()) for one in (same, told, told & ~same)]
    return SampledSign(len(gaps), *bootstrap_mean(gaps), size, *shares)


def main() -> None:
    """Print the comparison."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("collection", type=Path)
    words.add_argument("--exam", type=Path, metavar="RUN", help="default: runs/validity-NAME")
    words.add_argument("--questions", type=int, default=60)
    words.add_argument("--sample", type=int, metavar="N", help="only: does a sample of people's questions say it?")
    words.add_argument("--json", action="store_true")
    given = words.parse_args()
    if given.sample is not None:
        print(json.dumps(sampled_sign(given.collection, given.sample)._asdict()))
        return
    run = given.exam or Path("runs") / f"validity-{given.collection.resolve().name}"
    found = measured(given.collection, run, given.questions, Progress())
    print(json.dumps(found.record(), indent=2) if given.json else "\n".join(found.lines()))


if __name__ == "__main__":
    main()
