"""Pipelines, and the grid of language models, retrievers and shots that spans them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from examcore import Chunk, LanguageModel
from rag.grid._black_box_spec import BlackBoxSpec, black_box_of
from rag.grid._checks import level, numbers, some, texts
from rag.grid._pipeline import FACTORS, OWN_FACETS, Pipeline
from rag.models._loading import load_model
from rag.retrieval._kinds import (
    BOUNDS,
    KINDS,
    PRESETS,
    RetrieverParts,
    build_retriever,
    check_kind,
    encoders_of,
    is_third_party,
    parts_of,
)
from rag.retrieval._protocol import Retriever
from rag.servers._options import ServerOptions, is_server, options_of, parse_address
from rag.third_party._objects import PYTHON_PREFIX, default_name
from rag.weights._embedded import PREFIX

Spec = TypeVar("Spec")


ANSWERS = ("likelihood", "letters")
"""How a language model's answers come about: see `rag.answering._examinees.Scorer` and `rag.answering._letters`."""


@dataclass(frozen=True)
class LlmSpec:
    """A language model of the grid: the name it goes by, what `load_model` takes, and how it answers."""

    name: str
    model: str
    dtype: str = "auto"
    device: str = "auto"
    answers: str = "likelihood"
    server: ServerOptions | None = None
    chat: bool = True

    @property
    def identity(self) -> dict[str, object]:
        """What is stored with its answers: how a server is asked leaves them as they are."""
        usual = {"name": self.name, "model": self.model, "dtype": self.dtype, "device": self.device}
        # Left out where it is as it was before it could be said, so that answers of an earlier release go on.
        later = {"answers": (self.answers, "likelihood"), "chat": (self.chat, True)}
        return {**usual, **{name: now for name, (now, unsaid) in later.items() if now != unsaid}}

    def load(self) -> LanguageModel:
        """The language model; see `load_model`."""
        return load_model(self.model, self.dtype, self.device, server=self.server, chat=self.chat)


@dataclass(frozen=True)
class RetrieverSpec:
    """A retriever of the grid: the name it goes by, and what `rag.retrieval._kinds.build_retriever` takes."""

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
    def parts(self) -> RetrieverParts:
        """What it is made of, its kind's own parts included."""
        return parts_of(self.kind, self.encoder, self.query_encoder, self.reranker, self.depth)

    @property
    def encoders(self) -> list[str]:
        """The encoders it loads."""
        return encoders_of(self.parts)

    def build(self, chunks: Sequence[Chunk], index: Any = None) -> Retriever:
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
            index=index,
        )


@dataclass(frozen=True)
class Grid:
    """All combinations of language models, retrievers, numbers of shots, and of passages and budgets if crossed.

    Black boxes stand beside them, each a pipeline of its own.
    """

    llms: tuple[LlmSpec, ...]
    retrievers: tuple[RetrieverSpec, ...]
    shots: tuple[int, ...] = (0,)
    passages: tuple[int, ...] = ()
    budget: tuple[int, ...] = ()
    black_boxes: tuple[BlackBoxSpec, ...] = ()

    @property
    def examinees(self) -> list[LlmSpec | BlackBoxSpec]:
        """All who answer: language models, then black boxes."""
        return [*self.llms, *self.black_boxes]

    @property
    def modes(self) -> dict[str, str]:
        """How each examinee answers: by `likelihood`, by `letters`, or as an `endpoint` does."""
        return {one.name: one.answers for one in self.llms} | {one.name: "endpoint" for one in self.black_boxes}

    @property
    def pipelines(self) -> tuple[Pipeline, ...]:
        """Every pipeline, language models outermost, then retrievers, shots, passages, budgets; black boxes last.

        What closed book, oracle and black boxes read does not depend on number and length of passages: they stand once,
        at the first of each, lest they be counted as several examinees that always agree.
        """
        crossed = tuple(
            Pipeline(model.name, retriever.name, shots, passages, budget)
            for model in self.llms
            for retriever in self.retrievers
            for shots in self.shots
            for passages in _levels(self.passages, retriever)
            for budget in _levels(self.budget, retriever)
        )
        first = [values[0] if values else None for values in (self.passages, self.budget)]
        return (*crossed, *(Pipeline(one.name, OWN_FACETS, 0, *first) for one in self.black_boxes))

    @property
    def measured(self) -> tuple[Pipeline, ...]:
        """The pipelines whose components can be told apart: black boxes only where they stand alone."""
        return tuple(one for one in self.pipelines if one.retriever != OWN_FACETS) or self.pipelines


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
    """A grid from `{llms: [...], retrievers: [...], shots: [...], passages: [...], budget: [...], black_boxes: [...]}`.

    A language model is a name for `load_model` or `{name, model, dtype, device, chat, answers, server}`; a retriever
    is a kind or `{name, kind, encoder, query_encoder, reranker, depth, server}`; shots are whole numbers, and so are
    passages and budget (characters), which may be left out. A black box is an address, `python:package.module:name` or
    `{name, system, choices, server}`; a grid of black boxes alone needs no llms and retrievers. Raises ValueError
    naming `source` and the key.
    """
    keys = ("llms", "retrievers", "shots", *FACTORS, "black_boxes")
    if not isinstance(data, Mapping):
        raise ValueError(f"{source}: {type(data).__name__}; wanted a mapping of {', '.join(keys)}")
    for key in data:
        if key not in keys:
            raise ValueError(f"{source}: unknown key {key!r}; wanted {', '.join(keys)}")
    boxes = _each(data, "black_boxes", source, black_box_of) if data.get("black_boxes") else ()
    alone = bool(boxes) and not data.get("llms") and not data.get("retrievers")
    llms = () if alone else _each(data, "llms", source, _llm)
    retrievers = () if alone else _each(data, "retrievers", source, _retriever)
    shots = numbers(data.get("shots", [0]), f"{source}: shots", least=0)
    passages, budget = (numbers(data[one], f"{source}: {one}") if data.get(one) else () for one in FACTORS)
    _distinct([*(one.name for one in llms), *(one.name for one in boxes)], f"{source}: llms")
    _distinct([*(one.name for one in retrievers), *([OWN_FACETS] if boxes else [])], f"{source}: retrievers")
    return Grid(llms, retrievers, shots, passages, budget, boxes)


