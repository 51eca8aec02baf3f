"""The documents of a source, for tests that look at nothing else of it."""

from __future__ import annotations

from pathlib import Path

from exam_gen.corpora import gather
from examcore import Document


def read_corpus(source: str | Path, *, sample: int | None = None, seed: int = 0) -> list[Document]:
    """The documents of a source."""
    return gather(source, sample=sample, seed=seed).documents
