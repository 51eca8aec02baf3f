"""From a model's name to a language model: hub name, folder, GGUF file, embedded weights or your own factory."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from examcore import LanguageModel
from rag._embedded_weights import Progress, cache_folder, is_embedded, locate_weights
from rag._placement import Placement, placement, quantization
from rag._scratch_folder import scratch
from rag._third_party_objects import PYTHON, imported, is_whole
from rag.servers._options import ServerOptions, is_server

if TYPE_CHECKING:
    from rag._local_model import LocalModel


TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
"""Files of which a folder in the hub's layout holds one for its tokenizer."""
MOST_FILES = 12
"""So many files of a folder are named in a message."""


class Source(NamedTuple):
    """Where weights are read from: a folder or hub name, and a GGUF file inside it or none."""

    place: str
    gguf: str = ""


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

    `name` is a hub name (`org/model`), a local folder in the hub's layout, a `.gguf` file, `embedded:NAME` (see
    `rag._embedded_weights`), `openai:MODEL@BASE_URL` for a model behind an OpenAI-compatible server, asked as `server`
    says, or
    `python:package.module:factory`, where the factory is called without arguments. `dtype` is
    `auto` (bfloat16 where the processor computes in it: 2.4 times as fast for 135M parameters, more for larger models;
    else float32), `float32`, `bfloat16`, `float16`, or with bitsandbytes `int8` or `nf4` (4 bits); `device` is `auto`,
    `cpu`, `cuda`, `mps`, what torch accepts, or `spread` over several GPUs. Without `chat`, prompts are plain text
    whether or not the tokenizer has a chat template. `progress` follows a download in bytes. Raises ValueError or
    OSError with one line saying what was tried.
    """
    if name.startswith(PYTHON):
        return _from_factory(name)
    if is_server(name):
        from rag.servers._model import ServerModel

        return ServerModel(name, server)
    source = _source(name, progress)
    return _load_local(_short_name(name), source, placement(dtype, device), threads, chat)


def _from_factory(name: str) -> LanguageModel:
    if not is_whole(name):
        raise ValueError(f"model {name}: wanted python:package.module:factory")
    try:
        factory = imported(name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"model {name}: {error}; wanted an importable factory") from error
    model = factory()
    lacking = [wanted for wanted in ("name", "generate", "log_likelihoods") if not hasattr(model, wanted)]
    if lacking:
        raise ValueError(f"model {name}: {type(model).__name__} has no {lacking[0]!r}; wanted a LanguageModel")
    return cast(LanguageModel, model)


def _source(name: str, progress: Progress | None) -> Source:
    if is_embedded(name):
        path = locate_weights(name, progress)
        if path.suffix != ".gguf":
            raise ValueError(f"model {name}: is an encoder; wanted a language model")
        return Source(str(path.parent), path.name)
    path = Path(name).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise FileNotFoundError(f"model {name}: no such GGUF file")
        return Source(str(path.resolve().parent), path.resolve().name)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise FileNotFoundError(
                f"model {name}: the folder holds no config.json; wanted a model in the hub's layout"
            )
        return Source(str(path))
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        raise FileNotFoundError(
            f"model {name}: no such folder; wanted a folder, a .gguf file, a hub name or embedded:NAME"
        )
    return Source(name)


def load_tokenizer(name: str) -> Any:
    """The tokenizer of a model in a folder or on the hub; raises ValueError or OSError in one line."""
    from transformers import AutoTokenizer

    source = _source(name, None)
    options = {"gguf_file": source.gguf} if source.gguf else {"local_files_only": hub_offline(source.place)}
    with quiet_libraries():
        return _templated(_tokenizer(lambda: AutoTokenizer.from_pretrained(source.place, **options), source), source)


def check_model(name: str, server: ServerOptions | None = None, dtype: str = "auto", device: str = "auto") -> list[str]:
    """Raise in one line for a model that cannot be loaded so, without loading it; embedded weights must be here.

    A server is asked whether it is there and takes the key. Returns remarks that do not stop anything.
    """
    if name.startswith(PYTHON):
        _from_factory(name)
        return []
    if is_server(name):
        from rag.servers._model import ServerModel

        return ServerModel(name, server).check()
    placement(dtype, device)
    source = _source(name, None)
    if not Path(source.place).is_dir() and hub_offline(source.place) and not _cached(source.place):
        raise OSError(f"model {name}: not in the local hub cache and the hub cannot be reached; wanted a model at hand")
    return []


def _cached(place: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(place, "config.json"), str)


def _short_name(name: str) -> str:
    if is_embedded(name):
        return name.partition(":")[2]
    path = Path(name).expanduser()
    return path.resolve().name.removesuffix(".gguf") if path.exists() else name


def _load_local(name: str, source: Source, place: Placement, threads: int | None, chat: bool) -> LocalModel:
    import torch

    from rag._local_model import LocalModel

    if threads is not None:
        torch.set_num_threads(threads)
    with quiet_libraries():
        model, tokenizer = _dense(source, place, chat) if source.gguf else _pretrained(source, place, chat)
    packed = place.quantized or quantization(model.config)
    settings = {
        "dtype": str(place.number).removeprefix("torch."),
        "device": place.device.type,
        # Left out where there is nothing to say, as in an earlier release.
        **({"quantized": packed} if packed else {}),
        **({} if chat else {"chat": False}),
    }
    return LocalModel(model, tokenizer, name=name, settings=settings)


def _pretrained(source: Source, place: Placement, chat: bool) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    local = hub_offline(source.place)
    # First what every model has, so that a model that does not exist is not reported as one without tokenizer.
    config = _explained(lambda: AutoConfig.from_pretrained(source.place, local_files_only=local), source)
    packed = quantization(config)
    if packed and place.quantized:
        raise ValueError(f"model {_shown(source)}: is quantised already ({packed}); wanted dtype auto")
    tokenizer = _tokenizer(lambda: AutoTokenizer.from_pretrained(source.place, local_files_only=local), source)
    tokenizer = _templated(tokenizer, source, chat)
    options = place.options(packed=bool(packed))
    model = _explained(
        lambda: AutoModelForCausalLM.from_pretrained(source.place, local_files_only=local, **options), source
    )
    return model if "device_map" in options else model.to(place.device), tokenizer


def _dense(source: Source, place: Placement, chat: bool) -> tuple[Any, Any]:
    """A GGUF file unpacked to numbers; the unpacked copy is kept, as unpacking takes 10 to 40 seconds."""
    copy = cache_folder() / "dense" / _dense_key(source, place.number)
    if not copy.is_dir() and (unkept := _unpack_into(copy, source, place.number)) is not None:
        model, tokenizer = unkept
        if place.spread or place.quantized:
            raise OSError(f"model {_shown(source)}: no room to unpack it in {copy.parent}; wanted twice its size")
        return model.to(place.device), _templated(tokenizer, source, chat)
    # Even the first time the copy is read, so that the first and every later run compute with the same layout.
    return _pretrained(Source(str(copy)), place, chat)


def _unpack_into(copy: Path, source: Source, dtype: Any) -> tuple[Any, Any] | None:
    """Unpack and save; what could not be saved is returned instead. Nothing else holds on to the unpacked weights."""
    model, tokenizer = _unpack(source, dtype)
    return None if _keep(copy, model, tokenizer) else (model, tokenizer)


def _dense_key(source: Source, dtype: Any) -> str:
    import transformers

    path = (Path(source.place) / source.gguf).resolve()
    stat = path.stat()
    facts = f"{path}|{stat.st_size}|{stat.st_mtime_ns}|{dtype}|{transformers.__version__}"
    return f"{path.stem}-{str(dtype).removeprefix('torch.')}-{hashlib.sha256(facts.encode()).hexdigest()[:12]}"


def _unpack(source: Source, dtype: Any) -> tuple[Any, Any]:
    import transformers
    from transformers import AutoModelForCausalLM, AutoTokenizer

    # transformers before 5.20 always unpacks and knows no such option.
    packing = getattr(transformers, "GgufConfig", None)
    options = {"quantization_config": packing(dequantize=True)} if packing else {}
    path = {"pretrained_model_name_or_path": source.place, "gguf_file": source.gguf}
    tokenizer = _tokenizer(lambda: AutoTokenizer.from_pretrained(**path), source)
    model = _explained(lambda: AutoModelForCausalLM.from_pretrained(**path, dtype=dtype, **options), source)
    return model, tokenizer


def _keep(copy: Path, model: Any, tokenizer: Any) -> bool:
    """Save the unpacked model in one step; False when the disk has no room for it."""
    size = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(copy.parent).free < 2 * size:
            return False
        with scratch(copy.parent) as folder:
            whole = folder / "whole"
            model.save_pretrained(whole)
            tokenizer.save_pretrained(whole)
            if not copy.exists():
                whole.replace(copy)
    except OSError:
        return False
    return True


def _tokenizer(load: Any, source: Source) -> Any:
    try:
        tokenizer = load()
    except Exception as error:  # as above: each tokenizer class fails in its own way
        raise ValueError(f"model {_shown(source)}: {_unread_tokenizer(source, error)}") from error
    if tokenizer is None or not tokenizer.get_vocab():
        raise ValueError(f"model {_shown(source)}: no tokenizer found; wanted tokenizer files beside the weights")
    return tokenizer


def _unread_tokenizer(source: Source, error: Exception) -> str:
    """Why there is no tokenizer, from what its folder holds: the libraries' words alone tell little."""
    held = sorted(one.name for one in Path(source.place).glob("*") if one.is_file())
    wanted = f"wanted {' or '.join(TOKENIZERS)} beside the weights"
    if held and not source.gguf and not set(TOKENIZERS) & set(held):
        return f"no tokenizer; the folder holds {', '.join(held[:MOST_FILES])}; {wanted}"
    reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return f"no tokenizer could be read ({reason}); {wanted}"


