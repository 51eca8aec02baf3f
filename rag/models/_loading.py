"""From a model's name to a language model: hub name, folder, GGUF file, embedded weights or your own factory."""

from __future__ import annotations

from typing import cast

from examcore import LanguageModel
from rag.servers._options import ServerOptions, is_server
from rag.servers._server_model import ServerModel
from rag.third_party._objects import PYTHON_PREFIX, has_module_and_name, import_object
from rag.weights._embedded import Progress
from rag.weights._placement import resolve_placement
from rag.weights._sources import check_source, find_source, weights_name


def load_model(
    name: str,
    dtype: str = "auto",
    device: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    server: ServerOptions | None = None,
    chat: bool = True,
) -> LanguageModel:
    """Load a language model.

    `name`: a hub name (`org/model`), a local folder in the hub's layout, a `.gguf` file, `embedded:NAME` (see
    `rag.weights`), `openai:MODEL@BASE_URL` for a model behind an OpenAI-compatible server (`server` says how to ask
    it), or `python:package.module:factory`, a factory called without arguments. `dtype`: `auto` (bfloat16 where the
    processor computes in it, which is 2.4 times as fast for 135M parameters and more for larger models; else float32),
    `float32`, `bfloat16`, `float16`, or with bitsandbytes `int8` or `nf4` (4 bits). `device`: `auto`, `cpu`, `cuda`,
    `mps`, anything torch accepts, or `spread` over several GPUs. Without `chat`, prompts are plain text even if the
    tokenizer has a chat template. `progress` follows a download in bytes. Raises ValueError or OSError with one line
    that says what was tried.
    """
    if name.startswith(PYTHON_PREFIX):
        return _from_factory(name)
    if is_server(name):
        return ServerModel(name, server)
    source = find_source(name, progress)
    from rag.local import load_local_model  # loads torch, which takes seconds

    return load_local_model(source, weights_name(name), resolve_placement(dtype, device), threads, chat)


def check_model(name: str, server: ServerOptions | None = None, dtype: str = "auto", device: str = "auto") -> list[str]:
    """Raise in one line for a model that cannot be loaded this way, without loading it; embedded weights must be here.

    A server must answer and accept the key. Returns warnings.
    """
    if name.startswith(PYTHON_PREFIX):
        _from_factory(name)
        return []
    if is_server(name):
        return ServerModel(name, server).check()
    resolve_placement(dtype, device)
    check_source(name)
    return []


def _from_factory(name: str) -> LanguageModel:
    if not has_module_and_name(name):
        raise ValueError(f"model {name}: wanted python:package.module:factory")
    try:
        factory = import_object(name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"model {name}: {error}; wanted an importable factory") from error
    model = factory()
    lacking = [wanted for wanted in ("name", "generate", "log_likelihoods") if not hasattr(model, wanted)]
    if lacking:
        raise ValueError(f"model {name}: {type(model).__name__} has no {lacking[0]!r}; wanted a LanguageModel")
    return cast(LanguageModel, model)
