"""The exam on the page: key numbers, what was generated, dropped and kept, lengths, and how the run was made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from exam_gen import Baseline, ExamStatistics, language_notice
from exam_gen.rules import rule_of
from examcore import IntervalEstimate, Question, duration
from examcore.page import clipped, flattened, joined, percent, shown_value, signed
from ragexam.report._component_names import facet_name
from ragexam.report._page_parts import PageCard, PageSection, PageTable, column_heads, number_cell, table_row
from ragexam.report._response_scores import facets_of, only_black_boxes
from ragexam.report._run_evidence import RunEvidence
from ragexam.report._run_findings import RunFindings


def exam_section(evidence: RunEvidence, statistics: ExamStatistics) -> PageSection:
    """What was generated, dropped and kept, how long questions are, and the topics."""
    questions, dropped = evidence.questions, evidence.dropped
    n_kept, n_dropped = len(questions), len(dropped)
    lines = []
    if n_dropped:
        share = n_kept / (n_kept + n_dropped)
        lines.append(f"Of {n_kept + n_dropped} attempts {n_kept} became questions of this exam ({percent(share)}).")
    if evidence.n_documents is not None and evidence.n_chunks is not None:
        lines.append(f"The corpus has {evidence.n_documents:,} documents in {evidence.n_chunks:,} passages.")
    if notice := language_notice(questions):
        lines.append(notice)
    tables = [_lengths(questions), _blind(statistics)]
    if dropped:
        reasons = Counter(clipped(rule_of(one.reason), 120) for one in dropped).most_common()
        rows = [(reason, f"{count}", percent(count / (n_kept + n_dropped))) for reason, count in reasons]
        tables.append(_table("Why attempts were dropped", ("reason", "#number", "#share"), rows))
    return PageSection(lines, tables=tables)


def _table(caption: str, heads: Sequence[str], rows: Sequence[tuple[str, ...]]) -> PageTable:
    """A small table: the first cell of a row heads it, the others are numbers."""
    lines = tuple(table_row(name, *map(number_cell, numbers)) for name, *numbers in rows)
    return PageTable(caption, column_heads(*heads), lines)


def _lengths(questions: Sequence[Question]) -> PageTable:
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
            rows.append((name, f"{np.mean(words):.1f}", f"{np.mean(lengths):.0f}", f"{np.std(lengths):.0f}"))
    return _table("Lengths", ("mean length of", "#words", "#characters", "#sd of characters"), rows)


def _blind(statistics: ExamStatistics) -> PageTable:
    """What examinees score who only look at the choices."""
    names = ("same position", "longest choice", "shortest choice")
    found = (statistics.fixed_answer, statistics.longest_answer, statistics.shortest_answer)
    rows = [
        (name, percent(one.accuracy), percent(one.chance), f"{one.p_value:.2g}", "yes" if one.within_chance else "no")
        for name, one in zip(names, found, strict=True)
    ]
    heads = ("always the", "#accuracy", "#by chance", "#p", "#is chance")
    return _table("Answering without reading the question", heads, rows)


def key_numbers(found: RunFindings) -> PageSection:
    """The key numbers and the warnings they call for."""
    evidence = found.evidence
    n_documents = "" if evidence.n_documents is None else f" from {evidence.n_documents} documents"
    numbers = [
        PageCard("Questions", str(len(evidence.questions)), f"multiple choice, written{n_documents}"),
        PageCard("Pipelines", str(len(found.accuracy)), _grid(evidence.scores)),
        _passages(found.value_of_passages),
        _baseline("Always the same letter", found.exam.fixed_answer, "the best position in hindsight"),
        _baseline("Always the longest choice", found.exam.longest_answer, "the choice with the most characters"),
    ]
    return PageSection(cards=numbers, warnings=list(_baseline_warnings(found.exam)))


def _baseline_warnings(exam: ExamStatistics) -> Iterator[str]:
    if not exam.fixed_answer.within_chance:
        yield "The right answer is too often at the same position: answering blindly pays."
    for baseline, name in ((exam.longest_answer, "longest"), (exam.shortest_answer, "shortest")):
        if not baseline.within_chance and baseline.accuracy > baseline.chance:
            yield (
                f"The right answers are too often the {name} ones: picking the {name} choice pays, so every score here "
                "is inflated by something other than knowledge."
            )
        elif not baseline.within_chance:
            yield f"The right answers are too rarely the {name} ones: leaving the {name} choice out pays."


def _grid(scores: pd.DataFrame) -> str:
    if only_black_boxes(scores):
        return "whole systems, each with its own retrieval"
    counts = {facet_name(facet): scores[facet].nunique() for facet in facets_of(scores)}
    parts = (f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts.items())
    return " × ".join(parts) or "each with its own name"


def _passages(gain: IntervalEstimate) -> PageCard:
    heading = "The right passage is worth"
    if not math.isfinite(gain.estimate):
        return PageCard(heading, "–", "Needs both oracle and closed book among the retrievers.")
    limits = f"95 % interval {signed(100 * gain.low, 0)} to {signed(100 * gain.high, 0)}"
    if math.isnan(gain.low):
        limits = "interval unknown: one question"
    return PageCard(heading, f"{signed(100 * gain.estimate, 0)} points", f"oracle minus closed book ({limits})")


def _baseline(heading: str, found: Baseline, how: str) -> PageCard:
    verdict = "within sampling error of chance" if found.within_chance else "not explained by chance"
    luck = f"chance gives {percent(found.chance)}; p = {found.p_value:.2g}"
    return PageCard(heading, percent(found.accuracy), f"{how}: {verdict} ({luck})")


_LONG = 20
"""Facts beyond which a list is folded away."""
_ROLES = {"model": "wrote", "writer": "wrote", "verifier": "checked", "judge": "checked"}
"""Entries of a question's metadata that name a model, and what that model did."""


def provenance(evidence: RunEvidence) -> list[PageSection]:
    """Facts on the configuration, versions, models and time per step."""
    record = evidence.record
    roles = [(name, f"{joined(found)} the questions") for name, found in model_roles(evidence.questions).items()]
    parts = {"Seeds": _seeds(record), "Models": roles}
    for title, key in (("Configuration", "configuration"), ("Versions", "versions"), ("Input", "inputs")):
        value = record.get(key)
        if isinstance(value, Mapping):
            parts[title] = [(name, shown_value(one)) for name, one in flattened(value)]
    if evidence.seconds:
        facts = [(name, duration(seconds)) for name, seconds in evidence.seconds.items() if seconds]
        parts["Time"] = [*facts, ("in all", duration(sum(evidence.seconds.values())))]
    found = [
        PageSection(title=title, facts=facts, is_folded=len(facts) > _LONG) for title, facts in parts.items() if facts
    ]
    return found or [PageSection(title="Record", facts=[("run.json", "absent")])]


def _seeds(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The seed of the run, and those that parts of it were given."""
    found = [("run", shown_value(record["seed"]))] if "seed" in record else []
    configuration = record.get("configuration")
    parts = flattened(configuration) if isinstance(configuration, Mapping) else ()
    return found + [(name, shown_value(value)) for name, value in parts if name.endswith(".seed")]


def model_roles(questions: Sequence[Question]) -> dict[str, list[str]]:
    """Which models `wrote` and which `checked` the questions, as the questions tell: model to what it did."""
    roles: dict[str, list[str]] = {}
    for question in questions:
        for key, value in question.metadata.items():
            role = _ROLES.get(key)
            if role and isinstance(value, str) and value and role not in roles.setdefault(value, []):
                roles[value].append(role)
    return roles
