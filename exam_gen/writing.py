"""Chunks to verified four-choice questions: facts, stems, wrong answers, verification, balanced choices."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from exam_gen.distractors import Embed, Item, Pool, candidates, choose, pool
from exam_gen.facts import Fact, facts
from exam_gen.model import LanguageModel
from exam_gen.prompts import STEM_VERSION, stem_prompt
from exam_gen.records import Chunk, Dropped, Question
from exam_gen.replies import CachedModel, ReplyStore, Usage
from exam_gen.stems import read_stem
from exam_gen.verification import Thresholds, Verdict, judge, requests

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class WritingSettings:
    """How many questions to write and how; `questions` is the wanted number of survivors."""

    questions: int = 64
    mode: Literal["answer-first", "paper"] = "answer-first"
    per_chunk: int = 2
    batch: int = 8
    candidates: int = 10
    max_tokens: int = 48
    thresholds: Thresholds = field(default_factory=Thresholds)

    def __post_init__(self) -> None:
        for name in ("questions", "per_chunk", "batch", "max_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"writing: {name} is {getattr(self, name)}; wanted at least 1")
        if self.candidates < 3:
            raise ValueError(f"writing: candidates is {self.candidates}; wanted at least 3")


@dataclass(frozen=True)
class Written:
    """The surviving questions, everything lost on the way, the cost, and why writing stopped."""

    questions: list[Question]
    dropped: list[Dropped]
    usage: Usage
    stopped: str


class _Draft(NamedTuple):
    fact: Fact
    stem: str
    raw: str
    wrong: tuple[str, ...]


class _Passed(NamedTuple):
    draft: _Draft
    verdict: Verdict


def write_exam(
    chunks: Sequence[Chunk],
    model: LanguageModel,
    settings: WritingSettings,
    *,
    seed: int,
    replies: ReplyStore,
    embed: Embed | None = None,
    progress: Progress | None = None,
) -> Written:
    """Write questions until `settings.questions` survive or no fact is left (`stopped` says which).

    The same chunks, settings and seed give the same exam; a run that was stopped takes finished batches from `replies`.
    """
    cached = CachedModel(model, replies)
    pooled = pool(chunks, embed)
    todo = facts(chunks, per_chunk=settings.per_chunk, seed=seed)
    passed: list[_Passed] = []
    dropped: list[Dropped] = []
    for batch in _batches(todo, settings.batch):
        drafts, lost = _draft(batch, cached, pooled, settings, seed)
        kept, failed = _verify(drafts, cached, settings.thresholds)
        passed += kept
        dropped += lost + failed
        if progress:
            progress(min(len(passed), settings.questions), settings.questions)
        if len(passed) >= settings.questions:
            break
    enough = len(passed) >= settings.questions
    stopped = "enough questions" if enough else f"no facts left after {len(todo)}"
    questions = _finish(passed[: settings.questions], cached.name, seed)
    return Written(questions, dropped, cached.usage, stopped)


def _batches(todo: Sequence[Fact], size: int) -> Iterator[Sequence[Fact]]:
    for start in range(0, len(todo), size):
        yield todo[start : start + size]


def _draft(
    batch: Sequence[Fact], model: CachedModel, pooled: Pool, settings: WritingSettings, seed: int
) -> tuple[list[_Draft], list[Dropped]]:
    prompts = [stem_prompt(fact.chunk.title, fact.gapped, fact.span.text) for fact in batch]
    texts = model.generate(prompts, max_tokens=settings.max_tokens, stop=("\n",), seed=seed)
    drafts: list[_Draft] = []
    dropped: list[Dropped] = []
    for fact, raw in zip(batch, texts, strict=True):
        stem, reason = read_stem(raw, fact.span.text)
        wrong = candidates(fact, stem, pooled, count=settings.candidates, seed=seed) if reason is None else []
        if reason is None and len(wrong) < 3:
            reason = "fewer than three wrong answers"
        if reason is None:
            drafts.append(_Draft(fact, stem, raw, tuple(wrong)))
        else:
            dropped.append(Dropped(reason, raw, fact.chunk.id))
    return drafts, dropped


def _verify(drafts: Sequence[_Draft], model: CachedModel, limits: Thresholds) -> tuple[list[_Passed], list[Dropped]]:
    asked = [
        request
        for draft in drafts
        for request in requests(
            draft.fact.chunk.title, draft.fact.chunk.text, draft.stem, draft.fact.span.text, draft.wrong
        )
    ]
    likelihoods = model.all_log_likelihoods(asked)
    passed: list[_Passed] = []
    dropped: list[Dropped] = []
    for draft, with_passage, without in zip(drafts, likelihoods[::2], likelihoods[1::2], strict=True):
        verdict = judge(with_passage, without, draft.wrong, limits)
        if verdict.reason is None:
            passed.append(_Passed(draft, verdict))
        else:
            choices = (draft.fact.span.text, *draft.wrong[:3])
            question = _question(draft, verdict, choices, 0, model.name, 0)
            dropped.append(Dropped(verdict.reason, draft.raw, draft.fact.chunk.id, question))
    return passed, dropped


def _finish(passed: Sequence[_Passed], model: str, seed: int) -> list[Question]:
    """Choose wrong answers and positions so that length, likelihood and place of the key are spread evenly."""
    items = [Item(one.draft.fact.span.text, one.verdict.closed, one.verdict.options) for one in passed]
    triples = choose(items, seed=seed)
    rng = random.Random(seed)
    places = [place % 4 for place in range(len(passed))]
    rng.shuffle(places)
    questions = []
    for one, wrong, place in zip(passed, triples, places, strict=True):
        order = list(wrong)
        rng.shuffle(order)
        choices = (*order[:place], one.draft.fact.span.text, *order[place:])
        questions.append(_question(one.draft, one.verdict, choices, place, model, seed))
    return questions


def _question(draft: _Draft, verdict: Verdict, choices: tuple[str, ...], key: int, model: str, seed: int) -> Question:
    chunk = draft.fact.chunk
    digest = hashlib.sha256(f"{chunk.id}\n{draft.stem}".encode()).hexdigest()[:10]
    return Question(
        id=f"{chunk.id}-{digest}",
        stem=draft.stem,
        choices=choices,
        key=key,
        document_id=chunk.document_id,
        chunk_id=chunk.id,
        topic=chunk.topic,
        context=chunk.text,
        metadata={
            "model": model,
            "verifier": model,
            "prompt": STEM_VERSION,
            "seed": seed,
            "title": chunk.title,
            "evidence": draft.fact.span.sentence,
            "kind": draft.fact.span.kind,
            "support": verdict.support,
            "lift": verdict.lift,
            "margin": verdict.margin,
            "closed_book": verdict.closed,
        },
    )
