"""A round trip: does a model that reads passage and question answer with the key, unasked for it?

Questions that are written from a text and answered from it again agree with their answers where both are sound
(roundtrip consistency; Alberti, Andor, Pitler, Devlin and Collins 2019).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from exam_gen._prompts import open_prompt
from exam_gen.drafting._verification import VerificationCase
from exam_gen.language._known_languages import exam_language, reply_room
from examcore import ENGLISH, CachedLanguageModel, NoReply, words

MAX_TOKENS = 16
"""Room for the ten words that a key may have; other languages than English have twice the room."""


class RoundTrip(NamedTuple):
    """What the model answered, and how far it agrees with the key, from 0 to 1."""

    answer: str
    agreement: float


def round_trip(
    asked: Sequence[VerificationCase], model: CachedLanguageModel, *, seed: int
) -> list[RoundTrip | NoReply]:
    """The model's own answers to the stems with their passages at hand, as one batch."""
    prompts = [open_prompt(one.title, one.passage, one.stem, one.language) for one in asked]
    room = reply_room(MAX_TOKENS, (one.language for one in asked))
    replies = model.replies(prompts, max_tokens=room, stop=("\n",), seed=seed)
    return [
        raw if isinstance(raw, NoReply) else RoundTrip(raw.strip(), agreement(raw, one.key, one.stem, one.language))
        for one, raw in zip(asked, replies, strict=True)
    ]


def agreement(answer: str, key: str, stem: str = "", code: str = ENGLISH) -> float:
    """F1 of the words of answer and key, without case, marks and articles (as in SQuAD; Rajpurkar et al. 2016).

    Words of the stem do not count, for an answer may repeat it as a full sentence. An answer that may have been cut
    short is compared with as many words of the key.
    """
    asked = set(_words(stem, code))
    said, wanted = ([word for word in _words(text, code) if word not in asked] for text in (answer, key))
    if not wanted:
        said, wanted = _words(answer, code), _words(key, code)
    if len(_words(answer, code)) >= MAX_TOKENS // 2:
        wanted = wanted[: max(len(said), 1)]
    if not said or not wanted:
        return float(said == wanted)
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted))


def _words(text: str, code: str) -> list[str]:
    articles = exam_language(code).articles
    return [word for word in words(text, code) if word not in articles]
