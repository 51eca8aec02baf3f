"""What the stop words and stems of a language are worth to lexical retrieval: questions of a FAQ, and their sections.

    python benchmarks/language_retrieval.py FOLDER [--retriever bm25] [--json]

FOLDER has a FAQ in HTML, a chapter a file, whose headings are questions above their answers; or `corpus.jsonl.gz`,
`queries.jsonl.gz` and `qrels.jsonl.gz`, as `external_validity.py` reads them. Each question is searched for among all
passages, which have no headings: as what they are, and as if questions and passages were English.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exam_gen.corpora import ChunkBounds, chunk
from examcore import ENGLISH, Chunk, Document, Question, bootstrap_mean, find_language, language_named
from rag import build_retriever

DEPTH = 100
"""Passages that are looked through for the right one; behind them it counts as not found."""


class Asked(NamedTuple):
    """A question, and the ids of the documents that answer it."""

    text: str
    documents: frozenset[str]


def faq(folder: Path) -> tuple[list[Document], list[Asked]]:
    """The sections of a FAQ under headings of any level, and the headings that end in a question mark."""
    documents, asked = [], []
    for path in sorted(folder.rglob("*.html")):
        parts = re.split(r"<h[1-4]\b", path.read_text(encoding="utf-8", errors="replace"))
        for number, part in enumerate(parts[1:]):
            heading, _, body = part.partition("</h")
            title, text = _plain(heading.partition(">")[2]), _plain(body.partition(">")[2])
            question = re.sub(r"^[\d.\s]+", "", title).strip()
            if question.endswith(("?", "？")) and text:
                name = f"{path.stem}-{number}"
                documents.append(Document(name, "", text))
                asked.append(Asked(question, frozenset([name])))
    return documents, asked


def _plain(markup: str) -> str:
    without = re.sub(r'<div class="(?:toc|navfooter)">.*', "", markup, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", without)).split())


def collection(folder: Path) -> tuple[list[Document], list[Asked]]:
    """The documents and questions of a collection."""
    documents = [Document(row["id"], "", row["text"]) for row in _rows(folder / "corpus.jsonl.gz")]
    texts = {row["id"]: row["text"] for row in _rows(folder / "queries.jsonl.gz")}
    sources: dict[str, set[str]] = {}
    for row in _rows(folder / "qrels.jsonl.gz"):
        sources.setdefault(row["query"], set()).add(row["doc"])
    return documents, [Asked(texts[name], frozenset(found)) for name, found in sources.items()]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def reciprocal_ranks(kind: str, chunks: Sequence[Chunk], asked: Sequence[Asked], code: str) -> NDArray[np.float64]:
    """One over the rank of each question's first right passage, 0 where it is not among the first hundred."""
    retriever = build_retriever(kind, [replace(one, language=code) for one in chunks])
    found = []
    for number, one in enumerate(asked):
        question = Question(str(number), one.text, ("", ""), 0, metadata={"language": code})
        passages = retriever.retrieve(question, DEPTH)
        ranks = (rank for rank, passage in enumerate(passages, 1) if passage.document_id in one.documents)
        found.append(1 / next(ranks, np.inf))
    return np.array(found)


def measured(folder: Path, kind: str) -> dict[str, Any]:
    """The mean reciprocal rank by the language found and by English, and their difference with its 90 % interval."""
    documents, asked = (collection if (folder / "qrels.jsonl.gz").is_file() else faq)(folder)
    if not asked:
        raise SystemExit(f"{folder}: no heading ends in a question mark; wanted a FAQ in HTML or a collection")
    code = Counter(find_language(one.text) or ENGLISH for one in documents).most_common(1)[0][0]
    chunks = chunk([replace(one, language=code) for one in documents], ChunkBounds())
    own, english = (reciprocal_ranks(kind, chunks, asked, one) for one in (code, ENGLISH))
    return {
        "language": language_named(code).name,
        "questions": len(asked),
        "passages": len(chunks),
        "own": float(own.mean()),
        "as_english": float(english.mean()),
        "difference": bootstrap_mean(own - english)._asdict(),
    }


def main() -> None:
    """Print the figures of a folder."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path)
    words.add_argument("--retriever", default="bm25")
    words.add_argument("--json", action="store_true")
    given = words.parse_args()
    found = measured(given.folder, given.retriever)
    if given.json:
        print(json.dumps(found, indent=2))
        return
    gap = found["difference"]
    print(f"{found['questions']} questions in {found['language']}, {found['passages']} passages, {given.retriever}")
    print(f"mean reciprocal rank: {found['own']:.3f}, as English {found['as_english']:.3f}")
    print(f"difference {gap['estimate']:+.3f}, 90 % interval {gap['low']:+.3f} to {gap['high']:+.3f}")


if __name__ == "__main__":
    main()
