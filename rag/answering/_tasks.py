"""Tasks: the distinct prompts behind what a grid of pipelines has still to answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from examcore import Chunk, Exam, Prompt, Question
from rag.answering._prompts import Shot, exam_prompt
from rag.grid._pipeline import Pipeline
from rag.retrieval._protocol import Retriever, searched_text


@dataclass(frozen=True)
class PassageLimits:
    """How many passages a pipeline reads, and their characters at most."""

    k: int = 1
    budget: int | None = None


@dataclass(frozen=True)
class Task:
    """One distinct prompt: the question, its passages, and the pipelines that all ask exactly this.

    `prompt` is what a language model reads whose likelihoods choose; `chunks` and `shots` are what it was made of, for
    those who are asked in other words or cannot read all of it.
    """

    question: Question
    prompt: Prompt
    passages: tuple[str, ...]
    pipelines: tuple[Pipeline, ...]
    chunks: tuple[Chunk, ...]
    shots: tuple[Shot, ...]


class PassageLookup:
    """What each retriever finds for each question, looked up once.

    `usual` holds for pipelines that say nothing of how much they read.
    """

    def __init__(self, retrievers: Mapping[str, Retriever], usual: PassageLimits) -> None:
        self._retrievers, self._usual = retrievers, usual
        self._found: dict[tuple[str, str], tuple[Chunk, ...]] = {}

    def of(self, pipeline: Pipeline, question: Question) -> tuple[Chunk, ...]:
        """The passages a pipeline reads for a question, best first."""
        key = (pipeline.reading, question.id)
        if key not in self._found:
            reading = limits_of(pipeline, self._usual)
            found = self._retrievers[pipeline.retriever].retrieve(question, reading.k)
            self._found[key] = within_budget(found, reading.budget)
        return self._found[key]


def limits_of(pipeline: Pipeline, usual: PassageLimits) -> PassageLimits:
    """How much a pipeline reads: what it says itself, else what is usual."""
    return PassageLimits(
        usual.k if pipeline.passages is None else pipeline.passages,
        usual.budget if pipeline.budget is None else pipeline.budget,
    )


def within_budget(passages: Sequence[Chunk], budget: int | None) -> tuple[Chunk, ...]:
    """The first passages whose texts have at most `budget` characters together; always the first, never part of one."""
    if budget is None:
        return tuple(passages)
    lengths = accumulate(len(searched_text(one)) for one in passages)
    return tuple(
        one for place, (one, length) in enumerate(zip(passages, lengths, strict=True)) if length <= budget or not place
    )


def tasks_of(
    exam: Exam, pending: Sequence[tuple[Pipeline, str]], passages: PassageLookup, shots: Sequence[Shot]
) -> list[Task]:
    """The distinct prompts behind the pending answers.

    Ordered by number of shots, then by question: neighbours begin with the same shots, and a question's retrievers
    follow each other.
    """
    questions = {question.id: question for question in exam.questions}
    places = {one: place for place, one in enumerate(exam.ids)}
    asked: dict[tuple[str, Prompt, tuple[str, ...]], list[Pipeline]] = {}
    chunks: dict[tuple[str, Prompt, tuple[str, ...]], tuple[Chunk, ...]] = {}
    for pipeline, name in sorted(pending, key=lambda pair: (pair[0].shots, places[pair[1]])):
        found = passages.of(pipeline, questions[name])
        prompt = exam_prompt(questions[name], found, shots[: pipeline.shots])
        key = (name, prompt, tuple(chunk.id for chunk in found))
        chunks.setdefault(key, found)
        asked.setdefault(key, []).append(pipeline)
    return [
        Task(questions[key[0]], key[1], key[2], tuple(who), chunks[key], tuple(shots[: who[0].shots]))
        for key, who in asked.items()
    ]
