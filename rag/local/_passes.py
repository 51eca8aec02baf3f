"""One forward pass over pieces of many prompts, packed into one row of a fixed number of tokens.

Each piece attends only to itself and to what precedes it in its own prompt. Matrices always have the same number of
rows and each piece's attention is computed separately, so that to the last bit a piece's numbers do not depend on the
other pieces of the pass, nor on whether the blocks before it were read in this pass or earlier.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple, cast

import torch
from transformers import AttentionInterface

from rag.local._prefix_cache import Block

HEAD_ROWS = 64
"""Positions whose logits are computed together: always this many, for the same reason."""


@dataclass(frozen=True)
class PromptPiece:
    """Some tokens of a prompt after the blocks `before`.

    `branches` is 0 for tokens that all later tokens of the piece see, else the number of a token's continuation, which
    only its own tokens see. `block` receives the keys and values if they are kept.
    """

    ids: tuple[int, ...]
    before: tuple[Block, ...]
    branches: tuple[int, ...]
    block: Block | None = None
    _masks: dict[tuple[int | None, torch.device], torch.Tensor] = field(default_factory=dict, repr=False, compare=False)

    @property
    def start(self) -> int:
        """The position of the first token."""
        return sum(len(block.place[1]) for block in self.before)

    @property
    def positions(self) -> list[int]:
        """Each token's position in its own sequence."""
        found: list[int] = []
        for branch, tokens in groupby(self.branches):
            first = self.start + (self.branches.count(0) if branch else 0)
            found += range(first, first + len(list(tokens)))
        return found

    def mask(self, like: torch.Tensor, copies: int, window: int | None) -> torch.Tensor:
        """Added to attention `[copies * tokens, all positions]`: 0 where a token may attend, else -infinity."""
        # The layers of a model that is spread are on several devices.
        kind = (window, like.device)
        if kind not in self._masks:
            own = torch.tensor(self.positions)
            branch = torch.tensor(self.branches)
            seen = (branch[None, :] == 0) | (branch[None, :] == branch[:, None])
            seen = torch.cat([seen.new_ones(len(own), self.start), seen.tril()], dim=1)
            if window is not None:
                away = own[:, None] - torch.cat([torch.arange(self.start), own])[None, :]
                seen = seen & (away < window)
            added = torch.zeros(seen.shape).masked_fill(~seen, float("-inf"))
            self._masks[kind] = added.to(like.dtype).to(like.device).repeat(copies, 1)
        return self._masks[kind]


class ScoredToken(NamedTuple):
    """A token whose log-probability is wanted, and the position of the pass that predicts it."""

    position: int
    token: int


def run_pass(model: Any, pieces: Sequence[PromptPiece], size: int) -> torch.Tensor:
    """The last hidden states `[size, width]` of the pieces in turn; fills their blocks."""
    ids = [token for piece in pieces for token in piece.ids]
    places = [place for piece in pieces for place in piece.positions]
    empty = [0] * (size - len(ids))
    with _attending(model, pieces):
        output = model.base_model(
            input_ids=torch.tensor([ids + empty], device=model.device),
            position_ids=torch.tensor([places + empty], device=model.device),
            use_cache=False,
        )
    hidden: torch.Tensor = output.last_hidden_state[0]
    return hidden


def log_probabilities(model: Any, hidden: torch.Tensor, targets: Sequence[ScoredToken]) -> list[float]:
    """The log-probability of each target; the head runs only over the positions that predict them."""
    head = model.get_output_embeddings()
    rows = sorted({target.position for target in targets})
    found: dict[ScoredToken, float] = {}
    for at in range(0, len(rows), HEAD_ROWS):
        some = rows[at : at + HEAD_ROWS]
        index = torch.tensor(some + some[:1] * (HEAD_ROWS - len(some)), device=hidden.device)
        logs = torch.log_softmax(head(hidden[index]).float(), dim=-1)
        mine = [target for target in targets if some[0] <= target.position <= some[-1]]
        places = {row: place for place, row in enumerate(some)}
        picked = logs[[places[one.position] for one in mine], [one.token for one in mine]]
        found.update(zip(mine, picked.tolist(), strict=True))
    return [found[target] for target in targets]


_NAME = "ragexam_pieces"
_current: ContextVar[Sequence[PromptPiece]] = ContextVar(_NAME)
_UNSUPPORTED = ("softcap", "s_aux", "position_bias")
"""Options of attention that some models use and that are not computed here."""


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    _mask: object,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """The attention function that transformers calls in each layer.

    From queries `[1, heads, tokens, width]`, keys and values to `[1, tokens, heads, width]`.
    """
    if any(options.get(name) is not None for name in _UNSUPPORTED):
        raise NotImplementedError("attention with more than keys, values and a window")
    layer, heads, shared = module.layer_idx, query.shape[1], key.shape[1]
    copies = heads // shared
    found = value.new_zeros(1, query.shape[2], heads, value.shape[-1])
    at = 0
    for piece in _current.get():
        here = slice(at, at + len(piece.ids))
        mine = (key[:, :, here].clone(), value[:, :, here].clone())
        keys = torch.cat([*(block.keys[layer] for block in piece.before), mine[0]], dim=2)
        values = torch.cat([*(block.values[layer] for block in piece.before), mine[1]], dim=2)
        # Query heads that share a key head are stacked, so that keys and values need no copies.
        asked = query[:, :, here].reshape(1, shared, copies * len(piece.ids), -1)
        mask = piece.mask(query, copies, sliding_window)
        out = torch.nn.functional.scaled_dot_product_attention(asked, keys, values, attn_mask=mask, scale=scaling)
        found[:, here] = out.reshape(1, heads, len(piece.ids), -1).transpose(1, 2)
        if piece.block is not None:
            cast(list[torch.Tensor], piece.block.keys).append(mine[0])
            cast(list[torch.Tensor], piece.block.values).append(mine[1])
        at += len(piece.ids)
    return found, None


@contextlib.contextmanager
def _attending(model: Any, pieces: Sequence[PromptPiece]) -> Iterator[None]:
    """Make the model's layers attend piece by piece."""
    AttentionInterface.register(_NAME, _attend)
    config = model.config.get_text_config()
    before, token = config._attn_implementation, _current.set(pieces)
    config._attn_implementation = _NAME
    try:
        yield
    finally:
        config._attn_implementation = before
        _current.reset(token)
