"""Versions of exams as files: assembling one from another, and telling two apart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from exam_gen import assemble, attribute, diff_exams
from examcore import Exam, RunFolder, read_exam, write_exam, write_text
from ragexam._contents import printable

FORMAT = 1
"""The version of the record beside an assembled exam."""


def assemble_exam(
    exam: Path, size: int, out: Path, by: Sequence[str], *, equal: bool = False, seed: int = 0
) -> dict[str, Any]:
    """Write a stratified exam of `size` questions and beside it, as `OUT.version.json`, how it came about.

    The version holds the hash of the new exam and of the one it was chosen from, size, attributes, seed and, for each
    stratum, the questions there were, its share and the questions taken.
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
    version = {
        "format": FORMAT,
        "hash": made.hash,
        "from": source.hash,
        "questions": len(made),
        "by": list(by),
        "equal": equal,
        "seed": seed,
        "strata": [{**one._asdict(), "name": list(one.name)} for one in chosen.strata],
    }
    write_exam(out, made)
    write_text(version_path(out), [json.dumps(version, indent=2, ensure_ascii=False), "\n"])
    return version


def version_path(exam: Path) -> Path:
    """Where the record of an assembled exam lies."""
    return exam.with_name(f"{exam.name.removesuffix('.jsonl')}.version.json")


def open_exam(path: Path) -> Exam:
    """The exam of a file or of a run folder."""
    return read_exam(RunFolder(path).exam if path.is_dir() else path)


def in_words(version: Mapping[str, Any], out: Path) -> str:
    """A version as lines for a reader."""
    lines = [f"{out}: {version['questions']} questions, hash {version['hash']}, chosen from {version['from']}"]
    for stratum in version["strata"]:
        short = "" if stratum["taken"] >= stratum["wanted"] else f", {stratum['wanted']} wanted"
        name = " / ".join(printable(part) or "(none)" for part in stratum["name"])
        lines.append(f"{name}: {stratum['taken']} of {stratum['available']}{short}")
    return "\n".join(lines)


def diff_files(before: Path, after: Path) -> dict[str, Any]:
    """The difference of two exams, with the stems of the questions that differ."""
    old, new = open_exam(before), open_exam(after)
    stems = {one.id: one.stem for exam in (old, new) for one in exam.questions}
    found = diff_exams(old, new)
    named = {*found.added, *found.removed, *found.changed, *found.renamed, *found.renamed.values()}
    return {**found.as_dict(), "stems": {name: stems[name] for name in stems if name in named}}


def diff_in_words(found: Mapping[str, Any]) -> str:
    """A difference as lines for a reader: + added, - removed, ~ changed, = renamed."""
    stems = {name: printable(stem) for name, stem in found["stems"].items()}
    lines = [
        *(f"+ {name}  {stems[name]}" for name in found["added"]),
        *(f"- {name}  {stems[name]}" for name in found["removed"]),
        *(f"~ {name}  {', '.join(parts)}  {stems[name]}" for name, parts in found["changed"].items()),
        *(f"= {name} -> {new}  {stems[new]}" for name, new in found["renamed"].items()),
    ]
    counts = f"{found['same']} same, {len(found['added'])} added, {len(found['removed'])} removed"
    counts += f", {len(found['changed'])} changed, {len(found['renamed'])} renamed"
    moved = "; the order differs" if found["moved"] else ""
    return "\n".join([*lines, f"{found['before']} -> {found['after']}: {counts}{moved}"])
