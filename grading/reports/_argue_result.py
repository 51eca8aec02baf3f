"""What ARGUE found, as one object for programs and as lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from examcore import IntervalEstimate
from grading.reports._argue_scores import MEASURES, ReportScore, RunScore
from grading.reports._sentence_flow import IGNORED, REWARDED, SentenceOutcome

Content = dict[str, Any]
FEW = 60
"""Sentences that are listed without being asked for."""


def content_of(
    judged: Sequence[SentenceOutcome], scores: Sequence[ReportScore], runs: Sequence[RunScore], warnings: Iterable[str]
) -> Content:
    """The result as `--json` prints it: measures, `runs`, `reports`, `sentences` and `warnings`.

    The measures of the first level are those of the only run, over topics with equal weight; several runs have none
    there. Values that are undefined are NaN.
    """
    first = {name: one.as_dict() for name, one in runs[0].macro.items()} if len(runs) == 1 else {}
    return {
        **first,
        "runs": [_run(one) for one in runs],
        "reports": [_report(one) for one in scores],
        "sentences": [_sentence(one) for one in judged],
        "warnings": [*warnings, *_remarks(runs)],
    }


def lines_of(content: Mapping[str, Any], *, sentences: bool = False) -> str:
    """A table of the runs, the reports where they are few, each sentence where they are few or asked for, warnings."""
    parts = [_table(content["runs"])]
    listed = sentences or len(content["sentences"]) <= FEW
    if listed:
        parts += [_report_lines(report, content["sentences"]) for report in content["reports"]]
    else:
        parts.append(f"{len(content['sentences'])} sentences; --sentences lists each with its reason")
    if content["warnings"]:
        parts.append("\n".join(content["warnings"]))
    return "\n\n".join(parts)


def effect(outcome: int | None) -> str:
    """`+` rewarded, `-` penalised, `0` ignored, `?` for no outcome or several."""
    if outcome is None:
        return "?"
    return "+" if outcome in REWARDED else "0" if outcome in IGNORED else "-"


def _run(one: RunScore) -> Content:
    return {
        "run": one.run,
        "topics": len(one.topics),
        "sentences": one.sentences,
        "outcomes": {str(number): count for number, count in one.outcomes.items()},
        "not_scored": one.unjudged,
        "macro": {name: found.as_dict() for name, found in one.macro.items()},
        "micro": {name: found.as_dict() for name, found in one.micro.items()},
        "undefined": {name: list(topics) for name, topics in one.undefined.items() if topics},
        "missing_topics": list(one.missing),
    }


def _report(one: ReportScore) -> Content:
    return {
        "run": one.run,
        "topic": one.topic,
        "sentences": one.sentences,
        **{name: one.value(name) for name in MEASURES},
        "outcomes": {str(number): count for number, count in one.outcomes.items()},
        "not_scored": one.unjudged,
        "nuggets": int(one.ratios["recall"][1]),
        "nuggets_credited": list(one.credited),
        "nuggets_partly": list(one.partly),
        "counts": {name: list(pair) for name, pair in one.ratios.items()},
    }


def _sentence(one: SentenceOutcome) -> Content:
    support = dict(one.supported)
    units = {unit.document: unit.outcome for unit in one.units}
    return {
        "run": one.run,
        "topic": one.topic,
        "sentence": one.index,
        "text": one.text,
        "outcome": one.outcome,
        "effect": effect(one.outcome),
        "nuggets": list(dict.fromkeys(name for name, _ in one.stated)),
        "citations": [
            {"document": name, "supported": holds, **({"outcome": units[name]} if name in units else {})}
            for name, holds in support.items()
        ],
        "why": one.why,
    }


def _remarks(runs: Sequence[RunScore]) -> list[str]:
    """What a reader of the numbers must know: undefined values, missing topics, sentences without outcome."""
    found: list[str] = []
    for one in runs:
        for name, topics in one.undefined.items():
            if topics:
                why = "precision or recall is" if name == "f1" else "0 of 0"
                found.append(f"run {one.run}: {name} undefined ({why}) on {_topics(topics)}, which its mean leaves out")
        if one.missing:
            found.append(f"run {one.run}: {_topics(one.missing)} without a report: {_told(one)}")
        if one.unjudged:
            found.append(f"run {one.run}: {one.unjudged} sentences or citations without an outcome count for nothing")
    return found


def _told(one: RunScore) -> str:
    return "recall and F1 are 0 there" if one.filled else "left out, so that it stands on fewer topics than others"


def _topics(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{len(names)} topic{'s' if len(names) > 1 else ''} ({shown}{', ...' if len(names) > 5 else ''})"


def _table(runs: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            one["run"] if kind == "macro" else "",
            str(one["topics"]) if kind == "macro" else "",
            kind,
            *(_shown(one[kind][name]) for name in MEASURES),
        )
        for one in runs
        for kind in ("macro", "micro")
    ]
    header = ("run", "topics", "over topics", *MEASURES)
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header))]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    )


def _shown(found: Mapping[str, float | None]) -> str:
    value, low, high = (found[name] for name in IntervalEstimate._fields)
    if value is None:
        return "undefined"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"


def _report_lines(report: Mapping[str, Any], sentences: Sequence[Mapping[str, Any]]) -> str:
    own = [one for one in sentences if (one["run"], one["topic"]) == (report["run"], report["topic"])]
    precision, recall = (report["counts"][name] for name in ("precision", "recall"))
    head = (
        f"run {report['run']}, topic {report['topic']}: precision {_ratio(report['precision'], precision)}, "
        f"recall {_ratio(report['recall'], recall)}, F1 {_value(report['f1'])}"
    )
    lines = [f"  {one['sentence']:>3}  {_numbered(one)}  {_cut(one['text'])}\n           {one['why']}" for one in own]
    return "\n".join([head, *lines])


def _numbered(one: Mapping[str, Any]) -> str:
    """`#3 +`; where each citation counts by itself and they differ, `#3 + #1 -`; `#? ?` without an outcome."""
    if one["outcome"] is not None:
        return f"#{one['outcome']} {one['effect']}"
    each = [found["outcome"] for found in one["citations"] if found.get("outcome") is not None]
    return " ".join(f"#{found} {effect(found)}" for found in each) or "#? ?"


def _ratio(value: float, counts: Sequence[float]) -> str:
    return f"{_value(value)} ({counts[0]:g} of {counts[1]:g})"


def _value(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.3f}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else line[:87] + "..."
