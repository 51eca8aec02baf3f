"""Answers in a system's own words: the prompt, and what a reply says by rule.

By rule a reply names the one choice whose words stand in it (see `_choice_parsing`), or declines to answer, or says
something else, which only a judge can tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from examcore import Chunk, Prompt, Question
from rag.answering._choice_parsing import CHOICE_PARSING_VERSION, MAX_READ_CHARACTERS, read_choice
from rag.answering._examinees import ABSTAINED, NO_CHOICE
from rag.answering._prompts import Shot, open_question_prompt

FREE_TEXT_PROMPT_VERSION = "free-text-1"
"""Stored with every answer; changes whenever a prompt changes by a character."""
FREE_TEXT_READING_VERSION = f"free-text-1, {CHOICE_PARSING_VERSION}"
"""Stored with answers that were read by these rules; change it with every rule."""
_NOT = r"(?:not|n['’]t|never)"
_DECLINES = re.compile(
    rf"\b(?:do|does|did|can|could|is|are|was|were|has|have)(?:\s+|(?=n['’]t)){_NOT}\s+(?:\w+\s+)?"
    r"(?:know|say|sa(?:id|ys)|tell|told|state[ds]?|mention(?:ed|s)?|specif(?:y|ied|ies)|provide[ds]?|give[ns]?|contain\w*"
    r"|answer(?:ed)?|determine[ds]?|include[ds]?|indicate[ds]?|available|clear|sure)\b"
    rf"|\bcan(?:not|['’]t)\s+(?:be\s+)?(?:say|tell|told|answer(?:ed)?|determine[ds]?|find|found|provide)\b"
    r"|\b(?:no|not enough|insufficient)\s+(?:\w+\s+)?(?:information|mention|answer|data|details?)\b"
    r"|\bunable\s+to\s+(?:\w+\s+)?(?:answer|say|tell|find|determine|provide)\b|\b(?:unknown|unclear|n/a)\b",
    re.IGNORECASE,
)
"""Phrases that decline to answer."""


def free_text_prompt(question: Question, passages: Sequence[Chunk], shots: Sequence[Shot] = ()) -> Prompt:
    """The prompt of one exam question that is answered in words; it does not show the choices."""
    how = "in one short sentence. If you cannot tell, write: I do not know."
    return open_question_prompt(how, question, passages, shots)


def read_free_text(written: str, choices: Sequence[str]) -> int:
    """The index of the choice whose words a reply has, `ABSTAINED` where it declines, else `NO_CHOICE`."""
    found = read_choice(written, choices, letters=False)
    if found == NO_CHOICE and _DECLINES.search(written[:MAX_READ_CHARACTERS]):
        return ABSTAINED
    return found
