"""A question in the making: a stem for a fact, and what came with it; and people's own questions as drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from exam_gen._prompts import PEOPLE_VERSION
from exam_gen.drafting._facts import Fact
from exam_gen.drafting._round_trip import RoundTrip
from exam_gen.drafting._verification import VerificationResult
from exam_gen.drafting._wordings import Wordings
from exam_gen.language._spans import key_span, sentences
from exam_gen.language._stems import find_answer, leaks, unfit
from examcore import Chunk, Dropped

NOT_THERE = "the answer is not in its passages"


class Draft(NamedTuple):
    """A stem for a fact, the text it came from, its prompt version, and what is known of it.

    `wrong`: wrong answers to weigh. `queries`: wordings that came with it; a draft without any gets the model's.
    `back`: the verifier's own answer to the stem. `verdict`: what it found of the key, then of the choices. `wordings`:
    the queries that hold.
    """

    fact: Fact
    stem: str
    raw: str
    version: str
    wrong: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    back: RoundTrip | None = None
    verdict: VerificationResult = VerificationResult(None)
    wordings: Wordings = Wordings()


class AnsweredQuestion(NamedTuple):
    """A question that somebody asked, its answer, and the chunks that may hold it, the likeliest first."""

    text: str
    answer: str
    chunks: Sequence[Chunk]


def people_drafts(asked: Sequence[AnsweredQuestion]) -> tuple[list[Draft], list[Dropped]]:
    """The questions as drafts, each of the first sentence that holds its answer; else why not.

    The stem is the question word for word, with a question mark.
    """
    drafts: list[Draft] = []
    dropped: list[Dropped] = []
    for one in asked:
        fact = _fact(one)
        if fact is None:
            dropped.append(Dropped(NOT_THERE, one.text, one.chunks[0].id if one.chunks else ""))
            continue
        reason = unfit(fact.span.text, fact.span.sentence, fact.language)
        if reason is None and leaks(one.text, fact.span.text, fact.language):
            reason = "stem contains the key"
        if reason is None:
            stem = one.text if one.text.endswith(("?", "？")) else f"{one.text.rstrip(' .!')}?"
            drafts.append(Draft(fact, stem, one.text, PEOPLE_VERSION, queries=(one.text,)))
        else:
            dropped.append(Dropped(reason, one.text, fact.chunk.id))
    return drafts, dropped


def _fact(asked: AnsweredQuestion) -> Fact | None:
    for chunk in asked.chunks:
        lines = [" ".join(line.split()) for line in chunk.text.splitlines()]
        for sentence in (*sentences(chunk.text, chunk.language), *lines, " ".join(chunk.text.split())):
            key = find_answer(asked.answer, sentence, chunk.language)
            if key:
                return Fact(chunk, key_span(sentence, key, chunk.language), 0.0)
    return None
