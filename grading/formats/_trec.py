"""TREC files: relevance judgements (qrels) and ranked runs, read strictly and ordered as trec_eval orders them.

Fields are divided by ASCII white space. Only a line that begins with `#` is a comment, as in trec_eval: segment ids
such as `msmarco_v2.1_doc_00_880019750#4_1633802806` hold one and stay whole. Topics and documents are compared as text.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from examcore import read_text, shown_json, write_text

Qrels = Mapping[str, Mapping[str, int]]
"""Topic -> document -> grade."""

_WHITE = re.compile(r"[ \t\r\f\v]+")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MOST_GRADE = 100_000
"""trec_eval keeps a count for every grade up to the highest, so that larger ones would exhaust the memory."""

QRELS_COLUMNS = "topic, iteration, document, grade"
BEIR_HEADER = ["query-id", "corpus-id", "score"]
"""The first line of qrels as BEIR and MT-RAG keep them."""
RUN_COLUMNS = "topic, Q0, document, rank, score, run"


@dataclass(frozen=True)
class TrecRun:
    """A system's rankings: topic -> (document, score), best first; `notes` are sentences about how it was read.

    The order is trec_eval's: by score as a 32-bit number, descending, and by document id, descending, where scores tie.
    The rank column has no say.
    """

    name: str
    rankings: Mapping[str, Sequence[tuple[str, float]]]
    notes: tuple[str, ...] = ()

    def top(self, topic: str, k: int | None = None) -> tuple[str, ...]:
        """The first k documents of a topic (all without k), none for a topic the run skips."""
        return tuple(document for document, _ in self.rankings.get(topic, ())[:k])


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Topic -> document -> grade, in the file's order; grades may be negative. BEIR's three columns are read, too.

    Raises `ValueError` (file:line, found, wanted) for another number of columns, a grade that is no whole number or
    beyond `MOST_GRADE`, a document that stands twice in a topic, and a file without judgements.
    """
    path = Path(path)
    qrels: dict[str, dict[str, int]] = {}
    for place, fields in _qrels_lines(path):
        if len(fields) != 4:
            hint = " (six are a run's: QRELS go before RUN)" if len(fields) == 6 else ""
            raise ValueError(f"{place}: {len(fields)} columns; wanted 4: {QRELS_COLUMNS}{hint}")
        topic, _, document, grade = fields
        if not _WHOLE.fullmatch(grade):
            raise ValueError(f"{place}: grade {shown_json(grade)}; wanted a whole number")
        if len(grade) > 20 or abs(int(grade)) > MOST_GRADE:
            raise ValueError(f"{place}: grade {shown_json(grade)}; wanted at most {MOST_GRADE}, of either sign")
        judged = qrels.setdefault(topic, {})
        if document in judged:
            raise ValueError(
                f"{place}: document {shown_json(document)} stands twice in topic {topic}; wanted one grade"
            )
        judged[document] = int(grade)
    if not qrels:
        raise ValueError(f"{path}: has no judgements; wanted lines of {QRELS_COLUMNS}")
    return qrels


def is_qrels(path: str | Path) -> bool:
    """Whether the first line of a file has the four columns of qrels, the last one a whole number."""
    first = next((fields for _, fields in _qrels_lines(Path(path))), [])
    return len(first) == 4 and _WHOLE.fullmatch(first[3]) is not None


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Write `topic 0 document grade` lines, whole or not at all."""
    write_text(path, qrels_lines(qrels))


def qrels_lines(qrels: Qrels) -> Iterator[str]:
    """The lines of a qrels file; `ValueError` for an id with white space, which the format cannot hold."""
    for topic, judged in qrels.items():
        for document, grade in judged.items():
            for kind, name in (("topic", topic), ("document", document)):
                _require_word(kind, name, "qrels")
            yield f"{topic} 0 {document} {grade}\n"


def write_run(path: str | Path, run: TrecRun) -> None:
    """Write `topic Q0 document rank score run` lines; `ValueError` for an id with white space."""
    lines = []
    for topic, ranked in run.rankings.items():
        for rank, (document, score) in enumerate(ranked, start=1):
            for kind, name in (("topic", topic), ("document", document), ("run", run.name)):
                _require_word(kind, name, "run")
            lines.append(f"{topic} Q0 {document} {rank} {score:g} {run.name}\n")
    write_text(path, lines)


def read_run(path: str | Path) -> TrecRun:
    """A ranked run in trec_eval's order; columns beyond the sixth are left out, as trec_eval does, and noted.

    Raises `ValueError` (file:line, found, wanted) for fewer than 6 columns, a rank that is no whole number, a score
    that is no finite number, a document that stands twice in a topic, and an empty file.
    """
    path = Path(path)
    found: dict[str, dict[str, _Line]] = {}
    tags: dict[str, None] = {}
    wider = 0
    for place, fields in _lines(path):
        line = _run_line(place, fields)
        ranked = found.setdefault(fields[0], {})
        if line.document in ranked:
            raise ValueError(
                f"{place}: document {shown_json(line.document)} stands twice in topic {fields[0]}; wanted once"
            )
        ranked[line.document] = line
        tags[fields[5]] = None
        wider += len(fields) > 6
    if not found:
        raise ValueError(f"{path}: has no lines; wanted lines of {RUN_COLUMNS}")
    ordered = {topic: sorted(ranked.values(), key=_order, reverse=True) for topic, ranked in found.items()}
    rankings = {topic: [(one.document, one.score) for one in ranked] for topic, ranked in ordered.items()}
    name = next(iter(tags)) if len(tags) == 1 else _stem(path)
    return TrecRun(name, rankings, (*_width_notes(path, wider, tags), *_rank_notes(path, ordered)))


def read_runs(paths: Sequence[str | Path]) -> list[TrecRun]:
    """Several runs under distinct names: their tags, or the names of their files where a tag stands twice."""
    runs = [read_run(path) for path in paths]
    names = [run.name for run in runs]
    named = [
        TrecRun(_stem(Path(path)) if names.count(run.name) > 1 else run.name, run.rankings, run.notes)
        for path, run in zip(paths, runs, strict=True)
    ]
    for run, path in zip(named, paths, strict=True):
        if sum(one.name == run.name for one in named) > 1:
            raise ValueError(f"{path}: a second run named {run.name!r}; wanted distinct tags or file names")
    return named


def run_notes(runs: Iterable[TrecRun]) -> list[str]:
    """How runs were read."""
    return [note for run in runs for note in run.notes]


def listed_runs(returned: Iterable[tuple[str, str, str]]) -> tuple[TrecRun, ...]:
    """Runs of `(system, query, document)`, each document once, in the order in which they come."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for system, query, document in returned:
        found.setdefault(system, {}).setdefault(query, {})[document] = None
    return tuple(
        TrecRun(name, {query: [(one, float(-at)) for at, one in enumerate(ids)] for query, ids in queries.items()})
        for name, queries in found.items()
    )


