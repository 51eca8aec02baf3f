"""Exams run by Inspect, and its logs read back."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from examcore import Exam, Question, write_exam
from examcore.console import jsonable
from ragexam.exchange import export_exam
from ragexam.exchange._inspect_tasks import read_log_file
from ragexam.exchange._reading import import_answers
from tests.ragexam.exported import hostile_exam, rows_of, write_source

INSPECT = pytest.mark.skipif(
    importlib.util.find_spec("inspect_ai") is None, reason="inspect-ai is not installed (pip install 'ragexam[peers]')"
)
DRIVER = """
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

def reply(messages, tools, tool_choice, config):
    # The first choice where a passage is shown, else the second.
    said = ModelOutput.from_content("mock", "ANSWER: " + ("A" if "Text:" in messages[-1].text else "B"))
    said.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return said

for passages, kind, epochs in (("closed-book", "eval", 1), ("oracle", "json", 3)):
    model = get_model("mockllm/reader", custom_outputs=reply, memoize=False)
    given = {"passages": passages}
    how = {"log_dir": "../logs", "log_format": kind, "display": "none"}
    done = eval("exam.py", model=model, task_args=given, epochs=epochs, **how)
    assert done[0].status == "success", done[0].error
"""


@INSPECT
@pytest.mark.slow
def test_inspect_runs_the_task_and_its_logs_become_responses(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    export_exam(tmp_path / "run", "inspect", tmp_path / "task")
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        env={**os.environ, "OMP_NUM_THREADS": "1", "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)},
        cwd=tmp_path / "task",
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = import_answers([str(tmp_path / "logs")], tmp_path / "run", tmp_path / "responses.csv", "character")
    first = sum(question.key == 0 for question in exam.questions)
    second = sum(question.key == 1 for question in exam.questions)
    assert first != second
    assert jsonable(found)["students"] == {
        "reader+closed-book+icl0": {"asked": 6, "right": second, "trials": 6},
        "reader+oracle+icl0": {"asked": 6, "right": 3 * first, "trials": 18},
    }
    rows = rows_of(tmp_path / "responses.csv")
    assert rows[0] == ["student", "item", "score", "llm", "retriever", "icl", "trials"]
    letters = {"closed-book": 1, "oracle": 0}
    for student, item, score, _, retriever, _, trials in rows[1:]:
        key = next(question.key for question in exam.questions if question.id == item)
        assert student == f"reader+{retriever}+icl0"
        assert int(score) == int(trials) * (key == letters[retriever])


def test_a_task_shows_passages_question_and_choices_once_per_retriever(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    found = export_exam(tmp_path / "run", "inspect", tmp_path / "task")
    assert {path.name for path in (tmp_path / "task").iterdir()} == {"exam.py", "closed-book.jsonl", "oracle.jsonl"}
    assert [one.rpartition("=")[2] for one in found.use] == ["closed-book", "oracle"]
    text = (tmp_path / "task" / "oracle.jsonl").read_text(encoding="utf-8")
    for line, question in zip(text.split("\n"), exam.questions, strict=False):
        sample = json.loads(line)
        assert sample["input"].endswith(f"\n{question.context}\n\nQuestion: {question.stem}")
        assert (sample["id"], tuple(sample["choices"])) == (question.id, question.choices)
        assert sample["choices"]["ABCD".index(sample["target"])] == question.answer


@pytest.fixture
def exam() -> Exam:
    return hostile_exam()[0]


def sample(exam: Exam, question: Question, value: object, **change: object) -> dict[str, Any]:
    made = {"id": question.id, "epoch": 1, "target": "ABCD"[question.key], "scores": {"choice": {"value": value}}}
    return {**made, "metadata": {"exam": exam.hash, "retriever": "oracle", "icl": 0}, **change}


def log_of(*samples: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"model": "openai/gpt-x"}, "samples": list(samples)}


def read(tmp_path: Path, exam: Exam, *samples: dict[str, Any]) -> dict[str, list[str]]:
    """Score and trials, where there are any, by question."""
    write_exam(tmp_path / "exam.jsonl", exam)
    (tmp_path / "log.json").write_text(json.dumps(log_of(*samples)))
    import_answers([str(tmp_path / "log.json")], tmp_path / "exam.jsonl", tmp_path / "r.csv", "character")
    return {row[1]: [row[2], *row[6:]] for row in rows_of(tmp_path / "r.csv")[1:]}


def test_right_wrong_and_silent_are_one_and_nought_and_a_failed_sample_is_not_asked(tmp_path: Path, exam: Exam) -> None:
    values = ("C", "I", "N", 1.0)
    samples = [sample(exam, question, value) for question, value in zip(exam.questions, values, strict=False)]
    failed = sample(exam, exam.questions[4], "C", scores=None, error={"message": "timeout"})
    found = read(tmp_path, exam, *samples, failed)
    assert list(found.values()) == [["1"], ["0"], ["0"], ["1"], [""], [""]]


def test_epochs_are_trials(tmp_path: Path, exam: Exam) -> None:
    one, two, *_ = exam.questions
    epochs = [sample(exam, one, value, epoch=number) for number, value in enumerate("CIC", start=1)]
    found = read(tmp_path, exam, *epochs, sample(exam, two, "I"))
    assert (found[one.id], found[two.id]) == (["2", "3"], ["0", "1"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metadata": {"exam": "x", "retriever": "oracle", "icl": 0}}, 'answers exam "x"; wanted exam [0-9a-f]{16}$'),
        ({"metadata": "text"}, "no exam, retriever and icl; wanted an answer to what ragexam exported"),
        ({"metadata": None}, "no exam, retriever and icl; wanted an answer to what ragexam exported"),
        ({"id": "other"}, r"log.json: sample \"other\": question \"other\"; wanted one of exam [0-9a-f]{16}"),
        ({"target": "Z"}, 'target is "Z"; wanted A, the exam\'s key'),
        ({"scores": {"choice": {"value": "P"}}}, "score of 'choice' is \"P\"; wanted C, I or N"),
        ({"scores": {"choice": "C"}}, "score of 'choice' is null; wanted C, I or N"),
        ({"scores": [1]}, "score of 'choice' is null; wanted C, I or N"),
        ({"scores": {"match": {"value": "C"}}}, "score of 'choice' is null; wanted C, I or N"),
    ],
)
def test_a_sample_that_is_no_answer_to_the_exam_is_refused(
    tmp_path: Path, exam: Exam, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, exam, sample(exam, exam.questions[0], "C", **change))


def zipped(log: dict[str, Any], *, zstd: bool, header: str = "header.json") -> bytes:
    """An `.eval` log; a zip packed with zstandard is a stored one whose headers say so."""
    parts = {header: {"eval": log["eval"]}}
    parts |= {f"samples/{one['id']}_epoch_1.json": one for one in log["samples"]}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED if zstd else zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            text = json.dumps(content).encode()
            archive.writestr(name, zstandard.compress(text) if zstd else text)
        places = [info.header_offset for info in archive.infolist()]
        directory = archive.start_dir
    data = bytearray(packed.getvalue())
    if zstd:
        for place in places:
            struct.pack_into("<H", data, place + 8, 93)
        for _ in places:
            struct.pack_into("<H", data, directory + 10, 93)
            lengths = struct.unpack_from("<HHH", data, directory + 28)
            directory += 46 + sum(lengths)
    return bytes(data)


@pytest.mark.parametrize("zstd", [False, True])
@pytest.mark.parametrize("header", ["header.json", "_journal/start.json"])
def test_a_packed_log_says_what_a_plain_one_says(tmp_path: Path, exam: Exam, zstd: bool, header: str) -> None:
    log = log_of(*(sample(exam, question, "C") for question in exam.questions))
    (tmp_path / "log.eval").write_bytes(zipped(log, zstd=zstd, header=header))
    (tmp_path / "log.json").write_text(json.dumps(log))
    assert read_log_file(tmp_path / "log.eval") == read_log_file(tmp_path / "log.json")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.json", b"{"),
        ("log.json", b"[1]"),
        ("log.json", b'{"eval": {}}'),
        ("log.json", b'{"eval": null, "samples": []}'),
        ("log.json", b'{"eval": {"model": null}, "samples": []}'),
        ("log.json", b'{"eval": {"model": "m"}, "samples": "text"}'),
        ("log.json", b'{"eval": {"model": "m"}, "samples": [1]}'),
        ("log.eval", b"no zip"),
        ("log.eval", b""),
    ],
)
def test_what_is_no_log_is_refused_in_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name}: cannot be read \(.*\); wanted a log of Inspect$"):
        read_log_file(tmp_path / name)


def test_a_damaged_log_is_refused_in_one_line(tmp_path: Path, exam: Exam) -> None:
    data = bytearray(zipped(log_of(sample(exam, exam.questions[0], "C")), zstd=True))
    data[45:60] = b"\0" * 15
    (tmp_path / "log.eval").write_bytes(data)
    with pytest.raises(ValueError, match=r"log\.eval: cannot be read"):
        read_log_file(tmp_path / "log.eval")
