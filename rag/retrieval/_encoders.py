"""Sentence embeddings, cached on disk by the hash of the text."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from examcore import first_error_line
from rag.retrieval._dense_passage_retrieval import DprEncoder, dpr_part
from rag.retrieval._vectors import Vectors, VectorStore, digest
from rag.weights._embedded import cache_folder, is_embedded, locate_weights
from rag.weights._hub import hub_offline, quiet_libraries

DEFAULT_ENCODER = "embedded:minilm-l6"
BATCH = 32
BLOCK = 512
"""Texts encoded and stored together: a stopped process loses at most this many."""


def embed(
    texts: Sequence[str],
    *,
    encoder: str = DEFAULT_ENCODER,
    cache_dir: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Vectors:
    """Embeddings `[n, d]` of texts, of unit length but for DPR encoders; each different text is encoded once, ever.

    `encoder` is `embedded:minilm-l6`, a folder or a hub name that sentence-transformers reads, or one part of DPR.
    Vectors are kept under `cache_dir` (by default in the cache folder), one file per encoder, by the hash of each text.
    `progress` counts the texts that are not stored yet; it is not called if all are.
    Raises ValueError or OSError with one line when the encoder cannot be loaded.
    """
    place = encoder_place(encoder)
    store = VectorStore((cache_dir or cache_folder() / "embeddings") / f"{_key(place)}.sqlite")
    rows = {digest(text): text for text in texts}
    vectors = store.known(list(rows))
    missing = [name for name in rows if name not in vectors]
    for start in range(0, len(missing), BLOCK):
        if progress is not None:
            progress(start, len(missing))
        names = missing[start : start + BLOCK]
        fresh = encode([rows[name] for name in names], place)
        store.keep(names, fresh)
        vectors |= dict(zip(names, fresh, strict=True))
    if not texts:
        return encode([], place)
    found = np.empty((len(texts), len(next(iter(vectors.values())))), dtype=np.float32)
    for row, text in enumerate(texts):
        found[row] = vectors[digest(text)]
    return found


def encode(texts: Sequence[str], place: str) -> Vectors:
    """Embeddings `[n, d]` straight from the encoder at `place`."""
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    vectors = _load(place).encode(
        list(texts), batch_size=BATCH, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
    )
    return np.ascontiguousarray(vectors, dtype=np.float32)


def encoder_place(encoder: str) -> str:
    """The folder or hub name behind an encoder's name; downloads embedded weights that are not here."""
    if not is_embedded(encoder):
        return encoder
    place = locate_weights(encoder)
    if not (place / "modules.json").is_file():
        raise ValueError(f"encoder {encoder}: is no sentence encoder; wanted {DEFAULT_ENCODER}, a folder or a hub name")
    return str(place)


@functools.lru_cache(maxsize=2)
def _load(place: str) -> Any:
    from sentence_transformers import SentenceTransformer

    local = hub_offline(place)
    try:
        with quiet_libraries():
            if tower := dpr_part(place, local):
                return DprEncoder(place, tower, local)
            return SentenceTransformer(place, local_files_only=local)
    except (OSError, ValueError, RuntimeError) as error:
        where = " from local files" if local else ""
        raise OSError(f"encoder {place}: cannot be loaded{where}: {first_error_line(error)}") from error


def _key(place: str) -> str:
    """The file name of an encoder's vectors; it changes when the weights in a folder are replaced."""
    parts = hashlib.sha256(place.encode())
    for file in sorted(Path(place).glob("*.safetensors")) if Path(place).is_dir() else ():
        parts.update(f"{file.name}|{file.stat().st_size}|{file.stat().st_mtime_ns}".encode())
    return parts.hexdigest()[:32]
