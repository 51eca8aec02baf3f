"""Rewriting a stem that leans on its document so that it stands alone: by rule, or by a model.

After the guidelines for reformulating questions of a series (Shaw, Solway, Gaizauskas and Greenwood 2008): "it" and
"its" stand for the target, which is the document's title; what cannot be put in its place stands before the question;
words are not changed without need, and no synonyms are used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from exam_gen.drafting._reformulation import Leaning, reformulate
from exam_gen.language._outside_references import outside_reference
from exam_gen.language._stems import names_subject, with_topic
from exam_gen.rules._rule import Finding, RuleTools
from examcore import CachedLanguageModel, FailedError, Question, ReplyStore

TOGETHER = 64
"""Questions that a model is asked to rewrite at a time."""
_TEXT = r"(?:the|this|that)\s+(?:\w+\s+)?(?:documentation|document|passage|article|text|paper|excerpt|abstract|context)"
_POINTING = re.compile(
    rf"^(?:according\s+to|based\s+(?:up)?on|as\s+(?:\w+\s+)?in|as\s+per|in|from)\s+{_TEXT}(?:\s+(?:above|provided|given))?\s*,\s*"
    rf"|\s*,?\s+(?:according\s+to|based\s+on|as\s+(?:\w+\s+)?in|as\s+per|in)\s+{_TEXT}(?=\s*\?)",
    re.I,
)
_IT = re.compile(
    r"^(?P<before>(?:what|which|how|why|when|where|is|are|does|do|did|can|was|were)\b[^,.;?]*?)\b(?P<word>its|it)\b",
    re.I,
)


def standing_alone(question: Question) -> Question | None:
    """The question with its stem rewritten, or None when there is no need, no title, or no way.

    The title is `metadata["title"]`. References to the text are left out, a leaning "it" becomes the title, and a stem
    that then still leans on something or names nothing of the title gets it in front. What points to a part of the text
    ("in Figure 3") cannot be mended.
    """
    title = _title(question)
    if not title or outside_reference(question.stem) is None:
        return None
    stem = _POINTING.sub("", " ".join(question.stem.split()))
    if (match := _IT.match(stem)) and outside_reference(stem):
        name = title if match["word"].lower() == "it" else f"{title}'s"
        stem = f"{match['before']}{name}{stem[match.end() :]}"
    stem = stem[:1].upper() + stem[1:]
    if outside_reference(stem) or not names_subject(stem, title):
        stem = with_topic(stem, title)
    return None if outside_reference(stem) else replace(question, stem=stem)


def reformulated(questions: Sequence[Question], tools: RuleTools) -> list[Finding]:
    """A `Judge` that rewrites: what leans and has a title is reworded by the model, and taken as far as that holds.

    Raises `ValueError` without a model and `FailedError` where it gives no reply.
    """
    if tools.model is None:
        raise ValueError("rules: no language model is given; wanted one for the rule that rewrites questions")
    model = tools.model
    if not isinstance(model, CachedLanguageModel):
        model = CachedLanguageModel(model, ReplyStore(":memory:"))
    places = [at for at, one in enumerate(questions) if _title(one) and outside_reference(one.stem)]
    found: list[Finding] = [None] * len(questions)
    for start in range(0, len(places), TOGETHER):
        group = [(at, questions[at]) for at in places[start : start + TOGETHER]]
        asked = [Leaning(one.stem, _title(one)) for _, one in group]
        for (at, one), said in zip(group, reformulate(asked, model, seed=tools.seed), strict=True):
            if said.reason.startswith("no reply"):
                raise FailedError(f"question {one.id}: {said.reason}")
            found[at] = None if said.stem is None else replace(one, stem=said.stem)
        if tools.progress:
            tools.progress(min(start + TOGETHER, len(places)), len(places))
    return found


def _title(question: Question) -> str:
    """What the document is about, without the mark at its end."""
    return str(question.metadata.get("title", "")).strip().rstrip(".:")
