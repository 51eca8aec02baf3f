"""Scores of nugget assignments, nuggets: one system's, or several systems' side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from examcore.console import AsJson, interval_text, show
from grading._printing import comparison_lines, comparison_record, shortened, write_scores
from grading.commands._options import Resampling, Scores, ShownPairs
from grading.leaderboards._paired import compare_systems, in_words
from grading.scores._nuggets import (
    METRICS,
    Assignments,
    Metric,
    NuggetScores,
    read_all_assignments,
    score_run,
    shared_nuggets,
    table_of_scores,
)

_UNKNOWN = {"importance": "weigh nothing", "support": "count as no support"}


def nuggets(
    files: Annotated[list[Path], typer.Argument(metavar="ASSIGNMENTS...", help="Nugget assignments, JSON lines.")],
    resampling: Resampling,
    metric: Annotated[Metric, typer.Option(help="The score that several systems are compared by.")] = "vital_score",
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Score answers by the nuggets they support. Per topic and all; several systems are compared in pairs."""
    sampling = resampling.sampling
    runs = read_all_assignments(files)
    found = [score_run(run, sampling) for run in runs]
    systems = [_system_record(*pair) for pair in zip(runs, found, strict=True)]
    lines = [line for pair in zip(runs, found, strict=True) for line in _system_lines(*pair, sampling.level)]
    result: dict[str, Any] = {"interval": sampling.level, **systems[0]}
    if len(runs) > 1:
        tables = {name: table_of_scores(found, name) for name in METRICS}
        compared = {name: compare_systems(table, sampling) for name, table in tables.items()}
        others = {name: one for name, one in compared.items() if name != metric}
        shared, missing = shared_nuggets(runs), tables[metric].missing()
        result = {
            "interval": sampling.level,
            "systems": {str(one["run"]): one for one in systems},
            "metric": metric,
            **comparison_record(compared[metric], metric),
            "by_other_metrics": {name: comparison_record(one, name) for name, one in others.items()},
            "supported_by": dict(enumerate(shared.supported_by)),
            "unmatched": {
                "repeated_in_topic": _nugget_records(shared.repeated),
                "not_in_all_systems": _nugget_records(shared.partly_judged),
            },
            "missing_topics": missing,
        }
        counts = ", ".join(f"{count} by {number}" for number, count in enumerate(shared.supported_by))
        lines += [
            "",
            *comparison_lines(compared[metric], metric, pairs),
            "beside it, not adjusted for looking at more than one score:",
            *(f"  {in_words(one, name)}" for name, one in others.items()),
            "",
            f"nuggets fully supported by so many systems: {counts}",
            *_left_out(shared.repeated, "stand twice in a topic"),
            *_left_out(shared.partly_judged, "lack in some system"),
            *(f"{who} lacks {len(some)} topics that others have: {shortened(some)}" for who, some in missing.items()),
        ]
    show(result, as_json=as_json, lines="\n".join(lines))
    write_scores(scores, metric, {one.run: {name: by[metric] for name, by in one.topics.items()} for one in found})


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
