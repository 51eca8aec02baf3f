"""The configuration of a run: corpus, writer, exam, grid, fit, pruning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    Field,
    FieldSerializationInfo,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

import irt
from exam_gen import WritingSettings
from exam_gen.corpora import ChunkBounds, Selection
from exam_gen.rules import needs_of, rules_of
from examcore import language_named
from grading.reports import ENTAILMENT
from rag import (
    DEFAULT_ENCODER,
    FACTORS,
    QUERIES,
    BlackBoxSpec,
    Grid,
    LlmSpec,
    Mode,
    ModelSettings,
    RetrieverSpec,
    SettingsGroup,
    SittingSettings,
    grid_of,
)
from ragexam._settings import SettingChanges, check, parsed_overrides

WRITER = "embedded:qwen2.5-coder-1.5b"
"""The smallest model at hand whose questions mostly survive the checks."""


class CorpusSettings(SettingsGroup):
    """Where documents come from, how records become documents, which are taken, and how they are cut.

    `language` is the code of the language that all of them are in; without it, that of each document is found.
    """

    source: str
    layout: Literal["documents", "abstracts", "threads", "filings"] = "documents"
    select: Selection = Selection()
    sample: int | None = Field(default=None, ge=1)
    chunks: ChunkBounds = ChunkBounds()
    language: str | None = None

    @field_validator("language")
    @classmethod
    def _is_known(cls, code: str | None) -> str | None:
        return code if code is None else language_named(code).code

    @model_serializer(mode="wrap")
    def _as_before(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The settings; a language that is not named is left out, as runs of earlier releases have none."""
        settings: dict[str, Any] = dump(self)
        return {name: value for name, value in settings.items() if name != "language" or value is not None}


class WriterSettings(ModelSettings):
    """The model that writes questions, and the encoder that compares texts (none: by their letters)."""

    model: str = WRITER
    encoder: str | None = DEFAULT_ENCODER


