"""The rest of the page: grades and replies, each query, what was left out, how it was made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from examcore import IntervalEstimate
from examcore.page import clipped, flattened, percent, shown_value
from grading._printing import named
from grading.graders._graders import REPLY_SHOWN, UNPARSED_SHOWN
from grading.page._evidence import GradingEvidence
from grading.page._scores import COLUMNS, Board, View, name
from grading.page._verdict import with_interval


def replies_view(evidence: GradingEvidence) -> View:
    """The distribution of grades and the replies that fit no rule."""
    grades = evidence.graded.grades
    known = Counter(one.grade for one in grades if not math.isnan(one.grade))
    bars = [(f"grade {grade:g}", known[grade]) for grade in sorted(known)]
    bars += [("unparsed", evidence.graded.unparsed)] if evidence.graded.unparsed else []
    # One of each passage first: the replies about one passage are much alike.
    bad = [one for one in grades if math.isnan(one.grade)]
    first = {(one.query, one.passage): one for one in reversed(bad)}
    bad.sort(key=lambda one: first[one.query, one.passage] is not one)
    rules = evidence.record.get("rules")
    return {
        "sentences": [
            f"{len(grades)} pairs of a passage and a question were graded; {_share(evidence)}.",
            *_one_sided(known),
        ],
        "bars": [
            {"name": f"{what}: {n}", "share": round(100 * n / len(grades)), "text": percent(n / len(grades))}
            for what, n in bars
        ],
        "examples": [(one, evidence.bank.get(one.query, {}).get(one.question, "")) for one in bad[:UNPARSED_SHOWN]],
        "clipped": lambda text: clipped(text, REPLY_SHOWN),
        "rules": [(clipped(str(rule), 60), shown_value(count)) for rule, count in rules.items()]
        if isinstance(rules, Mapping)
        else [],
    }


def _share(evidence: GradingEvidence) -> str:
    bad = evidence.graded.unparsed
    if not bad:
        return "every reply fits a rule"
    told = evidence.record.get("unparsed_share")
    values = [told.get(one) for one in ("estimate", "low", "high")] if isinstance(told, Mapping) else []
    numbers = [math.nan if one is None else float(one) for one in values if one is None or isinstance(one, float | int)]
    level = evidence.record.get("interval")
    if len(numbers) == 3 and isinstance(level, float):
        return f"{bad} replies fit no rule, a share of {with_interval(IntervalEstimate(*numbers), level)}"
    return f"{bad} replies fit no rule, a share of {percent(bad / len(evidence.graded.grades), 1)}"


def _one_sided(known: Mapping[float, int]) -> list[str]:
    """A grader that gives nearly all pairs one grade tells nothing apart."""
    total = sum(known.values())
    most = max(known, key=lambda grade: known[grade], default=None)
    if most is None or len(known) < 2 or known[most] < 0.9 * total:
        return []
    return [f"{percent(known[most] / total)} of the grades are {most:g}: the grader hardly tells passages apart."]


def queries_view(found: Board) -> View:
    """The systems beside each query's questions and passages."""
    systems = [one.system for one in found.ranked[:COLUMNS]]
    some = f" (the best {COLUMNS} of {len(found.ranked)})" if len(found.ranked) > COLUMNS else ""
    columns = f", and the share of its questions that each system{some} answers" if systems else ""
    return {
        "caption": f"Each query: its questions, the passages graded, the questions that any passage answers{columns}",
        "systems": systems,
    }


def left_out_view(evidence: GradingEvidence, found: Board) -> View:
    """What took no part, what was taken for granted, all counted and named."""
    lines = list(evidence.notes)
    for one in evidence.systems.runs:
        lines += one.notes
    for system, cover in found.covers.items():
        who = name(system)
        lines += named(f"Queries of the bank that {who} skips, counted 0", map(name, cover.skipped))
        lines += named(f"Queries of {who} without a question, which take no part", map(name, cover.without_bank))
        unknown = [query for query, one in cover.queries.items() if math.isnan(one.score)]
        lines += named(f"Queries of {who} without a graded passage, left out of its mean", map(name, unknown))
        lost = [passage for one in cover.queries.values() for passage in one.ungraded]
        lines += named(f"Passages of {who} without a grade, of {cover.passages}", map(name, lost))
    ungraded = [query for query in evidence.bank if query not in evidence.graded.by_passage]
    lines += named("Queries of the bank without any graded passage", map(name, ungraded))
    return {"sentences": lines or ["Nothing."], "facts": _left_of_run(evidence.record)}


def _left_of_run(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the grading itself left out."""
    words = {
        "no_reply": "pairs without a reply",
        "without_key": "pairs whose question has no key",
        "cut_passages": "passages longer than the model reads, cut",
        "beyond_limit": "pairs beyond --limit",
    }
    facts = [(what, shown_value(record[one])) for one, what in words.items() if record.get(one)]
    left = record.get("left_out")
    if isinstance(left, Mapping):
        facts += [(key.replace("_", " "), shown_value(value)) for key, value in left.items() if value]
    return facts


def making_view(evidence: GradingEvidence, command: str, version: str) -> View:
    """Grader, model, prompts, seeds, counts, commands."""
    record = evidence.record
    plain = {key: record[key] for key in ("grader", "model", "seed", "interval", "n", "ragexam") if key in record}
    page = {
        "systems from": evidence.systems.source or "none",
        "interval": percent(evidence.sampling.interval),
        "resampled": "queries, 2,000 times",
        "seed": str(evidence.sampling.seed),
        "ragexam": version,
    }
    parts = {
        "Grading": _facts(plain or {"run.json": "absent"}),
        "Settings and prompts": _facts(record.get("settings")),
        "Model use": _facts(record.get("usage")),
        "Graded files (hash)": _facts(record.get("made_from")),
        "Commands": [("grading", shown_value(record.get("command"))), ("this page", command)],
        "This page": _facts(page),
    }
    return {title: facts for title, facts in parts.items() if facts}


def _facts(value: object) -> list[tuple[str, str]]:
    if not isinstance(value, Mapping):
        return []
    return [(clipped(str(key), 60), shown_value(one)) for key, one in flattened(value)]
