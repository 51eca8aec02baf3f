"""Where a model's weights are placed, and in which number format."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

QUANTIZED: Mapping[str, Mapping[str, Any]] = {
    "int8": {"load_in_8bit": True},
    "nf4": {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
}
"""Options of bitsandbytes for LLM.int8() (Dettmers et al. 2022) and 4-bit NormalFloat (Dettmers et al. 2023)."""
W8A8 = "w8a8"
"""8-bit integers for weights and activations, on processors (see `rag.weights._int8`)."""
LARGE_PACKED = 1 << 29
"""Bytes of a GGUF file from which a processor computes in `W8A8`: weights that were rounded already, and a model
that takes seconds a question. Smaller ones keep the numbers they were published with."""
SPREAD = "spread"
"""The device of a model too large for one GPU: layers on all GPUs of this process, then in main memory."""


class Placement(NamedTuple):
    """The device (of the inputs, if `spread`), dtype and quantisation (of `QUANTIZED`, `W8A8` or empty)."""

    device: Any
    dtype: Any
    quantized: str = ""
    spread: bool = False

    def options(self, packed: bool) -> dict[str, Any]:
        """The options of transformers that load weights straight to their place; none if they are moved later.

        `packed`: whether the weights are already quantised at their source.
        """
        options: dict[str, Any] = {"dtype": self.dtype}
        if self.quantized == W8A8:
            # The layers are turned into integers one by one; half the bytes are read before that.
            return {"dtype": _dtype("bfloat16", self.device)}
        if self.spread or self.quantized or packed:
            options["device_map"] = "auto" if self.spread else {"": self.device}
        if self.quantized or packed:
            # It logs every conversion of dtypes in every layer.
            logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
        if self.quantized:
            from transformers import BitsAndBytesConfig

            method = QUANTIZED[self.quantized]
            options["quantization_config"] = BitsAndBytesConfig(**method, bnb_4bit_compute_dtype=self.dtype)
        return options


def resolve_placement(dtype: str, device: str, packed_bytes: int = 0) -> Placement:
    """The placement that `dtype` and `device` of `rag.load_model` mean here, for weights from a GGUF file of this size.

    ValueError for unknown names.
    """
    place = _device(device)
    large = dtype == "auto" and place.type == "cpu" and packed_bytes >= LARGE_PACKED
    if dtype == W8A8 or (large and computes_w8a8()):
        if place.type != "cpu" or not computes_w8a8():
            raise ValueError(f"dtype {dtype!r}: not on {place.type}; wanted a processor whose torch multiplies int8")
        return Placement(place, _dtype("auto", place), W8A8)
    if dtype not in QUANTIZED:
        return Placement(place, _dtype(dtype, place), spread=device == SPREAD)
    if find_spec("bitsandbytes") is None:
        raise ValueError(f"dtype {dtype!r}: needs bitsandbytes; wanted pip install 'ragexam[quantized]'")
    return Placement(place, _dtype("auto", place), dtype, device == SPREAD)


def quantization_method(config: Any) -> str:
    """The quantisation method of a model's weights, by its configuration; empty if they are not quantised."""
    found = getattr(config, "quantization_config", None)
    if found is None:
        return ""
    method = found.get("quant_method", "") if isinstance(found, Mapping) else found.quant_method
    return str(getattr(method, "value", method))


def rows_are_independent(model: Any) -> bool:
    """Whether layers give a token the same numbers whatever other tokens are in the pass.

    LLM.int8() does not, because it looks for outliers among all tokens; other methods of quantisation are unknown.
    """
    found = getattr(model.config, "quantization_config", None)
    return found is None or bool(getattr(found, "load_in_4bit", False))


def computes_w8a8() -> bool:
    """Whether torch has the products of integers here, and they are right (see `rag.weights._int8`)."""
    from rag.weights._int8 import computes_int8  # loads torch, which takes seconds

    return computes_int8()


def fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 matrices natively (AVX-512 BF16 or AMX)."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return "avx512_bf16" in text or "amx_bf16" in text


def _device(device: str) -> Any:
    import torch

    if device not in ("auto", SPREAD):
        try:
            return torch.device(device)
        except RuntimeError as error:
            raise ValueError(
                f"device {device!r}: {str(error).splitlines()[0]}; wanted auto, cpu, cuda, mps or {SPREAD}"
            ) from error
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _dtype(dtype: str, device: Any) -> Any:
    import torch

    named = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if dtype in named:
        return named[dtype]
    if dtype != "auto":
        raise ValueError(f"dtype {dtype!r}: unknown; wanted auto, {', '.join([*named, *QUANTIZED, W8A8])}")
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return torch.bfloat16 if device.type == "cpu" and fast_bfloat16() else torch.float32