class GridSettings(SettingsGroup):
    """The pipelines that sit the exam, and how they sit it.

    Several `passages`, budgets (characters), kinds of `queries` or ways to give `answers` are crossed. `judge`: the
    model that says which choice a free-text answer states where no rule can tell. `claims`: the model that says whether
    texts state the claims of free-text answers; it decides no score.

    Entries are parsed once and dumped as they were given, so that a stored configuration reads as its author wrote it.
    """

    llms: list[LlmSpec] = Field(default_factory=list)
    retrievers: list[RetrieverSpec] = Field(default_factory=list)
    black_boxes: list[BlackBoxSpec] = Field(default_factory=list)
    shots: list[int] = Field(default_factory=lambda: [0])
    passages: int | list[int] = 1
    budget: int | list[int] | None = None
    queries: str | list[str] = QUERIES
    answers: Mode | list[Mode] | None = None
    judge: ModelSettings | None = None
    claims: ModelSettings | None = None
    normalization: str = "character"
    shot_passages: bool = False
    _given: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_given(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        made = handler(given)
        if isinstance(given, Mapping):
            made._given.update(given)
        return made

    @field_serializer("llms", "retrievers", "black_boxes")
    def _as_given(self, entries: Sequence[SettingsGroup], info: FieldSerializationInfo) -> list[Any]:
        given = self._given.get(info.field_name, entries)
        return [one.model_dump(exclude_unset=True) if isinstance(one, SettingsGroup) else one for one in given]

    @model_validator(mode="after")
    def _is_sound(self) -> GridSettings:
        _ = self.grid, self.sitting(0)
        return self

    @cached_property
    def grid(self) -> Grid:
        """All combinations."""
        crossed = {name: values for name in FACTORS if len(values := self._values(name)) > 1}
        llms, modes = self.llms, self._values("answers")
        if len(modes) == 1:
            llms = [
                one.model_copy(update={"answers": one.answers if "answers" in one.model_fields_set else modes[0]})
                for one in llms
            ]
        named = {"llms": llms, "retrievers": self.retrievers, "black_boxes": self.black_boxes}
        return grid_of({**named, "shots": self.shots, **crossed})

    @property
    def examinees(self) -> list[ModelSettings | LlmSpec | BlackBoxSpec]:
        """Everything that answers, and the judges of answers; models in the most demanding of their modes."""
        modes = self.grid.answers
        needed = {} if not modes else {"answers": "likelihood" if "likelihood" in modes else modes[0]}
        llms = [one.model_copy(update=needed) for one in self.grid.llms]
        return [*llms, *self.grid.black_boxes, *self.judges]

    @property
    def judges(self) -> list[ModelSettings]:
        """The language models that judge answers and their claims."""
        named = [one for one in (self.judge, self.claims) if one]
        return [one for one in named if not one.model.startswith(ENTAILMENT)]

    @property
    def models(self) -> list[str]:
        """The language models, encoders and re-rankers it needs."""
        retrievers = self.grid.retrievers
        encoders = [encoder for one in retrievers for encoder in one.encoders]
        rerankers = [one.parts.reranker for one in retrievers if one.parts.reranker]
        return [*(one.model for one in self.grid.llms), *encoders, *rerankers, *(one.model for one in self.judges)]

    def sitting(self, seed: int) -> SittingSettings:
        """How the exam is sat."""
        first: dict[str, Any] = {}
        for name in FACTORS:
            if getattr(self, name) == []:
                raise ValueError(
                    f"{name}: []; wanted at least one {'kind' if name in ('queries', 'answers') else 'number'}"
                )
            first[name] = next(iter(self._values(name)), None)
        return SittingSettings(
            first["passages"], self.normalization, self.shot_passages, seed, first["budget"], first["queries"]
        )

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the answers; a setting of a later release is left out where it says nothing."""
        later = {
            "budget": self.budget is not None,
            "black_boxes": bool(self.black_boxes),
            "queries": self.queries != QUERIES,
            "answers": self.answers is not None,
            "judge": self.judge is not None,
            "claims": False,
        }
        found = self.model_dump(exclude={name for name, said in later.items() if not said})
        return found | ({"judge": self.judge.identity} if self.judge else {})

    def _values(self, name: str) -> list[Any]:
        value = getattr(self, name)
        return [] if value is None else value if isinstance(value, list) else [value]


@dataclass(frozen=True)
class RunFitSettings(irt.FitSettings):
    """The measurement model: every option of `irt.fit`, but for those that the run itself sets (seed, choices).

    `item_covariates` are named, and the run looks them up. `mml` is not among the methods: it knows no components, and
    a run is about them.
    """

    model: Literal["1pl", "2pl", "3pl", "3pl-shared", "4pl", "auto"] = "2pl"
    method: Literal["nuts", "laplace", "map"] = "nuts"
    item_covariates: Sequence[str] | None = None  # type: ignore[assignment]  # names, in place of the table

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_usual(self, "seed", "options")

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the fit; an option is left out at its default where earlier releases did not have it."""
        return self.record(("model", "method", "backend", "interval"))


@dataclass(frozen=True)
class RunPruneSettings(irt.PruneSettings):
    """How the exam is shortened: every option of `irt.prune`, but for those that the run itself sets.

    With `balance: topic` every topic keeps its part, to within one question.
    """

    criterion: Literal["discrimination", "information"] = "discrimination"
    balance: Literal["topic"] | None = None
    stop: Literal["auto"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_usual(self, "seed", "shares")

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the pruning; an option is left out at its default where earlier releases did not have it."""
        always = ("keep", "quantile", "holdout", "criterion", "balance", "stop")
        usual = {one.name: one.default for one in fields(self)}
        return {name: one for name, one in asdict(self).items() if name in always or getattr(self, name) != usual[name]}


def _require_usual(settings: RunFitSettings | RunPruneSettings, *names: str) -> None:
    for one in fields(settings):
        if one.name in names and getattr(settings, one.name) != one.default:
            raise ValueError(f"{one.name}: {getattr(settings, one.name)!r}; wanted none, for the run sets it")


class ExamConfig(SettingsGroup):
    """What `ragexam generate` needs; `run` is the folder the results go to, `filters` changes the usual rules.

    Without `verifier` the writer verifies. `users` is a file of people's own questions (`ragexam validity`): their
    overlaps are the target of the exam's, unless `exam.overlap` says otherwise, and those with answers join the exam.
    """

    run: Path
    seed: int = Field(default=0, ge=0)
    corpus: CorpusSettings
    writer: WriterSettings = WriterSettings()
    verifier: ModelSettings | None = None
    exam: WritingSettings = WritingSettings()
    pool: int = Field(default=4, ge=0)
    filters: dict[str, Any] = Field(default_factory=dict)
    users: Path | None = None

    @field_serializer("exam")
    def _stored_exam(self, settings: WritingSettings) -> dict[str, Any]:
        return settings.identity

    @field_validator("filters")
    @classmethod
    def _names_rules(cls, settings: dict[str, Any]) -> dict[str, Any]:
        rules_of(settings)
        return settings

    @model_validator(mode="after")
    def _has_an_encoder(self) -> ExamConfig:
        if self.writer.encoder is None and "encoder" in needs_of(rules_of(self.filters)):
            raise ValueError("filters: some compare meanings and writer.encoder is null; wanted an encoder")
        return self

    @property
    def authors(self) -> list[ModelSettings]:
        """The language models that make the exam."""
        return [self.writer, *([self.verifier] if self.verifier else [])]

    @property
    def author_names(self) -> list[str]:
        """Those and the encoder, by name."""
        return [*(one.model for one in self.authors), *([self.writer.encoder] if self.writer.encoder else [])]


class Config(ExamConfig):
    """What `ragexam run` needs; without `prune` nothing is pruned."""

    grid: GridSettings
    fit: RunFitSettings = RunFitSettings()
    prune: RunPruneSettings | None = RunPruneSettings()

    @field_serializer("fit", "prune")
    def _stored_settings(self, settings: RunFitSettings | RunPruneSettings | None) -> dict[str, Any] | None:
        return None if settings is None else settings.identity

    @model_validator(mode="after")
    def _has_enough_shots(self) -> Config:
        if max(self.grid.shots) > self.pool:
            raise ValueError(
                f"grid.shots up to {max(self.grid.shots)} from a pool of {self.pool}; wanted a larger pool"
            )
        return self


def generate_config(
    corpus: str, out: Path, seed: int, given: Mapping[str, Any], overrides: SettingChanges
) -> ExamConfig:
    """The configuration of `ragexam generate`, from its arguments."""
    content: dict[str, Any] = {"run": str(out), "seed": seed, "corpus": {"source": corpus}}
    named = {name: value for name, value in given.items() if value is not None}
    return check("generate", content, ExamConfig, {**named, **dict(parsed_overrides(overrides))})
