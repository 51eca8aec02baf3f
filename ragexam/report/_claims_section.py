"""The claims of free-text answers on the page: what is stated, what is lost where, and answers to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from examcore import language_named
from examcore.page import clipped
from ragexam.report._claim_scores import (
    CITATIONS,
    COVERAGE,
    FAITHFULNESS,
    LOST_IN_ANSWERING,
    LOST_IN_RETRIEVAL,
    NOT_GIVEN,
    NOT_JUDGED,
    PRECISION,
    RECALL,
    ClaimFindings,
)
from ragexam.report._claimed_answers import FreeTextAnswer
from ragexam.report._page_parts import (
    AnswerCard,
    PageSection,
    PageTable,
    TableCell,
    column_heads,
    number_cell,
    share_cell,
    table_row,
    text_cell,
)

LONGEST_PASSAGE = 1500
"""Characters of a passage that a card shows; the folder of the run has the rest."""
LONGEST_REPLY = 600
"""Characters of an answer or of one claim that a card shows."""
_SOURCES = (
    "A source passage says more than its question asks for: compare what pipelines lose of it, and do not expect all "
    "of it."
)
_NUGGETS = "Answers are held against nuggets: what an answer to the question should state."


def claims_section(found: ClaimFindings, named: Mapping[str, str]) -> PageSection:
    """What each pipeline's answers claim beside what their passages state, and where claims of the source are lost."""
    answers = _table(
        "Claims of each pipeline's answers, with 95\u00a0% intervals over questions",
        found,
        named,
        ((FAITHFULNESS, "faithfulness"), (CITATIONS, "citation support")),
        counted=True,
    )
    lost = _table(
        f"{'Nuggets' if found.has_nuggets else 'Claims of the source passage'} on their way into the answers",
        found,
        named,
        (
            (PRECISION, "passages with the source"),
            (RECALL, "in the passages"),
            (COVERAGE, "in the answer"),
            (LOST_IN_RETRIEVAL, "lost in retrieval"),
            (LOST_IN_ANSWERING, "lost in answering"),
        ),
    )
    told = [
        "A claim is a sentence. Faithfulness is the share of claims that the passages state, right or wrong. "
        + (_NUGGETS if found.has_nuggets else _SOURCES),
        *found.trust(),
        *_reasons(found, named),
    ]
    return PageSection(told, tables=(answers, lost), title="What the answers claim")


def _table(
    caption: str,
    found: ClaimFindings,
    named: Mapping[str, str],
    columns: Sequence[tuple[str, str]],
    *,
    counted: bool = False,
) -> PageTable:
    """A row of scores for each pipeline, without the scores that none of them has."""
    shown = [one for one in columns if any(scores[one[0]].answers for scores in found.scores.values())]
    rows = []
    for name, scores in found.scores.items():
        cells = [share_cell(scores[one].interval) for one, _ in shown]
        if counted:
            cells.insert(1, _unstated_cell(found, name))
        rows.append(table_row(text_cell(named.get(name, name)), *cells))
    heads = [f"#{head}" for _, head in shown]
    if counted:
        heads.insert(1, "#claims not stated")
    return PageTable(caption, column_heads("pipeline", *heads), tuple(rows), sortable=True)


def _unstated_cell(found: ClaimFindings, pipeline: str) -> TableCell:
    """How many claims are not stated, of all that were judged; a dash where none was."""
    judged = [
        verdict
        for one in found.by_pipeline[pipeline]
        for ask in one.claim_asks()
        if (verdict := found.decision(one, ask).verdict) is not None
    ]
    return number_cell(f"{judged.count(False)} of {len(judged)}" if judged else "–", judged.count(False))


def _reasons(found: ClaimFindings, named: Mapping[str, str]) -> list[str]:
    """Why scores are dashes, a sentence for each reason."""
    of: dict[str, list[str]] = {}
    for name, scores in found.scores.items():
        if reason := scores[FAITHFULNESS].reason:
            of.setdefault(reason, []).append(named.get(name, name))
    return [f"A dash is no zero: {reason} ({'; '.join(some)})." for reason, some in of.items()]


def answer_card(answer: FreeTextAnswer, found: ClaimFindings, named: Mapping[str, str]) -> AnswerCard:
    """An answer with its sentences, whether its passages state them, the grounds of that, and the passages."""
    grounds = [found.decision(answer, one) for one in answer.claim_asks()] if found.is_judged else []
    unstated = sum(one.verdict is False for one in grounds)
    words = {True: "stated", False: "not stated", None: "open"}
    claims = [
        (clipped(claim.text, LONGEST_REPLY), f"({words[one.verdict]}: {one.why})" if one.why != NOT_JUDGED else "")
        for claim, one in zip(answer.claims, grounds, strict=False)
    ]
    texts = [
        (clipped(name, 60) if text != name else str(place), clipped(text or "(its text is not known)", LONGEST_PASSAGE))
        for place, (name, text) in enumerate(zip(answer.ids, answer.passages, strict=True), start=1)
    ]
    return AnswerCard(
        clipped(answer.question.stem, 200),
        answer.question.answer,
        clipped(answer.reply.strip(), LONGEST_REPLY) or "(nothing)",
        named.get(answer.pipeline, answer.pipeline),
        [answer.label, *([f"{unstated} of {len(grounds)} claims not stated"] if unstated else [])],
        language_named(answer.question.language),
        claims,
        texts,
        "" if texts else f"It read nothing: {NOT_GIVEN}.",
    )
