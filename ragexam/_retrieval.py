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

from exam_gen import overlaps
from examcore import (
    INTERVAL_LEVEL,
    STEM,
    Chunk,
    Dropped,
    Exam,
    IntervalEstimate,
    Progress,
    Question,
    ReportProgress,
    RunFolder,
    RunRecord,
    file_hash,
    mean_interval,
    read_chunks,
    read_dropped,
    read_exam,
    write_text,
)
from rag import BOUNDS, OWN_FACETS, QUERIES, ClosedBook, Retriever, RetrieverSpec
from rag.retrieval import CUTOFFS, SourceRank, find_sources, passage_index, searches_of
from ragexam._assembling import contexts
from ragexam._config import GridSettings
from ragexam._steps import Steps

PEOPLES_OVERLAP = (0.5, 0.8)
"""Mean share of the content words of people's questions that stand in the passages that answer them, in collections of
search queries, forum titles and conversations (`docs/exam-writing.md`)."""
OWN_WORDS = 0.88
"""Mean overlap above which queries are in the passages' own words, so that lexical retrieval cannot lose."""
COLUMNS = ("retriever", "measure", "estimate", "low", "high", "questions", "queries")
RANK_COLUMNS = ("retriever", "question", "rank", "queries", "query")


@dataclass(frozen=True)
class Library:
    """The chunks of a run and the retrievers of its grid over them: read, and built, once and where they are needed."""

    folder: RunFolder
    exam: Exam
    grid: GridSettings
    indexes: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_run(cls, folder: RunFolder, record: RunRecord) -> Library:
        """The library of a run whose exam was sat; raises ValueError for a run without a grid."""
        configuration = record.content.get("configuration", {})
        if "grid" not in configuration:
            raise ValueError(f"{folder.record}: no grid; wanted a run whose exam was sat")
        return cls(folder, read_exam(folder.exam), GridSettings.model_validate(configuration["grid"]))

    @cached_property
    def chunks(self) -> Sequence[Chunk]:
        """The run's chunks; those named in the questions, for an exam that came without."""
        return read_chunks(self.folder.chunks) if self.folder.chunks.exists() else contexts(self.exam)

    @cached_property
    def questions(self) -> list[Question]:
        """What retrieval is measured with."""
        dropped = read_dropped(self.folder.dropped) if self.folder.dropped.is_file() else []
        return searched_questions(self.exam.questions, dropped)

    @cached_property
    def retrievers(self) -> Mapping[str, Retriever]:
        """The retrievers by name; that of black boxes finds nothing, as they are given no passages."""
        specs = self.grid.grid.retrievers
        built = {one.name: one.build(self.chunks, self.indexes.get(one.parts.encoder)) for one in specs}
        return built | ({OWN_FACETS: ClosedBook(OWN_FACETS)} if self.grid.grid.black_boxes else {})

    @property
    def searching(self) -> list[RetrieverSpec]:
        """Those of the grid that search: all but the bounds."""
        return [one for one in self.grid.grid.retrievers if one.kind not in BOUNDS]

    @property
    def searchers(self) -> dict[str, Retriever]:
        """The retrievers that search, by name."""
        return {one.name: self.retrievers[one.name] for one in self.searching}

    @property
    def identity(self) -> dict[str, Any]:
        """What decides which passages they find."""
        return {
            "exam": self.exam.hash,
            "dropped": [one.id for one in self.questions[len(self.exam) :]],
            "chunks": file_hash(self.folder.chunks) if self.folder.chunks.exists() else "",
            "retrievers": [one.identity for one in self.searching],
        }

    def encode(self, progress: Progress) -> None:
        """Encode the passages that are not encoded yet, with progress of its own: on a large corpus this takes minutes.

        Before the retrievers are built, which share what is found here.
        """
        for encoder in dict.fromkeys(one.parts.encoder for one in self.grid.grid.retrievers if one.encoders):
            if encoder not in self.indexes:
                with progress.step_if_told("passages") as report:
                    self.indexes[encoder] = passage_index(self.chunks, encoder, progress=report)


def searched_questions(exam: Sequence[Question], dropped: Sequence[Dropped]) -> list[Question]:
    """The questions of the exam, and those dropped for their choices alone: their queries were found to hold."""
    others = [one.question for one in dropped if one.question is not None and one.question.queries]
    return list({one.id: one for one in (*exam, *others)}.values())


def retrieval_step(steps: Steps, library: Library) -> None:
    """Write how well each retriever that searches finds the source passages: `retrieval.csv`, `retrieval-ranks.csv`."""
    folder = steps.folder
    if not library.searching:
        steps.progress.say("retrieval: left out; no retriever of the grid searches")
        return

    def measure(report: ReportProgress) -> None:
        found = find_sources(library.searchers, searches_of(library.questions), progress=report)
        _write(folder.retrieval_ranks, RANK_COLUMNS, [row for one in found for row in _ranks(one)])
        _write(folder.retrieval, COLUMNS, [row for one in found for row in _summary(one)])

    made = [folder.retrieval, folder.retrieval_ranks]
    steps.do("retrieval", library.identity, made, measure, first=library.encode)


