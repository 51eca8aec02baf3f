"""Writing a batch of replies token by token; the beginnings of prompts are read once and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from rag.local._prefix_cache import PrefixCache, copy_cache

AllowedTokens = Callable[[int, Sequence[int]], Sequence[int]]
"""From a prompt's index and the tokens written so far to the tokens that may come next (empty: any)."""

GROUP_TOKENS = {"cpu": 256}
"""Most tokens, padding included, of prompt ends read in one pass, by kind of device: larger passes are hardly faster,
and hold the keys and values of more prompts three times over. Other devices take `DEFAULT_GROUP_TOKENS`."""
DEFAULT_GROUP_TOKENS = 1024
"""Enough to keep a GPU busy."""


class PromptTokens(NamedTuple):
    """A prompt's tokens and the place where its own part begins (see `PrefixCache`)."""

    ids: Sequence[int]
    cut: int = 0


class BatchState(NamedTuple):
    """Prompts read to their end: one right-aligned cache `[rows, heads, width + room, ...]`, and the next logits.

    `mask` `[rows, width + room]` is 0 over padding; `lengths` `[rows]` counts the real tokens of each prompt;
    `logits` `[rows, vocabulary]` follow its last one.
    """

    cache: DynamicCache
    mask: torch.Tensor
    lengths: torch.Tensor
    logits: torch.Tensor

    def only(self, places: Sequence[int]) -> BatchState:
        """Keep some of the rows and free the keys and values of the others."""
        for layer in self.cache.layers:
            layer.keep(torch.tensor(places, device=self.mask.device))
        return BatchState(self.cache, self.mask[places], self.lengths[places], self.logits[places])


