"""Claims of texts, and whether other texts state them: what scores of free-text answers are counted from.

A claim is a sentence. Whether a text states it is decided by rule where the sentence stands there word for word, else
by a judge of ARGUE's support, which is asked each thing once.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from examcore import ENGLISH, CachedLanguageModel, NoReply, text_units
from grading._records import Sentence, SystemReport
from grading.reports._claim_calibration import FEWEST_UNRELATED, UNRELATED, ClaimOdds
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
    if model.startswith(ENTAILMENT):
        return model
    return f"{model}, {VERSION}, {'reply' if by_reply else f'likelihood over {UNRELATED} unrelated texts'}"


def entailment_judge(model: str) -> Callable[[ReportMaterial], Judge]:
    """A model of entailment, `entailment:NAME`, as a judge of claims; loads it."""
    entails = cross_encoder(model.removeprefix(ENTAILMENT))
    return lambda material: EntailmentJudge(entails, material)


def replying_judge(model: CachedLanguageModel) -> Callable[[ReportMaterial], Judge]:
    """A language model as a judge of claims by what it writes."""
    return lambda material: LanguageModelJudge(model, material, by="reply")


def shares_a_sentence(one: str, other: str, language: str = ENGLISH) -> bool:
    """Whether two texts in a language have a sentence in common."""
    return not _plain_sentences(one, language).isdisjoint(_plain_sentences(other, language))


def decide_claims(
    asks: Sequence[ClaimAsk], judge_of: Callable[[ReportMaterial], Judge]
) -> Iterator[tuple[ClaimAsk, Decision]]:
    """The judge's decision of each question, in batches; texts that are too long for it are read to its limit."""
    material, wanted = _material(asks)
    judge = judge_of(material)
    for start in range(0, len(asks), BATCH):
        batch = slice(start, start + BATCH)
        yield from zip(asks[batch], judge.decide(wanted[batch]), strict=True)


def weigh_claims(
    asks: Sequence[ClaimAsk], unrelated: Mapping[str, Sequence[str]], model: CachedLanguageModel
) -> Iterator[tuple[ClaimAsk, ClaimOdds | Decision]]:
    """The log-odds of each question beside its text and beside unrelated texts, which are given by topic.

    A decision, which is open, stands where there are none. Topic by topic, since claims of one topic share their texts,
    which are then read once. `model.steps` tells the cost of `claims` and of `unrelated` texts apart.
    """
    ordered = sorted(asks, key=lambda one: (one.topic, one.text))
    claims = dict.fromkeys((one.topic, one.claim) for one in ordered)
    others = [ClaimAsk(topic, claim, text) for topic, claim in claims for text in unrelated[topic]]
    material, wanted = _material([*ordered, *others])
    judge, asked = LanguageModelJudge(model, material), dict(zip([*ordered, *others], wanted, strict=True))
    known: dict[tuple[str, str], list[float | NoReply]] = {}
    for one in ordered:
        texts, claim = unrelated[one.topic], (one.topic, one.claim)
        if len(texts) < FEWEST_UNRELATED:
            why = f"{len(texts)} texts of other questions; wanted {FEWEST_UNRELATED} to hold it against"
            yield one, Decision(None, why)
            continue
        if claim not in known:
            model.step = "unrelated"
            known[claim] = judge.log_odds([asked[ClaimAsk(*claim, text)] for text in texts])
        model.step = "claims"
        yield one, _odds([*judge.log_odds([asked[one]]), *known[claim]])


def _odds(found: Sequence[float | NoReply]) -> ClaimOdds | Decision:
    """The odds beside a text, which come first, and beside unrelated ones; open where there are none."""
    numbers = [one for one in found if not isinstance(one, NoReply)]
    if lost := [one for one in found if isinstance(one, NoReply)]:
        return Decision(None, lost[0].reason, failed=True)
    if not np.isfinite(numbers).all():
        return Decision(None, "the model gives no odds of Yes and No")
    return ClaimOdds(numbers[0], tuple(numbers[1:]))


def _material(asks: Sequence[ClaimAsk]) -> tuple[ReportMaterial, list[Ask]]:
    """Claims as the sentences of a report on their topic, the texts as documents, and what is asked in these terms."""
    claims: dict[str, dict[str, int]] = {}
    for one in asks:
        known = claims.setdefault(one.topic, {})
        known.setdefault(one.claim, len(known))
    reports = [SystemReport("", topic, tuple(map(Sentence, known))) for topic, known in claims.items()]
    material = ReportMaterial(reports, (), {text_hash(one.text): one.text for one in asks})
    return material, [
        Ask("supported", "", one.topic, claims[one.topic][one.claim], text_hash(one.text)) for one in asks
    ]
