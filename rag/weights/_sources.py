"""Where weights and tokenizers are read from: a hub name, a folder, a GGUF file or an embedded package."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from examcore import first_error_line
from rag.weights._embedded import is_embedded, locate_weights


def hub_offline(place: str) -> bool:
    """Whether to use local files only: HF_HUB_OFFLINE is set, it is a folder, or no hub answers within five seconds."""
    if Path(place).is_dir() or os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        return True
    endpoint = urllib.parse.urlparse(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    host = endpoint.hostname or "huggingface.co"
    if urllib.request.getproxies().get(endpoint.scheme):
        return False
    return not _answers(host, endpoint.port or (443 if endpoint.scheme == "https" else 80))


@functools.cache
def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


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


class WeightSource(NamedTuple):
    """A folder or hub name, and the GGUF file inside the folder (empty: weights in the hub's layout)."""

    location: str
    gguf: str = ""

    @property
    def is_out_of_reach(self) -> bool:
        """Whether the weights are named by a hub that cannot be asked."""
        return not Path(self.location).is_dir() and hub_offline(self.location)

    @property
    def packed_bytes(self) -> int:
        """The size of the GGUF file; 0 without one."""
        return (Path(self.location) / self.gguf).stat().st_size if self.gguf else 0

    def __str__(self) -> str:
        return str(Path(self.location) / self.gguf) if self.gguf else self.location


def find_source(name: str) -> WeightSource:
    """The source that a model's name stands for; embedded weights are downloaded when they are not here.

    Raises ValueError or OSError in one line for a name that stands for no language model.
    """
    if is_embedded(name):
        path = locate_weights(name)
        if path.suffix != ".gguf":
            raise ValueError(f"model {name}: is an encoder; wanted a language model")
        return WeightSource(str(path.parent), path.name)
    path = Path(name).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise FileNotFoundError(f"model {name}: no such GGUF file")
        return WeightSource(str(path.resolve().parent), path.resolve().name)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise FileNotFoundError(
                f"model {name}: the folder holds no config.json; wanted a model in the hub's layout"
            )
        return WeightSource(str(path))
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        raise FileNotFoundError(
            f"model {name}: no such folder; wanted a folder, a .gguf file, a hub name or embedded:NAME"
        )
    return WeightSource(name)


def check_source(name: str) -> None:
    """Raise in one line for weights that are not on this machine while the hub cannot be reached."""
    from huggingface_hub import try_to_load_from_cache

    source = find_source(name)
    cached = isinstance(try_to_load_from_cache(source.location, "config.json"), str) if source.is_out_of_reach else True
    if not cached:
        raise OSError(f"model {name}: not in the local hub cache and the hub cannot be reached; wanted a model at hand")


def weights_name(name: str) -> str:
    """The name that answers are stored under: without `embedded:`, folders and suffix; a hub name is kept whole."""
    if is_embedded(name):
        return name.partition(":")[2]
    path = Path(name).expanduser()
    return path.resolve().name.removesuffix(".gguf") if path.exists() else name


TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
"""A folder in the hub's layout holds one of these for its tokenizer."""
MAX_LISTED_FILES = 12
"""A message names at most this many files of a folder."""


def load_tokenizer(name: str) -> Any:
    """The tokenizer of a model in a folder or on the hub; raises ValueError or OSError in one line."""
    source = find_source(name)
    with quiet_libraries():
        tokenizer = tokenizer_of(source)
    return with_working_template(tokenizer, source)


def tokenizer_of(source: WeightSource) -> Any:
    """The tokenizer beside some weights; ValueError in one line when there is none, or one without a vocabulary."""
    from transformers import AutoTokenizer

    options = {"gguf_file": source.gguf} if source.gguf else {"local_files_only": hub_offline(source.location)}
    try:
        tokenizer = AutoTokenizer.from_pretrained(source.location, **options)
    except Exception as error:  # each tokenizer class fails in its own way; the user reads one line
        raise ValueError(f"model {source}: {_failure(source, error)}") from error
    if tokenizer is None or not tokenizer.get_vocab():
        raise ValueError(f"model {source}: no tokenizer found; wanted tokenizer files beside the weights")
    return tokenizer


def with_working_template(tokenizer: Any, source: WeightSource, chat: bool = True) -> Any:
    """The tokenizer, its chat template tried on one turn, or removed without `chat`; ValueError when it fails."""
    if not chat:
        tokenizer.chat_template = None
    elif tokenizer.chat_template:
        try:
            chat_text(tokenizer, [{"role": "user", "content": "?"}])
        except Exception as error:  # a template is a program of its own and raises what it likes
            wanted = "wanted one for a turn, or plain prompts (chat: false in the grid)"
            raise ValueError(f"model {source}: its chat template fails: {first_error_line(error)}; {wanted}") from error
    return tokenizer


def chat_text(tokenizer: Any, messages: list[dict[str, str]]) -> str:
    """The messages by the tokenizer's chat template, up to where the reply begins; without thoughts before it."""
    return str(
        tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, enable_thinking=False)
    )


def _failure(source: WeightSource, error: Exception) -> str:
    """Why there is no tokenizer, judged by the files beside the weights: the libraries' own messages say little."""
    files = sorted(one.name for one in Path(source.location).glob("*") if one.is_file())
    wanted = f"wanted {' or '.join(TOKENIZER_FILES)} beside the weights"
    if files and not source.gguf and not set(TOKENIZER_FILES) & set(files):
        return f"no tokenizer; the folder holds {', '.join(files[:MAX_LISTED_FILES])}; {wanted}"
    reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return f"no tokenizer could be read ({reason}); {wanted}"
