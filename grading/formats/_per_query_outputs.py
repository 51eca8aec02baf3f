"""Per-query scores as trec_eval, ir_measures and nuggetizer print them, one file a system, from a folder.

trec_eval -q prints `measure topic value`, ir_measures -q `topic measure value` or JSON lines of the same, nuggetizer's
metrics JSON lines of a topic with a field for each measure.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from examcore import read_json_lines, read_text, shown_json
from grading._file_rows import QUERY, holds_json

ALL = "all"
"""The topic of what these tools print over all topics."""
RUN_NAME = "runid"
"""What trec_eval prints the run's name as."""
ENDINGS = (".gz", ".txt", ".eval", ".out", ".tsv", ".jsonl", ".json")
_JSON_LONG = frozenset({"measure", "value"})


class _Value(NamedTuple):
    place: str
    measure: str
    topic: str
    value: str


class PerQueryOutput(NamedTuple):
    """One file: the run's name, where it says one, and measure -> topic -> value, over all topics left out."""

    path: Path
    run: str
    scores: Mapping[str, Mapping[str, _Value]]


def read_outputs(folder: Path, measure: str | None = None) -> dict[tuple[str, str], float]:
    """(system, topic) -> score by one measure; a system is a run's name, or its file's where runs lack distinct names.

    Raises `ValueError` (file:line, found, wanted) for a folder without files, a file of another form, a measure that is
    missing from any file, several measures and none named, and a value that is no number.
    """
    paths = sorted(one for one in folder.iterdir() if one.is_file() and not one.name.startswith("."))
    outputs = [_read(one) for one in paths]
    if not outputs:
        raise ValueError(f"{folder}: holds no files; wanted the per-query output of one system in each")
    chosen = measure or only_measure(paths[0], outputs[0].scores)
    for one in outputs:
        only_measure(one.path, one.scores, chosen)
    runs = [one.run for one in outputs]
    named = all(runs) and len(set(runs)) == len(runs)
    names = runs if named else [_stem(one.path) for one in outputs]
    for name, one in zip(names, outputs, strict=True):
        if names.count(name) > 1:
            raise ValueError(f"{one.path}: a second system named {name!r}; wanted distinct names of files")
    return {
        (name, topic): _number(value)
        for name, one in zip(names, outputs, strict=True)
        for topic, value in one.scores[chosen].items()
    }


def only_measure(path: str | Path, measures: Collection[str], wanted: str | None = None) -> str:
    """The wanted measure of those in a file, or the only one; `ValueError` where there is no such measure."""
    found = ", ".join(list(measures)[:8])
    if wanted is None and len(measures) > 1:
        raise ValueError(f"{path}: {len(measures)} measures ({found}); wanted --measure with one of them")
    if wanted is not None and wanted not in measures:
        raise ValueError(f"{path}: no measure {wanted!r}; found {found}")
    return wanted or next(iter(measures))


def _read(path: Path) -> PerQueryOutput:
    values = list(_json_values(path) if holds_json(path) else _printed_values(path))
    scores: dict[str, dict[str, _Value]] = {}
    run = ""
    for one in values:
        if one.measure == RUN_NAME:
            run = one.value
        elif one.topic != ALL:
            if one.topic in scores.setdefault(one.measure, {}):
                raise ValueError(f"{one.place}: {one.measure} of topic {one.topic} stands twice; wanted one system")
            scores[one.measure][one.topic] = one
    if not scores:
        raise ValueError(f"{path}: has no scores of single topics; wanted per-query output (-q)")
    return PerQueryOutput(path, run, scores)


def _json_values(path: Path) -> Iterator[_Value]:
    for row in read_json_lines(path):
        topic = next((str(row.fields[name]) for name in QUERY if name in row.fields), None)
        if topic is None:
            raise ValueError(f"{row.place}: found {', '.join(row.fields)}; wanted a topic and its scores")
        if row.fields.keys() >= _JSON_LONG:
            yield _Value(row.place, str(row.fields["measure"]), topic, str(row.fields["value"]))
            continue
        for name, value in row.fields.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and name not in QUERY:
                yield _Value(row.place, name, topic, str(value))


def _printed_values(path: Path) -> Iterator[_Value]:
    """The values of three columns, of which the first is the measure for trec_eval, and the topic for ir_measures."""
    lines = [(number, one) for number, one in enumerate(read_text(path).split("\n"), start=1) if one.strip()]
    for number, line in lines:
        if len(line.split()) != 3:
            raise ValueError(
                f"{path}:{number}: {len(line.split())} columns; wanted 3 as of trec_eval -q or ir_measures -q"
            )
    fields = [line.split() for _, line in lines]
    by_topic = any(first == ALL for first, _, _ in fields) or not (
        any(second == ALL for _, second, _ in fields) or any(" \t" in line for _, line in lines)
    )
    for (number, _), (first, second, value) in zip(lines, fields, strict=True):
        measure, topic = (second, first) if by_topic else (first, second)
        yield _Value(f"{path}:{number}", measure, topic, value)


def _number(one: _Value) -> float:
    try:
        found = float(one.value)
    except ValueError:
        found = math.inf
    if not math.isfinite(found):
        raise ValueError(f"{one.place}: {one.measure} {shown_json(one.value)}; wanted a number")
    return found


def _stem(path: Path) -> str:
    name = path.name
    while name.endswith(ENDINGS):
        name = name.rpartition(".")[0]
    return name or path.name
