"""Questions as items: counts, an item response model, a pruned bank, and the files of each."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import irt
from examcore import Progress, write_text
from examcore.console import interval_text, jsonable
from grading._printing import aligned, named, noted, signed
from grading._records import Sampling
from grading.formats._bank_files import read_bank_questions
from grading.formats._common_parts import graded_passages, graded_questions, lacking_queries, require_shared_passages
from grading.formats._grades import ReadGrades, read_grades, unique
from grading.formats._trec import TrecRun, read_runs, run_notes
from grading.scores._items import (
    FEWEST,
    GradeTable,
    Item,
    at_level,
    classical,
    fit_items,
    require_reached,
    responses,
    table_of_passages,
    table_of_runs,
)
from grading.scores._nuggets import graded_nuggets, is_assignments, read_all_assignments


class FittedItems(NamedTuple):
    """The item response model of a bank: `columns` beside the counts, the pruned bank if there is one, warnings."""

    fit: irt.Fit
    data: irt.ResponseMatrix
    pruned: irt.Pruned | None
    warnings: Sequence[str]

    @property
    def columns(self) -> pd.DataFrame:
        """Discrimination and difficulty of each item with intervals."""
        return self.fit.items[["item", *(f"{name}{end}" for name in "ab" for end in ("", "_low", "_high"))]]

    def record(self) -> dict[str, Any]:
        """The model as JSON types, its items aside."""
        return {
            "model": self.fit.model,
            "students": len(self.data.students),
            "items_fitted": len(self.data.items),
            "reliability": self.fit.reliability,
            "converged": self.fit.converged,
            "prune": None if self.pruned is None else _pruned_record(self.pruned),
        }

    def rows(self) -> list[list[str]]:
        """The model for a reader."""
        fit = self.fit
        rows = [["model", f"{fit.model}, {len(self.data.items)} questions, reliability {fit.reliability:.3f}"]]
        if self.pruned is None:
            return rows
        return [
            *rows,
            ["pruned bank", f"{len(self.pruned.kept)} questions"],
            ["information per question, held out", signed(self.pruned.heldout_gain)],
            ["order of held-out systems, tau-b", interval_text(self.pruned.rank_agreement)],
        ]


class ItemAnalysis(NamedTuple):
    """A bank's questions as items: counts, the model or why there is none, notes, and the table of items at `path`."""

    tau: float
    table: GradeTable
    items: Sequence[Item]
    model: FittedItems | None
    refused: str
    notes: Sequence[str]
    frame: pd.DataFrame
    path: Path

    @property
    def counts(self) -> dict[str, int]:
        """How many questions are dead, supported by all, and redundant."""
        return {
            "dead": sum(one.dead for one in self.items),
            "universal": sum(one.universal for one in self.items),
            "redundant": sum(bool(one.redundant_with) for one in self.items),
        }

    @property
    def supported_by(self) -> dict[str, int]:
        """How many questions so many students support."""
        supported = Counter(one.supported for one in self.items)
        return {str(count): supported[count] for count in sorted(supported)}

    def record(self) -> dict[str, Any]:
        """The analysis as JSON types."""
        return {**self.summary(), "items": json.loads(self.frame.to_json(orient="records"))}

    def summary(self) -> dict[str, Any]:
        """The same, the items aside."""
        return {
            "tau": self.tau,
            "students": len(self.table.students),
            "questions": len(self.items),
            "queries": len({one.query for one in self.items}),
            "supported_by": self.supported_by,
            **self.counts,
            "model": self.model,
            "refused": self.refused,
            "warnings": self.notes,
        }

    def lines(self) -> list[str]:
        """The analysis for a reader."""
        students, counts = len(self.table.students), self.counts
        rows = [
            ["questions", str(len(self.items))],
            ["systems or passages", str(students)],
            [f"supported by nobody (grade {self.tau:g} or more)", str(counts["dead"])],
            ["supported by all", str(counts["universal"])],
            ["redundant", str(counts["redundant"])],
        ]
        if students < FEWEST:
            rows += [[f"supported by {count}", str(number)] for count, number in self.supported_by.items()]
        model = [] if self.model is None else self.model.rows()
        return [*aligned([*rows, *model]), str(self.path), *noted(self.notes)]


