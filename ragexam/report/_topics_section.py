"""Accuracy by topic: which retriever is good at what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from examcore import Question
from examcore.page import HeatTable, clipped
from ragexam.report._accuracy_tables import heat_table
from ragexam.report._component_names import facet_name
from ragexam.report._page_sections import HeatSection
from ragexam.report._response_scores import facets_of

SHOWN = 15
"""Rows of the table; smaller topics share the last one."""
_FEW = 10
"""Questions of a topic below which its accuracy is known to 15 points at best."""


def topics_section(questions: Sequence[Question], scores: pd.DataFrame) -> HeatSection:
    """A heat map of topics by retriever (or the first facet), the largest topics first; the smallest pooled."""
    counts = Counter(question.topic for question in questions)
    if len(counts) < 2:
        return HeatSection(("All questions have the same topic, or none.",))
    names = _names(counts)
    topic_of = {question.id: names[question.topic] for question in questions}
    by_topic = scores.assign(topic=scores["item"].map(topic_of))
    facets = facets_of(scores)
    column = "retriever" if "retriever" in facets else facets[0] if facets else "exam"
    if not facets:
        by_topic = by_topic.assign(exam="all pipelines")
    order = list(dict.fromkeys(names[topic] for topic, _ in counts.most_common()))
    lines = ["Intervals are wide where a topic has few questions: compare topics with care, rows of one topic freely."]
    few = [topic for topic, count in counts.items() if count < _FEW]
    if few:
        lines.append(f"{len(few)} of {len(counts)} topics have fewer than {_FEW} questions.")
    caption = f"Topic (number of questions) by {facet_name(column)} (percent correct, 95\u00a0% intervals)"
    return HeatSection(lines, (_sorted(heat_table(by_topic, "topic", column, caption), order),))


def _names(counts: Counter[str]) -> dict[str, str]:
    """How each topic is shown: with its number of questions, the smallest pooled."""
    ranked = counts.most_common()
    alone = ranked if len(ranked) <= SHOWN else ranked[: SHOWN - 1]
    names = {topic: f"{clipped(topic, 60) or 'no topic'} ({count})" for topic, count in alone}
    rest = ranked[len(alone) :]
    pooled = f"{len(rest)} other topics ({sum(count for _, count in rest)})"
    return names | {topic: pooled for topic, _ in rest}


def _sorted(table: HeatTable, order: Sequence[str]) -> HeatTable:
    rows = tuple(sorted(table.rows, key=lambda row: order.index(row.name)))
    return HeatTable(table.caption, table.corner, table.columns, rows)
