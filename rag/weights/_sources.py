"""Where a model's weights are read from: a hub name, a folder, a GGUF file or an embedded package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from rag.weights._embedded import Progress, is_embedded, locate_weights
from rag.weights._hub import hub_offline


class WeightSource(NamedTuple):
    """A folder or hub name, and the GGUF file inside the folder (empty: weights in the hub's layout)."""

    location: str
    gguf: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether the weights lie in a folder of this machine."""
        return Path(self.location).is_dir()

    @property
    def is_out_of_reach(self) -> bool:
        """Whether the weights are named by a hub that cannot be asked."""
        return not self.is_folder and hub_offline(self.location)

    def __str__(self) -> str:
        return str(Path(self.location) / self.gguf) if self.gguf else self.location


def find_source(name: str, progress: Progress | None = None) -> WeightSource:
    """The source that a model's name stands for; embedded weights are downloaded when they are not here.

    Raises ValueError or OSError in one line for a name that stands for no language model. `progress` gets bytes.
    """
    if is_embedded(name):
        path = locate_weights(name, progress)
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
    source = find_source(name)
    if source.is_out_of_reach and not _is_cached(source.location):
        raise OSError(f"model {name}: not in the local hub cache and the hub cannot be reached; wanted a model at hand")


def weights_name(name: str) -> str:
    """The name that answers are stored under: without `embedded:`, folders and suffix; a hub name is kept whole."""
    if is_embedded(name):
        return name.partition(":")[2]
    path = Path(name).expanduser()
    return path.resolve().name.removesuffix(".gguf") if path.exists() else name


def _is_cached(location: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(location, "config.json"), str)
