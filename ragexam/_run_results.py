"""What writing an exam, sitting it, and a whole run return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from examcore import Exam
    from irt import Fit, ResponseMatrix
    from ragexam._corpus_table import CorpusTable
    from ragexam._exam_table import ExamTable
    from ragexam._retrieval import RetrievalTable
    from ragexam.report import RunFindings


@dataclass(frozen=True)
class WritingResult:
    """An exam that was written: its file, its size, the pool of examples, losses by reason, tables and cost."""

    exam: Path
    n_questions: int
    pool: int
    dropped: Mapping[str, int]
    corpus: CorpusTable
    statistics: ExamTable
    usage: Mapping[str, Any]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "n_questions": self.n_questions,
            "pool": self.pool,
            "dropped": dict(self.dropped),
            "corpus": self.corpus.record(),
            "statistics": self.statistics.record(),
            "usage": dict(self.usage),
        }

    def lines(self) -> list[str]:
        """Both tables, the exam with its losses, and what the models cost."""
        from rag import usage_lines

        lost = ", ".join(f"{count} {reason}" for reason, count in self.dropped.items()) or "none"
        size = f"{self.exam}: {self.n_questions} questions; dropped: {lost}"
        return [*self.corpus.lines(), "", *self.statistics.lines(), "", size, *usage_lines(self.usage)]


@dataclass(frozen=True)
class SittingResult:
    """An exam that was sat: the responses, each pipeline's accuracy, and what `run.json` says of the sitting."""

    responses: Path
    accuracy: Mapping[str, float]
    sitting: Mapping[str, Any]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {"accuracy": dict(self.accuracy), **self.sitting}

    def lines(self) -> list[str]:
        """A line for each pipeline, and where the responses are."""
        return [*(f"{accuracy:.3f}  {name}" for name, accuracy in self.accuracy.items()), str(self.responses)]


@dataclass(frozen=True)
class RunResult:
    """A run whose exam was sat: what was found in its folder, and what lies there, each read when first asked for."""

    findings: RunFindings

    @property
    def path(self) -> Path:
        """The run folder."""
        return self.findings.evidence.folder.path

    @property
    def report(self) -> Path:
        """The page, `report.html`."""
        return self.findings.evidence.folder.report

    @property
    def verdict(self) -> list[str]:
        """What to take, and what the data cannot tell apart, in sentences."""
        return self.findings.verdict

    @cached_property
    def exam(self) -> Exam:
        """The questions that were asked."""
        from examcore import read_exam

        return read_exam(self.findings.evidence.folder.exam)

    @property
    def pruned(self) -> Exam | None:
        """The questions that pruning kept; None where the exam was not pruned."""
        pruning = self.findings.evidence.pruning
        return None if pruning is None else self.exam.select(pruning.kept)

    @property
    def answers(self) -> pd.DataFrame | None:
        """`student, item, chosen, source, prompt_tokens, seconds`; None where only scores are there.

        `source` is 1 where the passage was read that the question was written from, 0 where not, NaN if not known.
        """
        return self.findings.evidence.answers

    @cached_property
    def responses(self) -> ResponseMatrix:
        """The scores as they are fitted: with the facets that vary, without black boxes beside a grid."""
        from ragexam._measure import run_data

        return run_data(self.findings.evidence.folder)

    @property
    def retrieval(self) -> RetrievalTable:
        """How well each retriever finds the passage that a question was written from; empty where none searches."""
        return self.findings.evidence.retrieval

    @property
    def fit(self) -> Fit | None:
        """The measurement model, with 90 % intervals; None where nothing was fitted."""
        model = self.findings.evidence.model
        return None if model is None else model.fit

    def write_report(self) -> Path:
        """Write the page and `figures/`; returns the page's path."""
        from ragexam.report import write_report

        return write_report(self.findings)

    def record(self) -> dict[str, object]:
        """The few numbers that `run.json` keeps, as JSON types."""
        return self.findings.record()

    def lines(self) -> list[str]:
        """The numbers a run is judged by, and where its page is."""
        return self.findings.lines()
