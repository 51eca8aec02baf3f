"""Writing the page of two runs: pair, compare, put into words, fill the template with everything escaped."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from examcore import write_text
from examcore.page import page_frame, page_template
from ragexam.report.comparison._ability_changes import AbilityChanges, ability_changes
from ragexam.report.comparison._accuracy_changes import AccuracyChanges, accuracy_changes
from ragexam.report.comparison._change_sentences import comparison_sentences, not_compared
from ragexam.report.comparison._change_tables import ability_tables, accuracy_tables, verdict_table
from ragexam.report.comparison._paired_runs import PairedRuns, pair_runs
from ragexam.report.comparison._question_drift import drift_section

CONTENTS = (
    ("verdict", "Verdict"),
    ("accuracy", "Accuracy"),
    ("abilities", "Ability"),
    ("questions", "Questions"),
    ("apart", "Not compared"),
)


class ComparisonPage(NamedTuple):
    """The page's path and its numbers."""

    path: Path
    result: dict[str, Any]


def write_comparison(run_a: Path, run_b: Path, out: Path | None = None) -> ComparisonPage:
    """Write the page on what changed from run A to run B, to `run_b/comparison.html` unless `out` names a file.

    Raises ValueError in one line for a folder that is no run, and for two runs with nothing in common.
    """
    both = pair_runs(Path(run_a), Path(run_b))
    accuracy, ability = accuracy_changes(both), ability_changes(both)
    path = Path(out) if out is not None else Path(run_b) / "comparison.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(
        path, [page_template("ragexam.report", "comparison.html").render(comparison_context(both, accuracy, ability))]
    )
    return ComparisonPage(path, _result(path, both, accuracy, ability))


def comparison_context(
    both: PairedRuns, accuracy: AccuracyChanges | None, ability: AbilityChanges | str
) -> Mapping[str, object]:
    """Everything the template names."""
    subtitle = (
        f"A: {both.name_a} ({len(both.a.questions)} questions, {both.a.scores['student'].nunique()} pipelines); "
        f"B: {both.name_b} ({len(both.b.questions)} questions, {both.b.scores['student'].nunique()} pipelines)"
    )
    said = comparison_sentences(both, accuracy, ability)
    return {
        **page_frame("What changed from run A to run B?", subtitle, CONTENTS),
        "verdict": {"sentences": said.lead, "warnings": said.warnings, "table": verdict_table(both)},
        "accuracy": {"sentences": said.accuracy, "tables": accuracy_tables(both, accuracy)},
        "ability": {"sentences": said.ability, "tables": ability_tables(ability)},
        "questions": drift_section(both, accuracy, ability),
        "apart": not_compared(both, accuracy),
    }


def _result(
    path: Path, both: PairedRuns, accuracy: AccuracyChanges | None, ability: AbilityChanges | str
) -> dict[str, Any]:
    """The numbers for a program; what cannot be said is null."""
    found: dict[str, Any] = {
        "report": str(path),
        "questions": {"common": len(both.questions), "reworded": len(both.reworded)},
        "pipelines": len(both.pipelines),
        "accuracy": None,
        "link": None,
        "not_linked": ability if isinstance(ability, str) else None,
    }
    found["questions"] |= {"only_a": both.only_a, "only_b": both.only_b}
    if accuracy is not None:
        found["accuracy"] = {
            "overall": dict(zip(("estimate", "low", "high"), map(_number, accuracy.overall), strict=True)),
            "questions": accuracy.n_questions,
            "identical": accuracy.identical,
            "pipelines": _rows(accuracy.pipelines),
            "levels": _rows(accuracy.levels),
        }
    if isinstance(ability, AbilityChanges):
        line = ability.link
        found["link"] = {
            "slope": line.slope._asdict(),
            "intercept": line.intercept._asdict(),
            "anchors": len(line.anchors),
            "drifted": list(line.dropped),
            "pipelines": _rows(ability.pipelines),
            "levels": _rows(ability.levels),
            "warnings": list(line.warnings),
        }
    return found


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return list(json.loads(table.to_json(orient="records", double_precision=6)))


def _number(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None
