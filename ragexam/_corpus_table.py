"""What is in a corpus: table 1 of the auto-rag-eval paper, for a run, a configuration or any source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from exam_gen.corpora import Corpus, Inventory, chunk, gather, take_inventory
from examcore import Chunk, Document, RunFolder, RunRecord, language_named, read_chunks, read_documents
from examcore.console import aligned_rows, counts_text, printable
from ragexam._config import Config, ExamConfig, generate_config
from ragexam._settings import read

CHARACTERS_PER_TOKEN = 4.5
"""English prose in the vocabularies of current models."""


class CutCorpus(NamedTuple):
    """Documents, their chunks, the records left out counted by reason, and a warning for each unreadable record."""

    documents: Sequence[Document]
    chunks: Sequence[Chunk]
    left_out: Mapping[str, int]
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class CorpusTable:
    """The counts of a corpus, the source they were taken from (empty in a run's record), and warnings."""

    inventory: Inventory
    source: str = ""
    warnings: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """The table as JSON types: `source` and `warnings` where there are any, and the counts."""
        source = {"source": self.source} if self.source else {}
        warnings = {"warnings": list(self.warnings)} if self.warnings else {}
        return {**source, **self.inventory.as_dict(), **warnings}

    def lines(self) -> list[str]:
        """The table for a reader."""
        found = self.inventory
        document, passage = found.words_per_document, found.words_per_chunk
        languages = {language_named(code).name: count for code, count in found.documents_by_language.items()}
        counts = {
            "documents by topic": found.documents_by_topic,
            "documents with": found.cases,
            "left out": found.left_out,
        }
        return aligned_rows(
            [
                ("documents", f"{found.documents:,}"),
                ("chunks", f"{found.chunks:,} ({found.chunks_per_document:.1f} of a document)"),
                ("words of a document", f"{document.mean:.0f} on average, {document.least:,} to {document.most:,}"),
                ("words of a chunk", f"{passage.mean:.0f} on average, {passage.least:,} to {passage.most:,}"),
                ("words", f"{found.words:,}"),
                ("vocabulary", f"{found.vocabulary:,}"),
                ("topics", f"{found.topics:,}"),
                ("languages", counts_text(languages)),
                *((name, counts_text(count)) for name, count in counts.items() if count),
                *(("warning", printable(one)) for one in self.warnings),
            ]
        )


def read_corpus(config: ExamConfig) -> Corpus:
    """The documents that a configuration takes of its source; raises as `gather` does."""
    corpus = config.corpus
    return gather(
        corpus.source,
        layout=corpus.layout,
        selection=corpus.select,
        sample=corpus.sample,
        seed=config.seed,
        language=corpus.language,
    )


def cut_corpus(config: ExamConfig) -> CutCorpus:
    """Read and cut the corpus of a configuration without a model, which estimates tokens from characters."""
    found = read_corpus(config)
    chunks = chunk(found.documents, config.corpus.chunks, lambda text: round(len(text) / CHARACTERS_PER_TOKEN))
    return CutCorpus(found.documents, chunks, found.left_out, found.warnings)


def corpus_table(where: str, overrides: Sequence[str] = ()) -> CorpusTable:
    """The table of a run folder as it was cut; of a `.yaml` configuration or a source as it would be cut.

    Raises `ValueError` for overrides of a run.
    """
    folder = RunFolder(Path(where))
    if folder.record.is_file() and folder.corpus.is_file():
        if overrides:
            raise ValueError(f"{where}: --set {overrides[0]} cannot change a run; wanted a configuration or a corpus")
        chunks = read_chunks(folder.chunks) if folder.chunks.is_file() else []
        left_out = RunRecord.open(folder).content.get("corpus", {}).get("left_out", {})
        cut = CutCorpus(read_documents(folder.corpus), chunks, left_out)
    elif where.endswith((".yaml", ".yml")):
        cut = cut_corpus(read(Path(where), Config, overrides))
    else:
        cut = cut_corpus(generate_config(where, Path(), 0, {}, overrides))
    return CorpusTable(take_inventory(cut.documents, cut.chunks, cut.left_out), where, tuple(cut.warnings))