@dataclass(frozen=True)
class RetrievalTable:
    """How well each retriever finds the source passages: intervals by kind of queries, retriever and measure.

    `questions` counts those that have queries of a kind, `overlap` is the mean share of a query's content words that
    stand in its passage, by kind.
    """

    kinds: Mapping[str, Mapping[str, Mapping[str, IntervalEstimate]]]
    questions: Mapping[str, int]
    overlap: Mapping[str, float]

    @property
    def main(self) -> str:
        """The kind that a sitting searches for: the question in other words, where the exam has such."""
        return QUERIES if QUERIES in self.kinds else STEM

    @property
    def retrievers(self) -> Mapping[str, Mapping[str, IntervalEstimate]]:
        """Those of the main kind, by retriever and measure."""
        return self.kinds.get(self.main, {})

    def record(self) -> dict[str, Any]:
        """`{questions, interval, queries, overlap, retrievers: {name: {measure: {estimate, low, high}}}, kinds}`.

        `retrievers` are those of the main kind, `queries`; `kinds` has the same for every kind.
        """
        kinds = {
            kind: {name: {measure: one.as_dict() for measure, one in found.items()} for name, found in each.items()}
            for kind, each in self.kinds.items()
        }
        return {
            "questions": self.questions.get(self.main, 0),
            "interval": INTERVAL_LEVEL,
            "queries": self.main,
            "overlap": {kind: None if math.isnan(one) else round(one, 4) for kind, one in self.overlap.items()},
            "retrievers": kinds.get(self.main, {}),
            "kinds": kinds,
        }

    def lines(self) -> list[str]:
        """The table for a reader, the main kind and the best retriever by nDCG first."""
        last = f"ndcg@{CUTOFFS[-1]}"
        width = max((len(name) for name in self.retrievers), default=0)
        total = self.questions.get(self.main, 0)
        lines = [f"source passage found, {total} questions, {INTERVAL_LEVEL:.0%} intervals"]
        for kind in sorted(self.kinds, key=lambda one: one != self.main):
            count, share = self.questions[kind], self.overlap[kind]
            known = "" if math.isnan(share) else f", overlap with the passages {share:.2f}"
            lines.append(f"queries: {kind} ({count} questions{known})")
            for name, measures in sorted(self.kinds[kind].items(), key=lambda one: -one[1][last].estimate):
                cells = (
                    f"{measure} {one.estimate:.3f} [{one.low:.3f}, {one.high:.3f}]" for measure, one in measures.items()
                )
                lines.append(f"  {name:<{width}}  {'  '.join(cells)}")
        return lines


NO_RETRIEVAL = RetrievalTable({}, {}, {})


def measure_retrieval(run: Path, progress: Progress) -> RetrievalTable:
    """What a run's retrievers find, measured now where the run has not.

    Raises ValueError for a folder without a grid, and for a grid in which nothing searches.
    """
    folder = folder_of_run(run)
    with folder.held():
        record = RunRecord.open(folder)
        library = Library.of_run(folder, record)
        if not library.searching:
            raise ValueError(f"{folder.record}: no retriever of the grid searches; wanted one such as bm25")
        retrieval_step(Steps(folder, record, progress), library)
    return read_retrieval(folder.retrieval, library.questions)


def folder_of_run(run: Path) -> RunFolder:
    """The folder of a run; raises FileNotFoundError where no exam was written by one."""
    folder = RunFolder(run)
    if not folder.record.is_file() or not folder.exam.is_file():
        raise FileNotFoundError(f"{run}: no run.json beside an exam.jsonl; wanted the folder of a run")
    return folder


def read_retrieval(path: Path, questions: Sequence[Question]) -> RetrievalTable:
    """The table that a run holds of its questions; of an earlier release, which searched for stems alone, too."""
    kinds: dict[str, dict[str, dict[str, IntervalEstimate]]] = {}
    counts: dict[str, int] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = IntervalEstimate(*(float(row[name]) for name in IntervalEstimate._fields))
            kind = row.get("queries") or STEM
            kinds.setdefault(kind, {}).setdefault(row["retriever"], {})[row["measure"]] = found
            counts[kind] = int(row["questions"])
    return RetrievalTable(kinds, counts, {kind: mean_overlap(questions, kind) for kind in kinds})


def mean_overlap(questions: Sequence[Question], kind: str) -> float:
    """The mean overlap of the questions' queries of a kind with the passages they were written from."""
    shares = overlaps(questions, kind)
    return math.fsum(shares) / len(shares) if shares else math.nan


def _ranks(found: SourceRank) -> list[tuple[object, ...]]:
    return [
        (found.retriever, one.asked.id, next(iter(ranks), ""), one.kind, one.asked.stem)
        for one, ranks in zip(found.searches, found.ranks, strict=True)
    ]


def _summary(found: SourceRank) -> list[tuple[object, ...]]:
    return [
        (found.retriever, measure, *(round(one, 6) for one in mean_interval(values)), len(values), kind)
        for kind in dict.fromkeys(one.kind for one in found.searches)
        for measure, values in found.measured(kind).items()
    ]


def _write(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    write_text(path, [pd.DataFrame(rows, columns=list(columns)).to_csv(index=False, lineterminator="\n")])
