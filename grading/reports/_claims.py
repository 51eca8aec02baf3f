"""Claims of texts, and whether other texts state them: what scores of free-text answers are counted from.

A claim is a sentence. Whether a text states it is decided by rule where the sentence stands there word for word, else
by a judge of ARGUE's support, which is asked each thing once.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from examcore import ENGLISH, CachedLanguageModel, text_units
from grading._records import Sentence, SystemReport
from grading.reports._judges import VERSION, EntailmentJudge, LanguageModelJudge, cross_encoder
from grading.reports._judging_material import Ask, Decision, Judge, ReportMaterial

ENTAILMENT = "entailment:"
"""Begins the name of a judge that is a model of entailment."""
HEADING = 2
"""The level of a text unit that is a heading, which claims nothing."""
BATCH = 8
"""Questions after which decisions are passed on: as many as a server is asked at once."""
_MARK = re.compile(r"\s*\[([^\[\]\n]{1,80})\]")
_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
_NO_PROSE = ("```", "~~~", "|")
_CODE = re.compile(r"`[^`\n]*`")
_AFTER_STOP = re.compile(r"([.!?。！？؟۔])((?:\s*\[[^\[\]\n]{1,80}\])+)")


class ClaimAsk(NamedTuple):
    """Whether a text states a claim; `claim` is worded as the judge reads it, `topic` the question that it is about."""

    topic: str
    claim: str
    text: str

    @property
    def key(self) -> tuple[str, str]:
        """What a decision is kept under: the claim, and a hash of the text."""
        return self.claim, text_hash(self.text)


class CitedClaim(NamedTuple):
    """A sentence of an answer without its marks of citation, and the places of the passages that it cites, from 0.

    -1 is a mark that names no passage.
    """

    text: str
    cites: tuple[int, ...] = ()


def text_hash(text: str) -> str:
    """Sixteen hex digits of a text."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def claims_of(text: str, language: str = ENGLISH) -> list[str]:
    """The sentences of a text in this language, without marks of lists.

    Headings, tables, blocks of code and marks claim nothing.
    """
    units = [text[one.start : one.end].strip() for one in text_units(text, language) if one.level < HEADING]
    sentences = [_ITEM.sub("", one) for one in units if not one.startswith(_NO_PROSE)]
    return [one for one in sentences if re.search(r"\w", one)]


def cited_claims(reply: str, passages: Sequence[str], language: str = ENGLISH) -> list[CitedClaim]:
    """The claims of an answer in this language with what they cite.

    `[2]`, `[1, 3]` count the passages from 1, `[c12]` names an id. Brackets that hold anything
    else stay in the claim, and so do those within code. Marks after a full stop belong to the sentence before them.
    """
    found: list[CitedClaim] = []
    for sentence in claims_of(_AFTER_STOP.sub(r"\2\1", reply), language):
        code = [one.span() for one in _CODE.finditer(sentence)]
        cites: list[int] = []

        def taken(mark: re.Match[str], code: list[tuple[int, int]] = code, cites: list[int] = cites) -> str:
            places = _cited(mark[1], passages)
            if places is None or any(start <= mark.start(1) < end for start, end in code):
                return mark[0]
            cites.extend(places)
            return ""

        text = _MARK.sub(taken, sentence).strip()
        if re.search(r"\w", text):
            found.append(CitedClaim(text, tuple(dict.fromkeys(cites))))
    return found


def _cited(inside: str, passages: Sequence[str]) -> list[int] | None:
    """The places that a mark names; None for one that is no citation."""
    if not passages:
        return None
    if inside.strip() in passages:
        return [passages.index(inside.strip())]
    places = []
    for part in map(str.strip, re.split(r"[,;]", inside)):
        if part in passages:
            places.append(passages.index(part))
        elif part.isdecimal():
            places.append(int(part) - 1 if 1 <= int(part) <= len(passages) else -1)
        else:
            return None
    return places


def word_for_word(sentence: str, text: str, language: str = ENGLISH) -> bool:
    """Whether a sentence is one of a text's in this language, white space and case apart."""
    return _plain(sentence) in _plain_sentences(text, language)


@functools.lru_cache(maxsize=4096)
def _plain_sentences(text: str, language: str) -> frozenset[str]:
    """The sentences of a text, which many questions are about."""
    return frozenset(map(_plain, claims_of(text, language)))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def claim_judge_name(model: str, *, by_reply: bool) -> str:
    """What decisions are kept under: the model, the version of the prompt, and how the model says yes."""
    return model if model.startswith(ENTAILMENT) else f"{model}, {VERSION}, {'reply' if by_reply else 'likelihood'}"


def entailment_judge(model: str) -> Callable[[ReportMaterial], Judge]:
    """A model of entailment, `entailment:NAME`, as a judge of claims; loads it."""
    entails = cross_encoder(model.removeprefix(ENTAILMENT))
    return lambda material: EntailmentJudge(entails, material)


def language_model_judge(model: CachedLanguageModel, *, by_reply: bool) -> Callable[[ReportMaterial], Judge]:
    """A language model as a judge of claims: by the likelihoods of yes and no, or by what it writes."""
    return lambda material: LanguageModelJudge(model, material, by="reply" if by_reply else "likelihood")


def decide_claims(
    asks: Sequence[ClaimAsk], judge_of: Callable[[ReportMaterial], Judge]
) -> Iterator[tuple[ClaimAsk, Decision]]:
    """The judge's decision of each question, in batches; texts that are too long for it are read to its limit."""
    claims: dict[str, dict[str, int]] = {}
    for one in asks:
        known = claims.setdefault(one.topic, {})
        known.setdefault(one.claim, len(known))
    reports = [SystemReport("", topic, tuple(map(Sentence, known))) for topic, known in claims.items()]
    judge = judge_of(ReportMaterial.of(reports, (), {text_hash(one.text): one.text for one in asks}))
    for start in range(0, len(asks), BATCH):
        batch = asks[start : start + BATCH]
        wanted = [Ask("supported", "", one.topic, claims[one.topic][one.claim], text_hash(one.text)) for one in batch]
        yield from zip(batch, judge.decide(wanted), strict=True)
