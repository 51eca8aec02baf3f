"""The summary of a run in words, printed at its end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def in_words(summary: Mapping[str, Any], run: Path) -> str:
    """The numbers a run is judged by, and where its page is."""
    lucky = summary["baselines_within_sampling_error"]
    lines = [
        f"{summary['n_questions']} questions, {summary['n_pipelines']} pipelines",
        f"oracle minus closed book: {_interval(summary['oracle_minus_closed_book'])}",
        _baseline("best fixed answer", summary["fixed_answer_baseline"], lucky["fixed"]),
        _baseline("longest answer", summary["longest_answer_baseline"], lucky["longest"]),
        *(found["note"] for found in summary["best"].values()),
        *(f"note: {note}" for note in summary["notes"]),
    ]
    if summary["converged"] is False:
        lines.append("warning: the fit has not converged; see the report")
    seconds = ", ".join(f"{name} {spent:.0f} s" for name, spent in summary["seconds"].items())
    return "\n".join([*lines, f"seconds: {seconds}", f"report: {run / 'report.html'}"])


def _interval(found: Mapping[str, float | None]) -> str:
    if found["estimate"] is None:
        return "not measured"
    if found["low"] is None:
        return f"{found['estimate']:+.3f} (interval unknown: one question)"
    return f"{found['estimate']:+.3f} [{found['low']:+.3f}, {found['high']:+.3f}] (95 %)"


def _baseline(name: str, accuracy: float | None, is_luck: bool) -> str:
    if accuracy is None:
        return f"{name}: not measured"
    return f"{name}: {accuracy:.3f} ({'within' if is_luck else 'BEYOND'} sampling error of chance)"