def _require_word(kind: str, name: str, file: str) -> None:
    if not name or _WHITE.search(name) or "\n" in name:
        raise ValueError(f"{kind} {shown_json(name)}: has white space; wanted an id that TREC {file} can hold")


class _Line(NamedTuple):
    document: str
    rank: int
    score: float


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        text = line.strip(" \t\r\f\v")
        if text and not text.startswith("#"):
            yield f"{path}:{number}", _WHITE.split(text)


def _qrels_lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The lines of qrels; after BEIR's header three columns are given the one between them that TREC has."""
    beir = False
    for place, fields in _lines(path):
        if not beir and fields == BEIR_HEADER:
            beir = True
        elif beir and len(fields) == len(BEIR_HEADER):
            yield place, [fields[0], "0", *fields[1:]]
        elif beir:
            raise ValueError(f"{place}: {len(fields)} columns; wanted 3: {', '.join(BEIR_HEADER)}")
        else:
            yield place, fields


def _run_line(place: str, fields: Sequence[str]) -> _Line:
    if len(fields) < 6:
        hint = " (four are of qrels: QRELS go before RUN)" if len(fields) == 4 else ""
        raise ValueError(f"{place}: {len(fields)} columns; wanted 6: {RUN_COLUMNS}{hint}")
    if not _WHOLE.fullmatch(fields[3]):
        raise ValueError(f"{place}: rank {shown_json(fields[3])}; wanted a whole number")
    if not _NUMBER.fullmatch(fields[4]):
        raise ValueError(f"{place}: score {shown_json(fields[4])}; wanted a finite number")
    return _Line(fields[2], int(fields[3]), float(fields[4]))


def _order(line: _Line) -> tuple[float, str]:
    # trec_eval holds scores as 32-bit floats, so that what differs in the eighth digit ties.
    try:
        score = struct.unpack("f", struct.pack("f", line.score))[0]
    except OverflowError:
        score = line.score
    return score, line.document


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz")


def _width_notes(path: Path, wider: int, tags: Iterable[str]) -> list[str]:
    names = list(tags)
    notes = []
    if wider:
        notes.append(f"{path}: {wider} lines have more than 6 columns; what follows the run's name is left out.")
    if len(names) > 1:
        more = " …" if len(names) > 3 else ""
        notes.append(f"{path}: holds {len(names)} run names ({', '.join(names[:3])}{more}); they are read as one run.")
    return notes


def _rank_notes(path: Path, ordered: Mapping[str, Sequence[_Line]]) -> list[str]:
    moved, topics, tied = 0, 0, 0
    for ranked in ordered.values():
        by_rank = sorted(range(len(ranked)), key=lambda index: ranked[index].rank)
        scores = [_order(one)[0] for one in ranked]
        wrong = sum(scores[index] != scores[place] for place, index in enumerate(by_rank))
        moved += wrong
        topics += wrong > 0
        tied += 0 if wrong else sum(index != place for place, index in enumerate(by_rank))
    notes = []
    if moved:
        notes.append(
            f"{path}: rank and score disagree for {moved} passages in {topics} topics; the score counts, as in "
            "trec_eval."
        )
    if tied:
        notes.append(f"{path}: {tied} passages with tied scores are ordered by id, as in trec_eval, not by rank.")
    return notes
