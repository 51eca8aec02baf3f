"""What the commands on banks print: findings, and labels that change."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from grading.banks._bank_lint import Limits
from grading.banks._bank_lint import lint as lint_questions
from grading.banks._label_changes import NOT_ASKED, LabelChange, label_changes
from grading.commands._printing import PrintedResult
from grading.formats._bank_files import read_bank
from grading.formats._file_faults import Fault, in_words
from grading.formats._grades import read_grades

MOST = 40
"""Changed passages that are printed without `--json`."""


def lint_bank(path: Path, grades: Path | None, tau: float, fewest: int, near: float) -> PrintedResult:
    """The findings in a bank."""
    faults: list[Fault] = []
    bank = read_bank(path, faults)
    notes = in_words(faults)
    graded = read_grades(grades).grades if grades else ()
    known = {(one.query, one.id) for one in bank}
    foreign = sum((one.query, one.question) not in known for one in graded)
    found = lint_questions(bank, graded, Limits(near=near, fewest=fewest, tau=tau))
    counts = dict(Counter(one.rule for one in found))
    result = {
        "bank": str(path),
        "n": len(bank),
        "queries": len({one.query for one in bank}),
        "counts": counts,
        "findings": [{**one._asdict(), "ids": list(one.ids)} for one in found],
        "grades_of_other_questions": foreign,
        "notes": notes,
    }
    lines = [f"{path}: {len(bank)} questions for {result['queries']} queries; {len(found)} findings"]
    width = max(map(len, counts), default=0)
    lines += [f"  {one.rule:<{width}}  {one.query}  {one.sentence}" for one in found]
    lines += [f"note: {note}" for note in notes]
    if foreign:
        lines.append(f"note: {foreign} grades are of questions that the bank does not have")
    return PrintedResult(result, "\n".join(lines))


def changed_labels(before: Path, after: Path, grades: Path, tau: float | None) -> PrintedResult:
    """The passages whose label changes from one bank to another."""
    faults: list[Fault] = []
    found = label_changes(read_bank(before, faults), read_bank(after, faults), read_grades(grades).grades, tau)
    notes = in_words(faults)
    up, down = _moves(found.changes)
    edits = {
        name: [{"query": query, "id": one} for query, one in getattr(found.edits, name)]
        for name in ("added", "removed", "changed")
    }
    result = {
        "tau": tau,
        "questions": edits,
        "passages": found.passages,
        "n_changed": len(found.changes),
        "up": up,
        "down": down,
        "changes": [one._asdict() for one in found.changes],
        "ungraded": [
            {"query": query, "passage": passage, "question": question} for query, passage, question in found.ungraded
        ],
        "foreign_grades": found.foreign,
        "notes": notes,
    }
    counts = ", ".join(f"{len(some)} {name}" for name, some in edits.items())
    lines = [f"questions: {counts}", f"labels: {len(found.changes)} of {found.passages} passages change"]
    lines += [f"  {one.query}  {one.passage}  {_change(one)}" for one in found.changes[:MOST]]
    if len(found.changes) > MOST:
        lines.append(f"  … {len(found.changes) - MOST} more (--json lists all)")
    if found.ungraded:
        passages = len({one[:2] for one in found.ungraded})
        lines.append(
            f"note: {len(found.ungraded)} pairs of {passages} passages and added or changed questions have no grade; "
            "grade them before the labels are used"
        )
    lines += [f"note: {note}" for note in notes]
    if found.foreign:
        lines.append(f"note: {found.foreign} grades are of questions of neither bank")
    return PrintedResult(result, "\n".join(lines))


def _change(one: LabelChange) -> str:
    """`5 -> 3`, or in words where one of the banks gives the passage no label."""
    before = f"{one.why} before" if math.isnan(one.before) else f"{one.before:g}"
    after = "no longer asked" if one.why == NOT_ASKED else one.why
    return f"{before} -> {after if math.isnan(one.after) else f'{one.after:g}'}"


def _moves(changes: Sequence[LabelChange]) -> tuple[int, int]:
    """How many labels rise and fall; one that begins or ends to exist does neither."""
    return sum(one.after > one.before for one in changes), sum(one.after < one.before for one in changes)