def analysed_items(
    grades: Sequence[Path],
    runs: Sequence[Path],
    out: Path,
    sampling: Sampling,
    progress: Progress,
    *,
    tau: float,
    k: int,
    keep: float,
    bank: Path | None,
    prompt: str | None,
) -> ItemAnalysis:
    """The questions of files of grades as items, with the first k passages of runs as students if there are runs.

    Writes the table of items, the answers, the model and the bank pruned to the share `keep` into the folder `out`.
    """
    graded, read = _read(grades, prompt), read_runs(runs)
    table = table_of_runs(graded, read, k) if read else table_of_passages(graded)
    where = ", ".join(map(str, grades))
    if read and not math.isnan(graded.highest):
        require_shared_passages(runs, read, where, graded_passages(graded), k=k)
    require_reached(table, tau)
    texts = {} if bank is None else read_bank_questions(bank, graded.questions)
    if bank is not None:
        lacking_queries(bank, texts, graded_questions(graded), where)
    words = {(query, name): text for query, asked in texts.items() for name, text in asked.items()}
    with progress.step("counting") as report:
        counted = classical(table, tau, words or {key: key[1] for key in table.items if " " in key[1]}, report)
    frame = pd.DataFrame([{**one._asdict(), "dead": one.dead, "universal": one.universal} for one in counted])
    frame.insert(0, "item", table.names)
    notes = [*graded.notes, *_run_notes(graded, read, k), *_notes(graded, table)]
    modelled, refused = _modelled(table, tau, keep, sampling, out, progress)
    if modelled is not None:
        frame = frame.merge(modelled.columns, on="item", how="left")
        notes += modelled.warnings
    notes += [refused] if refused else []
    found = ItemAnalysis(tau, table, counted, modelled, refused, notes, frame, out / "items.csv")
    write_text(found.path, [frame.to_csv(index=False)])
    record = {**found.summary(), "format": 1}
    write_text(out / "items.json", [json.dumps(jsonable(record), indent=2, ensure_ascii=False) + "\n"])
    return found


def _read(paths: Sequence[Path], prompt: str | None) -> ReadGrades:
    if all(is_assignments(path) for path in paths):
        return graded_nuggets(read_all_assignments(paths))
    read = [read_grades(path, prompt) for path in paths]
    if len(read) == 1:
        return read[0]
    placed = [(str(path), one) for path, found in zip(paths, read, strict=True) for one in found.grades]
    return ReadGrades(unique(placed), tuple(note for one in read for note in one.notes))


def _modelled(
    table: GradeTable, tau: float, keep: float, sampling: Sampling, out: Path, progress: Progress
) -> tuple[FittedItems | None, str]:
    try:
        data = responses(table)
    except ValueError as error:
        return None, f"No item response model: {error}."
    irt.write_responses(data, out / "responses.csv")
    with progress.step("fitting") as report:
        fit = fit_items(data, interval=sampling.interval, seed=sampling.seed, progress=report)
    fit.save(out / "fit")
    warnings = list(fit.warnings)
    if table.blocks > 1:
        warnings.append(
            f"The passages fall into {table.blocks} groups without a common question: difficulties of different groups "
            "compare only if their passages are equally good (with --run, systems are the students and share all)."
        )
    pruned, refused = _pruned(at_level(data, table, tau), keep, sampling, out, progress)
    warnings += [refused] if refused else []
    warnings += [f"Pruning: {one}" for one in pruned.warnings] if pruned else []
    return FittedItems(fit, data, pruned, warnings), ""


def _pruned(
    data: irt.ResponseMatrix, keep: float, sampling: Sampling, out: Path, progress: Progress
) -> tuple[irt.Pruned | None, str]:
    """The bank pruned on some students and judged on others, on grades as right and wrong."""
    try:
        with progress.step("pruning") as report:
            found = irt.prune(
                data, keep=keep, model="2pl", seed=sampling.seed, interval=sampling.interval, progress=report
            )
    except ValueError as error:
        return None, f"The bank is not pruned: {error}."
    found.save(out / "pruned")
    return found, ""


def _pruned_record(found: irt.Pruned) -> dict[str, Any]:
    return {
        "kept": found.kept,
        "dropped": found.dropped,
        "heldout_gain": found.heldout_gain,
        "rank_agreement": found.rank_agreement,
        "calibration": len(found.calibration),
        "heldout": len(found.heldout),
        "warnings": found.warnings,
    }


def _run_notes(graded: ReadGrades, runs: Sequence[TrecRun], k: int) -> list[str]:
    notes = run_notes(runs)
    tops = [(query, one) for run in runs for query in graded.by_passage for one in run.top(query, k)]
    ungraded = sum(one not in graded.by_passage[query] for query, one in tops)
    if ungraded:
        notes.append(f"Passages among the first {k} that were never graded: {ungraded} of {len(tops)}.")
    skipped = [f"{query} of {run.name}" for run in runs for query in graded.by_passage if query not in run.rankings]
    return notes + named("Queries that a run skips, its grades counted 0", skipped)


def _notes(graded: ReadGrades, table: GradeTable) -> list[str]:
    notes = []
    if graded.unparsed:
        notes.append(f"Unparsed grades, which count nowhere: {graded.unparsed} of {len(graded.grades)}.")
    never = [name for name, column in zip(table.names, table.grades.T, strict=True) if (column != column).all()]
    return notes + named("Questions without a parsed grade", never)
