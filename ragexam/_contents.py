"""What is in a corpus and in an exam: tables 1 and 4 of the auto-rag-eval paper, for any source, run or exam file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from exam_gen import exam_statistics
from exam_gen.corpora import chunk, gather, take_inventory
from examcore import (
    Chunk,
    Document,
    Question,
    RunFolder,
    RunRecord,
    read_chunks,
    read_documents,
    read_dropped,
    read_exam,
    read_pool,
)
from ragexam._config import Config, ExamConfig, of_generate
from ragexam._settings import read

CHARACTERS_PER_TOKEN = 4.5
"""English prose in the vocabularies of current models."""


class Cut(NamedTuple):
    """Documents, their chunks, how many records were left out, by reason, and a line for each that cannot be read."""

    documents: Sequence[Document]
    chunks: Sequence[Chunk]
    left_out: Mapping[str, int]
    warnings: Sequence[str] = ()


def cut_corpus(config: ExamConfig) -> Cut:
    """Read and cut the corpus of a configuration without a model: bounds on tokens go by the number of characters."""
    corpus = config.corpus
    found = gather(corpus.source, layout=corpus.layout, selection=corpus.select, sample=corpus.sample, seed=config.seed)
    chunks = chunk(found.documents, corpus.chunks, lambda text: round(len(text) / CHARACTERS_PER_TOKEN))
    return Cut(found.documents, chunks, found.left_out, found.warnings)


def inventory(where: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Table 1 of a corpus: of a run folder as it was cut, of a `.yaml` configuration or a source as it would be."""
    folder = RunFolder(Path(where))
    if folder.record.is_file() and folder.corpus.is_file():
        if overrides:
            raise ValueError(f"{where}: --set {overrides[0]} cannot change a run; wanted a configuration or a corpus")
        chunks = read_chunks(folder.chunks) if folder.chunks.is_file() else []
        left_out = RunRecord.open(folder).content.get("corpus", {}).get("left_out", {})
        cut = Cut(read_documents(folder.corpus), chunks, left_out)
    elif where.endswith((".yaml", ".yml")):
        cut = cut_corpus(read(Path(where), Config, overrides))
    else:
        cut = cut_corpus(of_generate(where, Path(), 0, {}, overrides))
    table = {"source": where, **take_inventory(cut.documents, cut.chunks, cut.left_out).as_dict()}
    return {**table, "warnings": list(cut.warnings)} if cut.warnings else table


def statistics(exam: Path) -> dict[str, Any]:
    """Table 4 of an exam: a run folder with its losses and its pool, or any `exam.jsonl`; NaN becomes null.

    A run whose questions were all lost has a table, too.
    Questions without labels get those of `taxonomy.labels`; `uncovered_levels` are Bloom's levels that no question has.
    """
    from taxonomy import LEVELS

    folder = RunFolder(exam if exam.is_dir() else exam.parent)
    path = folder.exam if exam.is_dir() else exam
    # A run of which no question survived has its losses, and no exam.
    empty = exam.is_dir() and not path.is_file() and folder.dropped.is_file()
    if not path.is_file() and not empty:
        raise FileNotFoundError(f"{path}: no such file; wanted an exam.jsonl or the folder of a run")
    # Only the run's own exam goes with the run's losses; another file beside it has a history of its own.
    own = path.name == folder.exam.name
    found = exam_statistics(
        [] if empty else [_labelled(one) for one in read_exam(path).questions],
        read_dropped(folder.dropped) if own and folder.dropped.is_file() else (),
        pool=read_pool(folder.shots) if own else (),
        topics={one.topic for one in read_documents(folder.corpus)} if own and folder.corpus.is_file() else (),
    )
    table = dict(json.loads(json.dumps(found.as_dict()), parse_constant=lambda _: None))
    return {**table, "uncovered_levels": [level for level in LEVELS if level not in found.labels.get("bloom", {})]}


