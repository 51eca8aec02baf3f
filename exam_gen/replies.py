"""Every reply and likelihood of a model, kept in a file, so that nothing is asked twice and a stopped run goes on."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from exam_gen.model import LanguageModel, Likelihoods, Prompt

_TABLE = """CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
    written_tokens INTEGER NOT NULL, seconds REAL NOT NULL) WITHOUT ROWID"""


@dataclass(frozen=True)
class Usage:
    """What the replies of one exam cost when they were made; `cached` of the `calls` came from the file."""

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    written_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens,
            self.written_tokens + other.written_tokens,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True)
class Reply:
    """One stored row: a text or likelihoods as JSON, and its cost."""

    key: str
    value: str
    prompt_tokens: int
    written_tokens: int
    seconds: float


class ReplyStore:
    """Rows by key in SQLite (write-ahead log); each `add` is one transaction, so a killed run keeps whole batches."""

    def __init__(self, path: Path | str) -> None:
        try:
            self._connection = sqlite3.connect(path)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(_TABLE)
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{path}: {error}; wanted a reply store (SQLite) or a path to write one") from error

    def __enter__(self) -> ReplyStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def get(self, key: str) -> Reply | None:
        """The row of a key, if there is one."""
        row = self._connection.execute("SELECT * FROM replies WHERE key = ?", (key,)).fetchone()
        return Reply(*row) if row else None

    def add(self, replies: Sequence[Reply]) -> None:
        """Keep rows, all or none; a key that is already there keeps its first value."""
        rows = [tuple(asdict(reply).values()) for reply in replies]
        with self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)", rows)


class CachedModel:
    """A language model that looks into a store first and counts what its answers cost."""

    def __init__(self, model: LanguageModel, store: ReplyStore) -> None:
        self._model, self._store = model, store
        self._identity = f"{model.name} {json.dumps(_settings(model), sort_keys=True, default=str)}"
        self.usage = Usage()

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._model.name

    @property
    def context_tokens(self) -> int:
        """The longest prompt and reply together, in tokens."""
        return self._model.context_tokens

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text."""
        return self._model.count_tokens(text)

    def generate(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[str]:
        """One reply per prompt; a batch that is not wholly in the store is written as a whole and kept at once."""
        options = {"max_tokens": max_tokens, "stop": list(stop), "temperature": temperature, "seed": seed}
        keys = [_key("text", self._identity, prompt, options) for prompt in prompts]
        found = [self._store.get(key) for key in keys]
        if not prompts or all(reply is not None for reply in found):
            return [str(json.loads(reply.value)) for reply in self._count(found, cached=True)]
        start = time.perf_counter()
        texts = self._model.generate(prompts, max_tokens=max_tokens, stop=stop, temperature=temperature, seed=seed)
        seconds = (time.perf_counter() - start) / len(prompts)
        fresh = [
            Reply(key, json.dumps(text), self._prompt_tokens(prompt), self._model.count_tokens(text), seconds)
            for key, prompt, text in zip(keys, prompts, texts, strict=True)
        ]
        self._store.add(fresh)
        kept = self._count([self._store.get(key) for key in keys], cached=False)
        return [str(json.loads(reply.value)) for reply in kept]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        """Log-likelihood of each continuation right after the prompt."""
        return self.all_log_likelihoods([(prompt, tuple(continuations))])[0]

    def all_log_likelihoods(self, asked: Sequence[tuple[Prompt, tuple[str, ...]]]) -> list[Likelihoods]:
        """`log_likelihoods` of several requests, kept in one transaction."""
        keys = [_key("likelihoods", self._identity, prompt, list(choices)) for prompt, choices in asked]
        found = [self._store.get(key) for key in keys]
        fresh: list[Reply] = []
        for key, reply, (prompt, choices) in zip(keys, found, asked, strict=True):
            if reply is None:
                start = time.perf_counter()
                value = self._model.log_likelihoods(prompt, choices)
                text = json.dumps([list(value.sums), list(value.tokens), value.prompt_tokens])
                fresh.append(Reply(key, text, value.prompt_tokens, 0, time.perf_counter() - start))
        self._store.add(fresh)
        made = {reply.key for reply in fresh}
        values = []
        for key in keys:
            (reply,) = self._count([self._store.get(key)], cached=key not in made)
            sums, tokens, prompt_tokens = json.loads(reply.value)
            values.append(Likelihoods(tuple(sums), tuple(tokens), prompt_tokens))
        return values

    def _count(self, replies: Sequence[Reply | None], *, cached: bool) -> list[Reply]:
        kept = [reply for reply in replies if reply is not None]
        for reply in kept:
            self.usage += Usage(1, int(cached), reply.prompt_tokens, reply.written_tokens, reply.seconds)
        return kept

    def _prompt_tokens(self, prompt: Prompt) -> int:
        return sum(self._model.count_tokens(part) for part in (prompt.system, prompt.user, prompt.reply) if part)


def _settings(model: LanguageModel) -> object:
    """What else decides a model's numbers (dtype, device), when it says so."""
    settings = getattr(model, "settings", None)
    return dict(settings) if settings else {}


def _key(kind: str, identity: str, prompt: Prompt, options: object) -> str:
    parts = [kind, identity, prompt.system, prompt.user, prompt.reply, options]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
