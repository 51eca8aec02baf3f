"""Inspect: an exam as a task file with its questions, and logs read back.

Here the choices are shown and a letter is written, which any chat model can do; it measures something else than the
likelihood of the choices' own words. Logs are `.json`, or `.eval`: a zip of JSON files that newer versions pack with
zstandard.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from examcore import Exam, Question, shown_json
from rag import ExamPrompts, Pipeline, passages_and_stem
from ragexam.exchange._formats import ImportedAnswer, answered, exported_fields, json_text, slug, template

ZSTANDARD = 93
"""The number of this compression in a zip; Python reads it from 3.14 on."""

LOCAL_HEADER = 30
"""Bytes before the name of an entry, which ends with the lengths of the name and of what follows it."""


class Log(NamedTuple):
    """The model that an evaluation names, and its samples."""

    model: str
    samples: Sequence[dict[str, Any]]


def read_log_file(path: Path) -> Log:
    """Read a log; ValueError in one line for a file that is none or is damaged."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file; wanted a log of Inspect")
    try:
        header, samples = _packed(path) if path.suffix == ".eval" else _plain(path)
        model = header["eval"]["model"]
        if not isinstance(model, str) or not model:
            raise ValueError(f"its model is {shown_json(model)}")
        if not isinstance(samples, list) or not all(isinstance(one, dict) for one in samples):
            raise ValueError("its samples are no objects")
        return Log(model, samples)
    except (KeyError, TypeError) as error:
        lacking = f"no {error}" if isinstance(error, KeyError) else "fields of other kinds"
        raise ValueError(f"{path}: cannot be read ({lacking}); wanted a log of Inspect") from None
    except (ValueError, EOFError, struct.error, zipfile.BadZipFile, zstandard.ZstdError) as error:
        reason = " ".join(str(error).split())[:80] or type(error).__name__
        raise ValueError(f"{path}: cannot be read ({reason}); wanted a log of Inspect") from None


def _plain(path: Path) -> tuple[Any, Any]:
    log = json.loads(path.read_text(encoding="utf-8"))
    return log, log["samples"] or []


def _packed(path: Path) -> tuple[Any, Any]:
    """Header and samples; an evaluation that was broken off has no header, but says in its journal what it was."""
    data = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        # Where a name stands twice the last entry counts, which is what this mapping holds.
        entries = archive.NameToInfo
        start = "header.json" if "header.json" in entries else "_journal/start.json"
        samples = [name for name in entries if name.startswith("samples/") and name.endswith(".json")]
        return _entry(data, archive, start), [_entry(data, archive, name) for name in samples]


def _entry(data: bytes, archive: zipfile.ZipFile, name: str) -> Any:
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD:
        return json.loads(archive.read(info))
    name_length, extra_length = struct.unpack_from("<HH", data, info.header_offset + LOCAL_HEADER - 4)
    start = info.header_offset + LOCAL_HEADER + name_length + extra_length
    packed = io.BytesIO(data[start : start + info.compress_size])
    with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
        return json.loads(reader.read())


RIGHT = {"C": 1, "I": 0, "N": 0, 1: 1, 0: 0}
"""What Inspect writes for right, wrong and no answer, as letters or numbers."""


def task_files(exam: Exam, asked: Sequence[ExamPrompts]) -> dict[str, str]:
    """The files of a task folder, by name: `exam.py` and the questions with each retriever's passages."""
    files = {"exam.py": template("exam.py")}
    # Shots complete `Answer:` with a choice's words; above a question that asks for a letter they would mislead.
    bare = (replace(one, shots=()) for one in asked)
    for one in {one.name: one for one in bare}.values():
        files[f"{slug(one.name)}.jsonl"] = "".join(json_text(_sample(exam, each, one)) for each in exam.questions)
    return files


def _sample(exam: Exam, question: Question, asked: ExamPrompts) -> dict[str, object]:
    return {
        "id": question.id,
        "input": passages_and_stem(question, asked.passages[question.id]),
        "choices": list(question.choices),
        "target": _letter(question.key),
        "metadata": exported_fields(exam, asked),
    }


def read_log(path: Path, llm: str, log: Log, exam: Exam) -> Iterator[ImportedAnswer]:
    """The answers of a log; a question asked in several epochs counts its right answers among its trials.

    A sample that ended in an error is no answer. Raises ValueError (file, sample, found, wanted) for samples of another
    exam, or scored by something else than `choice`.
    """
    found: dict[tuple[Pipeline, str], ImportedAnswer] = {}
    for sample in log.samples:
        place = f"{path}: sample {shown_json(sample.get('id'))}"
        pipeline, question = answered(place, sample.get("metadata"), sample.get("id"), exam, llm)
        target, key = sample.get("target"), _letter(question.key)
        if target != key:
            raise ValueError(f"{place}: target is {shown_json(target)}; wanted {key}, the exam's key")
        if not sample.get("scores"):
            continue
        before = found.get((pipeline, question.id), ImportedAnswer(place, pipeline, question.id, 0, 0))
        right = before.right + _right(sample["scores"], place)
        found[pipeline, question.id] = before._replace(right=right, trials=before.trials + 1)
    yield from found.values()


def _right(scores: object, place: str) -> int:
    score = scores.get("choice") if isinstance(scores, Mapping) else None
    value = score.get("value") if isinstance(score, Mapping) else None
    if isinstance(value, list | dict) or value not in RIGHT:
        raise ValueError(f"{place}: score of 'choice' is {shown_json(value)}; wanted C, I or N")
    return RIGHT[value]


def _letter(key: int) -> str:
    """How Inspect names a choice: A to Z, then 1, 2, ..."""
    return chr(ord("A") + key) if key < 26 else str(key - 25)
