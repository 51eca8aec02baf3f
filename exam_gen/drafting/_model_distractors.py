"""Wrong answers that a model writes where the key is a phrase or a clause, of which a corpus has few of like form."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exam_gen._prompts import wrong_answers_prompt
from exam_gen.drafting._corpus_distractors import apart
from examcore import CachedLanguageModel, NoReply

MAX_TOKENS = 72
"""Room for four answers of a dozen words in all, and their semicolons."""
_EVADES = re.compile(
    r"\b(?:wrong|incorrect|irrelevant|unrelated|not (?:related|relevant|a|an|the|in)|context|completion|statement"
    r"|answer|question|sentence|option|none|unknown)\b",
    re.IGNORECASE,
)
"""Words of a reply that speaks of the task, not of the subject."""
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_MARK = re.compile(r"^\s*(?:[-*•]|\(?[A-Da-d1-9][.)])\s*")


def wants_writing(kind: str) -> bool:
    """Whether a key of this kind gets written wrong answers: a phrase or clause, whose neighbours make sense."""
    return kind.split(":")[0] in {"phrase", "clause"}


def written_answers(
    asked: Sequence[tuple[str, str, str]], model: CachedLanguageModel, *, seed: int, temperature: float = 0.0
) -> list[list[str] | NoReply]:
    """The usable wrong answers the model lists between semicolons for each (stem, key, sentence), as one batch."""
    prompts = [wrong_answers_prompt(stem, key) for stem, key, _ in asked]
    replies = model.replies(prompts, max_tokens=MAX_TOKENS, stop=("\n",), seed=seed, temperature=temperature)
    return [
        raw if isinstance(raw, NoReply) else usable_wrong_answers(raw.split(";"), stem=stem, key=key, sentence=sentence)
        for (stem, key, sentence), raw in zip(asked, replies, strict=True)
    ]


def usable_wrong_answers(pieces: Sequence[str], *, stem: str, key: str, sentence: str) -> list[str]:
    """The texts that can be wrong answers, in the key's case and punctuation.

    Left out are those that repeat the key or its sentence, mean the same by their words, differ much in length, or
    speak of the task ("not related to the topic").
    """
    found: dict[str, str] = {}
    for piece in pieces:
        text = _alike(_MARK.sub("", piece), key)
        if text and not _EVADES.search(text) and apart(text, key, sentence, stem):
            found.setdefault(text.lower(), text)
    return list(found.values())


def _alike(text: str, key: str) -> str:
    """The text without outer marks and article the key lacks, its first letter in the key's case if a plain word."""
    text = " ".join(text.split()).strip()
    text = text if _ARTICLE.match(key) else _ARTICLE.sub("", text)
    text = text.rstrip(".,:") if key[-1:] not in ".,:" else text
    for mark in "\"'`":
        if text[:1] == mark == text[-1:] and key[:1] != mark:
            text = text[1:-1]
    if key[:1].islower() and re.match(r"[A-Z][a-z]+\b", text):
        text = text[0].lower() + text[1:]
    if key[:1].isupper() and text[:1].islower():
        text = text[0].upper() + text[1:]
    return text
