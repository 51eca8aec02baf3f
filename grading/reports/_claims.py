"""Claims of answers in free text: which the passages that were read state, and which passages hold the right answer.

A claim is a sentence of the answer. A judge is asked of each whether all the passages together state it (faithfulness
of RAGAS and RAGChecker), and of each that cites passages by number, as in "[2]", whether those do (citation support of
ARGUE). Of every passage it is asked whether it answers the question with the right answer (context precision), but the
one that the question was written from does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from examcore import CachedLanguageModel, Question, ReportProgress, text_units
from grading._records import BankQuestion, KeyAnswer, Sentence, SystemReport
from grading.reports._judges import LanguageModelJudge
from grading.reports._judging_material import Ask, Decision, ReportMaterial

BATCH = 32
"""Questions that a judge is asked at a time, between two words on how far it is."""
LONGEST = 30
"""Claims of an answer that are judged: one that goes on is judged by its beginning."""
PASSAGE, KEY, NOT_KNOWN = "passage ", "key", "no text of the passages that were read is known"
"""What passages and right answers are called among what a judge is asked of, and why a claim is not judged."""
_CITED = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")


class ReadPassage(NamedTuple):
    """A passage that was read for an answer; `text` is empty where it is not known, `source` says whether the question
    was written from it.
    """

    id: str
    text: str
    source: bool


class ReadAnswer(NamedTuple):
    """A free-text answer of a pipeline to a question, and the passages that it read, in their order."""

    pipeline: str
    question: Question
    reply: str
    passages: tuple[ReadPassage, ...]


class Claim(NamedTuple):
    """A claim of an answer: whether the passages that were read state it, on what grounds; whether those that it cites
    do, None where it cites none. None also where the judge cannot say.
    """

    text: str
    stated: bool | None
    why: str
    cited: bool | None = None


@dataclass(frozen=True)
class JudgedClaims:
    """The claims of an answer, and of each passage that it read whether it holds the right answer (None: not known)."""

    pipeline: str
    question: str
    claims: tuple[Claim, ...]
    holds: tuple[bool | None, ...]


def judge_claims(
    model: CachedLanguageModel,
    answers: Sequence[ReadAnswer],
    report: ReportProgress,
    *,
    by: Literal["likelihood", "reply"] = "likelihood",
) -> list[JudgedClaims]:
    """The claims of the answers, judged by a language model, whose replies its store keeps: what is there is not asked.

    `by` is as for `LanguageModelJudge`.
    """
    claims = [_claims(one.reply, one.question.language) for one in answers]
    judge = LanguageModelJudge(model, _material(answers, claims), by=by)
    asks = [ask for one, some in zip(answers, claims, strict=True) for ask in _asks(one, some)]
    asked, found = list(dict.fromkeys(asks)), dict[Ask, Decision]()
    for start in range(0, len(asked), BATCH):
        report(start, len(asked))
        batch = asked[start : start + BATCH]
        found.update(zip(batch, judge.decide(batch), strict=True))
    report(len(asked), len(asked))
    return [_judged(one, some, found) for one, some in zip(answers, claims, strict=True)]


def _claims(reply: str, language: str) -> list[Sentence]:
    """The sentences of an answer, with the numbers of the passages that they cite."""
    units = text_units(reply, language) if reply.strip() else []
    texts = [reply[unit.start : unit.end].strip() for unit in units[:LONGEST]]
    numbers = [[n for group in _CITED.findall(text) for n in re.findall(r"\d+", group)] for text in texts]
    return [Sentence(text, tuple(cited)) for text, cited in zip(texts, numbers, strict=True)]


def _material(answers: Sequence[ReadAnswer], claims: Sequence[Sequence[Sentence]]) -> ReportMaterial:
    reports, documents = list[SystemReport](), dict[str, str]()
    nuggets = [
        BankQuestion(KEY, one.question.id, one.question.stem, (KeyAnswer(one.question.answer),)) for one in answers
    ]
    for one, some in zip(answers, claims, strict=True):
        topic = one.question.id
        reports.append(SystemReport(one.pipeline, topic, tuple(some)))
        reports += [SystemReport(PASSAGE + each.id, topic, (Sentence(each.text),)) for each in one.passages]
        for read in (one.passages, *(_cited(one, claim) for claim in some)):
            documents[_name(read)] = "\n\n".join(each.text for each in read if each.text)
    return ReportMaterial.of(reports, nuggets, documents)


def _cited(answer: ReadAnswer, claim: Sentence) -> tuple[ReadPassage, ...]:
    """The passages that a claim cites by their places, counted from 1."""
    places = {int(number) - 1 for number in claim.citations}
    return tuple(one for place, one in enumerate(answer.passages) if place in places)


def _name(passages: Sequence[ReadPassage]) -> str:
    return "\x1f".join(one.id for one in passages)


def _stated(answer: ReadAnswer, at: int, passages: Sequence[ReadPassage]) -> Ask:
    return Ask("supported", answer.pipeline, answer.question.id, at, _name(passages))


def _holds(answer: ReadAnswer, passage: ReadPassage) -> Ask:
    return Ask("answers", PASSAGE + passage.id, answer.question.id, 0, nugget=KEY, answer=0)


def _asks(answer: ReadAnswer, claims: Sequence[Sentence]) -> Iterator[Ask]:
    """What a judge is asked: nothing where no text is known, or where it is known already."""
    for at, claim in enumerate(claims):
        for read in (answer.passages, _cited(answer, claim)):
            if any(one.text for one in read):
                yield _stated(answer, at, read)
    yield from (_holds(answer, one) for one in answer.passages if one.text and not one.source)


def _judged(answer: ReadAnswer, claims: Sequence[Sentence], found: Mapping[Ask, Decision]) -> JudgedClaims:
    unknown = Decision(None, NOT_KNOWN)
    judged = []
    for at, claim in enumerate(claims):
        cited = _cited(answer, claim)
        by_all = found.get(_stated(answer, at, answer.passages), unknown)
        by_cited = found.get(_stated(answer, at, cited), unknown).verdict if cited else False
        judged.append(Claim(claim.text, by_all.verdict, by_all.why, by_cited if claim.citations else None))
    holds = tuple(one.source or found.get(_holds(answer, one), unknown).verdict for one in answer.passages)
    return JudgedClaims(answer.pipeline, answer.question.id, tuple(judged), holds)
