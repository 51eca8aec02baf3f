"""Does an exam rank retrievers as people's questions do? On a collection of questions with known sources.

    python benchmarks/external_validity.py COLLECTION [--exam RUN] [--questions 60] [--json]

COLLECTION is a folder of `corpus.jsonl.gz` (`id, title, text`), `queries.jsonl.gz` (`id, text`) and `qrels.jsonl.gz`
(`query, doc`, and `start, end` of the answer in the text where they are known). The exam is that of the run folder RUN;
where there is none, it is written there from the corpus alone: the people's questions are not looked at.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ragexam
from examcore import Chunk, Progress, RunFolder, read_chunks, read_dropped, read_exam
from rag import build_retriever
from rag.retrieval import passage_index
from ragexam.validity import UserQuestion, ValidityTable, compare, searched_questions

RETRIEVERS = ("bm25", "tfidf", "lsa", "dense", "hybrid")
ENCODER = "embedded:minilm-l6"
SETTINGS = ("corpus.chunks.min_characters=350", "corpus.chunks.max_characters=1100", "pool=0")


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


def main() -> None:
    """Print the comparison."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("collection", type=Path)
    words.add_argument("--exam", type=Path, metavar="RUN", help="default: runs/validity-NAME")
    words.add_argument("--questions", type=int, default=60)
    words.add_argument("--json", action="store_true")
    given = words.parse_args()
    run = given.exam or Path("runs") / f"validity-{given.collection.resolve().name}"
    found = measured(given.collection, run, given.questions, Progress())
    print(json.dumps(found.record(), indent=2) if given.json else "\n".join(found.lines()))


if __name__ == "__main__":
    main()
