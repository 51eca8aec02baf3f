"""TREC's relevance judgements (qrels)."""

from __future__ import annotations

from pathlib import Path

from exam_gen.lines import read_text

Qrels = dict[str, dict[str, int]]
"""topic -> document -> grade."""


def read_qrels(path: str | Path) -> Qrels:
    """The judgements of a qrels file: lines of `topic iteration document grade`, divided by white space.

    Raises `ValueError` (file:line, found, wanted) for a line of other fields, a grade that is no whole number and a
    document that a topic judges twice, and for a file without judgements.
    """
    qrels: Qrels = {}
    for number, line in enumerate(read_text(Path(path)).split("\n"), start=1):
        if line.strip():
            topic, document, grade = _judgement(line, f"{path}:{number}")
            if document in qrels.setdefault(topic, {}):
                raise ValueError(f"{path}:{number}: document {document!r} of topic {topic!r} stands twice; wanted once")
            qrels[topic][document] = grade
    if not qrels:
        raise ValueError(f"{path}: has no judgements; wanted lines of topic, iteration, document and grade")
    return qrels


def _judgement(line: str, place: str) -> tuple[str, str, int]:
    fields = line.split()
    if len(fields) != 4:
        raise ValueError(f"{place}: {len(fields)} fields; wanted 4: topic, iteration, document and grade")
    try:
        return fields[0], fields[2], int(fields[3])
    except ValueError:
        raise ValueError(f"{place}: grade {fields[3]!r}; wanted a whole number") from None
