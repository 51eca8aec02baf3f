"""From weights to a model in memory: the hub's layout by transformers, GGUF files unpacked once and kept."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from examcore import first_error_line
from rag.local._gguf_unpacking import PART_BYTES, unpack_gguf
from rag.local._local_model import LocalModel, give_memory_back
from rag.weights._embedded import cache_folder, scratch_folder
from rag.weights._int8 import STEPS, to_int8, weight_steps
from rag.weights._placement import QUANTIZED, W8A8, Placement, quantization_method
from rag.weights._sources import WeightSource, hub_offline, quiet_libraries, tokenizer_of, with_working_template


def load_local_model(
    source: WeightSource, name: str, placement: Placement, threads: int | None = None, chat: bool = True
) -> LocalModel:
    """The model read from a source, called `name`, at its placement.

    `threads`: how many torch computes with (None: as it is set); `chat`: use the chat template, if there is one. Raises
    ValueError or OSError in one line.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    with quiet_libraries():
        model, tokenizer = _unpacked(source, placement, chat) if source.gguf else _pretrained(source, placement, chat)
    give_memory_back()
    packed = placement.quantized or quantization_method(model.config)
    settings = {
        "dtype": str(placement.dtype).removeprefix("torch."),
        "device": placement.device.type,
        # Stored with answers: keys that a release added later are left out at their defaults.
        **({"quantized": packed} if packed else {}),
        **({"weight_steps": weight_steps()} if packed == W8A8 and weight_steps() != STEPS else {}),
        **({} if chat else {"chat": False}),
    }
    return LocalModel(model, tokenizer, name=name, settings=settings)


def _pretrained(source: WeightSource, placement: Placement, chat: bool) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoModelForCausalLM

    local = hub_offline(source.location)
    # First what every model has, so that a model that does not exist is not reported as one without tokenizer.
    config = _explained(lambda: AutoConfig.from_pretrained(source.location, local_files_only=local), source)
    packed = quantization_method(config)
    if packed and placement.quantized:
        raise ValueError(f"model {source}: is quantised already ({packed}); wanted dtype auto")
    tokenizer = with_working_template(tokenizer_of(source), source, chat)
    options = placement.options(packed=bool(packed))
    model = _explained(
        lambda: AutoModelForCausalLM.from_pretrained(source.location, local_files_only=local, **options), source
    )
    return model if "device_map" in options else _placed(model, placement), tokenizer


def _placed(model: Any, placement: Placement) -> Any:
    return to_int8(model, placement.dtype) if placement.quantized == W8A8 else model.to(placement.device)


def _unpacked(source: WeightSource, placement: Placement, chat: bool) -> tuple[Any, Any]:
    """A GGUF file unpacked to numbers; the unpacked copy is kept, as unpacking takes 10 to 40 seconds."""
    dtype = placement.options(packed=False)["dtype"]
    copy = cache_folder() / "dense" / _dense_key(source, dtype)
    if not copy.is_dir() and not _unpack_by_parts(copy, source, dtype):
        model, tokenizer = _unpack(source, dtype)
        if not _keep(copy, model, tokenizer):
            if placement.spread or placement.quantized in QUANTIZED:
                raise OSError(f"model {source}: no room to unpack it in {copy.parent}; wanted twice its size")
            return _placed(model, placement), with_working_template(tokenizer, source, chat)
        del model, tokenizer  # the copy needs the memory of the unpacked weights
    # Even the first time the copy is read, so that the first and every later run compute with the same layout.
    return _pretrained(WeightSource(str(copy)), placement, chat)


def _unpack_by_parts(copy: Path, source: WeightSource, dtype: Any) -> bool:
    """Unpack and save tensor by tensor; False where that cannot be done."""
    try:
        with scratch_folder(copy.parent) as folder:
            whole = folder / "whole"
            if not unpack_gguf(Path(source.location) / source.gguf, dtype, whole):
                return False
            tokenizer_of(source).save_pretrained(whole)
            if not copy.exists():
                whole.replace(copy)
    except Exception:  # a new architecture, no room: the usual way tells what is wrong
        return False
    return True


def _dense_key(source: WeightSource, dtype: Any) -> str:
    import transformers

    path = (Path(source.location) / source.gguf).resolve()
    stat = path.stat()
    facts = f"{path}|{stat.st_size}|{stat.st_mtime_ns}|{dtype}|{transformers.__version__}|{PART_BYTES}"
    return f"{path.stem}-{str(dtype).removeprefix('torch.')}-{hashlib.sha256(facts.encode()).hexdigest()[:12]}"


def _unpack(source: WeightSource, dtype: Any) -> tuple[Any, Any]:
    import transformers
    from transformers import AutoModelForCausalLM

    # transformers before 5.20 always unpacks and knows no such option.
    packing = getattr(transformers, "GgufConfig", None)
    options = {"quantization_config": packing(dequantize=True)} if packing else {}
    path = {"pretrained_model_name_or_path": source.location, "gguf_file": source.gguf}
    tokenizer = tokenizer_of(source)
    model = _explained(lambda: AutoModelForCausalLM.from_pretrained(**path, dtype=dtype, **options), source)
    return model, tokenizer


def _keep(copy: Path, model: Any, tokenizer: Any) -> bool:
    """Save the unpacked model in one step; False when the disk has no room for it."""
    size = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    try:
        with scratch_folder(copy.parent) as folder:
            if shutil.disk_usage(folder).free < 2 * size:
                return False
            whole = folder / "whole"
            model.save_pretrained(whole, max_shard_size=PART_BYTES)
            tokenizer.save_pretrained(whole)
            if not copy.exists():
                whole.replace(copy)
    except OSError:
        return False
    return True


def _explained(load: Callable[[], Any], source: WeightSource) -> Any:
    """What `load` returns; OSError in one line when it fails."""
    try:
        return load()
    except Exception as error:  # whatever the libraries below raise, the user reads one line
        absent = "is not in the local hub cache, and the hub is out of reach"
        where = absent if source.is_out_of_reach else "cannot be loaded"
        raise OSError(f"model {source}: {where}: {first_error_line(error)}") from error
