"""What a grid lists: language models, retrievers and black boxes, checked by pydantic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from examcore import Chunk, LanguageModel
from rag._models import SettingsGroup, load_model
from rag._third_party import HTTP_PREFIXES, PYTHON_PREFIX, default_name, has_module_and_name
from rag.grid._pipeline import Mode
from rag.retrieval._kinds import KINDS, PRESETS, RetrieverParts, build_retriever, check_kind, is_third_party, parts_of
from rag.retrieval._protocol import Retriever
from rag.servers._options import ServerOptions, check_service_url, is_server, parse_address
from rag.weights._embedded import PREFIX


def _facet_level(name: str) -> str:
    # The plus sign joins the parts of a pipeline's id; commas and blanks would make its CSV hard to read.
    if not re.fullmatch(r"[^\s+,\"']+", name):
        raise ValueError("wanted text without blanks, commas, quotes or '+'")
    return name


def _depth(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("wanted a whole number from 1")
    return value


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ValueError("wanted a number of seconds above 0")
    return float(value)


Text = Annotated[str, Field(min_length=1)]
Name = Annotated[Text, AfterValidator(_facet_level)]
"""A name that can be the level of a facet."""
YesOrNo = Annotated[bool, Field(strict=True)]


class GridEntry(SettingsGroup):
    """An entry of a grid: a mapping of its fields, or its main field alone."""

    main_field: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _accept_main_field(cls, given: Any) -> Any:
        if isinstance(given, str):
            return {cls.main_field: given}
        if not isinstance(given, Mapping | cls):
            raise ValueError(f"wanted a name or a mapping of {', '.join(cls.model_fields)}")
        return given


class LlmSpec(GridEntry):
    """A language model of the grid: the name it goes by, what `load_model` takes, and how it answers.

    `answers`: by log-likelihoods (`LikelihoodExaminee`), by letters, or in free text (`ReplyExaminee`).
    """

    main_field: ClassVar[str] = "model"

    model: Text
    name: Name = Field(default_factory=lambda fields: short_name(fields["model"]), validate_default=True)
    dtype: Text = "auto"
    device: Text = "auto"
    chat: YesOrNo = True
    answers: Mode = "likelihood"
    server: ServerOptions | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> LlmSpec:
        if not self.chat and (is_server(self.model) or self.model.startswith(PYTHON_PREFIX)):
            raise ValueError("chat: false is for models on this machine; wanted server: {chat: false} there")
        return self

    @property
    def identity(self) -> dict[str, object]:
        """What is stored with its answers. How a server is asked is left out: it does not change them."""
        usual = {"name": self.name, "model": self.model, "dtype": self.dtype, "device": self.device}
        # Later settings are left out at their defaults, so that stores of an earlier release can be continued.
        return usual | self.model_dump(include={"answers", "chat"}, exclude_defaults=True)

    def load(self) -> LanguageModel:
        """The language model; see `load_model`."""
        return load_model(self.model, self.dtype, self.device, server=self.server, chat=self.chat)


class RetrieverSpec(GridEntry):
    """A retriever of the grid: the name it goes by, and what `build_retriever` takes."""

    main_field: ClassVar[str] = "kind"

    kind: Text
    name: Name = Field(
        default_factory=lambda given: given["kind"] if given["kind"] in KINDS else default_name(given["kind"]),
        validate_default=True,
    )
    encoder: Text = ""
    reranker: Text = ""
    query_encoder: Text = ""
    depth: Annotated[int, BeforeValidator(_depth)] = 0
    server: ServerOptions | None = None

    @field_validator("kind")
    @classmethod
    def _is_known(cls, kind: str) -> str:
        if kind not in KINDS and not is_third_party(kind):
            raise ValueError(f"wanted one of {', '.join(KINDS)}, python:package.module:name or an http address")
        return kind

    @model_validator(mode="after")
    def _is_consistent(self) -> RetrieverSpec:
        check_kind(self.kind, self.parts, self.server)
        return self

    @property
    def identity(self) -> dict[str, object]:
        """What is stored with its answers. How a server is asked is left out: it does not change them."""
        # A preset is stored with what it stood for, other kinds as they were given; later settings are left out at
        # their defaults. So stores of an earlier release can be continued.
        parts = self.parts if self.kind in PRESETS else self
        usual = {"name": self.name, "kind": self.kind, "encoder": parts.encoder, "reranker": parts.reranker}
        later = {"query_encoder": parts.query_encoder, "depth": parts.depth}
        return {**usual, **{key: value for key, value in later.items() if value}}

    @property
    def parts(self) -> RetrieverParts:
        """Its parts, including those that its kind brings."""
        return parts_of(self.kind, self.encoder, self.query_encoder, self.reranker, self.depth)

    @property
    def encoders(self) -> list[str]:
        """The encoders it loads."""
        return self.parts.encoders

    def build(self, chunks: Sequence[Chunk], index: Any = None) -> Retriever:
        """The retriever over chunks; see `build_retriever`."""
        return build_retriever(chunks=chunks, index=index, **dict(self))


class BlackBoxSpec(GridEntry):
    """A whole system that brings its own retrieval, at an http address or `python:package.module:name`.

    `choices`: show it the choices beside the question. `timeout`: seconds that a function has for a question (default
    120). `server`: how an address is asked.
    """

    main_field: ClassVar[str] = "system"

    system: Text
    name: Name = Field(default_factory=lambda fields: default_name(fields["system"]), validate_default=True)
    choices: YesOrNo = True
    timeout: Annotated[float | None, BeforeValidator(_seconds)] = None
    server: ServerOptions | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> BlackBoxSpec:
        if self.is_function:
            if not has_module_and_name(self.system):
                raise ValueError(f"{self.system}; wanted python:package.module:name")
        elif self.system.startswith(HTTP_PREFIXES):
            check_service_url(self.system, "the address")
        else:
            raise ValueError(f"{self.system!r}; wanted an http address or python:package.module:name")
        if self.server is not None and self.is_function:
            raise ValueError(f"{self.system} is on no server; wanted an http address for these options")
        if self.timeout is not None and not self.is_function:
            seconds = f"{self.timeout:g}"
            raise ValueError(f"timeout: {seconds}; wanted server: {{timeout: {seconds}}}, for an address")
        return self

    @property
    def description(self) -> str:
        """How messages name it."""
        return f"black box {self.name} ({self.system})"

    @property
    def is_function(self) -> bool:
        """Whether it is a Python function rather than an address."""
        return self.system.startswith(PYTHON_PREFIX)

    @property
    def seconds(self) -> float:
        """Seconds that a function has for a question."""
        return ServerOptions.timeout if self.timeout is None else self.timeout

    @property
    def answers(self) -> str:
        """How it answers: as an `endpoint` that chooses, or in `text` where it is not shown the choices."""
        return "endpoint" if self.choices else "text"

    @property
    def identity(self) -> dict[str, object]:
        """What is stored with its answers. How it is asked is left out: it does not change them."""
        return {"name": self.name, "system": self.system, "answers": "endpoint", "choices": self.choices}


def short_name(model: str) -> str:
    """The default name of a model: without `embedded:`, organisation, folders and suffix."""
    if model.startswith(PYTHON_PREFIX):
        return default_name(model)
    if is_server(model):
        model = parse_address(model, ServerOptions()).model
    return model.removeprefix(PREFIX).rstrip("/").rpartition("/")[2].removesuffix(".gguf")
