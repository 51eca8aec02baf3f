"""Which sentences say a fact that can be read without their neighbours."""

from __future__ import annotations

import re
from functools import lru_cache

from exam_gen.language._known_languages import exam_language
from examcore import ENGLISH

_ENDS_OPEN = re.compile(r"[\[\]<>|\\$^#{}]|\.\.\.|…|;.*;|[:：]\s*\W?$")
"""Code, and what another line goes on with."""


@lru_cache(maxsize=1 << 16)
def stands_alone(sentence: str, title: str, code: str = ENGLISH) -> bool:
    """Whether a sentence under its document's title says one thing that needs no neighbour to be understood.

    In a language without a module only marks are read, no words.
    """
    return not _ENDS_OPEN.search(sentence) and not exam_language(code).leans(sentence, title)
