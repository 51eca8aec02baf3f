"""Sentence embeddings, kept on disk by the content they were computed from."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.loading import offline, quiet
from rag.weights import cache_folder, is_embedded, locate

DEFAULT_ENCODER = "embedded:minilm-l6"
BATCH = 32
Vectors = NDArray[np.float32]


def embed(texts: Sequence[str], *, encoder: str = DEFAULT_ENCODER, cache_dir: Path | None = None) -> Vectors:
    """Unit-length embeddings `[n, d]` of texts.

    `encoder` is `embedded:minilm-l6`, a folder or a hub name that sentence-transformers reads. Results are kept under
    `cache_dir` (by default in the cache folder) by the hash of encoder and texts. Raises ValueError or OSError with
    one line when the encoder cannot be loaded.
    """
    place = encoder_place(encoder)
    file = (cache_dir or cache_folder() / "embeddings") / f"{_key(place, texts)}.npy"
    with contextlib.suppress(OSError, ValueError):  # absent or damaged: compute again
        return np.asarray(np.load(file, allow_pickle=False), dtype=np.float32)
    vectors = encode(texts, place)
    _store(file, vectors)
    return vectors


def encode(texts: Sequence[str], place: str) -> Vectors:
    """Unit-length embeddings `[n, d]` straight from the encoder at `place`."""
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
    place = locate(encoder)
    if not (place / "modules.json").is_file():
        raise ValueError(f"encoder {encoder}: is no sentence encoder; wanted {DEFAULT_ENCODER}, a folder or a hub name")
    return str(place)


@functools.lru_cache(maxsize=2)
def _load(place: str) -> Any:
    from sentence_transformers import SentenceTransformer

    local = offline(place)
    try:
        with quiet():
            return SentenceTransformer(place, local_files_only=local)
    except (OSError, ValueError, RuntimeError) as error:
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise OSError(f"encoder {place}: cannot be loaded{' from local files' if local else ''}: {reason}") from error


def _key(place: str, texts: Sequence[str]) -> str:
    digest = hashlib.sha256(place.encode())
    # A folder whose weights were replaced must not answer with the old vectors.
    for file in sorted(Path(place).glob("*.safetensors")) if Path(place).is_dir() else ():
        digest.update(f"{file.name}|{file.stat().st_size}|{file.stat().st_mtime_ns}".encode())
    for text in texts:
        raw = text.encode()
        digest.update(f"|{len(raw)}|".encode())
        digest.update(raw)
    return digest.hexdigest()[:32]


def _store(file: Path, vectors: Vectors) -> None:
    """Keep the vectors if the disk lets us; the cache is a convenience."""
    scratch = None
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=file.parent, suffix=".partial")
        with os.fdopen(handle, "wb") as sink:
            np.save(sink, vectors, allow_pickle=False)
        Path(scratch).replace(file)
        return
    if scratch is not None:
        Path(scratch).unlink(missing_ok=True)