def _each(data: Mapping[str, Any], key: str, source: str, read: Callable[[Any, str], Spec]) -> tuple[Spec, ...]:
    return tuple(read(entry, f"{source}: {key}[{n}]") for n, entry in enumerate(some(data, key, source)))


def _distinct(names: Sequence[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{where}: name {name!r} stands twice; wanted distinct names")


def short_name(model: str) -> str:
    """The name a model goes by when the grid gives none: without `embedded:`, organisation, folders and suffix."""
    if model.startswith(PYTHON_PREFIX):
        return default_name(model)
    if is_server(model):
        model = parse_address(model, ServerOptions()).model
    return model.removeprefix(PREFIX).rstrip("/").rpartition("/")[2].removesuffix(".gguf")


def _llm(entry: Any, where: str) -> LlmSpec:
    given = dict(entry) if isinstance(entry, Mapping) else {}
    server, chat = given.pop("server", None), given.pop("chat", True)
    known = ("name", "model", "dtype", "device", "chat", "answers", "server")
    fields = texts(given if isinstance(entry, Mapping) else entry, "model", known, where)
    model = fields.pop("model")
    if fields.get("answers", ANSWERS[0]) not in ANSWERS:
        raise ValueError(f"{where}: answers: {fields['answers']!r}; wanted {' or '.join(ANSWERS)}")
    if not isinstance(chat, bool):
        raise ValueError(f"{where}: chat: {chat!r}; wanted true or false")
    if not chat and (is_server(model) or model.startswith(PYTHON_PREFIX)):
        raise ValueError(f"{where}: chat: false is for models on this machine; wanted server: {{chat: false}} there")
    options = None if server is None else options_of(server, f"{where}: server")
    return LlmSpec(level(fields.pop("name", short_name(model)), where), model, **fields, server=options, chat=chat)


def _retriever(entry: Any, where: str) -> RetrieverSpec:
    known = ("name", "kind", "encoder", "reranker", "query_encoder", "depth", "server")
    given = dict(entry) if isinstance(entry, Mapping) else {}
    server, depth = given.pop("server", None), given.pop("depth", 0)
    fields = texts(given if isinstance(entry, Mapping) else entry, "kind", known, where)
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
        raise ValueError(f"{where}: depth: {depth!r}; wanted a whole number from 1")
    kind = fields.pop("kind")
    if kind not in KINDS and not is_third_party(kind):
        wanted = f"{', '.join(KINDS)}, python:package.module:name or an http address"
        raise ValueError(f"{where}: unknown retriever {kind!r}; wanted one of {wanted}")
    options = None if server is None else options_of(server, f"{where}: server")
    spec = RetrieverSpec(
        level(fields.pop("name", _retriever_name(kind)), where), kind, depth=depth, server=options, **fields
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
    return default_name(kind)
