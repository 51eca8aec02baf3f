"""The languages that have a module, and the general form of those that have none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from exam_gen.language._english import ENGLISH_MODULE
from exam_gen.language._exam_language import ExamLanguage, general_language
from exam_gen.language._french import FRENCH_MODULE
from exam_gen.language._german import GERMAN_MODULE
from exam_gen.language._japanese import JAPANESE_MODULE
from exam_gen.language._spanish import SPANISH_MODULE
from examcore import ENGLISH, language_named

MODULES: Mapping[str, ExamLanguage] = {
    one.code: one for one in (ENGLISH_MODULE, FRENCH_MODULE, GERMAN_MODULE, JAPANESE_MODULE, SPANISH_MODULE)
}
"""What is known of each language with a module, by its code."""


@cache
def exam_language(code: str) -> ExamLanguage:
    """What is known of a language; `ValueError` for a code of none."""
    language = language_named(code)
    return MODULES[code] if code in MODULES else general_language(language, ENGLISH_MODULE)


def reply_room(tokens: int, codes: Iterable[str]) -> int:
    """Most tokens of a batch of replies in these languages: `tokens` if all are in English, else twice as many."""
    return tokens if all(code == ENGLISH for code in codes) else 2 * tokens
