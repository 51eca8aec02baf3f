"""Faults that show in one question alone: form, marked choices, a key given away, references outside, personal data."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from exam_gen.language._known_languages import exam_language
from exam_gen.language._outside_references import outside_reference
from exam_gen.language._similarity import distractors
from exam_gen.rules._rule import Check
from examcore import Question, function_words, language_named, normalized, text_width, words


def no_question(question: Question) -> str | None:
    """The stem ends in a question mark."""
    ends = question.stem.rstrip(" \"'”’)*`").endswith(("?", "？", "؟"))
    return None if ends else "the stem does not end in a question mark"


def empty_choice(question: Question) -> str | None:
    """Every choice has text or marks."""
    number = next((n for n, one in enumerate(question.choices) if not re.search(r"\w|[^\w\s]", normalized(one))), None)
    return None if number is None else f"choice {number}"


def duplicate_choices(question: Question) -> str | None:
    """Choices differ in more than case, spacing and outer punctuation."""
    texts = [normalized(choice) for choice in question.choices]
    again = len(texts) - len(set(texts))
    return f"{again} of {len(texts)}" if again else None


_MARKS = re.compile(r"[✓✔✅❌]|^\s*[(\[]?[A-Da-d][).\]]\s")
"""What marks or labels a choice in any language."""


def marked_choice(question: Question) -> str | None:
    """No choice says whether it is right, carries a label, or swallowed the answer line."""
    words = exam_language(question.language).marked
    return _choice_with(question, lambda text: words.search(text) or _MARKS.search(text))


def catch_all(question: Question) -> str | None:
    """No choice stands for others ("all of the above", "both A and C") or for none ("cannot be determined").

    None is told in a language without a module.
    """
    return _choice_with(question, exam_language(question.language).catch_all.search)


def without_catch_all(question: Question, least: int = 3) -> Question | None:
    """The question without its catch-all choices, where these are wrong and `least` choices remain; else None."""
    pattern = exam_language(question.language).catch_all
    stays = [n for n, one in enumerate(question.choices) if not pattern.search(one.strip())]
    if len(stays) == len(question.choices) or question.key not in stays or len(stays) < least:
        return None
    return replace(question, choices=tuple(question.choices[n] for n in stays), key=stays.index(question.key))


def _choice_with(question: Question, found: Callable[[str], object]) -> str | None:
    number = next((n for n, one in enumerate(question.choices) if found(one.strip())), None)
    return None if number is None else f"choice {number} is {question.choices[number][:60]!r}"


_MOST_WORDS = 400
"""Words of stem and choices that are compared: more are a runaway reply, which would take its square in time."""


def answer_leak(question: Question) -> str | None:
    """The stem does not give the key away: by holding it whole, or a long run of its words that no distractor has."""
    code = question.language
    stem = _words(question.stem, code)[:_MOST_WORDS]
    key = _words(question.answer, code)[:_MOST_WORDS]
    others = [_words(one, code)[:_MOST_WORDS] for one in distractors(question)]
    if not key or all(_run(other, stem) == len(other) for other in others):
        return None
    shared = _run(key, stem)
    if shared == len(key) and len("".join(key)) > 2:
        return f"all {_counted_words(key, code)} of the key are in the stem"
    elsewhere = max((_run(other, stem) for other in others), default=0)
    if shared >= max(4, 0.6 * len(key)) and shared > elsewhere + 1:
        return f"{shared} of {_counted_words(key, code)} of the key are in the stem"
    return None


def _words(text: str, code: str) -> list[str]:
    return words(normalized(text), code)


def _counted_words(found: Sequence[str], code: str) -> str:
    return f"{len(found)} {'words' if language_named(code).spaced else 'pairs of characters'}"


def _run(part: Sequence[str], whole: Sequence[str]) -> int:
    """The longest run of neighbouring words of `part` that also stands in `whole`."""
    return SequenceMatcher(None, part, whole, autojunk=False).find_longest_match().size


_QUOTED = re.compile(r"[\"“„«「『]([^\"“”„«»「」『』]+)[\"”“»」』]")
LEAST_QUOTED = 12
"""Width of a quoted phrase: a shorter one is a name."""


def quoted_leak(question: Question) -> float:
    """How much more of the key than of any distractor stands in a passage phrase that the stem quotes, 0 to 1.

    Counted in content words, by their first six letters; a phrase of at least three words counts as the passage's when
    its words stand there in a row (a gap may stand for some).
    """
    code = question.language
    passage = f" {' '.join(_words(question.context, code))} "
    phrases = [one for one in _QUOTED.findall(question.stem) if text_width(one) >= LEAST_QUOTED]
    quoted = [phrase for phrase in phrases if _quotes(phrase, passage, code)]
    if not quoted:
        return 0.0
    seen = _content(" ".join(quoted), code)
    others = (_part(one, seen, code) for one in distractors(question))
    return max(0.0, _part(question.answer, seen, code) - max(others, default=0))


def _quotes(phrase: str, passage: str, code: str) -> bool:
    parts = [_words(part, code) for part in re.split(r"(?:\ba\(n\)\s+)?_{2,}|…|\.{3}", phrase)]
    return sum(map(len, parts)) >= 3 and all(f" {' '.join(part)} " in passage for part in parts if part)


def _part(text: str, seen: set[str], code: str) -> float:
    own = _content(text, code)
    return len(own & seen) / len(own) if own else 0.0


def _content(text: str, code: str) -> set[str]:
    empty = function_words(code)
    return {word[:6] for word in _words(text, code) if word not in empty}


def self_contained(question: Question) -> str | None:
    """The stem can be understood without the passage: it neither points to a text nor leans on an unnamed thing."""
    found = outside_reference(question.stem, question.language)
    return None if found is None else f"{found!r} points outside the question"


_NAMES_A_TEXT = re.compile(
    r"\b(?:documentation|paper|article|research|study)\b|\b(?:in|of the)\s*[\"“][^\"”]+[\"”]", re.I
)


def names_a_text(question: Question) -> str | None:
    """The paper's own, stricter form of `self_contained`: no word for a text at all, and no title in quotes."""
    match = _NAMES_A_TEXT.search(question.stem)
    return repr(match.group()) if match else None


