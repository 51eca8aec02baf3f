"""TREC RAG nugget assignments as grades of systems: support 1, partial support 0.5, anything else 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from exam_gen.lines import json_lines, read_text, shown
from grading.formats import fields
from grading.formats.grades import Graded, unique
from grading.records import Grade
from grading.rows import Row

SUPPORT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def is_assignments(path: str | Path) -> bool:
    """Whether a JSON-lines file begins with an object that has a list of nuggets with assignments."""
    path = Path(path)
    if not path.name.lower().removesuffix(".gz").endswith((".jsonl", ".json")):
        return False
    line = next((one for one in read_text(path).split("\n") if one.strip()), "")
    return line.lstrip().startswith("{") and '"nuggets"' in line and '"assignment"' in line


def read_assignments(paths: Sequence[str | Path]) -> Graded:
    """Grades of nuggets from one file per system (`qid, run_id, nuggets: [{text, assignment}]`), named by their text.

    A text that stands twice among a topic's nuggets cannot be told apart between systems: it is left out and counted,
    and so are nuggets that not every system was judged on. Labels outside the vocabulary count as no support and are
    counted. Raises `ValueError` (file:line, found, wanted) for a line without nuggets.
    """
    placed: list[tuple[str, Grade]] = []
    unknown: Counter[str] = Counter()
    twice = 0
    for path in paths:
        for record in json_lines(Path(path)):
            row = Row(record.place, {key: value for key, value in record.fields.items() if value is not None})
            found, repeated = _of_topic(row, unknown)
            placed += found
            twice += repeated
    grades = unique(placed)
    systems = {one.passage for one in grades}
    judged = Counter((one.query, one.question) for one in grades)
    common = tuple(one for one in grades if judged[one.query, one.question] == len(systems))
    notes = []
    if unknown:
        named = ", ".join(f"{count} {shown(label)}" for label, count in unknown.most_common(5))
        notes.append(f"{unknown.total()} labels are outside the vocabulary and count as no support: {named}.")
    if twice:
        notes.append(f"{twice} labels are of nuggets that stand twice in their topic and are left out.")
    if partly := sum(count < len(systems) for count in judged.values()):
        notes.append(f"{partly} nuggets were not judged for all {len(systems)} systems and are left out.")
    return Graded(common, tuple(notes))


def _of_topic(row: Row, unknown: Counter[str]) -> tuple[list[tuple[str, Grade]], int]:
    nuggets = row.fields.get("nuggets")
    if not isinstance(nuggets, list) or not all(isinstance(one, dict) and "text" in one for one in nuggets):
        raise ValueError(f"{row.place}: nuggets {shown(nuggets)}; wanted a list of objects with text and assignment")
    topic, system = fields.text(row, fields.QUERY), fields.text(row, ("run_id", "system", "run"))
    texts = Counter(str(one["text"]) for one in nuggets)
    found = []
    for one in nuggets:
        label = str(one.get("assignment", ""))
        if label not in SUPPORT:
            unknown[label] += 1
        if texts[str(one["text"])] == 1:
            found.append((row.place, Grade(topic, system, str(one["text"]), SUPPORT.get(label, 0.0))))
    return found, sum(count for count in texts.values() if count > 1)
