"""Where a model's weights lie, and as which numbers they are held."""

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
"""What bitsandbytes is told for each: LLM.int8() (Dettmers et al. 2022), 4-bit NormalFloat (Dettmers et al. 2023)."""
SPREAD = "spread"
"""The device of a model too large for one GPU: layers on all GPUs of this process, then in main memory."""


class Placement(NamedTuple):
    """A device (of the inputs, where layers are `spread`), the numbers that are computed with, and how weights are
    held in fewer bits: one of `QUANTIZED`, or empty."""

    device: Any
    number: Any
    quantized: str = ""
    spread: bool = False

    def options(self, packed: bool) -> dict[str, Any]:
        """What transformers is told to load weights straight to their place; nothing for those that are moved later.

        `packed`: whether they are quantised already where they come from.
        """
        options: dict[str, Any] = {"dtype": self.number}
        if self.spread or self.quantized or packed:
            options["device_map"] = "auto" if self.spread else {"": self.device}
        if self.quantized or packed:
            # It tells of every conversion between numbers, with every layer.
            logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
        if self.quantized:
            from transformers import BitsAndBytesConfig

            told = QUANTIZED[self.quantized]
            options["quantization_config"] = BitsAndBytesConfig(**told, bnb_4bit_compute_dtype=self.number)
        return options


def resolve_placement(dtype: str, device: str) -> Placement:
    """What `dtype` and `device` of `rag.load_model` mean on this machine; ValueError for unknown names."""
    place = _device(device)
    if dtype not in QUANTIZED:
        return Placement(place, _number(dtype, place), spread=device == SPREAD)
    if find_spec("bitsandbytes") is None:
        raise ValueError(f"dtype {dtype!r}: needs bitsandbytes; wanted pip install 'ragexam[quantized]'")
    return Placement(place, _number("auto", place), dtype, device == SPREAD)


def quantization_method(config: Any) -> str:
    """The method by which a model's weights are quantised, as its configuration says; empty for one that is not."""
    told = getattr(config, "quantization_config", None)
    if told is None:
        return ""
    method = told.get("quant_method", "") if isinstance(told, Mapping) else told.quant_method
    return str(getattr(method, "value", method))


def rows_are_independent(model: Any) -> bool:
    """Whether layers give a token the same numbers whatever is read beside it.

    Not so LLM.int8(), which looks for outliers among all, and who knows of other methods.
    """
    told = getattr(model.config, "quantization_config", None)
    return told is None or bool(getattr(told, "load_in_4bit", False))


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


def _number(dtype: str, device: Any) -> Any:
    import torch

    named = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if dtype in named:
        return named[dtype]
    if dtype != "auto":
        raise ValueError(f"dtype {dtype!r}: unknown; wanted auto, {', '.join([*named, *QUANTIZED])}")
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return torch.bfloat16 if device.type == "cpu" and fast_bfloat16() else torch.float32
