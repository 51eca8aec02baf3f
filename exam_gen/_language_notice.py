"""What a reader must be told of an exam that is not all in English: which rules do not read its questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from exam_gen.language import _known_languages as known
from exam_gen.rules._catalogue import RULE_KINDS, Reads
from examcore import ENGLISH, Question, counted, language_named
from examcore.page import joined


def language_counts(questions: Sequence[Question]) -> dict[str, int]:
    """How many questions are in each language, by its code, the commonest first."""
    return dict(Counter(one.language for one in questions).most_common())


def language_notice(questions: Sequence[Question]) -> str:
    """A sentence that counts the questions by language and names the usual rules that do not read them.

    Empty where all are in English.
    """
    others = {code: count for code, count in language_counts(questions).items() if code != ENGLISH}
    if not others:
        return ""
    asked = [one for one in questions if one.language != ENGLISH]
    languages = joined([f"{count} in {language_named(code).name}" for code, count in others.items()])
    parts = [f"the rules {joined(_rules('English'))} read English alone"]
    if unknown := [code for code in others if code not in known.MODULES]:
        names = _names(unknown)
        parts.append(f"{joined(_rules('known languages'))} know no words of {names}, whose prompts are in English")
    if unlabelled := sum(not any(one.labels.values()) for one in asked):
        parts.append(f"{unlabelled} of them have no labels of Bloom's level or question form")
    return (
        f"{len(asked)} of {counted(len(questions), 'question')} are not in English ({languages}): {'; '.join(parts)}."
    )


def _rules(reads: Reads) -> list[str]:
    """The rules that are on by default and were written for such texts."""
    return [name for name, kind in RULE_KINDS.items() if kind.on and kind.reads == reads]


def _names(codes: Sequence[str]) -> str:
    return joined([language_named(code).name for code in codes])
