"""Dense retrieval: nearest sentence embeddings, kept on disk by the hash of the text; also by DPR."""

from __future__ import annotations

import functools
import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examcore import Chunk, Question, ReportProgress, first_error_line
from rag.retrieval._protocol import searched_text
from rag.weights._embedded import cache_folder, is_embedded, locate_weights
from rag.weights._sources import hub_offline, quiet_libraries

Vectors = NDArray[np.float32]

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
_AT_ONCE = 500
"""Keys in one query; SQLite limits the number of variables."""


def digest(text: str) -> bytes:
    """Sixteen bytes that identify a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


class VectorStore:
    """One encoder's vectors in an SQLite file, by the digest of the text.

    A file that cannot be read or written is ignored: the store only saves time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def known(self, digests: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The stored vectors `[d]`, by digest."""
        found: dict[bytes, Vectors] = {}
        try:
            with self._opened() as connection:
                for start in range(0, len(digests), _AT_ONCE):
                    asked = digests[start : start + _AT_ONCE]
                    query = f"SELECT digest, vector FROM vectors WHERE digest IN ({','.join('?' * len(asked))})"
                    found |= {name: np.frombuffer(row, np.float32) for name, row in connection.execute(query, asked)}
        except (sqlite3.Error, OSError, ValueError):
            return {}
        # A damaged file may still be readable and hold rows of any length.
        lengths = {row.size for row in found.values()}
        return found if len(lengths) <= 1 else {}

    def keep(self, digests: Sequence[bytes], vectors: Vectors) -> None:
        """Store vectors `[n, d]`, all or none; a damaged file is replaced."""
        rows = [(name, row.astype(np.float32).tobytes()) for name, row in zip(digests, vectors, strict=True)]
        with suppress(sqlite3.Error, OSError):
            try:
                self._write(rows)
            except sqlite3.DatabaseError:
                self.path.unlink(missing_ok=True)
                self._write(rows)

    def _write(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        with self._opened() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=30)
        try:
            connection.execute(_TABLE)
            yield connection
        finally:
            connection.close()


DEFAULT_ENCODER = "embedded:minilm-l6"
BATCH = 32
"""Texts in one pass of an encoder; larger ones are no faster on a processor."""
BLOCK = 512
"""Texts encoded and stored together: a stopped process loses at most this many."""


def embed(
    texts: Sequence[str],
    *,
    encoder: str = DEFAULT_ENCODER,
    cache_dir: Path | None = None,
    progress: ReportProgress | None = None,
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
    return np.stack([vectors[digest(text)] for text in texts]) if texts else np.zeros((0, 0), dtype=np.float32)


def encode(texts: Sequence[str], place: str) -> Vectors:
    """Embeddings `[n, d]` straight from the encoder at `place`, of at least one text."""
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


DPR_MODEL_CLASSES = ("DPRQuestionEncoder", "DPRContextEncoder")
MAX_TOKENS = 512
"""Texts are cut to this many tokens."""


def dpr_part(place: str, local: bool) -> str:
    """The DPR class that a folder or hub name holds, by its configuration; empty for any other model.

    `local`: do not access the hub.
    """
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(place, local_files_only=local)
    except (OSError, ValueError):  # other encoders need no configuration; loading will report a real problem
        return ""
    named = (getattr(config, "architectures", None) or [""])[0]
    return named if config.model_type == "dpr" and named in DPR_MODEL_CLASSES else ""


class DprEncoder:
    """One part of DPR with the interface of a sentence-transformers encoder; compare its vectors by inner product."""

    def __init__(self, place: str, part: str, local: bool) -> None:
        import transformers

        self._tokenizer = transformers.AutoTokenizer.from_pretrained(place, local_files_only=local)
        self._model = getattr(transformers, part).from_pretrained(place, local_files_only=local).eval()

    def encode(self, texts: Sequence[str], batch_size: int = 32, **_: Any) -> Vectors:
        """The vectors `[n, d]` of texts, not normalised: DPR was trained on inner products."""
        import torch

        found = []
        with torch.inference_mode():
            for start in range(0, len(texts), batch_size):
                batch = self._tokenizer(
                    list(texts[start : start + batch_size]),
                    padding=True,
                    truncation=True,
                    max_length=MAX_TOKENS,
                    return_tensors="pt",
                )
                inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
                found.append(self._model(**inputs).pooler_output.float().numpy())
        return np.concatenate(found)


class Dense:
    """Inner product of embeddings (the cosine, where they have unit length), exact search; ties by chunk order.

    `query_encoder` embeds the questions if they need another encoder (DPR); by default it is `encoder`. `index` is the
    `passage_index` of the chunks if it exists already; else it is built at the first question.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        encoder: str = DEFAULT_ENCODER,
        name: str = "dense",
        query_encoder: str = "",
        index: Any = None,
    ) -> None:
        self.name, self._chunks, self._given = name, tuple(chunks), index
        self._encoder, self._query_encoder = encoder, query_encoder or encoder
        self._questions: dict[str, Vectors] = {}

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k passages nearest to the stem.

        Raises ValueError when the two encoders have different dimensions.
        """
        if not self._chunks:
            return []
        # One question at a time: in a batch its numbers would depend on the other questions.
        if question.stem not in self._questions:
            self._questions[question.stem] = encode([question.stem], encoder_place(self._query_encoder))
        asked = self._questions[question.stem]
        if asked.shape[1] != self._index.d:
            raise ValueError(
                f"retriever {self.name}: question {question.id!r}: encoder {self._query_encoder} gives "
                f"{asked.shape[1]} numbers and {self._encoder} {self._index.d}; wanted two encoders of one model"
            )
        # Fetch a few more, so that ties at the edge are broken by chunk order and not by the index.
        wide = min(len(self._chunks), k + 16)
        scores, indices = self._index.search(asked, wide)
        order = np.lexsort((indices[0], -scores[0]))[:k]
        return [self._chunks[int(indices[0][one])] for one in order]

    @cached_property
    def _index(self) -> Any:
        return passage_index(self._chunks, self._encoder) if self._given is None else self._given


def passage_index(
    chunks: Sequence[Chunk], encoder: str = DEFAULT_ENCODER, progress: ReportProgress | None = None
) -> Any:
    """A search index of the passages' embeddings; `progress` counts those that are encoded now."""
    import faiss

    vectors = embed([searched_text(chunk) for chunk in chunks], encoder=encoder, progress=progress)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return index
