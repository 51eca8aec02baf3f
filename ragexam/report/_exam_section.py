"""The exam on the page: what was generated, dropped and kept, and how long its questions are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exam_gen import ExamStatistics
from exam_gen.rules import rule_of
from examcore import Question
from examcore.page import clipped, percent
from ragexam.report._run_evidence import RunEvidence


@dataclass(frozen=True)
class PlainTable:
    """A small table of texts: the first cell of a row heads it, the others are numbers."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class ExamSection:
    """The exam in sentences and small tables."""

    sentences: Sequence[str]
    tables: Sequence[PlainTable]


def exam_section(evidence: RunEvidence, statistics: ExamStatistics) -> ExamSection:
    """What was generated, dropped and kept, how long questions are, and the topics."""
    questions, dropped = evidence.questions, evidence.dropped
    n_kept, n_dropped = len(questions), len(dropped)
    lines = []
    if n_dropped:
        share = n_kept / (n_kept + n_dropped)
        lines.append(f"Of {n_kept + n_dropped} attempts {n_kept} became questions of this exam ({percent(share)}).")
    if evidence.n_documents is not None and evidence.n_chunks is not None:
        lines.append(f"The corpus has {evidence.n_documents:,} documents in {evidence.n_chunks:,} passages.")
    tables = [_lengths(questions), _blind(statistics)]
    if dropped:
        reasons = Counter(clipped(rule_of(one.reason), 120) for one in dropped).most_common()
        rows = [[reason, f"{count}", percent(count / (n_kept + n_dropped))] for reason, count in reasons]
        tables.append(PlainTable("Why attempts were dropped", ("reason", "number", "share"), rows))
    return ExamSection(lines, tables)


def _lengths(questions: Sequence[Question]) -> PlainTable:
    distractors = [choice for q in questions for place, choice in enumerate(q.choices) if place != q.key]
    parts = {
        "question": [q.stem for q in questions],
        "right answer": [q.answer for q in questions],
        "wrong answer": distractors,
        "passage": [q.context for q in questions if q.context],
    }
    rows = []
    for name, texts in parts.items():
        lengths = [len(text) for text in texts]
        if lengths:
            words = [len(text.split()) for text in texts]
            rows.append([name, f"{np.mean(words):.1f}", f"{np.mean(lengths):.0f}", f"{np.std(lengths):.0f}"])
    return PlainTable("Lengths", ("mean length of", "words", "characters", "sd of characters"), rows)


def _blind(statistics: ExamStatistics) -> PlainTable:
    """What examinees score who only look at the choices."""
    found = {
        "same position": statistics.fixed_answer,
        "longest choice": statistics.longest_answer,
        "shortest choice": statistics.shortest_answer,
    }
    rows = [
        [name, percent(one.accuracy), percent(one.chance), f"{one.p_value:.2g}", "yes" if one.within_chance else "no"]
        for name, one in found.items()
    ]
    heads = ("always the", "accuracy", "by chance", "p", "is chance")
    return PlainTable("Answering without reading the question", heads, rows)
