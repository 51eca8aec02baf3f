"""Tasks: the distinct prompts that a grid of pipelines still has to answer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from examcore import STEM, Chunk, Exam, Prompt, Question
from rag.answering._prompts import Shot, exam_prompt
from rag.grid._pipeline import Pipeline
from rag.retrieval._protocol import Retriever, searched_text


@dataclass(frozen=True)
class PassageLimits:
    """How many passages a pipeline reads, how many of their characters at most, and what its retriever searches for."""

    k: int = 1
    budget: int | None = None
    queries: str = STEM


@dataclass(frozen=True)
class Task:
    """One distinct prompt: the question, its passages, and the pipelines that share it.

    `prompt` is for language models that choose by likelihood. `chunks` and `shots` are its parts, for examinees that
    use another prompt or cannot read all of it. `passages` are the ids of the chunks.
    """

    question: Question
    prompt: Prompt
    passages: tuple[str, ...]
    pipelines: tuple[Pipeline, ...]
    chunks: tuple[Chunk, ...]
    shots: tuple[Shot, ...]


class PassageLookup:
    """The passages that each retriever finds for each question, looked up once.

    `default` holds for pipelines without limits of their own.
    """

    def __init__(self, retrievers: Mapping[str, Retriever], default: PassageLimits) -> None:
        self._retrievers, self._default = retrievers, default
        self._found: dict[tuple[str, str], tuple[Chunk, ...]] = {}

    def of(self, pipeline: Pipeline, question: Question) -> tuple[Chunk, ...]:
        """The passages a pipeline reads for a question, best first."""
        key = (pipeline.reading, question.id)
        if key not in self._found:
            reading = limits_of(pipeline, self._default)
            query = replace(question, stem=question.query(reading.queries))
            found = self._retrievers[pipeline.retriever].retrieve(query, reading.k)
            self._found[key] = within_budget(found, reading.budget)
        return self._found[key]


def limits_of(pipeline: Pipeline, default: PassageLimits) -> PassageLimits:
    """How much a pipeline reads: its own limits where it has them, else the default."""
    return PassageLimits(
        default.k if pipeline.passages is None else pipeline.passages,
        default.budget if pipeline.budget is None else pipeline.budget,
        default.queries if pipeline.queries is None else pipeline.queries,
    )


def within_budget(passages: Sequence[Chunk], budget: int | None) -> tuple[Chunk, ...]:
    """The leading passages whose texts have at most `budget` characters together, but always the first; none is cut."""
    if budget is None:
        return tuple(passages)
    lengths = list(accumulate(len(searched_text(one)) for one in passages))
    return tuple(passages[: max(1, bisect_right(lengths, budget))])


def tasks_of(
    exam: Exam, pending: Sequence[tuple[Pipeline, str]], passages: PassageLookup, shots: Sequence[Shot]
) -> list[Task]:
    """The distinct prompts of the pending answers.

    Ordered by number of shots, then by question, so that neighbouring prompts begin alike.
    """
    places = {one: place for place, one in enumerate(exam.ids)}
    asked: dict[tuple[str, Prompt, tuple[Chunk, ...]], list[Pipeline]] = {}
    for pipeline, name in sorted(pending, key=lambda pair: (pair[0].shots, places[pair[1]])):
        found = passages.of(pipeline, exam.by_id[name])
        prompt = exam_prompt(exam.by_id[name], found, shots[: pipeline.shots])
        asked.setdefault((name, prompt, found), []).append(pipeline)
    return [
        Task(
            exam.by_id[name],
            prompt,
            tuple(chunk.id for chunk in found),
            tuple(pipelines),
            found,
            tuple(shots[: pipelines[0].shots]),
        )
        for (name, prompt, found), pipelines in asked.items()
    ]
