"""Tokenizers: loaded in one line of error, with a chat template that is known to work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from examcore import first_error_line
from rag.weights._hub import hub_offline, quiet_libraries
from rag.weights._sources import WeightSource, find_source

TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
"""A folder in the hub's layout holds one of these for its tokenizer."""
MAX_LISTED_FILES = 12
"""A message names at most this many files of a folder."""


def load_tokenizer(name: str) -> Any:
    """The tokenizer of a model in a folder or on the hub; raises ValueError or OSError in one line."""
    from transformers import AutoTokenizer

    source = find_source(name)
    options = {"gguf_file": source.gguf} if source.gguf else {"local_files_only": hub_offline(source.location)}
    with quiet_libraries():
        tokenizer = checked_tokenizer(lambda: AutoTokenizer.from_pretrained(source.location, **options), source)
    return with_working_template(tokenizer, source)


def checked_tokenizer(load: Callable[[], Any], source: WeightSource) -> Any:
    """What `load` returns; ValueError in one line when it fails or returns a tokenizer without a vocabulary."""
    try:
        tokenizer = load()
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
        turn = [{"role": "user", "content": "?"}]
        try:
            tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # a template is a program of its own and raises what it likes
            wanted = "wanted one for a turn, or plain prompts (chat: false in the grid)"
            raise ValueError(f"model {source}: its chat template fails: {first_error_line(error)}; {wanted}") from error
    return tokenizer


def _failure(source: WeightSource, error: Exception) -> str:
    """Why there is no tokenizer, judged by the files beside the weights: the libraries' own messages say little."""
    files = sorted(one.name for one in Path(source.location).glob("*") if one.is_file())
    wanted = f"wanted {' or '.join(TOKENIZER_FILES)} beside the weights"
    if files and not source.gguf and not set(TOKENIZER_FILES) & set(files):
        return f"no tokenizer; the folder holds {', '.join(files[:MAX_LISTED_FILES])}; {wanted}"
    reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return f"no tokenizer could be read ({reason}); {wanted}"
