"""What ARGUE found, as one object for programs and as lines for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from examcore import IntervalEstimate
from grading._printing import aligned
from grading.reports._argue import SentenceOutcome
from grading.reports._argue_scores import MEASURES, ReportScore, RunScore
from grading.reports._auto_argue import AutoArgueRun, auto_argue_lines

FEW = 60
"""Sentences that are listed without being asked for."""


@dataclass(frozen=True)
class ArgueResult:
    """Sentences judged, scores of reports and runs, and the `settings` they were made with, as `--json` prints them.

    `auto_argue`: the runs by Auto-ARGUE's own measures, where its judgements were read. `every_sentence`: print each,
    however many.
    """

    judged: Sequence[SentenceOutcome]
    scores: Sequence[ReportScore]
    runs: Sequence[RunScore]
    warnings: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    auto_argue: Sequence[AutoArgueRun] = ()
    every_sentence: bool = False

    def record(self) -> dict[str, Any]:
        """Settings, measures, `runs`, `reports`, `sentences` and `warnings`.

        The measures of the first level are those of the only run, over topics with equal weight; several runs have
        none there. Values that are undefined are NaN.
        """
        alone = self.runs[0].macro if len(self.runs) == 1 else {}
        return {
            **self.settings,
            **alone,
            "runs": self.runs,
            "reports": self.scores,
            "sentences": self.judged,
            **({"auto_argue": self.auto_argue} if self.auto_argue else {}),
            "warnings": self._notes(),
        }

    def lines(self) -> list[str]:
        """A table of the runs, the reports where they are few, each sentence where they are few, warnings."""
        lines = _table(self.runs)
        if self.auto_argue:
            lines += ["", *auto_argue_lines(self.auto_argue)]
        if self.every_sentence or len(self.judged) <= FEW:
            for report in self.scores:
                lines += ["", *_report_lines(report, self.judged)]
        else:
            lines += ["", f"{len(self.judged)} sentences; --sentences lists each with its reason"]
        notes = self._notes()
        return [*lines, "", *notes] if notes else lines

    def _notes(self) -> list[str]:
        return [*self.warnings, *_remarks(self.runs)]


def _remarks(runs: Sequence[RunScore]) -> list[str]:
    """What a reader of the numbers must know: undefined values, missing topics, sentences without outcome."""
    found: list[str] = []
    for one in runs:
        for name, topics in one.undefined.items():
            if topics:
                why = "precision or recall is" if name == "f1" else "0 of 0"
                found.append(f"run {one.run}: {name} undefined ({why}) on {_topics(topics)}, which its mean leaves out")
        if one.missing:
            left_out = "left out, so that it stands on fewer topics than others"
            effect_told = "recall and F1 are 0 there" if one.filled else left_out
            found.append(f"run {one.run}: {_topics(one.missing)} without a report: {effect_told}")
        if one.unjudged:
            found.append(f"run {one.run}: {one.unjudged} sentences or citations without an outcome count for nothing")
    return found


def _topics(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{len(names)} topic{'s' if len(names) > 1 else ''} ({shown}{', ...' if len(names) > 5 else ''})"


def _table(runs: Sequence[RunScore]) -> list[str]:
    rows: list[tuple[str, ...]] = [("run", "topics", "over topics", *MEASURES)]
    for one in runs:
        rows.append((one.run, str(len(one.topics)), "macro", *(_shown(one.macro[name]) for name in MEASURES)))
        rows.append(("", "", "micro", *(_shown(one.micro[name]) for name in MEASURES)))
    return aligned(rows)


def _shown(found: IntervalEstimate) -> str:
    value, low, high = found.as_dict().values()
    if value is None:
        return "undefined"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"


def _report_lines(report: ReportScore, judged: Sequence[SentenceOutcome]) -> list[str]:
    ratios = ((name, report.value(name), *report.ratios[name]) for name in ("precision", "recall"))
    shown = ", ".join(f"{name} {_value(value)} ({part:g} of {whole:g})" for name, value, part, whole in ratios)
    head = f"run {report.run}, topic {report.topic}: {shown}, F1 {_value(report.value('f1'))}"
    own = [one for one in judged if (one.run, one.topic) == (report.run, report.topic)]
    pairs = ((f"  {one.index:>3}  {one.numbered}  {_cut(one.text)}", f"           {one.why}") for one in own)
    return [head, *(line for pair in pairs for line in pair)]


def _value(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.3f}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else line[:87] + "..."
