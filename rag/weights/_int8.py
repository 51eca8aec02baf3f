"""Linear layers in 8-bit integers: twice as fast as bfloat16 on a processor, nearly three times as fast as float32.

Weights have a scale for each output, activations one for each token, both symmetric ("W8A8", as in ZeroQuant; Yao et
al. 2022). A sum runs over integers, so that a token's numbers do not depend on the tokens beside it.
"""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from typing import Any

import torch

MAX_GROUP = 2048
"""Most inputs that share a scale: over a wide layer a single outlier would leave the others few steps."""
STEPS = 127
"""Steps of a scale on either side of 0."""
WEIGHT_STEPS = (STEPS, 63)
"""Those of weights: without instructions for it (VNNI) a processor adds two products in 16 bits, which those of weights
of 7 bits cannot overflow."""
TOKENS = 32
"""Of a pass for which the layout of weights is chosen; without a number it would be made anew in each pass."""
SLICE = 4096
"""Outputs whose weights are in float32 at a time: those of a whole vocabulary take a gigabyte."""
NEAR = 0.05
"""Most error of a product, as a share of its norm, at which the processor's integer product is trusted."""


class _QuantizedInput:
    """The last input in integers: layers that read the same (query, key, value) turn it into integers once."""

    def __init__(self) -> None:
        self._last: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None

    def of(self, inputs: torch.Tensor, groups: int) -> tuple[torch.Tensor, torch.Tensor]:
        """From `[..., inputs]` to bytes from 0 `[groups, tokens, inputs / groups]` and scales `[groups, tokens, 1]`."""
        last = self._last
        if last is not None and last[0] is inputs:
            return last[1:]
        rows = inputs.reshape(-1, groups, inputs.shape[-1] // groups).transpose(0, 1).float()
        largest = torch.maximum(rows.amax(dim=-1, keepdim=True), -rows.amin(dim=-1, keepdim=True))
        scales = largest.clamp_(min=1e-12).div_(STEPS)
        found = (rows / scales).round_().add_(STEPS + 1).to(torch.uint8).contiguous(), scales
        self._last = (inputs, *found)
        return found


class Int8Linear(torch.nn.Module):
    """A linear layer with weights of so many `steps`; reads and gives the dtype of its input."""

    def __init__(self, linear: torch.nn.Linear, inputs: _QuantizedInput, steps: int = STEPS) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self._inputs, self._groups = inputs, _groups(linear.in_features)
        bias: torch.Tensor | None = linear.bias
        self._bias = None if bias is None else bias.detach().float()
        self._zeros = torch.zeros(linear.out_features, dtype=torch.int)
        self._parts = [_packed(part, steps) for part in linear.weight.detach().chunk(self._groups, dim=1)]

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """From `[..., inputs]` to `[..., outputs]`."""
        rows, scales = self._inputs.of(inputs, self._groups)
        parts = zip(self._parts, rows, scales, strict=True)
        products = (_product(row, weight, sizes, self._zeros).mul_(scale) for (weight, sizes), row, scale in parts)
        found = next(products)
        for one in products:
            found.add_(one)
        if self._bias is not None:
            found.add_(self._bias)
        return found.to(inputs.dtype).reshape(*inputs.shape[:-1], self.out_features)


class StoredEmbedding(torch.nn.Module):
    """An embedding in the dtype of its file, half the size of float32, that gives another dtype."""

    def __init__(self, embedding: torch.nn.Embedding, dtype: torch.dtype) -> None:
        super().__init__()
        # Not a parameter, which a model's change of dtype would change.
        self._rows, self._dtype = embedding.weight.detach(), dtype

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """From tokens `[...]` to `[..., width]`."""
        return torch.nn.functional.embedding(ids, self._rows).to(self._dtype)


def to_int8(model: Any, dtype: torch.dtype) -> Any:
    """The model in a dtype with its linear layers in 8 bits, layer by layer, so that only one is there twice.

    Layers follow one another as their weights do in the files that they are read from, each of which is let go when all
    its weights have been turned into integers: from the end, where the largest often is, while there is little else.
    What is left is copied, so that nothing holds on to a file.
    """
    _copy_all_but_linear(model)
    places: list[tuple[int, Any, str, _QuantizedInput]] = []
    for parent in list(model.modules()):
        inputs = _QuantizedInput()
        for name, child in list(parent.named_children()):
            if type(child) is torch.nn.Linear:
                places.append((child.weight.data_ptr(), parent, name, inputs))
            elif type(child) is torch.nn.Embedding:
                setattr(parent, name, StoredEmbedding(child, dtype))
    for _, parent, name, inputs in sorted(places, key=itemgetter(0), reverse=True):
        setattr(parent, name, Int8Linear(getattr(parent, name), inputs, weight_steps() or STEPS))
    return model.to(dtype)


def _copy_all_but_linear(model: Any) -> None:
    linear = {id(one.weight) for one in model.modules() if type(one) is torch.nn.Linear}
    embedded = {id(one.weight) for one in model.modules() if isinstance(one, torch.nn.Embedding)}
    for one in model.parameters():
        if id(one) not in linear - embedded:
            one.data = one.data.clone()


@cache
def weight_steps() -> int:
    """The most of `WEIGHT_STEPS` with which this processor's product of integers is right; 0 where it is not there.

    torch documents none.
    """
    return next((steps for steps in WEIGHT_STEPS if _is_right(steps)), 0)


def computes_int8() -> bool:
    """Whether this processor's product of integers is there and right."""
    return weight_steps() > 0


def _is_right(steps: int) -> bool:
    generator = torch.Generator().manual_seed(0)
    linear = torch.nn.Linear(256, 64)
    inputs = torch.randn(3, 256, generator=generator)
    # The largest sums, which overflow first.
    torch.nn.init.constant_(linear.weight[0], 1.0)
    inputs[0] = 1.0
    try:
        with torch.inference_mode():
            exact = linear(inputs)
            found = Int8Linear(linear, _QuantizedInput(), steps)(inputs)
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return bool((found - exact).norm() <= NEAR * exact.norm())


def _groups(inputs: int) -> int:
    """The fewest equal groups of at most `MAX_GROUP` inputs; one where they cannot be equal."""
    fewest = -(-inputs // MAX_GROUP)
    return next((count for count in range(fewest, 2 * fewest) if inputs % count == 0), 1)


def _packed(weight: torch.Tensor, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights `[outputs, inputs]` in the processor's own layout, and the size of a step for each output."""
    sizes, whole = torch.empty(len(weight)), torch.empty(weight.shape, dtype=torch.int8)
    for at in range(0, len(weight), SLICE):
        rows = weight[at : at + SLICE].float()
        own = rows.abs().amax(dim=1).clamp_(min=1e-12).div_(steps)
        sizes[at : at + SLICE], whole[at : at + SLICE] = own, (rows / own[:, None]).round_()
    return torch.ops.onednn.qlinear_prepack(whole, [TOKENS, weight.shape[1]]), sizes


def _product(rows: torch.Tensor, weight: torch.Tensor, sizes: torch.Tensor, zeros: torch.Tensor) -> torch.Tensor:
    # Inputs: bytes, their step and zero; weights: packed, their steps and zeros; no bias; the output's step, zero,
    # dtype and operation after it.
    found: torch.Tensor = torch.ops.onednn.qlinear_pointwise(
        rows, 1.0, STEPS + 1, weight, sizes, zeros, None, 1.0, 0, torch.float32, "none", [], ""
    )
    return found
