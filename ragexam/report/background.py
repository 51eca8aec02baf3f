"""The background sections of the page: the exam itself, how far to trust the fit, how everything was made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from exam_gen.records import Question
from exam_gen.rules.filters import rule_of
from exam_gen.statistics import ExamStatistics
from ragexam.report.gather import Evidence
from ragexam.report.words import clipped, duration, joined, percent

View = Mapping[str, object]
_TOPICS_SHOWN = 15
_ROLES = {"model": "wrote", "writer": "wrote", "verifier": "checked", "judge": "checked"}
_DIAGNOSTICS = {
    "r_hat_max": "largest R-hat (1 is best)",
    "r_hat_worst": "of the parameter",
    "ess_bulk_min": "smallest effective sample size",
    "ess_tail_min": "smallest effective sample size in the tails",
    "divergences": "divergent transitions",
    "tree_depth_saturated": "steps cut short",
    "chains": "chains",
    "draws": "draws kept",
    "pareto_k_above_0.7": "share of answers the cross-validation is unsure about",
    "elpd_loo": "expected log score on left-out answers",
    "log_posterior": "log posterior at the mode",
}


def exam_view(evidence: Evidence, statistics: ExamStatistics) -> View:
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
    tables += _topics(evidence)
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


def _topics(evidence: Evidence) -> list[View]:
    topic_of = {question.id: question.topic for question in evidence.questions}
    counts = Counter(topic_of.values())
    if len(counts) < 2:
        return []
    by_topic = evidence.scores["score"].groupby(evidence.scores["item"].map(topic_of)).mean()
    rows = [
        [clipped(topic, 60) or "no topic", f"{count}", percent(float(by_topic.get(topic, math.nan)))]
        for topic, count in counts.most_common(_TOPICS_SHOWN)
    ]
    more = f", the {_TOPICS_SHOWN} largest of {len(counts)}" if len(counts) > _TOPICS_SHOWN else ""
    return [{"caption": f"Topics{more}", "heads": ["topic", "questions", "accuracy"], "rows": rows}]


def diagnostics_view(evidence: Evidence) -> View:
    """Convergence, the fit's own warnings, and what is absent."""
    measured = evidence.measured
    lines = list(evidence.missing)
    if measured is None:
        return {"sentences": lines, "warnings": [], "facts": []}
    state = "It converged." if measured.converged else "It did not converge."
    lines.insert(0, f"{measured.how}. {state}")
    unanswered = int(evidence.scores["score"].isna().sum())
    if unanswered:
        lines.append(
            f"{unanswered} of {len(evidence.scores)} answers are missing and were left out, not counted wrong."
        )
    lines += measured.fit.notes
    facts = [
        (_DIAGNOSTICS.get(name, name.replace("_", " ")), shown_value(value))
        for name, value in flattened(measured.diagnostics)
        if value is not None
    ]
    return {"sentences": lines, "warnings": list(measured.fit.warnings), "facts": facts}


def making_view(evidence: Evidence) -> list[View]:
    """Configuration, versions, models and time per step."""
    parts: list[View] = []
    record = evidence.record
    roles = [(name, f"{joined(found)} the questions") for name, found in model_roles(evidence.questions).items()]
    if roles:
        parts.append({"title": "Models", "facts": roles})
    for title, key in (("Configuration", "configuration"), ("Versions", "versions"), ("Input", "inputs")):
        value = record.get(key)
        if isinstance(value, Mapping):
            parts.append({"title": title, "facts": [(name, shown_value(one)) for name, one in flattened(value)]})
    if evidence.seconds:
        facts = [(name, duration(seconds)) for name, seconds in evidence.seconds.items() if seconds]
        facts.append(("in all", duration(sum(evidence.seconds.values()))))
        parts.append({"title": "Time", "facts": facts})
    return parts or [{"title": "Record", "facts": [("run.json", "absent")]}]


def flattened(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested mappings, named `a.b`."""
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield from flattened(one, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", one


def shown_value(value: Any) -> str:
    """A value of a record as it is shown: numbers with four digits, lists divided by commas, long texts clipped."""
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    if isinstance(value, list | tuple):
        return clipped(
            ", ".join(shown_value(one) if not isinstance(one, Mapping) else _inline(one) for one in value), 600
        )
    return "–" if value is None else clipped(str(value), 600)


def _inline(value: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={shown_value(one)}" for name, one in flattened(value))


def model_roles(questions: Sequence[Question]) -> dict[str, list[str]]:
    """Which models `wrote` and which `checked` the questions, as the questions tell: model to what it did."""
    roles: dict[str, list[str]] = {}
    for question in questions:
        for key, value in question.metadata.items():
            role = _ROLES.get(key)
            if role and isinstance(value, str) and value and role not in roles.setdefault(value, []):
                roles[value].append(role)
    return roles
