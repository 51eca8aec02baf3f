"""A GGUF file unpacked to the hub's layout on disk, one tensor in memory at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

PART_BYTES = 200_000_000
"""Weights of one file: one whose weights have been turned into integers is let go."""
SLICE = 1 << 22
"""Weights that are unpacked at a time."""
UNUSED = {"rope_freqs.weight"}
"""Tensors of GGUF files that transformers computes itself."""


def unpack_gguf(path: Path, dtype: torch.dtype, folder: Path) -> bool:
    """Write the weights of a language model with its configuration into a folder.

    False, and nothing of use in the folder, where a tensor has no counterpart of its shape in transformers' model or
    the other way round: mixtures of experts, new architectures. Reads `path` as transformers maps it.
    """
    try:
        from transformers.modeling_gguf_pytorch_utils import TENSOR_PROCESSORS, TensorProcessor, get_gguf_hf_weights_map
    except ImportError:  # inner functions of transformers, which may go
        return False
    from gguf import GGUFReader
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(str(path.parent), gguf_file=path.name)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    reader = GGUFReader(path)
    kind = TENSOR_PROCESSORS.get(reader.fields["general.architecture"].contents(), TensorProcessor)
    processor = kind(config=config.to_dict())
    names = get_gguf_hf_weights_map(model, processor)
    wanted = {name: tuple(one.shape) for name, one in model.state_dict().items()}
    if config.tie_word_embeddings:
        wanted.pop("lm_head.weight", None)
    shapes = {names.get(one.name, one.name): _shape(one) for one in reader.tensors if one.name not in UNUSED}
    if shapes != wanted:
        return False
    _save(_tensors(reader, processor, names, dtype), folder)
    model.config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
    return True


def _shape(tensor: Any) -> tuple[int, ...]:
    """The dimensions in the order of torch: GGUF files tell the fastest-moving first."""
    return tuple(int(one) for one in reversed(tensor.shape))


def _tensors(
    reader: Any, processor: Any, names: dict[str, str], dtype: torch.dtype
) -> Iterator[tuple[str, torch.Tensor]]:
    for tensor in reader.tensors:
        if tensor.name in UNUSED:
            continue
        found = processor.process(
            weights=_values(tensor), name=tensor.name, tensor_key_mapping=names, parsed_parameters={}
        )
        own = found.weights if found.weights.flags.writeable else found.weights.copy()
        yield names[found.name], torch.from_numpy(own).to(dtype, copy=True)


def _values(tensor: Any) -> Any:
    """The weights of a tensor as an array of float32, a slice at a time."""
    from gguf import dequantize as whole

    try:
        from transformers.integrations.gguf.dequant import GGML_BLOCK, dequantize
    except ImportError:  # before transformers 5.20: the same numbers, several times as slow
        return whole(tensor.data, tensor.tensor_type)
    kind = int(tensor.tensor_type)
    if kind not in GGML_BLOCK:
        return whole(tensor.data, tensor.tensor_type)
    count, size = GGML_BLOCK[kind]
    data, values = tensor.data.reshape(-1), torch.empty(tensor.n_elements)
    step = SLICE // count
    for at in range(0, len(data) // size, step):
        part = torch.from_numpy(data[at * size : (at + step) * size].copy())
        values[at * count : (at + step) * count] = dequantize(part, kind)
    return values.reshape(_shape(tensor)).numpy()


def _save(tensors: Iterator[tuple[str, torch.Tensor]], folder: Path) -> None:
    """Write the tensors to numbered files of about `PART_BYTES`, and the index of them."""
    folder.mkdir(parents=True)
    places: dict[str, str] = {}
    part: dict[str, torch.Tensor] = {}
    total = held = 0

    def write() -> None:
        name = f"model-{len(set(places.values())) + 1:05d}.safetensors"
        save_file(part, folder / name, metadata={"format": "pt"})
        places.update(dict.fromkeys(part, name))
        part.clear()

    for name, tensor in tensors:
        part[name] = tensor
        held += tensor.nbytes
        total += tensor.nbytes
        if held >= PART_BYTES:
            write()
            held = 0
    if part:
        write()
    index = {"metadata": {"total_size": total}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))
