"""Queries of a question: what people type who need its answer, or its passage, and have never seen that.

A query holds when a model that reads the passage says that it answers it. That it should give the key again is not
asked for: such wordings are those with the passage's own rare names, which lexical retrieval finds.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from exam_gen._prompts import answerable_prompt, search_prompt, wording_prompt
from exam_gen.drafting._verification import VerificationCase
from exam_gen.language._known_languages import exam_language, reply_room
from exam_gen.language._outside_references import outside_reference
from exam_gen.language._reply_language import other_language
from exam_gen.language._stems import leaks
from examcore import (
    ENGLISH,
    CachedLanguageModel,
    NoReply,
    Prompt,
    content_stems,
    function_words,
    language_named,
    normalized,
    overlap,
)

KIND = "question"
"""The kind of these queries."""
KEYWORDS = "keywords"
"""The kind of those of their content words alone."""
TYPOS = "typos"
"""The kind of those with typing errors."""
WORDS_A_TYPO = 5
"""Words of a query with typing errors for each error."""
PEOPLE = (0.3, 0.45, 0.55, 0.6, 0.67, 0.75, 0.8, 0.9, 1.0, 1.0)
"""Overlaps of people's questions with the passages that answer them, in ten equal parts: rounded over collections of
search queries, forum titles and conversations, whose means lie between .5 and .8 (`docs/exam-writing.md`)."""
TEMPERATURES = (0.0, 0.8, 0.8)
"""One wording as likely as can be, two drawn."""
TRIES = len(TEMPERATURES) + 1
"""Requests for wordings: the last is for those of the whole passage."""
SEARCHED_TEMPERATURE = 0.8
"""At which a question about the whole passage is drawn, and reworded."""
YES_TOKENS = 2
"""Room for Yes or No."""
MAX_TOKENS = 32
"""Room for twenty-five words."""
MOST_WORDS = 25
"""Longer ones are stories, not questions."""
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEAR = {key: row[max(at - 1, 0) : at] + row[at + 1 : at + 2] for row in _ROWS for at, key in enumerate(row)}
"""The keys beside each on a keyboard."""


class Wording(NamedTuple):
    """A wording of a question and its overlap with the passage."""

    text: str
    overlap: float


class Wordings(NamedTuple):
    """What people may ask: for the `fact` that a question is about, and for what its whole `passage` tells.

    `tried` of `TRIES` requests for them were made.
    """

    fact: tuple[Wording, ...] = ()
    passage: tuple[Wording, ...] = ()
    tried: int = 0


@dataclass(frozen=True)
class QueryWriter:
    """Who writes wordings of questions, who reads whether a passage answers them, the `common` words, and a seed."""

    writer: CachedLanguageModel
    reader: CachedLanguageModel
    common: frozenset[str]
    seed: int

    def first(self, asked: Sequence[VerificationCase], given: Sequence[Sequence[str]] = ()) -> list[Wordings | NoReply]:
        """A wording without a fault of each question, or all such that are `given`: no passage is read for them.

        The writer is asked until there is one. A question for which it gave no reply at all has none.
        """
        drafts = [_Candidates(case, self.common, Wordings()) for case in asked]
        for one, texts in zip(drafts, given, strict=False):
            one.add(texts)
            one.tried = TRIES if texts else 0
        self._reword([one for one in drafts if not one.tried], until_one=True)
        return [one.wordings() for one in drafts]

    def answered(self, known: Sequence[tuple[VerificationCase, Wordings]]) -> list[Wordings | NoReply]:
        """The wordings of each question that hold: a reader says that the passage answers them.

        Where none does, the writer is asked for others.
        """
        drafts = [_Candidates(case, self.common, wordings) for case, wordings in known]
        self._read(drafts)
        self._complete([one for one in drafts if not one.texts])
        return [one.wordings() for one in drafts]

    def further(self, known: Sequence[tuple[VerificationCase, Wordings]]) -> list[Wordings | NoReply]:
        """The wordings of each question, all of which hold, and the others that do."""
        drafts = [_Candidates(case, self.common, wordings) for case, wordings in known]
        for one in drafts:
            one.held = set(one.texts)
        self._complete(drafts)
        return [one.wordings() for one in drafts]

    def _complete(self, drafts: Sequence[_Candidates]) -> None:
        """Ask for the wordings that are left, and for those of the whole passage; leave what holds."""
        wanting = [one for one in drafts if one.tried < TRIES]
        self._reword(wanting)
        prompts = [search_prompt(one.case.title, one.case.passage, one.case.language) for one in wanting]
        searched = _written(self.writer, prompts, wanting, self.seed, SEARCHED_TEMPERATURE)
        prompts = [wording_prompt(text, one.case.language) for one, text in searched]
        again = _written(self.writer, prompts, [one for one, _ in searched], self.seed, SEARCHED_TEMPERATURE)
        for one, text in [*searched, *again]:
            one.add([text], of_passage=True)
        for one in wanting:
            one.tried = TRIES
        self._read(wanting)

    def _reword(self, wanting: Sequence[_Candidates], *, until_one: bool = False) -> None:
        """Ask for wordings of the facts at the temperatures that are left, or until there is one."""
        for number, temperature in enumerate(TEMPERATURES):
            now = [one for one in wanting if one.tried <= number and not (until_one and one.texts)]
            prompts = [wording_prompt(one.case.stem, one.case.language) for one in now]
            for one, text in _written(self.writer, prompts, now, self.seed + number, temperature):
                one.add([text])
            for one in now:
                one.tried = number + 1

    def _read(self, drafts: Sequence[_Candidates]) -> None:
        """Leave the texts that the passages answer."""
        cases = [(one, text) for one in drafts for text in one.texts if text not in one.held]
        asking = [(one.case, text) for one, text in cases]
        prompts = [answerable_prompt(case.title, case.passage, text, case.language) for case, text in asking]
        replies = self.reader.replies(prompts, max_tokens=YES_TOKENS, stop=("\n",), seed=self.seed)
        for (one, text), said in zip(cases, replies, strict=True):
            if isinstance(said, NoReply):
                one.silent = said
            if isinstance(said, NoReply) or not said.strip().lower().startswith(_yes(one)):
                del one.texts[text]


def _yes(asked: _Candidates) -> str:
    """What a reply begins with that says yes."""
    return exam_language(asked.case.language).prompts.yes.lower()


class _Candidates:
    """The wordings of a question that were proposed and may hold, and whether each is of the whole passage.

    Those `held` need not be read again.
    """

    def __init__(self, case: VerificationCase, common: frozenset[str], known: Wordings) -> None:
        self.case, self.tried, self._common = case, known.tried, common
        self.texts = {one.text: False for one in known.fact} | {one.text: True for one in known.passage}
        self.held: set[str] = set()
        self.silent: NoReply | None = None

    def add(self, texts: Sequence[str], *, of_passage: bool = False) -> None:
        """Propose texts; those with a fault, and those that are there, are left out."""
        for text in texts:
            there = {normalized(one) for one in self.texts}
            if normalized(text) not in there and fault(text, self.case, self._common) is None:
                self.texts[text] = of_passage

    def wordings(self) -> Wordings | NoReply:
        """Those that are left; without one for the fact none, as a sitting searches for that."""
        source = f"{self.case.title} {self.case.passage}"
        found = [
            (Wording(text, overlap(text, source, self.case.language)), whole) for text, whole in self.texts.items()
        ]
        fact = tuple(one for one, of_passage in found if not of_passage)
        if not fact:
            return self.silent or Wordings(tried=self.tried)
        return Wordings(fact, tuple(one for one, of_passage in found if of_passage), self.tried)


def _written(
    writer: CachedLanguageModel, prompts: Sequence[Prompt], of: Sequence[_Candidates], seed: int, temperature: float
) -> list[tuple[_Candidates, str]]:
    """The questions that the writer replied with, each with what it was asked for."""
    room = reply_room(MAX_TOKENS, (one.case.language for one in of))
    replies = writer.replies(prompts, max_tokens=room, stop=("\n",), seed=seed, temperature=temperature)
    found = []
    for one, raw in zip(of, replies, strict=True):
        if isinstance(raw, NoReply):
            one.silent = raw
        elif (text := read_wording(raw)).endswith(("?", "？")):
            found.append((one, text))
    return found


def read_wording(raw: str) -> str:
    """The question in a reply: up to its question mark, on one line."""
    text = " ".join(raw.strip().split("\n")[0].split()).strip("\"'「」")
    end = re.search(r"[?？]", text)
    text = text[: end.end()] if end else text
    return f"{text[:-1]}？" if text.endswith("か。") else text


def fault(text: str, case: VerificationCase, common: frozenset[str]) -> str | None:
    """Why a text is no wording of a question, None if it may be one.

    It gives the key away, is the stem itself, speaks of a text, is in another language, or names no subject: none of
    the words that it shares with stem or title is one that few passages have.
    """
    code = case.language
    if len(text.split()) > MOST_WORDS or len(content_stems(text, code)) < 2:
        return "too long or too short"
    if leaks(text, case.key, code):
        return "contains the key"
    if normalized(text) == normalized(case.stem):
        return "is the stem"
    if outside_reference(text, code):
        return "speaks of a text"
    if code != ENGLISH and other_language(text, code):
        return "is in another language"
    named = content_stems(text, code) & content_stems(f"{case.stem} {case.title}", code)
    if named <= common:
        return "does not name its subject"
    return None


_RUN = re.compile(r"[一-龯々ァ-ヶー\u0e00-\u0e7f]{2,}|[A-Za-z\d][\w./+-]*")
"""Words of a language without spaces: what is written in hiragana is grammar."""


def keywords(text: str, code: str = ENGLISH) -> str:
    """The content words of a question, in its order: what people type into a search box."""
    if not language_named(code).spaced:
        return " ".join(dict.fromkeys(_RUN.findall(text)))
    words = [word.strip("?!.,;:\"'()¿«»„“") for word in text.split()]
    kept = [word for word in words if word and word.lower() not in function_words(code)]
    return " ".join(dict.fromkeys(kept))


def mistyped(text: str, seed: object) -> str:
    """The text with typing errors: in one of its longer words for every five words, a letter too few, twice or wrong,
    or two that changed places, the kinds of which Damerau (1964) found four errors in five."""
    rng = random.Random(f"{seed}:{text}")
    words = text.split(" ")
    long = [place for place, word in enumerate(words) if len(word) >= 4 and word.strip("?!.,;:\"'()").isalpha()]
    for place in rng.sample(long, min(len(long), max(1, len(words) // WORDS_A_TYPO))):
        word = words[place]
        at = rng.randrange(1, len(word.rstrip("?!.,;:\"'()")) - 1)
        wrong = (
            word[:at] + word[at + 1 :],
            word[: at + 1] + word[at:],
            word[:at] + rng.choice(_beside(word, at)) + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
        words[place] = rng.choice([one for one in wrong if one != word])
    return " ".join(words)


def _beside(word: str, at: int) -> str:
    """The keys beside that of a letter; of one that the keyboard lacks, the letter before it."""
    return _NEAR.get(word[at].lower(), "e" if word[at].isascii() else word[at - 1])


def spread_over(found: Sequence[Sequence[Wording]], target: Sequence[float]) -> list[tuple[Wording, ...]]:
    """One wording of each question that has any, so that their overlaps are as near to the target as can be.

    `target` are overlaps, of which the exam takes equal parts. Questions and quantiles of the target are matched so
    that the sum of squared differences is least.
    """
    from scipy.optimize import linear_sum_assignment

    worded = [each for each in found if each]
    if not worded:
        return [() for _ in found]
    quantiles = np.quantile(np.asarray(target, float), (np.arange(len(worded)) + 0.5) / len(worded))
    off = [(np.array([one.overlap for one in each])[:, None] - quantiles) ** 2 for each in worded]
    _, slots = linear_sum_assignment(np.array([each.min(axis=0) for each in off]))
    chosen = iter([each[int(one[:, slot].argmin())] for each, one, slot in zip(worded, off, slots, strict=True)])
    return [(next(chosen),) if each else () for each in found]
