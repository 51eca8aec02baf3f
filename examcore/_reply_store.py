"""Every reply and likelihood of a model, kept in a file, so that nothing is asked twice and a stopped run goes on."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Unpack

from examcore._jsonl import LONE_SURROGATE, has_lone_surrogate
from examcore._language_model import (
    Arrival,
    FailedError,
    LanguageModel,
    Likelihoods,
    NoReply,
    Prompt,
    RemoteLanguageModel,
    ReplyOptions,
    Schema,
    Value,
    WritesJson,
    one_by_one,
    storable,
)

_TABLE = """CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
    written_tokens INTEGER NOT NULL, seconds REAL NOT NULL) WITHOUT ROWID"""


PART = 20
"""Prompts that a local model replies to together: more hold more memory and lose more when a run is killed, fewer take
longer in all."""


@dataclass(frozen=True)
class ModelUsage:
    """What the replies of one exam cost when they were made; `cached` of the `calls` came from the file.

    `prompt_tokens` are those read: of a model here without what it had read before, of a server as billed.
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    written_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: ModelUsage) -> ModelUsage:
        return ModelUsage(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


def usage_by_step(*costs: Mapping[str, ModelUsage]) -> dict[str, ModelUsage]:
    """What several models' answers cost together, by the step they served."""
    steps = dict.fromkeys(step for one in costs for step in one)
    return {step: sum((one.get(step, ModelUsage()) for one in costs), ModelUsage()) for step in steps}


@dataclass(frozen=True)
class StoredReply:
    """One stored row: a text or likelihoods as JSON, and its cost."""

    key: str
    value: str
    prompt_tokens: int
    written_tokens: int
    seconds: float


class ReplyStore:
    """Rows by key in SQLite (write-ahead log); each `add` is one transaction, kept whole or not at all."""

    def __init__(self, path: Path | str) -> None:
        try:
            self._connection = sqlite3.connect(path)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(_TABLE)
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{path}: {error}; wanted a reply store (SQLite) or a path to write one") from error

    def __enter__(self) -> ReplyStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def get(self, key: str) -> StoredReply | None:
        """The row of a key, if there is one."""
        row = self._connection.execute("SELECT * FROM replies WHERE key = ?", (key,)).fetchone()
        return StoredReply(*row) if row else None

    def add(self, replies: Sequence[StoredReply]) -> None:
        """Keep rows, all or none; a key that is already there keeps its first value."""
        rows = [astuple(reply) for reply in replies]
        with self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)", rows)


