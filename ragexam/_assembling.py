"""Exams as files: opening one with its sources, assembling one from another, and telling two apart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from exam_gen import ExamDiff, Stratum, assemble, attribute, diff_exams
from examcore import Chunk, Exam, RunFolder, read_exam, write_exam, write_text
from examcore.console import printable

FORMAT = 1
"""The version of the record beside an assembled exam."""


@dataclass(frozen=True)
class ExamVersion:
    """A stratified exam in `out`: the hashes of it and of the one it was chosen from, and what each stratum gave."""

    out: Path
    hash: str
    chosen_from: str
    by: tuple[str, ...]
    equal: bool
    seed: int
    strata: tuple[Stratum, ...]

    @property
    def questions(self) -> int:
        """How many were chosen."""
        return sum(one.taken for one in self.strata)

    def record(self) -> dict[str, Any]:
        """What is written beside the exam."""
        return {
            "format": FORMAT,
            "hash": self.hash,
            "from": self.chosen_from,
            "questions": self.questions,
            "by": list(self.by),
            "equal": self.equal,
            "seed": self.seed,
            "strata": [{**one._asdict(), "name": list(one.name)} for one in self.strata],
        }

    def lines(self) -> list[str]:
        """The exam, and a line for each stratum."""
        head = f"{self.out}: {self.questions} questions, hash {self.hash}, chosen from {self.chosen_from}"
        return [head, *(_stratum_line(one) for one in self.strata)]


@dataclass(frozen=True)
class ExamComparison:
    """What changed from one exam to another, and the stems of the questions that differ, by id."""

    difference: ExamDiff
    stems: Mapping[str, str]

    def record(self) -> dict[str, Any]:
        """The comparison as JSON types."""
        return {**self.difference.as_dict(), "stems": dict(self.stems)}

    def lines(self) -> list[str]:
        """A line for each question that differs: + added, - removed, ~ changed, = renamed; then the counts."""
        found = self.difference
        stems = {name: printable(stem) for name, stem in self.stems.items()}
        counts = f"{found.same} same, {len(found.added)} added, {len(found.removed)} removed"
        counts += f", {len(found.changed)} changed, {len(found.renamed)} renamed"
        moved = "; the order differs" if found.moved else ""
        return [
            *(f"+ {name}  {stems[name]}" for name in found.added),
            *(f"- {name}  {stems[name]}" for name in found.removed),
            *(f"~ {name}  {', '.join(parts)}  {stems[name]}" for name, parts in found.changed.items()),
            *(f"= {name} -> {new}  {stems[new]}" for name, new in found.renamed.items()),
            f"{found.before} -> {found.after}: {counts}{moved}",
        ]


def assemble_exam(
    exam: Path, size: int, out: Path, by: Sequence[str], *, equal: bool = False, seed: int = 0
) -> ExamVersion:
    """Write a stratified exam of `size` questions and beside it, as `OUT.version.json`, how it came about.

    Raises `ValueError` for an attribute that no question has, and for an exam of fewer questions.
    """
    source = open_exam(exam)
    known = {"topic", "document", *(kind for one in source.questions for kind in one.labels)}
    if unknown := [name for name in by if name not in known]:
        raise ValueError(
            f"{exam}: no attribute {unknown[0]!r} to assemble by; wanted some of {', '.join(sorted(known))}"
        )
    if size > len(source):
        raise ValueError(f"{exam}: {len(source)} questions; wanted at least {size}, the size of the new exam")
    chosen = assemble(source.questions, size, seed, by=[attribute(name) for name in by], equal=equal)
    made = Exam(chosen.questions)
    version = ExamVersion(out, made.hash, source.hash, tuple(by), equal, seed, chosen.strata)
    write_exam(out, made)
    write_text(version_path(out), [json.dumps(version.record(), indent=2, ensure_ascii=False), "\n"])
    return version


def version_path(exam: Path) -> Path:
    """Where the record of an assembled exam lies."""
    return exam.with_name(f"{exam.name.removesuffix('.jsonl')}.version.json")


def open_exam(path: Path) -> Exam:
    """The exam of a file or of a run folder."""
    return read_exam(RunFolder(path).exam if path.is_dir() else path)


def compare_exams(before: Path, after: Path) -> ExamComparison:
    """Compare the exams of two files or run folders."""
    old, new = open_exam(before), open_exam(after)
    stems = {one.id: one.stem for exam in (old, new) for one in exam.questions}
    found = diff_exams(old, new)
    named = {*found.added, *found.removed, *found.changed, *found.renamed, *found.renamed.values()}
    return ExamComparison(found, {name: stem for name, stem in stems.items() if name in named})


def _stratum_line(stratum: Stratum) -> str:
    short = "" if stratum.taken >= stratum.wanted else f", {stratum.wanted} wanted"
    name = " / ".join(printable(part) or "(none)" for part in stratum.name)
    return f"{name}: {stratum.taken} of {stratum.available}{short}"


def with_sources(exam: Exam) -> Exam:
    """The exam with a source passage named for every question; one that names none is its own."""
    return Exam(
        tuple(
            replace(one, chunk_id=one.chunk_id or one.id, document_id=one.document_id or one.chunk_id or one.id)
            for one in exam.questions
        )
    )


def contexts(exam: Exam) -> list[Chunk]:
    """The passages an exam was written from, for an exam that came without its chunks."""
    for question in exam.questions:
        if not question.context:
            raise ValueError(
                f"exam: question {question.id!r} has no context; wanted the text it was written from, or chunks.jsonl "
                "beside the exam"
            )
    found = {
        q.chunk_id: Chunk(q.chunk_id, q.document_id, q.context, 0, len(q.context), topic=q.topic)
        for q in exam.questions
    }
    return list(found.values())
