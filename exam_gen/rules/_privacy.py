"""Personal data and unwanted words in stem and choices."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exam_gen.rules._rule import Check
from examcore import Question

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


def without_words(words: Sequence[str]) -> Check:
    """Neither stem nor choices hold one of the words, as a whole word in any case."""
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})(?!\w)", re.I)

    def check(question: Question) -> str | None:
        match = next((found for text in (question.stem, *question.choices) if (found := pattern.search(text))), None)
        return repr(match.group()) if words and match else None

    return check
