"""The same question in other words: what people type who need its answer and have never seen the passage.

A wording counts when a model that reads the passage gives the key as its answer, too, and judges the key to be right.
How well a retriever finds the passage plays no part: wordings are there to measure that.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from exam_gen._prompts import wording_prompt
from exam_gen.drafting._round_trip import round_trip
from exam_gen.drafting._verification import VerificationCase
from exam_gen.language._stems import leaks
from examcore import FUNCTION_WORDS, CachedLanguageModel, NoReply, content_stems, normalized, overlap

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


def wordings(
    asked: Sequence[VerificationCase],
    writer: CachedLanguageModel,
    reader: CachedLanguageModel,
    common: frozenset[str],
    *,
    agreement: float,
    seed: int,
    given: Sequence[Sequence[str]] = (),
) -> list[list[Wording] | NoReply]:
    """The wordings of each question that hold: a reader's answer to them has at least this `agreement` with the key.

    The writer is asked for them, but for those of questions that have some `given`. A question for which the writer
    gave no reply at all has none.
    """
    drafts: list[dict[str, str]] = [{} for _ in asked]
    silent: list[NoReply | None] = [None for _ in asked]
    for place, texts in enumerate(given):
        drafts[place] = {normalized(text): text for text in texts if fault(text, asked[place], common) is None}
    wanting = [place for place in range(len(asked)) if not (given and given[place])]
    prompts = [wording_prompt(asked[place].stem) for place in wanting]
    for number, temperature in enumerate(TEMPERATURES if prompts else ()):
        replies = writer.replies(
            prompts, max_tokens=MAX_TOKENS, stop=("\n",), seed=seed + number, temperature=temperature
        )
        for place, raw in zip(wanting, replies, strict=True):
            if isinstance(raw, NoReply):
                silent[place] = raw
                continue
            text = read_wording(raw)
            if not text.endswith("?"):
                continue
            if fault(text, asked[place], common) is None:
                drafts[place].setdefault(normalized(text), text)
    cases = [(place, asked[place]._replace(stem=text)) for place, each in enumerate(drafts) for text in each.values()]
    kept: list[list[Wording]] = [[] for _ in asked]
    for (place, case), back in zip(cases, round_trip([case for _, case in cases], reader, seed=seed), strict=True):
        if isinstance(back, NoReply):
            silent[place] = back
        elif back.agreement >= agreement:
            kept[place].append(Wording(case.stem, overlap(case.stem, f"{case.title} {case.passage}")))
    return [each or reason or [] for each, reason in zip(kept, silent, strict=True)]


def read_wording(raw: str) -> str:
    """The question in a reply: up to its question mark, on one line."""
    text = " ".join(raw.strip().split("\n")[0].split()).strip("\"'")
    end = text.find("?")
    return text[: end + 1] if end >= 0 else text


def fault(text: str, case: VerificationCase, common: frozenset[str]) -> str | None:
    """Why a text is no wording of a question, None if it may be one.

    It gives the key away, is the stem itself, or names no subject: none of the words that it shares with stem or title
    is one that few passages have.
    """
    if len(text.split()) > MOST_WORDS or len(content_stems(text)) < 2:
        return "too long or too short"
    if leaks(text, case.key):
        return "contains the key"
    if normalized(text) == normalized(case.stem):
        return "is the stem"
    named = content_stems(text) & content_stems(f"{case.stem} {case.title}")
    if named <= common:
        return "does not name its subject"
    return None


def keywords(text: str) -> str:
    """The content words of a question, in its order: what people type into a search box."""
    words = [word.strip("?!.,;:\"'()") for word in text.split()]
    kept = [word for word in words if word and word.lower() not in FUNCTION_WORDS]
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
            word[:at] + rng.choice(_NEAR.get(word[at].lower(), "e")) + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
        words[place] = rng.choice([one for one in wrong if one != word])
    return " ".join(words)


def spread_over(found: Sequence[Sequence[Wording]], target: Sequence[float]) -> list[list[Wording]]:
    """The wordings of each question, that first which brings the overlaps of all firsts nearest to the target.

    `target` are overlaps, of which the exam takes equal parts. Questions and quantiles of the target are matched so
    that the sum of squared differences is least.
    """
    from scipy.optimize import linear_sum_assignment

    worded = [each for each in found if each]
    if not worded:
        return [[] for _ in found]
    quantiles = np.quantile(np.asarray(target, float), (np.arange(len(worded)) + 0.5) / len(worded))
    off = [(np.array([one.overlap for one in each])[:, None] - quantiles) ** 2 for each in worded]
    _, slots = linear_sum_assignment(np.array([each.min(axis=0) for each in off]))
    firsts = iter([int(each[:, slot].argmin()) for each, slot in zip(off, slots, strict=True)])
    return [[each.pop(next(firsts)), *each] if each else [] for each in map(list, found)]
