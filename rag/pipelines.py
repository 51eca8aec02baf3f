"""Pipelines, and the grid of language models, retrievers and shots that spans them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from exam_gen.records import Chunk
from rag.retrievers import (
    BOUNDS,
    KINDS,
    PRESETS,
    Parts,
    Retriever,
    build_retriever,
    check_kind,
    encoders_of,
    is_foreign,
    parts_of,
)
from rag.servers.options import ServerOptions, address, is_server, options_of
from rag.weights import PREFIX

FACETS = ("llm", "retriever", "icl")
"""The facet columns of every table of responses, in order."""

FACTORS = ("passages", "budget")
"""Further facet columns, of grids that cross the number of passages or their length."""
_MARKS = {"passages": "k", "budget": "b"}


@dataclass(frozen=True)
class Pipeline:
    """One examinee: a language model, a retriever (both by their names in the grid) and a number of shots.

    `passages` (how many it reads) and `budget` (their characters) are None where the grid does not cross them; then the
    settings of the sitting say.
    """

    llm: str
    retriever: str
    shots: int = 0
    passages: int | None = None
    budget: int | None = None

    @property
    def id(self) -> str:
        """The name its answers are stored under, such as `smollm2-135m+bm25+icl2`, with `+k3`, `+b2000` if crossed."""
        return "+".join([self.llm, self.retriever, f"icl{self.shots}", *self._marks])

    @property
    def reading(self) -> str:
        """What decides the passages it reads: `bm25`, or `bm25-k3-b2000`."""
        return "-".join([self.retriever, *self._marks])

    @property
    def factors(self) -> dict[str, int]:
        """Its level in each further factor."""
        levels = {"passages": self.passages, "budget": self.budget}
        return {name: level for name, level in levels.items() if level is not None}

    @property
    def facets(self) -> dict[str, str]:
        """Its level in each facet."""
        named = {"llm": self.llm, "retriever": self.retriever, "icl": str(self.shots)}
        return named | {name: str(level) for name, level in self.factors.items()}

    @property
    def _marks(self) -> list[str]:
        return [f"{_MARKS[name]}{level}" for name, level in self.factors.items()]


@dataclass(frozen=True)
class LlmSpec:
    """A language model of the grid: the name it goes by, and what `rag.loading.load_model` takes."""

    name: str
    model: str
    dtype: str = "auto"
    device: str = "auto"
    server: ServerOptions | None = None

    @property
    def identity(self) -> dict[str, str]:
        """What is stored with its answers: how a server is asked leaves them as they are."""
        return {"name": self.name, "model": self.model, "dtype": self.dtype, "device": self.device}


@dataclass(frozen=True)
class RetrieverSpec:
    """A retriever of the grid: the name it goes by, and what `rag.retrievers.build_retriever` takes."""

    name: str
    kind: str
    encoder: str = ""
    reranker: str = ""
    query_encoder: str = ""
    depth: int = 0
    server: ServerOptions | None = None

    @property
    def identity(self) -> dict[str, object]:
        """What is stored with its answers; how a server is asked leaves them as they are."""
        # A preset is stored with what it stood for; other kinds as they were given, so that answers of an earlier
        # release go on, which is also why later settings are left out at their defaults.
        parts = self.parts if self.kind in PRESETS else self
        later = {"query_encoder": parts.query_encoder, "depth": parts.depth}
        return {
            "name": self.name,
            "kind": self.kind,
            "encoder": parts.encoder,
            "reranker": parts.reranker,
            **{key: value for key, value in later.items() if value},
        }

    @property
    def parts(self) -> Parts:
        """What it is made of, its kind's own parts included."""
        return parts_of(self.kind, self.encoder, self.query_encoder, self.reranker, self.depth)

    @property
    def encoders(self) -> list[str]:
        """The encoders it loads."""
        return encoders_of(self.parts)

    def build(self, chunks: Sequence[Chunk]) -> Retriever:
        """The retriever over chunks; see `build_retriever`."""
        return build_retriever(
            self.kind,
            chunks,
            name=self.name,
            encoder=self.encoder,
            query_encoder=self.query_encoder,
            reranker=self.reranker,
            depth=self.depth,
            server=self.server,
        )


@dataclass(frozen=True)
class Grid:
    """All combinations of language models, retrievers, numbers of shots, and of passages and budgets if crossed."""

    llms: tuple[LlmSpec, ...]
    retrievers: tuple[RetrieverSpec, ...]
    shots: tuple[int, ...] = (0,)
    passages: tuple[int, ...] = ()
    budget: tuple[int, ...] = ()

    @property
    def pipelines(self) -> tuple[Pipeline, ...]:
        """Every pipeline, language models outermost, then retrievers, shots, passages, budgets.

        What closed book and oracle read does not depend on number and length of passages: they stand once, at the
        first of each, lest they be counted as several examinees that always agree.
        """
        return tuple(
            Pipeline(model.name, retriever.name, shots, passages, budget)
            for model in self.llms
            for retriever in self.retrievers
            for shots in self.shots
            for passages in _levels(self.passages, retriever)
            for budget in _levels(self.budget, retriever)
        )


def _levels(values: tuple[int, ...], retriever: RetrieverSpec) -> Sequence[int | None]:
    return values[:1] or (None,) if retriever.kind in BOUNDS else values or (None,)


