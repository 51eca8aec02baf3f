"""Scores of nugget assignments: one system's, or several systems' side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examcore.console import interval_text
from grading.commands._options import Pairs, Resampling
from grading.commands._printing import ComparedSystems, shortened
from grading.scores._nuggets import (
    METRICS,
    Assignments,
    NuggetScores,
    SharedNuggets,
    read_all_assignments,
    score_run,
    shared_nuggets,
    table_of_scores,
)

_UNKNOWN = {"importance": "weigh nothing", "support": "count as no support"}


@dataclass(frozen=True)
class NuggetResult:
    """The scores of each run; of several runs also their comparison by `metric` and the nuggets they share."""

    runs: Sequence[Assignments]
    scores: Sequence[NuggetScores]
    metric: str
    level: float
    comparisons: Mapping[str, ComparedSystems]
    shared: SharedNuggets | None
    missing: Mapping[str, Sequence[str]]
    shown: Pairs = "neighbours"

    def record(self) -> dict[str, Any]:
        """One run: its `topics` and `all`; several: these by system, their pairs, and the nuggets shared."""
        systems = [_system_record(run, found) for run, found in zip(self.runs, self.scores, strict=True)]
        if self.shared is None:
            return {"interval": self.level, **systems[0]}
        compared = {name: one.record() for name, one in self.comparisons.items()}
        return {
            "interval": self.level,
            "systems": {str(one["run"]): one for one in systems},
            "metric": self.metric,
            **compared.pop(self.metric),
            "by_other_metrics": compared,
            "supported_by": {str(number): count for number, count in enumerate(self.shared.supported_by)},
            "unmatched": {
                "repeated_in_topic": _nugget_records(self.shared.repeated),
                "not_in_all_systems": _nugget_records(self.shared.partly_judged),
            },
            "missing_topics": self.missing,
        }

    def lines(self) -> list[str]:
        """Each system's six scores, unknown labels, and for several systems what tells them apart."""
        lines = [line for pair in zip(self.runs, self.scores, strict=True) for line in _system_lines(*pair, self.level)]
        if self.shared is None:
            return lines
        others = [one.sentence for name, one in self.comparisons.items() if name != self.metric]
        counts = ", ".join(f"{count} by {number}" for number, count in enumerate(self.shared.supported_by))
        lacks = [
            f"{system} lacks {len(topics)} topics that others have: {shortened(topics)}"
            for system, topics in self.missing.items()
        ]
        return [
            *lines,
            "",
            *self.comparisons[self.metric].lines(self.shown),
            "beside it, not adjusted for looking at more than one score:",
            *(f"  {one}" for one in others),
            "",
            f"nuggets fully supported by so many systems: {counts}",
            *_left_out(self.shared.repeated, "stand twice in a topic"),
            *_left_out(self.shared.partly_judged, "lack in some system"),
            *lacks,
        ]

    @property
    def topic_scores(self) -> dict[str, dict[str, float]]:
        """The chosen score by run and topic."""
        return {one.run: {topic: found[self.metric] for topic, found in one.topics.items()} for one in self.scores}


def score_nuggets(files: Sequence[Path], metric: str, resampling: Resampling, shown: Pairs) -> NuggetResult:
    """Score every run of the files."""
    level, seed = resampling.interval, resampling.seed
    runs = read_all_assignments(files)
    scores = [score_run(run, level=level, seed=seed) for run in runs]
    if len(runs) == 1:
        return NuggetResult(runs, scores, metric, level, {}, None, {}, shown)
    compared = {name: ComparedSystems.of(table_of_scores(scores, name), level, seed) for name in METRICS}
    missing = table_of_scores(scores, METRICS[-1]).missing()
    return NuggetResult(runs, scores, metric, level, compared, shared_nuggets(runs), missing, shown)


def _system_record(run: Assignments, found: NuggetScores) -> dict[str, Any]:
    return {
        "run": run.run,
        "n_topics": len(run.topics),
        "n_nuggets": sum(map(len, run.topics.values())),
        "topics": {topic: dict(scores) for topic, scores in found.topics.items()},
        "all": {name: one.as_dict() for name, one in found.overall.items()},
        "unknown_labels": run.unknown(),
        "undefined": {metric: list(topics) for metric, topics in found.undefined.items()},
    }


def _system_lines(run: Assignments, found: NuggetScores, level: float) -> Iterator[str]:
    nuggets = sum(map(len, run.topics.values()))
    yield f"{run.run}: {len(run.topics)} topics, {nuggets} nuggets, {level:.0%} intervals over topics"
    for metric, value in found.overall.items():
        yield f"  {metric:<22} {interval_text(value.as_dict())}"
    for which, counts in run.unknown().items():
        if counts:
            shown = shortened([f"{name!r} {number}" for name, number in counts.items()])
            yield f"  {sum(counts.values())} unknown labels of {which} {_UNKNOWN[which]}: {shown}"
    for metric, topics in found.undefined.items():
        yield f"  {metric} is undefined on {len(topics)} topics, which its mean leaves out: {shortened(topics)}"


def _nugget_records(nuggets: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"topic": topic, "text": text} for topic, text in nuggets]


def _left_out(nuggets: Sequence[tuple[str, str]], why: str) -> list[str]:
    names = shortened([f"{topic} {text!r}" for topic, text in nuggets])
    return [f"  left out: {len(nuggets)} nuggets that {why}: {names}"] if nuggets else []
