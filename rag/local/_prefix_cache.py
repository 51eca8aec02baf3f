"""Keys and values of prompts already read, kept in blocks that all prompts with the same beginning share.

The boundaries of a prompt's blocks depend only on its own text (the position, and where its own part begins). A block
has the same numbers to the last bit whether it is computed now or taken from an earlier prompt, so that results do not
depend on earlier prompts and an interrupted run repeats exactly.
"""

from __future__ import annotations

import copy
import inspect
import itertools
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import psutil
import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

BLOCK = 128
"""Most tokens of a block; prompts share only whole blocks."""

KEPT_BYTES = {"cpu": 1 << 28}
"""Most bytes of keys and values kept, by kind of device; a sixteenth of its memory if that is less. On a processor they
hold forty passages of a model of 1.5 billion parameters, more than a batch of an exam is about."""
DEFAULT_KEPT_BYTES = 1 << 30
"""Elsewhere."""

BlockKey = tuple[int, tuple[int, ...]]
"""Identifies a block: the number of the block before it (not positive: none), and its own tokens."""


class Block(NamedTuple):
    """What one block adds to a cache: keys and values `[1, heads, tokens, width]` of each layer.

    A sliding layer keeps no more than its window. `logits` `[vocabulary]` follow the last token, if they were wanted.
    `number` identifies the block in the keys of the blocks after it.
    """

    place: BlockKey
    number: int
    keys: Sequence[torch.Tensor]
    values: Sequence[torch.Tensor]
    logits: torch.Tensor | None = None

    @property
    def size(self) -> int:
        """Bytes."""
        logits = () if self.logits is None else (self.logits,)
        return sum(one.numel() * one.element_size() for one in (*self.keys, *self.values, *logits))


class BlockStore:
    """Blocks by key, up to `keep` bytes; the least recently used go first."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        # Using a block also uses all before it, so that the oldest block has none after it.
        self._blocks: OrderedDict[BlockKey, Block] = OrderedDict()
        self._numbers = itertools.count(1)
        self.size = 0

    def get(self, place: BlockKey) -> Block | None:
        """The block of a key, if it is kept."""
        return self._blocks.get(place)

    def number(self, place: BlockKey) -> int:
        """The number of the block with this key, else a new number."""
        known = self._blocks.get(place)
        return known.number if known else next(self._numbers)

    def remember(self, path: Sequence[Block]) -> None:
        """Keep a run of consecutive blocks, or mark it as used."""
        for block in reversed(path):
            old = self._blocks.pop(block.place, None)
            self.size += block.size - (old.size if old else 0)
            self._blocks[block.place] = block
        while self.size > self._keep:
            _, block = self._blocks.popitem(last=False)
            self.size -= block.size

    def clear(self) -> None:
        """Forget all and free their memory."""
        self._blocks.clear()
        self.size = 0


def split_into_blocks(ids: Sequence[int], cut: int, block: int) -> list[tuple[int, ...]]:
    """The tokens block by block; a block ends at `cut`."""
    parts = (ids[:cut], ids[cut:])
    return [tuple(part[at : at + block]) for part in parts for at in range(0, len(part), block)]


def key_after(path: Sequence[Block], piece: tuple[int, ...], root: int = 0) -> BlockKey:
    """The key of a piece after a run of blocks; blocks that are read in different ways have different roots."""
    return (path[-1].number if path else root, piece)


def default_kept_bytes(device: torch.device) -> int:
    """Bytes to keep on a device: a sixteenth of its memory, at most `KEPT_BYTES`."""
    most = KEPT_BYTES.get(device.type, DEFAULT_KEPT_BYTES)
    cuda = device.type == "cuda"
    memory = torch.cuda.get_device_properties(device).total_memory if cuda else psutil.virtual_memory().total
    return min(most, int(memory) // 16)


class EncodedPrompt(NamedTuple):
    """A prompt's key/value cache and the logits `[vocabulary]` that follow its last token."""

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
        parts = split_into_blocks(ids, cut, self._block)
        # What is a prompt's own no other prompt will ask for: keeping it would drive out passages.
        shared = -(-cut // self._block) or len(parts)
        cache, logits = self._read(parts, shared, ending=True)
        return EncodedPrompt(cache, logits.float())

    def begin(self, ids: Sequence[int], cut: int = 0) -> PartialPrompt:
        """Encode the blocks that other prompts may share; leave the rest, at least one token."""
        *shared, left = split_into_blocks(ids, cut, self._block)
        return PartialPrompt(self._read(shared, len(shared), ending=False)[0] if shared else None, left)

    def left(self, ids: Sequence[int], cut: int = 0) -> int:
        """How many tokens `begin` leaves."""
        return len(split_into_blocks(ids, cut, self._block)[-1])

    def clear(self) -> None:
        """Forget the prompts and free their memory."""
        self.blocks.clear()

    def _read(self, parts: Sequence[tuple[int, ...]], kept: int, *, ending: bool) -> tuple[Any, Any]:
        """The cache after the parts, the first `kept` of which are kept; with `ending` also the logits after the last
        token."""
        path = self._known(parts, ending)
        cache: Any = self._join(path) if path else None
        logits = path[-1].logits if path else None
        for index in range(len(path), len(parts)):
            cache, logits = self._forward(parts[index], cache, ending and index == len(parts) - 1)
            if shareable(cache):
                self._template = self._template or _emptied(cache)
                path.append(self._new(parts[index], path, cache, logits))
        self.blocks.remember(path[:kept])
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
