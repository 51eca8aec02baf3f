"""Blocks of keys and values, kept up to a number of bytes for all prompts that begin with them."""

from __future__ import annotations

import itertools
import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch

BLOCK = 128
"""Most tokens of a block; prompts share only whole blocks."""

MAX_KEPT_BYTES = 1 << 30
"""Most bytes of keys and values kept; a sixteenth of memory if that is less."""

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

    def values(self) -> Iterable[Block]:
        """All that are kept."""
        return self._blocks.values()

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
    """Bytes to keep on a device: a sixteenth of its memory, at most MOST_KEPT."""
    if device.type == "cuda":
        memory = int(torch.cuda.get_device_properties(device).total_memory)
    else:
        known = "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {})  # not on Windows
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if known else 16 * MAX_KEPT_BYTES
    return min(MAX_KEPT_BYTES, memory // 16)
