"""What to write an exam from, and how."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, NamedTuple

from exam_gen.drafting._corpus_distractors import DistractorPool, pool
from exam_gen.drafting._drafts import AnsweredQuestion
from exam_gen.drafting._facts import Fact, facts
from exam_gen.drafting._subjects import common_stems
from exam_gen.drafting._verification import Thresholds
from exam_gen.drafting._wordings import PEOPLE
from exam_gen.language._similarity import Embed
from examcore import LANGUAGES, Chunk

TRIED = 2
"""Facts of a chunk that are asked about for each question wanted of it: one in ten holds, and reading the chunk costs
more than asking about one more of its facts."""


@dataclass(frozen=True)
class WritingSettings:
    """How many questions to write and how.

    `questions`: the wanted number of survivors. `mode`: `answer-first` (a sentence of the passage is chosen, the model
    asks for words of it, and wrong answers are found for those), `json` (for a strong writer: `per_chunk` questions
    about a passage in one request, each with evidence, queries, wrong answers and critique) or `paper` (one question in
    free text, unverified). `per_chunk`: the most questions of one chunk. `batch`: prompts written at once.
    `candidates`: wrong answers weighed per question. `max_tokens`: the longest question with its answer. `overlap`: the
    shares of their content words that the queries have in common with their passages, of which the exam takes equal
    parts (default: those of people's questions). `completions`: the share of `questions`, the wanted number, that may
    complete a sentence of the passage, where no question about it held. `thresholds`: what verification asks for.
    `minutes`: write no longer than that, but until eight questions have passed. `language`: the code of the language of
    all questions; without it, each is in that of its document.
    """

    questions: int = 64
    mode: Literal["answer-first", "paper", "json"] = "answer-first"
    verification: Literal["likelihood", "letters"] = "likelihood"
    per_chunk: int = 2
    batch: int = 20
    candidates: int = 9
    max_tokens: int = 48
    overlap: tuple[float, ...] = PEOPLE
    completions: float = 0.0
    thresholds: Thresholds = field(default_factory=Thresholds)
    minutes: float | None = None
    language: str | None = None

    @property
    def facts_per_chunk(self) -> int:
        """The most facts of one chunk that are asked about."""
        return TRIED * self.per_chunk

    @property
    def identity(self) -> dict[str, object]:
        """The settings; a language that is not named is left out, as runs of earlier releases have none."""
        return {name: value for name, value in asdict(self).items() if name != "language" or value is not None}

    def __post_init__(self) -> None:
        for name, least in {"questions": 1, "per_chunk": 1, "batch": 1, "max_tokens": 1, "candidates": 3}.items():
            if getattr(self, name) < least:
                raise ValueError(f"exam: {name} is {getattr(self, name)}; wanted at least {least}")
        if self.minutes is not None and (self.minutes <= 0 or self.mode == "paper"):
            wanted = "a number above 0, and none where mode is paper"
            raise ValueError(f"exam: minutes is {self.minutes}; wanted {wanted}")
        if not 0 <= self.completions <= 1:
            raise ValueError(f"exam: completions is {self.completions}; wanted a share from 0 to 1")
        if not self.overlap or not all(0 <= one <= 1 for one in self.overlap):
            raise ValueError(f"exam: overlap is {list(self.overlap)}; wanted shares from 0 to 1")
        if self.mode not in {"answer-first", "paper", "json"}:
            raise ValueError(f"exam: mode is {self.mode!r}; wanted answer-first, paper or json")
        if self.verification == "letters" and self.candidates > 25:
            raise ValueError(f"exam: candidates is {self.candidates}; wanted at most 25 where letters name them")
        if self.language is not None and self.language not in LANGUAGES:
            raise ValueError(f"exam: language is {self.language!r}; wanted one of {', '.join(LANGUAGES)}")
        if self.verification not in {"likelihood", "letters"}:
            raise ValueError(f"exam: verification is {self.verification!r}; wanted likelihood or letters")


class WritingMaterial(NamedTuple):
    """What can be asked for in a corpus, what can stand beside a key, its common words, and what people asked.

    `until` is when writing ends, in seconds of `time.monotonic`.
    """

    facts: Sequence[Fact]
    pool: DistractorPool
    common: frozenset[str]
    people: Sequence[AnsweredQuestion] = ()
    until: float = math.inf


def find_material(
    chunks: Sequence[Chunk], settings: WritingSettings, *, seed: int, embed: Embed | None
) -> WritingMaterial:
    """The facts and spans of the chunks (seconds on thousands of them); the time for writing begins."""
    until = math.inf if settings.minutes is None else time.monotonic() + 60 * settings.minutes
    found = facts(chunks, per_chunk=settings.facts_per_chunk, seed=seed, asked_in=settings.language)
    return WritingMaterial(found, pool(chunks, embed), common_stems(chunks), until=until)
