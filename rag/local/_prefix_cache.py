"""Keys and values of prompts already read, kept in blocks that all prompts with the same beginning share.

The boundaries of a prompt's blocks depend only on its own text (the position, and where its own part begins). A block
has the same numbers to the last bit whether it is computed now or taken from an earlier prompt, so that results do not
depend on earlier prompts and an interrupted run repeats exactly.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from rag.local._token_blocks import BLOCK, Block, BlockStore, default_kept_bytes, key_after, split_into_blocks


class EncodedPrompt(NamedTuple):
    """A prompt's tokens, its key/value cache and the logits `[vocabulary]` that follow its last token."""

    ids: tuple[int, ...]
    cache: DynamicCache
    logits: torch.Tensor


class PartialPrompt(NamedTuple):
    """A prompt read up to its last few tokens: its cache (None if nothing was read) and the tokens left."""

    cache: DynamicCache | None
    left: tuple[int, ...]


class PrefixCache:
    """Encodes prompts with one model and keeps their blocks, up to `keep` bytes.

    `cut` is where a prompt's own part begins (0: it has none). A block ends there, so that prompts that differ only in
    their own parts share everything before it.
    """

    def __init__(self, model: Any, *, block: int = BLOCK, keep: int | None = None) -> None:
        self._model = model
        self._block = block
        self.blocks = BlockStore(default_kept_bytes(model.device) if keep is None else keep)
        self._template: Any = None
        parameters = inspect.signature(model.forward).parameters
        self.last_only = {"logits_to_keep": 1} if "logits_to_keep" in parameters else {}
        """The option that limits the model to the logits after the last token."""

    @property
    def size(self) -> int:
        """Bytes kept."""
        return self.blocks.size

    def encode(self, ids: Sequence[int], cut: int = 0) -> EncodedPrompt:
        """Encode a prompt of at least one token, starting from the longest known run of blocks."""
        if not ids:
            raise ValueError("prompt: no tokens; wanted at least one")
        cache, logits = self._read(split_into_blocks(ids, cut, self._block), ending=True)
        return EncodedPrompt(tuple(ids), cache, logits.float())

    def begin(self, ids: Sequence[int], cut: int = 0) -> PartialPrompt:
        """Encode the blocks that other prompts may share; leave the rest, at least one token."""
        *shared, left = split_into_blocks(ids, cut, self._block)
        return PartialPrompt(self._read(shared, ending=False)[0] if shared else None, left)

    def left(self, ids: Sequence[int], cut: int = 0) -> int:
        """How many tokens `begin` leaves."""
        return len(split_into_blocks(ids, cut, self._block)[-1])

    def clear(self) -> None:
        """Forget the prompts and free their memory."""
        self.blocks.clear()

    def _read(self, parts: Sequence[tuple[int, ...]], *, ending: bool) -> tuple[Any, Any]:
        """The cache after the parts; with `ending` also the logits after the last token."""
        path = self._known(parts, ending)
        cache: Any = self._join(path) if path else None
        logits = path[-1].logits if path else None
        for index in range(len(path), len(parts)):
            cache, logits = self._forward(parts[index], cache, ending and index == len(parts) - 1)
            if shareable(cache):
                self._template = self._template or _emptied(cache)
                path.append(self._new(parts[index], path, cache, logits))
        self.blocks.remember(path)
        return cache, logits

    def _known(self, parts: Sequence[tuple[int, ...]], ending: bool) -> list[Block]:
        """The leading blocks that are kept; with `ending` the last one counts only if its logits are kept."""
        path: list[Block] = []
        for index, piece in enumerate(parts):
            block = self.blocks.get(key_after(path, piece))
            if block is None or (ending and index == len(parts) - 1 and block.logits is None):
                break
            path.append(block)
        return path

    def _forward(self, piece: Sequence[int], cache: Any, ending: bool) -> tuple[Any, torch.Tensor | None]:
        ids = torch.tensor([piece], device=self._model.device)
        if not ending:  # the model without its head, whose weights are many
            return self._model.base_model(input_ids=ids, past_key_values=cache, use_cache=True).past_key_values, None
        output = self._model(input_ids=ids, past_key_values=cache, use_cache=True, **self.last_only)
        return output.past_key_values, output.logits[0, -1].clone()

    def _new(self, piece: tuple[int, ...], path: Sequence[Block], cache: Any, logits: Any) -> Block:
        """The block that a forward pass has just appended to the cache, copied out of it."""
        place = key_after(path, piece)
        keys = tuple(layer.keys[..., -len(piece) :, :].clone() for layer in cache.layers)
        values = tuple(layer.values[..., -len(piece) :, :].clone() for layer in cache.layers)
        return Block(place, self.blocks.number(place), keys, values, logits)

    def _join(self, path: Sequence[Block]) -> DynamicCache:
        """A new cache over the blocks, the same to the last bit as the one they came from."""
        cache = copy_cache(self._template)
        for index, layer in enumerate(cache.layers):
            layer.keys = torch.cat([block.keys[index] for block in path], dim=-2)
            layer.values = torch.cat([block.values[index] for block in path], dim=-2)
            if isinstance(layer, DynamicSlidingWindowLayer):
                layer.cumulative_length = sum(len(block.place[1]) for block in path)
                layer.keys = layer.keys[..., -layer.sliding_window + 1 :, :]
                layer.values = layer.values[..., -layer.sliding_window + 1 :, :]
        return cache


def _emptied(cache: DynamicCache) -> DynamicCache:
    empty = copy_cache(cache)
    for layer in empty.layers:
        layer.keys = layer.values = None
    return empty


def shareable(cache: Any) -> bool:
    """Whether the cache holds nothing but keys and values of attention layers, full or sliding."""
    return isinstance(cache, DynamicCache) and all(
        type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) and layer.keys is not None for layer in cache.layers
    )


def has_full_attention(cache: Any) -> bool:
    """Whether every layer attends to all positions; in a sliding window, padding inside a prompt would count."""
    return shareable(cache) and all(type(layer) is DynamicLayer for layer in cache.layers)


def copy_cache(cache: DynamicCache) -> DynamicCache:
    """A cache with its own layers over the same keys and values."""
    other = copy.copy(cache)
    other.layers = [copy.copy(layer) for layer in cache.layers]
    return other


def expand_cache(cache: DynamicCache, rows: int) -> DynamicCache:
    """A cache of `rows` rows that leaves the original as it is.

    Keys and values are views of the original's until a forward pass appends to them.
    """
    forked = copy_cache(cache)
    for layer in forked.layers:
        layer.keys, layer.values = (one.expand(rows, -1, -1, -1) for one in (layer.keys, layer.values))
    return forked
