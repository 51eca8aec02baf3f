"""Vectors on disk, by the digest of the text they were computed from."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
        try:
            self._write(rows)
        except sqlite3.DatabaseError:
            try:
                self.path.unlink(missing_ok=True)
                self._write(rows)
            except (sqlite3.Error, OSError):
                return
        except OSError:
            return

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
