"""Holding a local model to JSON of a fixed shape: which tokens may come next.

The shape is cut into literals, which are forced token by token, free strings, which end with the first token of the
literal behind them, and choices among a few words. Strings hold no quotes, backslashes or line breaks, so nothing has
to be escaped and every reply is valid JSON that ends within the tokens allowed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from exam_gen.model import Schema

SHORTEST = 4
"""Tokens that a free string has room for at least."""


class Literal(NamedTuple):
    """Text that stands in every reply."""

    text: str


class Free(NamedTuple):
    """Text the model writes."""


class OneOf(NamedTuple):
    """A word out of several."""

    words: tuple[str, ...]


Part = Literal | Free | OneOf


class JsonShape:
    """The tokens allowed after each beginning of a reply, for one tokenizer and schema.

    Raises ValueError for a schema beyond objects, strings and lists of a fixed length, and for too few `max_tokens`.
    """

    def __init__(self, tokenizer: Any, schema: Schema, *, end: Sequence[int], max_tokens: int) -> None:
        self._tokenizer, self._end = tokenizer, tuple(end)
        self._parts = _merged(_parts(schema))
        self._ids = [[self._encode(text) for text in _texts(part)] for part in self._parts]
        fixed = sum(max(map(len, ids), default=0) for ids in self._ids) + 1
        strings = sum(isinstance(part, Free) for part in self._parts)
        self._longest = (max_tokens - fixed) // max(strings, 1)
        if self._longest < SHORTEST:
            raise ValueError(f"max_tokens {max_tokens}: wanted at least {fixed + SHORTEST * strings} for this JSON")

    def allowed(self, _row: int, written: Sequence[int]) -> Sequence[int]:
        """The tokens that may follow `written`."""
        left = list(written)
        for place, part in enumerate(self._parts):
            if isinstance(part, Free):
                closing = self._ids[place + 1][0][0]
                length = left.index(closing) if closing in left else len(left)
                if length == len(left):
                    return self._within(closing, length)
                left = left[length:]
                continue
            fits = [ids for ids in self._ids[place] if ids[: len(left)] == left[: len(ids)]]
            following = [ids[len(left)] for ids in fits if len(ids) > len(left)]
            if following or not fits:
                return following or self._end
            left = left[len(fits[0]) :]
        return self._end

    def _within(self, closing: int, length: int) -> Sequence[int]:
        """What may stand in a string, which is neither empty nor too long."""
        if length >= self._longest:
            return (closing,)
        return self._plain if length == 0 else self._closable.setdefault(closing, (*self._plain, closing))

    @cached_property
    def _closable(self) -> dict[int, tuple[int, ...]]:
        return {}

    @cached_property
    def _plain(self) -> tuple[int, ...]:
        """Tokens without quotes, backslashes and control characters, and special to nobody."""
        special = set(self._tokenizer.all_special_ids) | set(self._end)
        count = len(self._tokenizer)
        texts = self._tokenizer.batch_decode([[number] for number in range(count)])
        return tuple(n for n, text in enumerate(texts) if n not in special and text and _is_plain(text))

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _is_plain(text: str) -> bool:
    # A character that several tokens make up decodes to the replacement character, token by token.
    return all(mark not in '"\\' and (mark.isprintable() or mark == "\ufffd") for mark in text)


def _texts(part: Part) -> tuple[str, ...]:
    if isinstance(part, Literal):
        return (part.text,)
    return part.words if isinstance(part, OneOf) else ()


def _parts(schema: Schema) -> Iterator[Part]:
    kind = schema.get("type")
    if kind == "object":
        for place, (name, inner) in enumerate(cast(Mapping[str, Schema], schema["properties"]).items()):
            yield Literal(f"{', ' if place else '{'}{json.dumps(name)}: ")
            yield from _parts(inner)
        yield Literal("}")
    elif kind == "array" and schema.get("minItems") == schema.get("maxItems") is not None:
        for place in range(cast(int, schema["minItems"])):
            yield Literal(", " if place else "[")
            yield from _parts(cast(Schema, schema["items"]))
        yield Literal("]")
    elif kind == "string":
        words = tuple(cast(Sequence[str], schema.get("enum", ())))
        yield Literal('"')
        yield OneOf(words) if words else Free()
        yield Literal('"')
    else:
        raise ValueError(f"schema: {kind!r}; wanted objects, strings and lists of a fixed length")


def _merged(parts: Iterator[Part]) -> list[Part]:
    """Neighbouring literals as one, so that they are cut into tokens as a text would be."""
    merged: list[Part] = []
    for part in parts:
        if isinstance(part, Literal) and merged and isinstance(merged[-1], Literal):
            merged[-1] = Literal(merged[-1].text + part.text)
        else:
            merged.append(part)
    return merged