def _labelled(question: Question) -> Question:
    from taxonomy import labels

    return question if question.labels else replace(question, labels=labels(question.stem))


def inventory_in_words(table: Mapping[str, Any]) -> str:
    """Table 1 as lines for a reader."""
    document, passage = table["words_per_document"], table["words_per_chunk"]
    rows = [
        ("documents", f"{table['documents']:,}"),
        ("chunks", f"{table['chunks']:,} ({table['chunks_per_document']:.1f} of a document)"),
        ("words of a document", f"{document['mean']:.0f} on average, {document['least']:,} to {document['most']:,}"),
        ("words of a chunk", f"{passage['mean']:.0f} on average, {passage['least']:,} to {passage['most']:,}"),
        ("words", f"{table['words']:,}"),
        ("vocabulary", f"{table['vocabulary']:,}"),
        ("topics", f"{table['topics']:,}"),
        *_listed("documents by topic", table["documents_by_topic"]),
        *_listed("documents with", table["cases"]),
        *_listed("left out", table["left_out"]),
        *(("warning", printable(one)) for one in table.get("warnings", ())),
    ]
    return _aligned(rows)


def statistics_in_words(table: Mapping[str, Any]) -> str:
    """Table 4 as lines for a reader."""
    rows = [
        ("generated", str(table["generated"])),
        ("unparsable", _total(table["unparsable"])),
        ("dropped", _total(table["dropped"])),
        ("beyond the wanted number", str(table["beyond"])),
        ("set aside as examples", str(table["set_aside"])),
        ("surviving", str(table["surviving"])),
        *((f"always the {name}", _baseline(table[key])) for name, key in _BASELINES.items()),
        ("keys by position", ", ".join(map(str, table["positions"])) or "not measured"),
        *((name, _spread(table[key])) for name, key in _LENGTHS.items()),
        *_listed("question words", {word: f"{share:.0%}" for word, share in table["question_words"].items()}),
        *_listed("first words", table["first_words"]),
        *((f"by {kind}", _counts(found)) for kind, found in table["labels"].items() if kind != "words"),
        *_listed("topics", table["topics"]),
        *_missing("Bloom levels without a question", table["uncovered_levels"]),
        *_missing("topics without a question", table["uncovered_topics"]),
        ("asked about", f"{table['documents']} documents, {table['chunks']} passages"),
    ]
    return _aligned(rows)


def printable(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text)


_BASELINES = {"best position": "fixed_answer", "longest choice": "longest_answer", "shortest choice": "shortest_answer"}
_LENGTHS = {
    "characters of a question": "stem_length",
    "characters of a choice": "choice_length",
    "characters of a key": "key_length",
    "characters of a passage": "context_length",
}
_MOST = 12
"""Entries of a count that are shown."""


def _aligned(rows: Sequence[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _listed(name: str, counts: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, _counts(counts))] if counts else []


def _missing(name: str, absent: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, printable(", ".join(absent)))] if absent else []


def _counts(counts: Mapping[str, object]) -> str:
    shown = [f"{printable(name) or '(none)'} {count}" for name, count in list(counts.items())[:_MOST]]
    return ", ".join([*shown, *([f"and {len(counts) - _MOST} more"] if len(counts) > _MOST else [])])


def _total(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    return f"{total} ({_counts(counts)})" if total else "0"


def _baseline(found: Mapping[str, Any]) -> str:
    if found["accuracy"] is None:
        return "not measured"
    luck = "within" if found["within_chance"] else "BEYOND"
    return f"{found['accuracy']:.3f} [{found['low']:.3f}, {found['high']:.3f}], {luck} sampling error of chance"


def _spread(found: Mapping[str, Any]) -> str:
    if found["mean"] is None:
        return "not measured"
    return f"{found['mean']:.0f} on average (sd {found['sd']:.0f}), {found['least']:.0f} to {found['most']:.0f}"