def read_grid(path: Path) -> Grid:
    """Read a grid from YAML; raises ValueError naming file and key."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file; wanted a grid of pipelines") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise ValueError(f"{path}:{mark.line + 1 if mark else 1}: is not YAML; wanted a grid of pipelines") from None
    return grid_of(data, str(path))


def grid_of(data: Any, source: str = "grid") -> Grid:
    """A grid from `{llms: [...], retrievers: [...], shots: [...], passages: [...], budget: [...]}`.

    A language model is a name for `load_model` or `{name, model, dtype, device, server}`; a retriever is a kind or
    `{name, kind, encoder, query_encoder, reranker, depth, server}`; shots are whole numbers,
    and so are passages and budget (characters), which may be left out. Raises ValueError naming `source` and the key.
    """
    keys = ("llms", "retrievers", "shots", *FACTORS)
    if not isinstance(data, Mapping):
        raise ValueError(f"{source}: {type(data).__name__}; wanted a mapping of {', '.join(keys)}")
    for key in data:
        if key not in keys:
            raise ValueError(f"{source}: unknown key {key!r}; wanted {', '.join(keys)}")
    llms = tuple(_llm(entry, f"{source}: llms[{n}]") for n, entry in enumerate(_list(data, "llms", source)))
    retrievers = tuple(
        _retriever(entry, f"{source}: retrievers[{n}]") for n, entry in enumerate(_list(data, "retrievers", source))
    )
    shots = _numbers(data.get("shots", [0]), f"{source}: shots", least=0)
    passages, budget = (_numbers(data[one], f"{source}: {one}") if data.get(one) else () for one in FACTORS)
    for key, names in (("llms", [one.name for one in llms]), ("retrievers", [one.name for one in retrievers])):
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{source}: {key}: name {name!r} stands twice; wanted distinct names")
    return Grid(llms, retrievers, shots, passages, budget)


def short_name(model: str) -> str:
    """The name a model goes by when the grid gives none: without `embedded:`, organisation, folders and suffix."""
    if model.startswith("python:"):
        return model.rpartition(":")[2]
    if is_server(model):
        model = address(model, ServerOptions()).model
    return model.removeprefix(PREFIX).rstrip("/").rpartition("/")[2].removesuffix(".gguf")


def _list(data: Mapping[str, Any], key: str, source: str) -> Sequence[Any]:
    value = data.get(key)
    if not isinstance(value, list) or not value:
        raise ValueError(f"{source}: {key}: {value!r}; wanted a list with at least one entry")
    return value


def _llm(entry: Any, where: str) -> LlmSpec:
    given = entry.get("server") if isinstance(entry, Mapping) else None
    named = {key: value for key, value in entry.items() if key != "server"} if given is not None else entry
    fields = _fields(named, "model", ("name", "model", "dtype", "device", "server"), where)
    model = fields.pop("model")
    server = None if given is None else options_of(given, f"{where}: server")
    return LlmSpec(_name(fields.pop("name", short_name(model)), where), model, **fields, server=server)


def _retriever(entry: Any, where: str) -> RetrieverSpec:
    known = ("name", "kind", "encoder", "reranker", "query_encoder", "depth", "server")
    given = dict(entry) if isinstance(entry, Mapping) else {}
    server, depth = given.pop("server", None), given.pop("depth", 0)
    fields = _fields(given if isinstance(entry, Mapping) else entry, "kind", known, where)
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
        raise ValueError(f"{where}: depth: {depth!r}; wanted a whole number from 1")
    kind = fields.pop("kind")
    if kind not in KINDS and not is_foreign(kind):
        wanted = f"{', '.join(KINDS)}, python:package.module:name or an http address"
        raise ValueError(f"{where}: unknown retriever {kind!r}; wanted one of {wanted}")
    options = None if server is None else options_of(server, f"{where}: server")
    spec = RetrieverSpec(
        _name(fields.pop("name", _retriever_name(kind)), where), kind, depth=depth, server=options, **fields
    )
    try:
        check_kind(kind, spec.parts, options)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return spec


def _retriever_name(kind: str) -> str:
    """The name a retriever goes by when the grid gives none: its kind, what is imported, or who answers."""
    if kind in KINDS:
        return kind
    return kind.rpartition(":")[2] if kind.startswith("python:") else urlsplit(kind).netloc


def _fields(entry: Any, main: str, known: Sequence[str], where: str) -> dict[str, str]:
    fields = {main: entry} if isinstance(entry, str) else entry
    if not isinstance(fields, Mapping):
        raise ValueError(f"{where}: {entry!r}; wanted a name or a mapping of {', '.join(known)}")
    for key, value in fields.items():
        if key not in known:
            raise ValueError(f"{where}: unknown key {key!r}; wanted {', '.join(known)}")
        if not isinstance(value, str) or not value:
            raise ValueError(f"{where}: {key}: {value!r}; wanted text")
    if main not in fields:
        raise ValueError(f"{where}: no {main!r}; wanted {', '.join(known)}")
    return dict(fields)


def _name(name: str, where: str) -> str:
    # The plus sign joins the parts of a pipeline's id; commas and blanks would make its CSV hard to read.
    if not re.fullmatch(r"[^\s+,\"']+", name):
        raise ValueError(f"{where}: name {name!r}; wanted text without blanks, commas, quotes or '+'")
    return name


def _numbers(value: Any, where: str, least: int = 1) -> tuple[int, ...]:
    values = value if isinstance(value, list) else [value]
    if not values or any(isinstance(one, bool) or not isinstance(one, int) or one < least for one in values):
        raise ValueError(f"{where}: {value!r}; wanted whole numbers from {least}")
    if len(set(values)) < len(values):
        raise ValueError(f"{where}: {value!r}; wanted distinct numbers")
    return tuple(values)
