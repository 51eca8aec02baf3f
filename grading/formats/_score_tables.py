"""Tables of scores: one per system and topic (or per system), read from files or folders, laid out as an array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from grading._file_rows import Columns, FileRow, read_rows
from grading.formats._per_query_outputs import only_measure, read_outputs

SYSTEM: Columns = {"system": ("run", "run_id", "runid", "model", "pipeline", "participant")}
TOPIC: Columns = {"topic": ("query", "qid", "topic_id", "query_id", "request_id")}
MEASURE = ("metric", "measure")
QUESTION: Columns = {"question": ("question_id", "nugget", "nugget_id")}
PASSAGE: Columns = {"passage": ("doc", "docid", "docno", "doc_id", "document", "document_id", "paragraph_id")}
GRADE: Columns = {"grade": ("label", "relevance", "rel", "score", "rating", "support")}
SCORE: Columns = {"score": ("value", "mean")}
_AGGREGATES = frozenset({"all", "amean", "overall"})

Row = TypeVar("Row")
Column = TypeVar("Column")


class ScoreTable(NamedTuple):
    """Scores `[S, T]` of systems on topics, greater is better, NaN where a system has none.

    A table without topics has one column and `topics` is empty. `left_out` says what was not read, and why.
    """

    name: str
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    values: NDArray[np.float64]
    left_out: tuple[str, ...] = ()

    @property
    def means(self) -> NDArray[np.float64]:
        """The score `[S]` of each system over the topics it has."""
        counted = np.isfinite(self.values)
        return np.asarray(np.nansum(self.values, axis=1) / counted.sum(axis=1))

    def missing(self) -> dict[str, list[str]]:
        """For each system that lacks topics which others have, those topics."""
        gaps = {name: np.flatnonzero(np.isnan(self.values[at])) for at, name in enumerate(self.systems)}
        return {name: [self.topics[at] for at in gap] for name, gap in gaps.items() if gap.size}

    def select(self, systems: Sequence[str]) -> ScoreTable:
        """The same of some systems, in the order given; topics that none of them has go."""
        values = self.values[[self.systems.index(one) for one in systems]]
        kept = np.isfinite(values).any(axis=0)
        topics = tuple(self.topics[at] for at in np.flatnonzero(kept)) if self.topics else ()
        return self._replace(systems=tuple(systems), topics=topics, values=values[:, kept])


def read_scores(path: str | Path, measure: str | None = None) -> ScoreTable:
    """A table with columns `system,score` or `system,topic,score` (CSV, TSV, JSON lines; `rank` for a score, 1 best).

    Or a folder of the per-query output of trec_eval, ir_measures or nuggetizer, one file a system. Of several measures,
    in a folder or a column `metric`, `measure` names the one to read. Rows of an aggregate (`all`) beside topics are
    left out and counted. Raises `ValueError` (file:line, found, wanted) for a missing column, a score that is no
    number, a system (on a topic) that stands twice, and a missing measure.
    """
    if Path(path).is_dir():
        return table_of(read_outputs(Path(path), measure), str(path))
    rows = [_scored(row) for row in _of_measure(read_rows(path, SYSTEM, {**TOPIC, **SCORE}), path, measure)]
    with_topic = [row for row in rows if "topic" in row.fields]
    if with_topic and len(with_topic) < len(rows):
        place = next(row.place for row in rows if "topic" not in row.fields)
        raise ValueError(f"{place}: no 'topic'; wanted one, as in the other rows")
    single = [row for row in rows if row.text("topic", "").lower() not in _AGGREGATES]
    kept = single or rows
    left_out = [f"{len(rows) - len(kept)} rows of an aggregate beside topics"] if len(kept) < len(rows) else []
    cells = cells_of(kept, ("system", "topic") if with_topic else ("system",), "score")
    table = table_of({(key[0], key[-1] if with_topic else ""): value for key, value in cells.items()}, str(path))
    by_topic = bool(with_topic and single)
    return table._replace(topics=table.topics if by_topic else (), left_out=tuple(left_out))


def table_of(cells: Mapping[tuple[str, str], float], name: str = "scores") -> ScoreTable:
    """The table of `(system, topic) -> score`, both in order of first appearance."""
    return ScoreTable(name, *grid_of(cells))


def grid_of(
    cells: Mapping[tuple[Row, Column], float],
) -> tuple[tuple[Row, ...], tuple[Column, ...], NDArray[np.float64]]:
    """Rows, columns and values `[rows, columns]` of cells, in order of first appearance; NaN where there is none."""
    rows = {row: at for at, row in enumerate(dict.fromkeys(row for row, _ in cells))}
    columns = {column: at for at, column in enumerate(dict.fromkeys(column for _, column in cells))}
    values = np.full((len(rows), len(columns)), np.nan)
    for (row, column), value in cells.items():
        values[rows[row], columns[column]] = value
    return tuple(rows), tuple(columns), values


def cells_of(rows: Iterable[FileRow], key: Sequence[str], value: str) -> dict[tuple[str, ...], float]:
    """`key fields -> number` of the rows; `ValueError` names the row where a key stands for the second time."""
    cells: dict[tuple[str, ...], float] = {}
    places: dict[tuple[str, ...], str] = {}
    for row in rows:
        found = tuple(row.text(one) for one in key)
        if found in cells:
            what = ", ".join(f"{name} {one!r}" for name, one in zip(key, found, strict=True))
            raise ValueError(f"{row.place}: {what} stands already at {places[found]}; wanted it once")
        cells[found] = row.number(value)
        places[found] = row.place
    return cells


def _of_measure(rows: Sequence[FileRow], path: str | Path, measure: str | None) -> Sequence[FileRow]:
    """The rows of one measure, all of them in a table without such a column."""
    measures = list(dict.fromkeys(row.first_text(MEASURE) for row in rows if row.present(MEASURE)))
    chosen = only_measure(path, measures, measure) if measures else ""
    return [row for row in rows if row.first_text(MEASURE, "") == chosen]


def _scored(row: FileRow) -> FileRow:
    if "score" in row.fields:
        return row
    if "rank" in row.fields:
        return FileRow(row.place, {**row.fields, "score": -row.number("rank")})
    known = ", ".join(row.fields) or "nothing"
    raise ValueError(f"{row.place}: no score or rank; found {known}")
