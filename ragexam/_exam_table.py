"""What is in an exam and what was lost on the way: table 4 of the auto-rag-eval paper, for a run or an exam file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isnan
from pathlib import Path
from typing import Any

from exam_gen import Baseline, ExamStatistics, Spread, exam_statistics, language_notice
from examcore import ModelUsage, RunFolder, RunRecord, read_documents, read_dropped, read_exam, read_pool
from examcore.console import aligned_rows, counts_text, jsonable, printable


@dataclass(frozen=True)
class ExamTable:
    """The statistics of an exam, Bloom's levels that no question has, and what each step of writing cost, if known.

    `notice` says which rules do not read its questions; empty where all are in English.
    """

    statistics: ExamStatistics
    uncovered_levels: tuple[str, ...]
    costs: Mapping[str, ModelUsage] = field(default_factory=dict)
    notice: str = ""

    @property
    def tokens_per_question(self) -> tuple[float, float] | None:
        """Tokens that models read and wrote for a question of the exam or its pool; None where that is not known."""
        count = self.statistics.surviving + self.statistics.set_aside
        total = sum(self.costs.values(), ModelUsage())
        return (total.prompt_tokens / count, total.written_tokens / count) if count and total.calls else None

    def record(self) -> dict[str, Any]:
        """The table as JSON types; NaN becomes null."""
        statistics: dict[str, Any] = jsonable(self.statistics.as_dict())
        each = self.tokens_per_question
        cost = {
            "tokens_read_per_question": each and round(each[0], 1),
            "steps": {name: asdict(one) for name, one in self.costs.items()},
        }
        told = {"notice": self.notice} if self.notice else {}
        return {**statistics, "uncovered_levels": list(self.uncovered_levels), "cost": cost, **told}

    def lines(self) -> list[str]:
        """The table for a reader."""
        found = self.statistics
        shares = {word: f"{share:.0%}" for word, share in found.question_words.items()}
        rows = [
            ("generated", str(found.generated)),
            ("refused when read", _total(found.unparsable)),
            ("dropped", _total(found.dropped)),
            ("beyond the wanted number", str(found.beyond)),
            ("set aside as examples", str(found.set_aside)),
            ("surviving", str(found.surviving)),
            ("always the best position", _baseline_text(found.fixed_answer)),
            ("always the longest choice", _baseline_text(found.longest_answer)),
            ("always the shortest choice", _baseline_text(found.shortest_answer)),
            ("keys by position", ", ".join(map(str, found.positions)) or "not measured"),
            ("characters of a question", _spread_text(found.stem_length)),
            ("characters of a choice", _spread_text(found.choice_length)),
            ("characters of a key", _spread_text(found.key_length)),
            ("characters of a passage", _spread_text(found.context_length)),
            *((f"overlap with the passage ({kind})", _spread_text(one, 2)) for kind, one in found.overlap.items()),
            ("question words", counts_text(shares)),
            ("first words", counts_text(found.first_words)),
            *((f"by {kind}", counts_text(count)) for kind, count in found.labels.items() if kind != "words"),
            ("topics", counts_text(found.topics)),
            ("Bloom levels without a question", printable(", ".join(self.uncovered_levels))),
            ("topics without a question", printable(", ".join(found.uncovered_topics))),
            ("asked about", f"{found.documents} documents, {found.chunks} passages"),
            *self._cost_rows(),
        ]
        table = aligned_rows([(name, text) for name, text in rows if text])
        return [*table, f"note: {self.notice}"] if self.notice else table

    def _cost_rows(self) -> list[tuple[str, str]]:
        if (each := self.tokens_per_question) is None:
            return []
        return [
            ("tokens for a question", f"{each[0]:,.0f} read, {each[1]:,.0f} written"),
            *((f"tokens for {name}", _cost_text(one)) for name, one in self.costs.items()),
        ]


def exam_table(exam: Path) -> ExamTable:
    """The table of a run folder with its losses and its pool, or of any `exam.jsonl`.

    A run whose questions were all lost has a table, too. English questions without labels get those of
    `taxonomy.labels`.
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
    questions = [
        one if one.labels else replace(one, labels=labels(one.stem, one.language))
        for one in (() if empty else read_exam(path).questions)
    ]
    found = exam_statistics(
        questions,
        read_dropped(folder.dropped) if own and folder.dropped.is_file() else (),
        pool=read_pool(folder.shots) if own else (),
        topics={one.topic for one in read_documents(folder.corpus)} if own and folder.corpus.is_file() else (),
    )
    uncovered = tuple(level for level in LEVELS if level not in found.labels.get("bloom", {}))
    return ExamTable(found, uncovered, _costs(folder) if own else {}, language_notice(questions))


def _costs(folder: RunFolder) -> dict[str, ModelUsage]:
    """What each step of writing cost, from the record of a run."""
    if not folder.record.is_file():
        return {}
    usage = RunRecord.open(folder).content.get("usage", {})
    return {name: ModelUsage(**cost) for name, cost in usage.get("steps", {}).items()}


def _cost_text(cost: ModelUsage) -> str:
    return f"{cost.prompt_tokens:,} read, {cost.written_tokens:,} written, {cost.seconds:.0f} s"


def _total(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    return f"{total} ({counts_text(counts)})" if total else "0"


def _baseline_text(found: Baseline) -> str:
    if isnan(found.accuracy):
        return "not measured"
    luck = "within" if found.within_chance else "BEYOND"
    return f"{found.accuracy:.3f} [{found.low:.3f}, {found.high:.3f}], {luck} sampling error of chance"


def _spread_text(found: Spread, digits: int = 0) -> str:
    if isnan(found.mean):
        return "not measured"
    mean, sd, least, most = (f"{value:.{digits}f}" for value in found)
    return f"{mean} on average (sd {sd}), {least} to {most}"
