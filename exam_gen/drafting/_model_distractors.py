"""Wrong answers that a model writes where the key is a phrase or a clause, of which a corpus has few of like form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from exam_gen._prompts import wrong_answers_prompt
from exam_gen.drafting._corpus_distractors import apart
from exam_gen.language._known_languages import exam_language, reply_room
from exam_gen.language._reply_language import foreign
from examcore import ENGLISH, CachedLanguageModel, NoReply, function_words

MAX_TOKENS = 72
"""Room for four answers of a dozen words in all, and their semicolons."""
_MARK = re.compile(r"^\s*(?:[-*•]|\(?[A-Da-d1-9][.)])\s*")


class AskedKey(NamedTuple):
    """A stem with its key, the sentence that this comes from, and the language of the stem."""

    stem: str
    key: str
    sentence: str
    language: str = ENGLISH


def wants_writing(kind: str) -> bool:
    """Whether a key of this kind gets written wrong answers: a phrase or clause, whose neighbours make sense."""
    return kind.split(":")[0] in {"phrase", "clause"}


class WrittenAnswers(NamedTuple):
    """The usable wrong answers of a reply, and why it is in another language than the stem, if it is."""

    texts: tuple[str, ...]
    foreign: str = ""


def written_answers(
    asked: Sequence[AskedKey], model: CachedLanguageModel, *, seed: int, temperature: float = 0.0
) -> list[WrittenAnswers | NoReply]:
    """The usable wrong answers the model lists between semicolons for each stem with its key, as one batch."""
    prompts = [wrong_answers_prompt(one.stem, one.key, one.language) for one in asked]
    room = reply_room(MAX_TOKENS, (one.language for one in asked))
    replies = model.replies(prompts, max_tokens=room, stop=("\n",), seed=seed, temperature=temperature)
    return [raw if isinstance(raw, NoReply) else _read(raw, one) for one, raw in zip(asked, replies, strict=True)]


def _read(raw: str, asked: AskedKey) -> WrittenAnswers:
    if asked.language != ENGLISH and (wrong := foreign(raw, asked.language)):
        return WrittenAnswers((), wrong)
    return WrittenAnswers(tuple(usable_wrong_answers(re.split(r"[;；]", raw), asked)))


def usable_wrong_answers(pieces: Sequence[str], asked: AskedKey) -> list[str]:
    """The texts that can be wrong answers, in the key's case and punctuation.

    Left out are those that repeat the key or its sentence, mean the same by their words, differ much in length, or
    speak of the task ("not related to the topic").
    """
    found: dict[str, str] = {}
    evades = exam_language(asked.language).evades
    for piece in pieces:
        text = _alike(_MARK.sub("", piece), asked.key, asked.language)
        if text and not evades.search(text) and apart(text, asked.key, asked.sentence, asked.stem, asked.language):
            found.setdefault(text.lower(), text)
    return list(found.values())


def _alike(text: str, key: str, code: str) -> str:
    """The text without outer marks and article the key lacks, its first letter in the key's case if a plain word."""
    text = " ".join(text.split()).strip()
    text = text if _has_article(key, code) or not _has_article(text, code) else text.partition(" ")[2].strip()
    text = text.rstrip(".,:。") if key[-1:] not in ".,:。" else text
    for mark in "\"'`":
        if text[:1] == mark == text[-1:] and key[:1] != mark:
            text = text[1:-1]
    plain = code == ENGLISH or text.partition(" ")[0].lower() in function_words(code)
    if key[:1].islower() and plain and re.match(r"[A-Z][a-z]+\b", text):
        text = text[0].lower() + text[1:]
    if key[:1].isupper() and text[:1].islower():
        text = text[0].upper() + text[1:]
    return text


def _has_article(text: str, code: str) -> bool:
    first, _, rest = text.partition(" ")
    return first.lower() in exam_language(code).articles and bool(rest.strip())
