"""Languages: their codes, names and what libraries know of each, and the language that a text is written in.

A language is named by its code of ISO 639-1. The stop words are those of bm25s, the stemmers Snowball's, the sentence
rules pysbd's; English has stop words of its own. What has none of these is read by what holds in any language.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

ENGLISH = "en"
"""The language of what says none."""


@dataclass(frozen=True)
class Language:
    """A language: its code, its English name, and the names that libraries know it by (empty: not at all).

    `stemmer` is Snowball's, `stop_words` a list of bm25s, `segmenter` pysbd's. `spaced`: whether white space parts its
    words; where it does not, pairs of neighbouring characters stand for words. `direction`: HTML's `dir` of its texts.
    """

    code: str
    name: str
    stemmer: str = ""
    stop_words: str = ""
    segmenter: str = ""
    spaced: bool = True
    direction: Literal["auto", "rtl"] = "auto"

    @property
    def attributes(self) -> dict[str, str]:
        """HTML's attributes of its texts."""
        return {"lang": self.code, "dir": self.direction}


_ALL = (
    Language("ar", "Arabic", stemmer="arabic", segmenter="ar", direction="rtl"),
    Language("bg", "Bulgarian", segmenter="bg"),
    Language("ca", "Catalan", stemmer="catalan"),
    Language("cs", "Czech", stemmer="czech"),
    Language("da", "Danish", stemmer="danish", stop_words="DANISH", segmenter="da"),
    Language("de", "German", stemmer="german", stop_words="GERMAN", segmenter="de"),
    Language("el", "Greek", stemmer="greek", segmenter="el"),
    Language("en", "English", stemmer="english", segmenter="en"),
    Language("es", "Spanish", stemmer="spanish", stop_words="SPANISH", segmenter="es"),
    Language("et", "Estonian", stemmer="estonian"),
    Language("eu", "Basque", stemmer="basque"),
    Language("fa", "Persian", stemmer="persian", segmenter="fa", direction="rtl"),
    Language("fi", "Finnish", stemmer="finnish"),
    Language("fr", "French", stemmer="french", stop_words="FRENCH", segmenter="fr"),
    Language("he", "Hebrew", direction="rtl"),
    Language("hi", "Hindi", stemmer="hindi", segmenter="hi"),
    Language("hr", "Croatian"),
    Language("hu", "Hungarian", stemmer="hungarian"),
    Language("hy", "Armenian", stemmer="armenian", segmenter="hy"),
    Language("id", "Indonesian", stemmer="indonesian"),
    Language("it", "Italian", stemmer="italian", stop_words="ITALIAN", segmenter="it"),
    Language("ja", "Japanese", segmenter="ja", spaced=False),
    Language("ko", "Korean", stop_words="KOREAN"),
    Language("lt", "Lithuanian", stemmer="lithuanian"),
    Language("lv", "Latvian"),
    Language("nl", "Dutch", stemmer="dutch", stop_words="DUTCH", segmenter="nl"),
    Language("no", "Norwegian", stemmer="norwegian", stop_words="NORWEGIAN"),
    Language("pl", "Polish", stemmer="polish", segmenter="pl"),
    Language("pt", "Portuguese", stemmer="portuguese", stop_words="PORTUGUESE"),
    Language("ro", "Romanian", stemmer="romanian"),
    Language("ru", "Russian", stemmer="russian", stop_words="RUSSIAN", segmenter="ru"),
    Language("sk", "Slovak", segmenter="sk"),
    Language("sl", "Slovenian"),
    Language("sr", "Serbian", stemmer="serbian"),
    Language("sv", "Swedish", stemmer="swedish", stop_words="SWEDISH"),
    Language("ta", "Tamil", stemmer="tamil"),
    Language("th", "Thai", spaced=False),
    Language("tr", "Turkish", stemmer="turkish", stop_words="TURKISH"),
    Language("uk", "Ukrainian"),
    Language("ur", "Urdu", segmenter="ur", direction="rtl"),
    Language("vi", "Vietnamese"),
    Language("zh", "Chinese", segmenter="zh", spaced=False),
)

LANGUAGES: Mapping[str, Language] = {one.code: one for one in _ALL}
"""The languages that are told apart, by code."""


def language_named(code: str) -> Language:
    """The language of a code; `ValueError` for a code of none of `LANGUAGES`."""
    if code not in LANGUAGES:
        raise ValueError(f"language {code!r}: unknown; wanted one of {', '.join(LANGUAGES)}")
    return LANGUAGES[code]


SURE = 0.9
"""Probability from which a language counts as found: of whole documents all but a few reach it, of code none."""
READ_CHARACTERS = 20_000
"""Characters of a text that are read for its language: more change nothing and take time."""
_NO_LANGUAGE = "zxx"
"""The detector's own code of what is no language: numbers, markup, identifiers."""


def find_language(text: str) -> str | None:
    """The code of the language that a text is written in; None where that cannot be told, as of code or a few words.

    By py3langid: naive Bayes over byte n-grams (Lui and Baldwin 2012).
    """
    code, probability = _identifier().classify(text[:READ_CHARACTERS])
    return str(code) if probability >= SURE and code != _NO_LANGUAGE else None


@functools.cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    found = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    found.set_languages([*(code for code in LANGUAGES if code in found.labels), _NO_LANGUAGE])
    return found