def _templated(tokenizer: Any, source: Source, chat: bool = True) -> Any:
    """The tokenizer with a chat template that was tried, if it has one, or without any."""
    if not chat:
        tokenizer.chat_template = None
    elif tokenizer.chat_template:
        turn = [{"role": "user", "content": "?"}]
        try:
            tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # as above: a template is a program of its own
            wanted = "wanted one for a turn, or plain prompts (chat: false in the grid)"
            raise ValueError(
                f"model {_shown(source)}: its chat template fails: {first_line(error)}; {wanted}"
            ) from error
    return tokenizer


def _explained(load: Any, source: Source) -> Any:
    try:
        return load()
    except Exception as error:  # whatever the libraries below raise, the user reads one line
        unreachable = not Path(source.place).is_dir() and hub_offline(source.place)
        where = "is not in the local hub cache, and the hub is out of reach" if unreachable else "cannot be loaded"
        raise OSError(f"model {_shown(source)}: {where}: {first_line(error)}") from error


def _shown(source: Source) -> str:
    return str(Path(source.place) / source.gguf) if source.gguf else source.place


def first_line(error: BaseException) -> str:
    """What an error says first, or its type where it says nothing."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


_reachable: dict[str, bool] = {}


def hub_offline(place: str) -> bool:
    """Whether to look at local files only: told so, a folder, or no hub within five seconds."""
    if Path(place).is_dir() or os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        return True
    endpoint = urllib.parse.urlparse(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    host = endpoint.hostname or "huggingface.co"
    if urllib.request.getproxies().get(endpoint.scheme):
        return False
    if host not in _reachable:
        port = endpoint.port or (443 if endpoint.scheme == "https" else 80)
        try:
            socket.create_connection((host, port), timeout=5).close()
            _reachable[host] = True
        except OSError:
            _reachable[host] = False
    return not _reachable[host]


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keep transformers' loading bars and notices off standard error."""
    from transformers.utils import logging

    # One bar of transformers' GGUF reader is plain tqdm and heeds no setting: its stream is taken away.
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
