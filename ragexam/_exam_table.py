"""What is in an exam and what was lost on the way: table 4 of the auto-rag-eval paper, for a run or an exam file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

from exam_gen import Baseline, ExamStatistics, Spread, exam_statistics
from examcore import RunFolder, read_documents, read_dropped, read_exam, read_pool
from examcore.console import aligned_rows, counts_text, jsonable, printable


@dataclass(frozen=True)
class ExamTable:
    """The statistics of an exam and Bloom's levels that no question has."""

    statistics: ExamStatistics
    uncovered_levels: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """The table as JSON types; NaN becomes null."""
        statistics: dict[str, Any] = jsonable(self.statistics.as_dict())
        return {**statistics, "uncovered_levels": list(self.uncovered_levels)}

    def lines(self) -> list[str]:
        """The table for a reader."""
        found = self.statistics
        shares = {word: f"{share:.0%}" for word, share in found.question_words.items()}
        return aligned_rows(
            [
                ("generated", str(found.generated)),
                ("unparsable", _total(found.unparsable)),
                ("dropped", _total(found.dropped)),
                ("beyond the wanted number", str(found.beyond)),
                ("set aside as examples", str(found.set_aside)),
                ("surviving", str(found.surviving)),
                ("always the best position", _baseline_text(found.fixed_answer)),
                ("always the longest choice", _baseline_text(found.longest_answer)),
                ("always the shortest choice", _baseline_text(found.shortest_answer)),
                ("keys by position", ", ".join(map(str, found.positions)) or "not measured"),
                ("characters of a question", _lengths_text(*found.stem_length)),
                ("characters of a choice", _lengths_text(*found.choice_length)),
                ("characters of a key", _lengths_text(*found.key_length)),
                ("characters of a passage", _lengths_text(*found.context_length)),
                *((f"overlap with the passage ({kind})", _shares_text(one)) for kind, one in found.overlap.items()),
                *_listed("question words", shares),
                *_listed("first words", found.first_words),
                *((f"by {kind}", counts_text(count)) for kind, count in found.labels.items() if kind != "words"),
                *_listed("topics", found.topics),
                *_missing("Bloom levels without a question", self.uncovered_levels),
                *_missing("topics without a question", found.uncovered_topics),
                ("asked about", f"{found.documents} documents, {found.chunks} passages"),
            ]
        )


def exam_table(exam: Path) -> ExamTable:
    """The table of a run folder with its losses and its pool, or of any `exam.jsonl`.

    A run whose questions were all lost has a table, too. Questions without labels get those of `taxonomy.labels`.
    Raises `FileNotFoundError` where there is no exam.
    """
    from taxonomy import LEVELS, labels

    folder = RunFolder(exam if exam.is_dir() else exam.parent)
    path = folder.exam if exam.is_dir() else exam
    # A run of which no question survived has its losses, and no exam.
    empty = exam.is_dir() and not path.is_file() and folder.dropped.is_file()
    if not path.is_file() and not empty:
        raise FileNotFoundError(f"{path}: no such file; wanted an exam.jsonl or the folder of a run")
    # Only the run's own exam goes with the run's losses; another file beside it has a history of its own.
    own = path.name == folder.exam.name
    found = exam_statistics(
        []
        if empty
        else [one if one.labels else replace(one, labels=labels(one.stem)) for one in read_exam(path).questions],
        read_dropped(folder.dropped) if own and folder.dropped.is_file() else (),
        pool=read_pool(folder.shots) if own else (),
        topics={one.topic for one in read_documents(folder.corpus)} if own and folder.corpus.is_file() else (),
    )
    return ExamTable(found, tuple(level for level in LEVELS if level not in found.labels.get("bloom", {})))


def _listed(name: str, counts: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, counts_text(counts))] if counts else []


def _missing(name: str, absent: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(name, printable(", ".join(absent)))] if absent else []


def _total(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    return f"{total} ({counts_text(counts)})" if total else "0"


def _baseline_text(found: Baseline) -> str:
    if isnan(found.accuracy):
        return "not measured"
    luck = "within" if found.within_chance else "BEYOND"
    return f"{found.accuracy:.3f} [{found.low:.3f}, {found.high:.3f}], {luck} sampling error of chance"


def _shares_text(found: Spread) -> str:
    if isnan(found.mean):
        return "not measured"
    return f"{found.mean:.2f} on average (sd {found.sd:.2f}), {found.least:.2f} to {found.most:.2f}"


def _lengths_text(mean: float, sd: float, least: float, most: float) -> str:
    if isnan(mean):
        return "not measured"
    return f"{mean:.0f} on average (sd {sd:.0f}), {least:.0f} to {most:.0f}"
