"""Blocks of keys and values, kept up to a number of bytes for every prompt that begins with them."""

from __future__ import annotations

import itertools
import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch

BLOCK = 128
"""Tokens of a block at most; only whole blocks are shared between prompts."""

MAX_KEPT_BYTES = 1 << 30
"""Bytes of keys and values kept at most, where memory is ample (a sixteenth of it where it is not)."""

BlockKey = tuple[int, tuple[int, ...]]
"""Where a block stands: the number of the block before it (not positive: none), and its own tokens."""


class Block(NamedTuple):
    """What one block adds to a cache: keys and values `[1, heads, tokens, width]` of each layer.

    A sliding layer keeps no more than its window. `logits` `[vocabulary]` follow the last token, where they were asked
    for. `number` names the block in the places of those behind it.
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
    """Blocks by their place, up to `keep` bytes; the longest unused go first."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        # A block counts as used whenever one behind it is, and just after it: the oldest has none behind it.
        self._blocks: OrderedDict[BlockKey, Block] = OrderedDict()
        self._numbers = itertools.count(1)
        self.size = 0

    def get(self, place: BlockKey) -> Block | None:
        """The block of a place, if it is kept."""
        return self._blocks.get(place)

    def values(self) -> Iterable[Block]:
        """All that are kept."""
        return self._blocks.values()

    def number(self, place: BlockKey) -> int:
        """The number of the block that is kept at a place, else a new one."""
        known = self._blocks.get(place)
        return known.number if known else next(self._numbers)

    def remember(self, path: Sequence[Block]) -> None:
        """Keep a run of blocks that follow each other, or count it as used."""
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
    """The tokens block by block, where what stands before `cut` ends a block."""
    parts = (ids[:cut], ids[cut:])
    return [tuple(part[at : at + block]) for part in parts for at in range(0, len(part), block)]


def key_after(path: Sequence[Block], piece: tuple[int, ...], root: int = 0) -> BlockKey:
    """Where a piece stands behind a run of blocks; different roots keep blocks read in different ways apart."""
    return (path[-1].number if path else root, piece)


def default_kept_bytes(device: torch.device) -> int:
    """Bytes to keep on a device: a sixteenth of its memory, at most MOST_KEPT."""
    if device.type == "cuda":
        memory = int(torch.cuda.get_device_properties(device).total_memory)
    else:
        known = "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {})  # not on Windows
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if known else 16 * MAX_KEPT_BYTES
    return min(MAX_KEPT_BYTES, memory // 16)
