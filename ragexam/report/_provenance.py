"""The background sections of the page: the exam itself, and how everything was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from exam_gen import ExamStatistics
from exam_gen.rules import rule_of
from examcore import Question
from examcore.page import clipped, duration, flattened, joined, percent, shown_value
from ragexam.report._run_evidence import RunEvidence

View = Mapping[str, object]
_LONG = 20
"""Facts beyond which a list is folded away."""
_ROLES = {"model": "wrote", "writer": "wrote", "verifier": "checked", "judge": "checked"}


def exam_view(evidence: RunEvidence, statistics: ExamStatistics) -> View:
    """What was generated, dropped and kept, how long questions are, and the topics."""
    questions, dropped = evidence.questions, evidence.dropped
    kept, lost = len(questions), len(dropped)
    lines = []
    if lost:
        share = kept / (kept + lost)
        lines.append(f"Of {kept + lost} attempts {kept} became questions of this exam ({percent(share)}).")
    if evidence.n_documents is not None and evidence.n_chunks is not None:
        lines.append(f"The corpus has {evidence.n_documents:,} documents in {evidence.n_chunks:,} passages.")
    tables = [_lengths(questions), _blind(statistics)]
    if dropped:
        reasons = Counter(clipped(rule_of(one.reason), 120) for one in dropped).most_common()
        rows = [[reason, f"{count}", percent(count / (kept + lost))] for reason, count in reasons]
        tables.append({"caption": "Why attempts were dropped", "heads": ["reason", "number", "share"], "rows": rows})
    return {"sentences": lines, "tables": tables}


def _lengths(questions: Sequence[Question]) -> View:
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
    heads = ["mean length of", "words", "characters", "sd of characters"]
    return {"caption": "Lengths", "heads": heads, "rows": rows}


def _blind(statistics: ExamStatistics) -> View:
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
    heads = ["always the", "accuracy", "by chance", "p", "is chance"]
    return {"caption": "Answering without reading the question", "heads": heads, "rows": rows}


def making_view(evidence: RunEvidence) -> list[View]:
    """Configuration, versions, models and time per step."""
    parts: list[View] = []
    record = evidence.record
    seeds = _seeds(record)
    if seeds:
        parts.append({"title": "Seeds", "facts": seeds})
    roles = [(name, f"{joined(found)} the questions") for name, found in model_roles(evidence.questions).items()]
    if roles:
        parts.append({"title": "Models", "facts": roles})
    for title, key in (("Configuration", "configuration"), ("Versions", "versions"), ("Input", "inputs")):
        value = record.get(key)
        if isinstance(value, Mapping):
            facts = [(name, shown_value(one)) for name, one in flattened(value)]
            parts.append({"title": title, "facts": facts, "long": len(facts) > _LONG})
    if evidence.seconds:
        facts = [(name, duration(seconds)) for name, seconds in evidence.seconds.items() if seconds]
        facts.append(("in all", duration(sum(evidence.seconds.values()))))
        parts.append({"title": "Time", "facts": facts})
    return parts or [{"title": "Record", "facts": [("run.json", "absent")]}]


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
