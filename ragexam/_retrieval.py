"""Retrieval measured by itself in a run folder: a step of the run, its table, and the table in words."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from examcore import (
    INTERVAL_LEVEL,
    Chunk,
    Exam,
    IntervalEstimate,
    Progress,
    ReportProgress,
    RunFolder,
    RunRecord,
    file_hash,
    mean_interval,
    read_chunks,
    read_exam,
    write_text,
)
from rag import BOUNDS, OWN_FACETS, ClosedBook, Retriever
from rag.retrieval import CUTOFFS, SourceRank, find_sources, passage_index
from ragexam._assembling import contexts
from ragexam._config import GridSettings
from ragexam._steps import Steps

COLUMNS = ("retriever", "measure", "estimate", "low", "high", "questions")


@dataclass(frozen=True)
class Library:
    """The chunks of a run and the retrievers of its grid over them: read, and built, once and where they are needed."""

    folder: RunFolder
    exam: Exam
    grid: GridSettings
    indexes: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def chunks(self) -> Sequence[Chunk]:
        """The run's chunks; those named in the questions, for an exam that came without."""
        return read_chunks(self.folder.chunks) if self.folder.chunks.exists() else contexts(self.exam)

    @cached_property
    def retrievers(self) -> Mapping[str, Retriever]:
        """The retrievers by name; that of black boxes finds nothing, as they are given no passages."""
        specs = self.grid.grid.retrievers
        built = {one.name: one.build(self.chunks, self.indexes.get(one.parts.encoder)) for one in specs}
        return built | ({OWN_FACETS: ClosedBook(OWN_FACETS)} if self.grid.grid.black_boxes else {})

    def encode(self, progress: Progress) -> None:
        """Encode the passages that are not encoded yet, with progress of its own: on a large corpus this takes minutes.

        Before the retrievers are built, which share what is found here.
        """
        for encoder in dict.fromkeys(one.parts.encoder for one in self.grid.grid.retrievers if one.encoders):
            if encoder not in self.indexes:
                with progress.step_if_told("passages") as report:
                    self.indexes[encoder] = passage_index(self.chunks, encoder, progress=report)


def retrieval_step(steps: Steps, library: Library) -> None:
    """Write how well each retriever that searches finds the source passages: `retrieval.csv`, `retrieval-ranks.csv`."""
    folder, exam = steps.folder, library.exam
    searching = [one for one in library.grid.grid.retrievers if one.kind not in BOUNDS]
    if not searching:
        steps.progress.say("retrieval: left out; no retriever of the grid searches")
        return

    def measure(report: ReportProgress) -> None:
        retrievers = {one.name: library.retrievers[one.name] for one in searching}
        found = find_sources(retrievers, exam.questions, progress=report)
        _write(folder.retrieval_ranks, ("retriever", "question", "rank"), [row for one in found for row in _ranks(one)])
        _write(folder.retrieval, COLUMNS, [row for one in found for row in _summary(one)])

    made_from = {
        "exam": exam.hash,
        "chunks": file_hash(folder.chunks) if folder.chunks.exists() else "",
        "retrievers": [one.identity for one in searching],
    }
    steps.do("retrieval", made_from, [folder.retrieval, folder.retrieval_ranks], measure, first=library.encode)


@dataclass(frozen=True)
class RetrievalTable:
    """How well each retriever finds the source passages: intervals by retriever and measure, over `questions`."""

    questions: int
    retrievers: Mapping[str, Mapping[str, IntervalEstimate]]

    def record(self) -> dict[str, Any]:
        """`{questions, interval, retrievers: {name: {measure: {estimate, low, high}}}}`."""
        retrievers = {
            name: {measure: found.as_dict() for measure, found in measures.items()}
            for name, measures in self.retrievers.items()
        }
        return {"questions": self.questions, "interval": INTERVAL_LEVEL, "retrievers": retrievers}

    def lines(self) -> list[str]:
        """The table for a reader, the best retriever by nDCG first."""
        last = f"ndcg@{CUTOFFS[-1]}"
        width = max(len(name) for name in self.retrievers)
        lines = [f"source passage found, {self.questions} questions, {INTERVAL_LEVEL:.0%} intervals"]
        for name, measures in sorted(self.retrievers.items(), key=lambda one: -one[1][last].estimate):
            cells = (
                f"{measure} {one.estimate:.3f} [{one.low:.3f}, {one.high:.3f}]" for measure, one in measures.items()
            )
            lines.append(f"{name:<{width}}  {'  '.join(cells)}")
        return lines


def measure_retrieval(run: Path, progress: Progress) -> RetrievalTable:
    """What a run's retrievers find, measured now where the run has not.

    Raises ValueError for a folder without a grid, and for a grid in which nothing searches.
    """
    folder = RunFolder(run)
    if not folder.record.is_file() or not folder.exam.is_file():
        raise FileNotFoundError(f"{run}: no run.json beside an exam.jsonl; wanted the folder of a run")
    exam = read_exam(folder.exam)
    with folder.held():
        record = RunRecord.open(folder)
        configuration = record.content.get("configuration", {})
        if "grid" not in configuration:
            raise ValueError(f"{folder.record}: no grid; wanted a run whose exam was sat")
        grid = GridSettings.model_validate(configuration["grid"])
        if all(one.kind in BOUNDS for one in grid.grid.retrievers):
            raise ValueError(f"{folder.record}: no retriever of the grid searches; wanted one such as bm25")
        steps = Steps(folder, record, progress)
        retrieval_step(steps, Library(folder, exam, grid))
    return read_retrieval(folder.retrieval)


def read_retrieval(path: Path) -> RetrievalTable:
    """The table that a run holds."""
    retrievers: dict[str, dict[str, IntervalEstimate]] = {}
    questions = 0
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = IntervalEstimate(*(float(row[name]) for name in IntervalEstimate._fields))
            retrievers.setdefault(row["retriever"], {})[row["measure"]] = found
            questions = int(row["questions"])
    return RetrievalTable(questions, retrievers)


def _ranks(found: SourceRank) -> list[tuple[object, ...]]:
    ranks = ["" if math.isnan(rank) else int(rank) for rank in found.ranks]
    return [(found.retriever, *row) for row in zip(found.questions, ranks, strict=True)]


def _summary(found: SourceRank) -> list[tuple[object, ...]]:
    return [
        (found.retriever, measure, *(round(one, 6) for one in mean_interval(values)), len(values))
        for measure, values in found.measured().items()
    ]


def _write(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    write_text(path, [pd.DataFrame(rows, columns=list(columns)).to_csv(index=False, lineterminator="\n")])