class PreallocatedLayer(DynamicLayer):  # type: ignore[misc]
    """Keys and values in buffers with room for the reply, so that appending copies only the new ones."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, length: int) -> None:
        super().__init__()
        self.dtype, self.device, self.is_initialized = keys.dtype, keys.device, True
        self._buffers = (keys, values)
        self._show(length)

    @classmethod
    def like(cls, layer: Any, rows: int, width: int, room: int) -> PreallocatedLayer:
        """Zeros for `rows` rows of `width` positions and `room` more, each as wide as the layer's."""
        heads = layer.keys.shape[1]
        keys, values = (one.new_zeros(rows, heads, width + room, one.shape[-1]) for one in (layer.keys, layer.values))
        return cls(keys, values, width)

    def fill(self, row: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Put keys and values `[heads, positions, width]` at the right end of a row."""
        self.keys[row, :, -keys.shape[1] :], self.values[row, :, -keys.shape[1] :] = keys, values

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append keys and values `[rows, heads, new, width]`; returns all of them so far."""
        start = self.keys.shape[-2]
        end = start + key_states.shape[-2]
        for buffer, new in zip(self._buffers, (key_states, value_states), strict=True):
            buffer[..., start:end, :] = new
        self._show(end)
        return self.keys, self.values

    def keep(self, rows: torch.Tensor) -> None:
        """Drop all other rows."""
        rows = rows.to(self.device)
        self._buffers = (self._buffers[0][rows], self._buffers[1][rows])
        self._show(self.keys.shape[-2])

    def _show(self, length: int) -> None:
        self.keys, self.values = (buffer[..., :length, :] for buffer in self._buffers)


class BatchWriter:
    """Writes replies with one model, reading prompts through a cache; `ends` are the tokens that end a reply."""

    def __init__(self, model: Any, prefixes: PrefixCache, ends: Sequence[int]) -> None:
        self._model, self._prefixes, self._ends = model, prefixes, frozenset(ends)

    def write(
        self,
        started: BatchState,
        *,
        max_tokens: int,
        done: Callable[[Sequence[int]], bool],
        only: TokenFilter | None = None,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[list[int]]:
        """The tokens of each reply, including an end token; `done` decides from a row's tokens whether it is complete.

        Greedy at temperature 0; else each token is drawn by a random number that depends only on the seed, the row and
        the token's position. `started` is consumed; it must have room for `max_tokens`.
        """
        count = len(started.lengths)
        draws = torch.rand(count, max_tokens, generator=torch.Generator().manual_seed(seed))
        written: list[list[int]] = [[] for _ in range(count)]
        held, unfinished = list(range(count)), set(range(count))
        for step in range(max_tokens):
            if only is not None:
                only.restrict(started.logits, held, [written[row] for row in held])
            greedy = temperature <= 0
            tokens = started.logits.argmax(-1) if greedy else _drawn(started.logits, temperature, draws[held, step])
            for row, token in zip(held, tokens.tolist(), strict=True):
                if row in unfinished:
                    written[row].append(token)
                    if token in self._ends or done(written[row]):
                        unfinished.remove(row)
            if not unfinished or step == max_tokens - 1:
                break
            if 2 * len(unfinished) <= len(held):
                # Dropping rows copies the cache, which costs more than a few idle rows: wait until half are finished.
                places = [place for place, row in enumerate(held) if row in unfinished]
                held, tokens, started = [held[place] for place in places], tokens[places], started.only(places)
            started = started._replace(logits=self._next(started, tokens, step))
        return written

    def _next(self, started: BatchState, tokens: torch.Tensor, step: int) -> torch.Tensor:
        """The logits `[rows, vocabulary]` after the tokens `[rows]` of a step."""
        logits: torch.Tensor = self._model(
            input_ids=tokens[:, None],
            attention_mask=started.mask[:, : started.cache.get_seq_length() + 1],
            position_ids=(started.lengths + step)[:, None],
            past_key_values=started.cache,
            use_cache=True,
        ).logits
        return logits[:, -1]

    def start(self, rows: Sequence[PromptTokens], room: int) -> BatchState:
        """Read the prompts: their beginnings one by one through the cache, their ends in groups of similar length."""
        device = self._model.device
        width = max(len(row.ids) for row in rows)
        lengths = torch.tensor([len(row.ids) for row in rows], device=device)
        mask = (torch.arange(width + room, device=device) >= (width - lengths)[:, None]).long()
        logits: list[Any] = [None] * len(rows)
        layers: list[PreallocatedLayer] = []
        most = GROUP_TOKENS.get(device.type, DEFAULT_GROUP_TOKENS)
        left = [self._prefixes.left(*row) for row in rows]
        for group in padded_groups(sorted(enumerate(left), key=itemgetter(1)), most):
            cache, real, after = self._finish([rows[index] for index in group])
            layers = layers or [PreallocatedLayer.like(layer, len(rows), width, room) for layer in cache.layers]
            for place, index in enumerate(group):
                logits[index] = after[place]
                for layer, whole in zip(cache.layers, layers, strict=True):
                    whole.fill(index, layer.keys[place][:, real[place]], layer.values[place][:, real[place]])
        whole_cache = copy_cache(cache)
        whole_cache.layers = layers
        return BatchState(whole_cache, mask, lengths, torch.stack(logits))

    def _finish(self, rows: Sequence[PromptTokens]) -> tuple[DynamicCache, torch.Tensor, torch.Tensor]:
        """Read some prompts to their end; returns the cache, the mask of real tokens in it, and the next logits."""
        partial = [self._prefixes.begin(*row) for row in rows]
        lefts = [one.left for one in partial]
        ends = list(map(len, lefts))
        starts = [len(row.ids) - left for row, left in zip(rows, ends, strict=True)]
        device = self._model.device
        stacked = _stacked([one.cache for one in partial], max(starts))
        del partial  # whose keys and values are there a second time now
        real = torch.cat([_right_aligned(starts, device), _right_aligned(ends, device)], dim=1)
        output = self._model(
            input_ids=torch.tensor([[*[0] * (max(ends) - len(left)), *left] for left in lefts], device=device),
            attention_mask=real.long(),
            position_ids=(real.cumsum(-1) - 1).clamp(min=0)[:, max(starts) :],
            past_key_values=stacked,
            use_cache=True,
            **self._prefixes.last_only,
        )
        return output.past_key_values, real, output.logits[:, -1]


class TokenFilter:
    """Forbids every token but the allowed ones."""

    def __init__(self, allowed: AllowedTokens) -> None:
        self._allowed = allowed
        self._seen: dict[int, tuple[Sequence[int], torch.Tensor]] = {}

    def restrict(self, logits: torch.Tensor, rows: Iterable[int], written: Iterable[Sequence[int]]) -> None:
        """Set the logits `[rows, vocabulary]` of tokens that may not follow each row's tokens to minus infinity."""
        for place, (row, ids) in enumerate(zip(rows, written, strict=True)):
            allowed = self._allowed(row, ids)
            if len(allowed):
                tokens = self._indices(allowed, logits.device)
                kept = logits[place, tokens]
                logits[place] = float("-inf")
                logits[place, tokens] = kept

    def _indices(self, allowed: Sequence[int], device: torch.device) -> torch.Tensor:
        """The tokens as an index; a tuple that comes repeatedly, such as most of a vocabulary, is converted once."""
        if not isinstance(allowed, tuple):
            return torch.tensor(list(allowed), device=device)
        if id(allowed) not in self._seen:
            self._seen[id(allowed)] = (allowed, torch.tensor(allowed, device=device))
        return self._seen[id(allowed)][1]


def _drawn(logits: torch.Tensor, temperature: float, numbers: torch.Tensor) -> torch.Tensor:
    """The token of each row at which the cumulative probability exceeds the row's number in [0, 1)."""
    chances = torch.softmax(logits.float().cpu() / temperature, dim=-1).double().cumsum(dim=-1)
    drawn = torch.searchsorted(chances, numbers.double()[:, None] * chances[:, -1:], right=True)
    return drawn[:, 0].to(logits.device)


def _right_aligned(lengths: Sequence[int], device: torch.device) -> torch.Tensor:
    """`[rows, longest]`: true over the last positions of each row, as many as its length."""
    width = max(lengths)
    return torch.arange(width, device=device) >= width - torch.tensor(lengths, device=device)[:, None]


def padded_groups(lengths: Iterable[tuple[int, int]], most: int) -> Iterator[list[int]]:
    """The places of `(place, length)` pairs, in groups that hold at most so many tokens, padding included."""
    group: list[int] = []
    width = 0
    for place, length in lengths:
        if group and max(width, length) * (len(group) + 1) > most:
            yield group
            group, width = [], 0
        group.append(place)
        width = max(width, length)
    if group:
        yield group


def _stacked(caches: Sequence[DynamicCache | None], length: int) -> DynamicCache | None:
    """One right-aligned cache of `length` positions with a row for each cache; None when all are empty."""
    first = next((one for one in caches if one is not None), None)
    if first is None:
        return None
    stacked = copy_cache(first)
    for index, layer in enumerate(stacked.layers):
        held = [None if one is None else one.layers[index] for one in caches]
        layer.keys = _aligned([one and one.keys for one in held], layer.keys, length)
        layer.values = _aligned([one and one.values for one in held], layer.values, length)
    return stacked


def _aligned(rows: Sequence[torch.Tensor | None], like: torch.Tensor, length: int) -> torch.Tensor:
    """Tensors `[1, heads, positions, width]` as the rows of one, padded with zeros on the left."""
    aligned = like.new_zeros(len(rows), like.shape[1], length, like.shape[3])
    for place, row in enumerate(rows):
        if row is not None:
            aligned[place, :, length - row.shape[2] :] = row[0]
    return aligned