class CachedLanguageModel:
    """A language model that looks into a store first and counts what its answers cost, by the `step` they serve."""

    def __init__(self, model: LanguageModel, store: ReplyStore) -> None:
        self.name, self._model, self._store = model.name, model, store
        # What else decides a model's numbers (dtype, device), when it says so.
        settings = dict(getattr(model, "settings", None) or {})
        self._identity = f"{model.name} {json.dumps(settings, sort_keys=True, default=str)}"
        self.step = ""
        self.steps: dict[str, ModelUsage] = {}

    @property
    def usage(self) -> ModelUsage:
        """What all answers cost."""
        return sum(self.steps.values(), ModelUsage())

    @property
    def context_tokens(self) -> int:
        """The longest prompt and reply together, in tokens."""
        return self._model.context_tokens

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text."""
        return self._model.count_tokens(text)

    def generate(self, prompts: Sequence[Prompt], **options: Unpack[ReplyOptions]) -> list[str]:
        """One reply per prompt; raises `FailedError` when a model elsewhere gave none to one of them."""
        return [self._given(one) for one in self.replies(prompts, **options)]

    def replies(
        self, prompts: Sequence[Prompt], *, schema: Schema | None = None, **options: Unpack[ReplyOptions]
    ) -> list[str | NoReply]:
        """One reply per prompt, or why there is none; with a schema, JSON of that shape where the model can do it.

        A local batch is written in equal parts of at most `PART`; one that is not wholly in the store is written as a
        whole and kept at once, because its replies depend on each other's lengths. A model elsewhere is asked for what
        is missing, and each reply is kept as it comes; a prompt without reply is not kept and will be asked again.
        """
        asked: dict[str, Any] = {"temperature": 0.0, "seed": 0, **options}
        stop = list(asked.pop("stop", ()))
        named = {**asked, "stop": stop, **({} if schema is None else {"schema": schema})}
        keys = [_key("text", self._identity, prompt, named) for prompt in prompts]
        model = self._model
        if isinstance(model, RemoteLanguageModel):
            missing = self._missing(keys)
            arrivals = model.replies([prompts[place] for place in missing], stop=stop, schema=schema, **asked)
            lost = self._keep_each(arrivals, [keys[place] for place in missing]) if missing else {}
            return self._read(keys, missing, lost, json.loads)
        size = math.ceil(len(prompts) / math.ceil(len(prompts) / PART)) if prompts else 1
        found = list[str | NoReply]()
        for at in range(0, len(prompts), size):
            found += self._written(prompts[at : at + size], keys[at : at + size], stop, schema, asked)
        return found

    def _written(
        self,
        prompts: Sequence[Prompt],
        keys: Sequence[str],
        stop: Sequence[str],
        schema: Schema | None,
        asked: Mapping[str, Any],
    ) -> list[str | NoReply]:
        """The replies of a model here, from the store if it has all of them, else written together and kept."""
        model = self._model
        if not self._missing(keys):
            return self._read(keys, (), {}, json.loads)
        start, before = time.perf_counter(), self._tokens_read
        if schema is not None and isinstance(model, WritesJson):
            texts = model.generate_json(prompts, schema, **asked)
        else:
            texts = model.generate(prompts, stop=stop, **asked)
        seconds = (time.perf_counter() - start) / len(prompts)
        read = self._shares_read(prompts, before)
        lost = {key: NoReply(LONE_SURROGATE) for key, text in zip(keys, texts, strict=True) if has_lone_surrogate(text)}
        self._store.add(
            [
                StoredReply(key, json.dumps(text), tokens, model.count_tokens(text), seconds)
                for key, tokens, text in zip(keys, read, texts, strict=True)
                if key not in lost
            ]
        )
        return self._read(keys, range(len(keys)), lost, json.loads)

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        """Log-likelihood of each continuation right after the prompt; raises `FailedError` when there was no reply."""
        (found,) = self.all_log_likelihoods([(prompt, tuple(continuations))])
        return self._given(found)

    def all_log_likelihoods(self, asked: Sequence[tuple[Prompt, tuple[str, ...]]]) -> list[Likelihoods | NoReply]:
        """`log_likelihoods` of several requests, each kept as it comes, or why there are none."""
        keys = [_key("likelihoods", self._identity, prompt, list(choices)) for prompt, choices in asked]
        missing = self._missing(keys)
        wanted = [asked[place] for place in missing]
        model = self._model
        # A model here reads a handful of prompts faster one by one than in passes made for hundreds.
        arrivals = model.likelihoods(wanted) if isinstance(model, RemoteLanguageModel) else one_by_one(model, wanted)
        lost = self._keep_each(arrivals, [keys[place] for place in missing])
        return self._read(keys, missing, lost, _as_likelihoods)

    def _missing(self, keys: Sequence[str]) -> list[int]:
        """The places of the keys that are not in the store, each key once."""
        first = {key: place for place, key in reversed(list(enumerate(keys)))}
        return sorted(place for key, place in first.items() if self._store.get(key) is None)

    def _keep_each(self, arrivals: Iterable[Arrival[Value]], keys: Sequence[str]) -> dict[str, NoReply]:
        """Keep each answer in a transaction of its own; returns the lost ones by key.

        The seconds between two arrivals are the later one's: together they are the time that passed.
        """
        lost: dict[str, NoReply] = {}
        before, known = time.perf_counter(), self._tokens_read
        for one in storable(arrivals):
            now = time.perf_counter()
            if isinstance(one.value, NoReply):
                lost[keys[one.place]] = one.value
                continue
            read = one.prompt_tokens if known is None else (self._tokens_read or 0) - known
            value = json.dumps(one.value)
            self._store.add([StoredReply(keys[one.place], value, read, one.written_tokens, now - before)])
            before, known = now, self._tokens_read
        return lost

    def _read(
        self, keys: Sequence[str], fresh: Iterable[int], lost: Mapping[str, NoReply], read: Callable[[str], Value]
    ) -> list[Value | NoReply]:
        """Every key's answer from the store, counted, or why it is lost."""
        made = set(fresh)
        found: list[Value | NoReply] = []
        for place, key in enumerate(keys):
            reply = self._store.get(key)
            if reply is None:
                found.append(lost.get(key) or NoReply("the model gave no answer to this prompt"))
                continue
            cost = (reply.prompt_tokens, reply.written_tokens, reply.seconds)
            spent = ModelUsage(1, int(place not in made), *cost)
            self.steps[self.step] = self.steps.get(self.step, ModelUsage()) + spent
            found.append(read(reply.value))
        return found

    def _given(self, found: Value | NoReply) -> Value:
        if isinstance(found, NoReply):
            raise FailedError(f"model {self.name}: no reply: {found.reason}")
        return found

    @property
    def _tokens_read(self) -> int | None:
        """What a model that counts has read so far."""
        return getattr(self._model, "tokens_read", None)

    def _shares_read(self, prompts: Sequence[Prompt], before: int | None) -> list[int]:
        """The tokens read for each prompt of a batch: its share of what the model counted, else its length."""
        if before is None:
            parts = [[one for one in (prompt.system, prompt.user, prompt.reply) if one] for prompt in prompts]
            return [sum(map(self._model.count_tokens, own)) for own in parts]
        share, rest = divmod((self._tokens_read or 0) - before, len(prompts))
        return [share + (place < rest) for place in range(len(prompts))]


def _as_likelihoods(value: str) -> Likelihoods:
    sums, tokens, prompt_tokens = json.loads(value)
    return Likelihoods(tuple(sums), tuple(tokens), prompt_tokens)


def _key(kind: str, identity: str, prompt: Prompt, options: object) -> str:
    parts = [kind, identity, prompt.system, prompt.user, prompt.reply, options]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