_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@([\w-]{1,63}(?:\.[\w-]{1,63}){1,8})")
_RESERVED = re.compile(r"(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|localhost)$", re.I)
"""Domains that stand for nobody (RFC 2606)."""
_PHONE = re.compile(
    r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){6,12}|\(\d{3}\)[ .-]?\d{3}[ .-]\d{4}"
    r"|\d{3}[.-]\d{3}[.-]\d{4})(?![\w-])"
)
_CARD = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])")


def personal_data(question: Question) -> str | None:
    """Neither stem nor choices hold an e-mail address, a telephone number or a payment card's number.

    The finding names the kind only: a reason must not repeat what it removes.
    """
    for text in (question.stem, *question.choices):
        if any(not _RESERVED.search(domain) for domain in _MAIL.findall(text)):
            return "an e-mail address"
        if any(luhn(number) for number in _CARD.findall(text)):
            return "a payment card's number"
        if _PHONE.search(text):
            return "a telephone number"
    return None


def luhn(number: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812-1, annex B); marks are passed over."""
    digits = [int(mark) for mark in reversed(number) if mark.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return bool(digits) and any(digits) and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def without_words(blocked: Sequence[str]) -> Check:
    """Neither stem nor choices hold one of the words, as a whole word in any case."""
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(blocked, key=len, reverse=True)))})(?!\w)", re.I)

    def check(question: Question) -> str | None:
        match = next((found for text in (question.stem, *question.choices) if (found := pattern.search(text))), None)
        return repr(match.group()) if blocked and match else None

    return check
