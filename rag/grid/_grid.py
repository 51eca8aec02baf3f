"""The grid of language models, retrievers and shots, and the pipelines that it spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, ValidationError, model_validator

from examcore import first_setting_fault
from rag._models import SettingsGroup
from rag.grid._pipeline import OWN_FACETS, READING, Mode, Pipeline
from rag.grid._specs import BlackBoxSpec, LlmSpec, RetrieverSpec
from rag.retrieval._kinds import BOUNDS

Level = TypeVar("Level", int, str)


def _distinct(value: Any, fits: Callable[[Any], bool], wanted: str, each: str) -> tuple[Any, ...]:
    """Distinct values that fit; one alone stands for a list of one, none where the grid does not cross the factor."""
    values = [] if value is None else list(value) if isinstance(value, list | tuple) else [value]
    if not all(map(fits, values)):
        raise ValueError(f"wanted {wanted}")
    if any(one in values[:place] for place, one in enumerate(values)):
        raise ValueError(f"wanted distinct {each}")
    return tuple(values)


def _is_number(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _shots(value: Any) -> tuple[int, ...]:
    wanted = "whole numbers from 0"
    found = _distinct(value, lambda one: _is_number(one, 0), wanted, "numbers")
    if not found:
        raise ValueError(f"wanted {wanted}")
    return found


def _numbers(value: Any) -> tuple[int, ...]:
    return _distinct(value, lambda one: _is_number(one, 1), "whole numbers from 1", "numbers")


def _kinds(value: Any) -> tuple[str, ...]:
    wanted = "kinds of queries, such as question, keywords and stem"
    return _distinct(value, lambda one: isinstance(one, str) and bool(one), wanted, wanted)


def _modes(value: Any) -> Any:
    return _distinct(value, lambda _: True, "", "modes")


Factor = Annotated[tuple[int, ...], BeforeValidator(_numbers)]
"""The levels of a factor, from 1; none where the grid does not cross it."""


class Grid(SettingsGroup):
    """All combinations of language models, retrievers and numbers of shots, and of the `FACTORS` that are given.

    Black boxes stand beside them, each a pipeline of its own; a grid of black boxes alone needs no llms and retrievers.
    """

    llms: tuple[LlmSpec, ...] = ()
    retrievers: tuple[RetrieverSpec, ...] = ()
    shots: Annotated[tuple[int, ...], BeforeValidator(_shots)] = (0,)
    passages: Factor = ()
    budget: Factor = ()
    queries: Annotated[tuple[str, ...], BeforeValidator(_kinds)] = ()
    answers: Annotated[tuple[Mode, ...], BeforeValidator(_modes)] = ()
    black_boxes: Annotated[tuple[BlackBoxSpec, ...], BeforeValidator(lambda value: () if value is None else value)] = ()

    @model_validator(mode="after")
    def _is_complete(self) -> Grid:
        if not self.black_boxes or self.llms or self.retrievers:
            for key, entries in (("llms", self.llms), ("retrievers", self.retrievers)):
                if not entries:
                    raise ValueError(f"{key}: no entry; wanted a list with at least one")
        if self.answers and (own := [one.name for one in self.llms if "answers" in one.model_fields_set]):
            raise ValueError(f"answers: {', '.join(own)} has its own; wanted those of the grid or those of its models")
        _check_distinct("llms", [one.name for one in self.examinees])
        _check_distinct("retrievers", [one.name for one in self.retrievers] + [OWN_FACETS] * bool(self.black_boxes))
        return self

    @property
    def examinees(self) -> list[LlmSpec | BlackBoxSpec]:
        """Everything that answers: language models, then black boxes."""
        return [*self.llms, *self.black_boxes]

    @property
    def modes(self) -> dict[str, str]:
        """How each examinee of the pipelines answers: `likelihood`, `letters`, `text`, or as an `endpoint` does."""
        named = {one.name: one.answers for one in self.examinees}
        return {one.examinee: one.answers or named[one.llm] for one in self.pipelines}

    @property
    def pipelines(self) -> tuple[Pipeline, ...]:
        """Every pipeline, language models outermost, then retrievers, shots and factors; black boxes last.

        Closed book, oracle and black boxes read the same whatever the levels of the factors: each appears once, at the
        first levels, so that it does not count as several examinees that always agree.
        """
        crossed = tuple(
            Pipeline(model.name, retriever.name, shots, passages, budget, queries, answers)
            for model in self.llms
            for retriever in self.retrievers
            for shots in self.shots
            for passages in _levels(self.passages, retriever)
            for budget in _levels(self.budget, retriever)
            for queries in _levels(self.queries, retriever)
            for answers in self.answers or (None,)
        )
        first: dict[str, Any] = {name: values[0] for name in READING if (values := getattr(self, name))}
        return (*crossed, *(Pipeline(one.name, OWN_FACETS, 0, **first) for one in self.black_boxes))

    @property
    def measured(self) -> tuple[Pipeline, ...]:
        """The pipelines whose components can be separated; black boxes only if there is nothing else."""
        return tuple(one for one in self.pipelines if one.retriever != OWN_FACETS) or self.pipelines


def grid_of(data: Any, source: str = "grid") -> Grid:
    """A grid from `{llms: [...], retrievers: [...], shots: [...], passages: [...], budget: [...], black_boxes: [...]}`.

    A language model is a name for `load_model` or the fields of `LlmSpec`, a retriever a kind or the fields of
    `RetrieverSpec`, a black box an address, `python:package.module:name` or the fields of `BlackBoxSpec`. Raises
    ValueError in one line naming `source` and the key.
    """
    try:
        return Grid.model_validate(data)
    except ValidationError as error:
        raise ValueError(f"{source}: {first_setting_fault(error, Grid).line}") from None


def _levels(values: tuple[Level, ...], retriever: RetrieverSpec) -> Sequence[Level | None]:
    return values[:1] or (None,) if retriever.kind in BOUNDS else values or (None,)


def _check_distinct(key: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{key}: name {name!r} stands twice; wanted distinct names")
