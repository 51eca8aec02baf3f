"""Restricting a local model to JSON of a fixed shape: which tokens may come next.

A shape consists of literals, which are forced token by token, free strings, and choices among a few words. A string
ends with any token that holds its closing quote, even after other characters (`?",`): without those tokens a model
could not end a question as it would by itself, and would go on. Strings hold no quotes, backslashes or line breaks, so
that nothing needs escaping and every reply is valid JSON within the token limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from examcore import Schema

MIN_STRING_TOKENS = 4
"""A free string has room for at least this many tokens."""


ShapePart = tuple[str, ...]
"""The texts of which one must stand there: a single literal, or a choice of words. None: free text of the model."""


class ClosingToken(NamedTuple):
    """A token that ends a string: how many characters of the next literal it holds, and whether it also holds text."""

    taken: int
    full: bool


class Vocabulary:
    """The tokens of one tokenizer as texts, decoded when first needed; `end` are the tokens that end a reply."""

    def __init__(self, tokenizer: Any, end: Sequence[int]) -> None:
        self._tokenizer, self.end = tokenizer, tuple(end)
        self._known: dict[str, list[int]] = {}
        self._shapes: dict[tuple[str, int], JsonShape] = {}

    def shape(self, schema: Schema, max_tokens: int) -> JsonShape:
        """The shape of a schema, made once; raises as `JsonShape` does."""
        key = (json.dumps(schema), max_tokens)
        if key not in self._shapes:
            self._shapes[key] = JsonShape(self, schema, max_tokens)
        return self._shapes[key]

    @cached_property
    def texts(self) -> dict[int, str]:
        """The text of each token that is not special and not empty."""
        special = set(self._tokenizer.all_special_ids) | set(self.end)
        texts = self._tokenizer.batch_decode([[number] for number in range(len(self._tokenizer))])
        return {number: text for number, text in enumerate(texts) if number not in special and text}

    @cached_property
    def plain(self) -> tuple[int, ...]:
        """Tokens without quotes, backslashes and control characters."""
        return tuple(number for number, text in self.texts.items() if _is_plain(text))

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""
        if text not in self._known:
            self._known[text] = list(self._tokenizer(text, add_special_tokens=False)["input_ids"])
        return self._known[text]


class JsonShape:
    """The tokens allowed after each beginning of a reply, for one vocabulary and schema.

    Raises ValueError for a schema beyond objects, strings and lists of a fixed length, and for too few `max_tokens`.
    """

    def __init__(self, vocabulary: Vocabulary, schema: Schema, max_tokens: int) -> None:
        self._vocabulary, self._encode, self._end = vocabulary, vocabulary.encode, vocabulary.end
        self._parts = _merged(_parts(schema))
        self._closings: dict[str, dict[int, ClosingToken]] = {}
        self._inside: dict[tuple[str, bool], tuple[int, ...]] = {}
        sizes = [max(map(len, map(self._encode, part)), default=0) for part in self._parts]
        strings = [not part for part in self._parts]
        room = max_tokens - sum(sizes) - 1
        longest = room // max(sum(strings), 1)
        if longest < MIN_STRING_TOKENS:
            wanted = sum(sizes) + 1 + MIN_STRING_TOKENS * sum(strings)
            raise ValueError(f"max_tokens {max_tokens}: wanted at least {wanted} for this JSON")
        self._until = [sum(sizes[:place]) + longest * sum(strings[: place + 1]) for place in range(len(self._parts))]

    def allowed(self, _row: int, written: Sequence[int]) -> Sequence[int]:
        """The tokens that may follow `written`."""
        left, taken = list(written), 0
        for place, part in enumerate(self._parts):
            if not part:
                (behind,) = self._parts[place + 1]
                closing = self._closing(behind)
                length = next((at for at, token in enumerate(left) if token in closing), len(left))
                if length == len(left):
                    return self._within(behind, length == 0, len(written) >= self._until[place])
                taken, left = closing[left[length]].taken, left[length + 1 :]
                continue
            options = [self._encode(text[taken:]) for text in part]
            taken = 0
            fits = [ids for ids in options if ids[: len(left)] == left[: len(ids)]]
            following = [ids[len(left)] for ids in fits if len(ids) > len(left)]
            if following or not fits:
                return following or self._end
            left = left[len(fits[0]) :]
        return self._end

    def _within(self, behind: str, empty: bool, over: bool) -> Sequence[int]:
        """The tokens allowed inside a string, which must be neither empty nor too long."""
        if over:
            return (self._encode(behind)[0],)
        if (behind, empty) not in self._inside:
            ends = [n for n, one in self._closing(behind).items() if one.full or not empty]
            self._inside[behind, empty] = (*self._vocabulary.plain, *ends)
        return self._inside[behind, empty]

    def _closing(self, behind: str) -> dict[int, ClosingToken]:
        """The tokens that end a string before this literal; its own first token is one of them."""
        if behind not in self._closings:
            first = self._encode(behind)[0]
            found = {first: ClosingToken(len(self._vocabulary.texts.get(first, "").lstrip()) or 1, full=False)}
            for number, text in self._vocabulary.texts.items():
                start, quote, rest = text.partition('"')
                if quote and number != first and _is_plain(start) and behind.startswith(quote + rest):
                    found[number] = ClosingToken(len(quote + rest), bool(start.strip()))
            self._closings[behind] = found
        return self._closings[behind]


def _is_plain(text: str) -> bool:
    # A character that several tokens make up decodes to the replacement character, token by token.
    return all(mark not in '"\\' and (mark.isprintable() or mark == "\ufffd") for mark in text)


def _parts(schema: Schema) -> Iterator[ShapePart]:
    kind = schema.get("type")
    if kind == "object":
        for place, (name, inner) in enumerate(cast(Mapping[str, Schema], schema["properties"]).items()):
            yield (f"{', ' if place else '{'}{json.dumps(name)}: ",)
            yield from _parts(inner)
        yield ("}",)
    elif kind == "array" and schema.get("minItems") == schema.get("maxItems") is not None:
        for place in range(cast(int, schema["minItems"])):
            yield (", " if place else "[",)
            yield from _parts(cast(Schema, schema["items"]))
        yield ("]",)
    elif kind == "string":
        yield ('"',)
        yield tuple(cast(Sequence[str], schema.get("enum", ())))
        yield ('"',)
    else:
        raise ValueError(f"schema: {kind!r}; wanted objects, strings and lists of a fixed length")


def _merged(parts: Iterator[ShapePart]) -> list[ShapePart]:
    """The parts with neighbouring literals joined."""
    merged: list[ShapePart] = []
    for part in parts:
        if len(part) == 1 and merged and len(merged[-1]) == 1:
            merged[-1] = (merged[-1][0] + part[0],)
        else:
            merged.append(part)
    return merged
