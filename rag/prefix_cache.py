"""Key/value caches of recent prompts, shared by continuations and by prompts that begin alike.

A prompt is encoded in blocks whose boundaries depend on nothing but the position in the text, so a block has the same
numbers to the last bit whether it is computed now or taken from an earlier prompt: results do not depend on what was
asked before, and an interrupted run repeats exactly.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

BLOCK = 128
"""Tokens encoded at a time; only whole blocks are shared between prompts."""


class Encoded(NamedTuple):
    """A prompt's tokens, its key/value cache and the logits `[vocabulary]` that follow its last token."""

    ids: tuple[int, ...]
    cache: DynamicCache
    logits: torch.Tensor


class PrefixCache:
    """Encodes prompts with one model, keeping the last few."""

    def __init__(self, model: Any, *, block: int = BLOCK, keep: int = 4) -> None:
        self._model = model
        self._block = block
        self._keep = keep
        self._recent: list[Encoded] = []
        parameters = inspect.signature(model.forward).parameters
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in parameters else {}

    def encode(self, ids: Sequence[int]) -> Encoded:
        """Encode a prompt of at least one token, from the longest known run of whole blocks."""
        wanted = tuple(ids)
        for encoded in self._recent:
            if encoded.ids == wanted:
                self._remember(encoded)
                return encoded
        start, cache = self._longest_prefix(wanted)
        logits: torch.Tensor | None = None
        for begin in range(start, len(wanted), self._block):
            block = torch.tensor([wanted[begin : begin + self._block]], device=self._model.device)
            output = self._model(input_ids=block, past_key_values=cache, use_cache=True, **self._last_only)
            cache, logits = output.past_key_values, output.logits[0, -1]
        if logits is None:
            raise ValueError("prompt: no tokens; wanted at least one")
        encoded = Encoded(wanted, cache, logits.float())
        self._remember(encoded)
        return encoded

    def clear(self) -> None:
        """Forget the prompts and free their memory."""
        self._recent.clear()

    def _remember(self, encoded: Encoded) -> None:
        others = [one for one in self._recent if one is not encoded and one.ids != encoded.ids]
        self._recent = [encoded, *others][: self._keep]

    def _longest_prefix(self, ids: tuple[int, ...]) -> tuple[int, DynamicCache | None]:
        best, source = 0, None
        for encoded in self._recent:
            # The last block is always computed: the logits after it are needed.
            shared = min(common_prefix(encoded.ids, ids), len(ids) - 1) // self._block * self._block
            if shared > best and croppable(encoded.cache):
                best, source = shared, encoded
        return best, fork(source.cache, 1, best) if source else None


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """The number of leading tokens two sequences share."""
    for position, (a, b) in enumerate(zip(first, second, strict=False)):
        if a != b:
            return position
    return min(len(first), len(second))


def shareable(cache: Any) -> bool:
    """Whether the cache holds nothing but keys and values of attention layers, full or sliding."""
    return isinstance(cache, DynamicCache) and all(
        type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in cache.layers
    )


def croppable(cache: Any) -> bool:
    """Whether every layer still holds all positions: a sliding window drops the early ones."""
    return shareable(cache) and all(layer.keys.shape[-2] == layer.get_seq_length() for layer in cache.layers)


def unwindowed(cache: Any) -> bool:
    """Whether every layer attends to all positions: padding amid a prompt would count for a sliding window."""
    return isinstance(cache, DynamicCache) and all(type(layer) is DynamicLayer for layer in cache.layers)


def fork(cache: DynamicCache, rows: int, length: int | None = None) -> DynamicCache:
    """A cache of `rows` rows over the first `length` positions that leaves the original as it is.

    Keys and values are views of the original's until a forward pass appends to them.
    """
    forked = copy.copy(cache)
    forked.layers = []
    for layer in cache.layers:
        twin = copy.copy(layer)
        keys, values = layer.keys, layer.values
        if length is not None:
            keys, values = keys[..., :length, :], values[..., :length, :]
            if isinstance(twin, DynamicSlidingWindowLayer):
                twin.cumulative_length = length
        twin.keys, twin.values = keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1)
        forked.layers.append(twin)
    return forked
