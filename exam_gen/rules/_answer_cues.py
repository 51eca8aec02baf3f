"""What gives a key away to someone who knows nothing: its length, its form, the grammar of the stem, its position."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from exam_gen._assembly import shuffle_exam
from exam_gen._baselines import fixed_answer_baseline
from exam_gen.language._known_languages import exam_language
from exam_gen.language._similarity import distractors
from exam_gen.language._words import VERBS
from exam_gen.rules._rule import Finding, RuleJudge, RuleTools
from examcore import ENGLISH, Question, text_width

_LEAST_DIFFERENCE = 12
"""Characters by which a key must stand out before its length can be noticed; Chinese and Japanese ones count twice."""


def length_cue(question: Question) -> float:
    """How many times longer the key is than the longest distractor, or shorter than the shortest; at least 1.

    A key within twelve characters of a distractor counts as no cue, however short both are.
    """
    key = max(text_width(question.answer), 1)
    lengths = [max(text_width(one), 1) for one in distractors(question)]
    longest, shortest = max(lengths, default=key), min(lengths, default=key)
    if key - longest >= _LEAST_DIFFERENCE:
        return key / longest
    return shortest / key if shortest - key >= _LEAST_DIFFERENCE else 1.0


_FORMS: dict[str, Callable[[str], object]] = {
    "capital": lambda text: next((letter.isupper() for letter in text if letter.isalpha()), None),
    "full stop": lambda text: text.endswith((".", "。")),
    "digits": lambda text: bool(re.search(r"\d", text)),
    "code": lambda text: bool(re.search(r"[_(){}<>=`]|\w\.\w", text)),
    "number of words": lambda text: min(len(text.split()), 3) + (len(text.split()) > 7),
}
"""What is compared in any language."""
_ENGLISH_FORMS: dict[str, Callable[[str], object]] = {
    "plural": lambda text: _is_plural(text),
    "verb": lambda text: bool(re.match(r"to\s", text, re.I)) or text.split(" ")[0].lower() in VERBS,
    "gerund": lambda text: bool(re.match(r"\w{2,}ing\s", text)),
    "negation": lambda text: bool(re.search(r"\b(?:not|no|never|without|cannot)\b|n['’]t\b", text, re.I)),
}


def odd_forms(question: Question) -> tuple[str, ...]:
    """The ways in which the key differs from all distractors while these are alike among themselves."""
    others = [one.strip() for one in distractors(question)]
    if len(others) < 2:
        return ()
    odd = []
    for name, form in _forms(question.language).items():
        alike = {form(one) for one in others}
        if len(alike) == 1 and form(question.answer.strip()) not in alike:
            odd.append(name)
    return tuple(odd)


@cache
def _forms(code: str) -> Mapping[str, Callable[[str], object]]:
    """What is compared in a language: each form by its name."""
    language = exam_language(code)

    def article(text: str) -> bool:
        first = re.match(r"[^\s'’]+(?=[\s'’])", text)
        return first is not None and first.group().lower() in language.articles

    def negation(text: str) -> bool:
        return language.negation.search(text) is not None

    return {**_FORMS, "article": article, **(_ENGLISH_FORMS if code == ENGLISH else {"negation": negation})}


def _is_plural(text: str) -> bool:
    last = re.findall(r"[a-z]+", text.lower())[-1:]
    return bool(last) and len(last[0]) > 3 and last[0].endswith("s") and not last[0].endswith(("ss", "us", "is"))


_BEFORE_GAP = r"(?:\s+[\"“'`(]*(?:_{2,}(?!\w)|\.{3}|…)|[\"”'`)]*\s*[?:]\s*$)"
_ARTICLE = re.compile(rf"\b(an?){_BEFORE_GAP}")
_NEUTRAL = re.compile(rf"\ba\(n\){_BEFORE_GAP}")
_SOUNDS_LIKE_A_CONSONANT = re.compile(r"(?:uni(?!n|m)|use|usu|util|eu|one\b|once\b|u[bcfhjkqrst][aeiou])", re.I)
_SOUNDS_LIKE_A_VOWEL = re.compile(r"(?:hour|hono|heir|honest|[FHLMNRSX](?:[A-Z\d]|\b))")


def neutral_article(question: Question) -> Question | None:
    """The question with "a(n)" for an article before the gap that only some of the choices could follow; else None."""
    match = _ARTICLE.search(question.stem)
    if match is None or len({_opens_with_vowel(choice) for choice in question.choices}) == 1:
        return None
    return replace(question, stem=f"{question.stem[: match.start(1)]}a(n){question.stem[match.end(1) :]}")


def grammar_cue(question: Question) -> str | None:
    """The article before the gap or at the end of the stem fits a distractor, too."""
    match = _ARTICLE.search(question.stem)
    article = match.group(1) if match else "a(n)" if _NEUTRAL.search(question.stem) else None
    if article is None or not _fits(article, question.answer):
        return None
    if any(_fits(article, one) for one in distractors(question)):
        return None
    return f"only the key fits after {article!r}"


def _fits(article: str, text: str) -> bool:
    """Whether a text may follow the article: a singular, with the right sound after "a" and "an"."""
    sound = article == "a(n)" or _opens_with_vowel(text) == (article == "an")
    return sound and not _is_plural(text)


def _opens_with_vowel(text: str) -> bool:
    """Whether a text is spoken with a vowel first, judged by its first letters."""
    start = text.lstrip(" \"'`*([“")
    vowel = bool(re.match(r"[aeiou]", start, re.I)) and not _SOUNDS_LIKE_A_CONSONANT.match(start)
    return vowel or bool(_SOUNDS_LIKE_A_VOWEL.match(start))


def balanced_positions(level: float = 0.05) -> RuleJudge:
    """Shuffle all choices anew, keys evenly spread, when always picking one position scores beyond chance.

    `level`: the p-value below which the best fixed position counts as beyond chance.
    """

    def judge(questions: Sequence[Question], tools: RuleTools) -> list[Finding]:
        if fixed_answer_baseline(questions, seed=tools.seed).p_value >= level:
            return [None] * len(questions)
        return list(shuffle_exam(questions, tools.seed))

    return judge
