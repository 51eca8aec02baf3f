"""Writing the page of two runs: pair, compare, put into words, fill the template with everything escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from examcore import write_text
from examcore.page import page_frame, page_template
from ragexam.report.comparison._change_sections import (
    ability_section,
    accuracy_section,
    not_compared,
    verdict_section,
)
from ragexam.report.comparison._changes import (
    AbilityChanges,
    AccuracyChanges,
    PairedRuns,
    ability_changes,
    accuracy_changes,
    pair_runs,
)
from ragexam.report.comparison._question_drift import drift_section

CONTENTS = (
    ("verdict", "Verdict"),
    ("accuracy", "Accuracy"),
    ("abilities", "Ability"),
    ("questions", "Questions"),
    ("apart", "Not compared"),
)


@dataclass(frozen=True)
class ComparisonPage:
    """The page of two runs: where it is, and what it compares; `ability` is a sentence where it cannot be compared."""

    path: Path
    runs: PairedRuns
    accuracy: AccuracyChanges | None
    ability: AbilityChanges | str

    def record(self) -> dict[str, Any]:
        """The numbers as JSON types; what cannot be said is null."""
        runs, ability = self.runs, self.ability
        return {
            "report": str(self.path),
            "questions": {
                "common": len(runs.questions),
                "reworded": len(runs.reworded),
                "only_a": runs.only_a,
                "only_b": runs.only_b,
            },
            "pipelines": len(runs.pipelines),
            "accuracy": None if self.accuracy is None else _accuracy_record(self.accuracy),
            "link": None if isinstance(ability, str) else _link_record(ability),
            "not_linked": ability if isinstance(ability, str) else None,
        }

    def lines(self) -> list[str]:
        """Where the page is."""
        return [str(self.path)]


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
    return ComparisonPage(path, both, accuracy, ability)


def comparison_context(
    both: PairedRuns, accuracy: AccuracyChanges | None, ability: AbilityChanges | str
) -> Mapping[str, object]:
    """Everything the template names."""
    subtitle = (
        f"A: {both.name_a} ({len(both.a.questions)} questions, {both.a.scores['student'].nunique()} pipelines); "
        f"B: {both.name_b} ({len(both.b.questions)} questions, {both.b.scores['student'].nunique()} pipelines)"
    )
    return {
        **page_frame("What changed from run A to run B?", subtitle, CONTENTS),
        "verdict": verdict_section(both, accuracy, ability),
        "accuracy": accuracy_section(both, accuracy),
        "ability": ability_section(ability),
        "questions": drift_section(both, accuracy, ability),
        "apart": not_compared(both, accuracy),
    }


def _accuracy_record(accuracy: AccuracyChanges) -> dict[str, Any]:
    return {
        "overall": {
            name: None if value is None else round(value, 6) for name, value in accuracy.overall.as_dict().items()
        },
        "questions": accuracy.n_questions,
        "identical": accuracy.identical,
        "pipelines": _rows(accuracy.pipelines),
        "levels": _rows(accuracy.levels),
    }


def _link_record(ability: AbilityChanges) -> dict[str, Any]:
    line = ability.link
    return {
        "slope": line.slope._asdict(),
        "intercept": line.intercept._asdict(),
        "anchors": len(line.anchors),
        "drifted": list(line.dropped),
        "pipelines": _rows(ability.pipelines),
        "levels": _rows(ability.levels),
        "warnings": list(line.warnings),
    }


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return list(json.loads(table.to_json(orient="records", double_precision=6)))
