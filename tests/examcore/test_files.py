import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examcore import (
    Chunk,
    Document,
    Dropped,
    Exam,
    Question,
    read_chunks,
    read_documents,
    read_dropped,
    read_exam,
    write_chunks,
    write_documents,
    write_dropped,
    write_exam,
)

LINE = {"id": "q1", "question": "Which?", "choices": ["a", "b"], "answer": 1}


def write(path: Path, *objects: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return path


def question(number: int = 0, **changes: object) -> Question:
    fields: dict[str, object] = {
        "id": f"q{number}",
        "stem": "Which colour\u2028is it?",
        "choices": ("rot", "grün", "blau", "אדום"),
        "key": 2,
        "document_id": "d",
        "chunk_id": "d#0",
        "topic": "t",
        "context": "A passage.\nTwo lines.",
        "labels": {"bloom": ("remember", "apply")},
        "metadata": {"model": "m", "seed": 3, "nested": {"x": [1, 2.5, None]}},
    }
    return Question(**{**fields, **changes})  # type: ignore[arg-type]


texts = st.text(st.characters(), max_size=30)


@given(st.lists(st.tuples(texts.filter(bool), texts, texts.filter(bool), texts, texts), unique_by=lambda row: row[0]))
def test_any_text_survives_the_corpus_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]]
) -> None:
    documents = [Document(*row) for row in rows]
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    write_documents(path, documents)
    assert read_documents(path) == documents


def test_exam_chunks_and_dropped_come_back_as_they_were(tmp_path: Path) -> None:
    exam = Exam((question(1), question(2, choices=("x\ud800", "y"), key=0)))
    write_exam(tmp_path / "exam.jsonl", exam)
    back = read_exam(tmp_path / "exam.jsonl")
    assert back == exam
    assert back.questions[0].metadata == exam.questions[0].metadata
    chunks = [Chunk("d#0", "d", "ab ", 0, 3, "T", "t"), Chunk("d#1", "d", "c", 3, 4)]
    write_chunks(tmp_path / "chunks.jsonl", chunks)
    assert read_chunks(tmp_path / "chunks.jsonl") == chunks
    dropped = [
        Dropped("no key", "raw\ntext", "d#0"),
        Dropped("duplicate choices", "raw", "d#0", question(3, choices=("a", "a"), key=1)),
    ]
    write_dropped(tmp_path / "dropped.jsonl", dropped)
    assert read_dropped(tmp_path / "dropped.jsonl") == dropped


def test_exam_lines_have_the_published_fields_and_a_version(tmp_path: Path) -> None:
    write_exam(tmp_path / "exam.jsonl", [question()])
    line = json.loads((tmp_path / "exam.jsonl").read_text(encoding="utf-8"))
    wanted = "format id question choices answer document_id chunk_id topic context labels metadata"
    assert " ".join(line) == wanted
    assert line["format"] == 1
    assert line["answer"] == 2


def test_numpy_values_and_nan_become_plain_json(tmp_path: Path) -> None:
    metadata = {
        "score": np.float32(0.5),
        "n": np.int64(3),
        "v": np.arange(2),
        "bad": math.nan,
        "worse": np.float64("inf"),
    }
    write_exam(tmp_path / "exam.jsonl", [question(metadata=metadata)])
    back = read_exam(tmp_path / "exam.jsonl").questions[0].metadata
    assert back == {"score": 0.5, "n": 3, "v": [0, 1], "bad": None, "worse": None}


def test_metadata_of_other_types_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="metadata: found a object; wanted strings"):
        write_exam(tmp_path / "exam.jsonl", [question(metadata={"x": object()})])
    assert list(tmp_path.iterdir()) == []


def test_a_line_without_version_or_optional_fields_is_read(tmp_path: Path) -> None:
    back = read_exam(write(tmp_path / "exam.jsonl", LINE))
    assert back.questions == (Question("q1", "Which?", ("a", "b"), 1),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": 2}, r"exam\.jsonl:2: answer is 2; wanted an index from 0 to 1"),
        ({"answer": -1}, r":2: answer is -1; wanted an index from 0 to 1"),
        ({"answer": True}, r":2: answer is true; wanted the index of a choice"),
        ({"answer": None}, r":2: answer is null; wanted the index"),
        ({"choices": ["a"], "answer": 0}, r":2: choices are 1; wanted at least 2"),
        ({"choices": ["a", "b", "a"]}, r':2: choice "a" stands twice; wanted distinct choices'),
        ({"choices": ["a", " "]}, r":2: choice 1 is blank"),
        ({"choices": "ab"}, r':2: choices is "ab"; wanted a list of strings'),
        ({"choices": ["a", 3]}, r":2: choices is a list; wanted a list of strings"),
        ({"id": "q0"}, r":2: id 'q0' already stands at .*exam\.jsonl:1; wanted unique ids"),
        ({"id": 5}, r":2: id is 5; wanted a string"),
        ({"question": ""}, r':2: question is ""; wanted a string'),
        ({"labels": ["x"]}, r":2: labels is a list; wanted an object"),
        ({"format": 2}, r":2: format is 2; wanted at most 1"),
        ({"format": "new"}, r':2: format is "new"; wanted at most 1'),
    ],
)
def test_bad_exam_lines_are_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = write(tmp_path / "exam.jsonl", {**LINE, "id": "q0"}, {**LINE, **change})
    with pytest.raises(ValueError, match=message):
        read_exam(path)


def test_missing_fields_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "exam.jsonl", {name: LINE[name] for name in ("id", "choices", "answer")})
    with pytest.raises(ValueError, match=r"exam\.jsonl:1: no field 'question'; wanted 'question'"):
        read_exam(path)


def test_malformed_empty_and_missing_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "exam.jsonl"
    with pytest.raises(FileNotFoundError, match=r"exam\.jsonl: no such file"):
        read_exam(path)
    path.write_text(json.dumps(LINE) + '\n{"id": "q2", "quest', encoding="utf-8")
    with pytest.raises(ValueError, match=r"exam\.jsonl:2: malformed JSON"):
        read_exam(path)
    path.write_text("[1]\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r":1: found JSON list; wanted an object"):
        read_exam(path)
    path.write_text("\n\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"the exam is empty"):
        read_exam(path)
    path.write_bytes(b'{"id": "q1"}\n\xff\n')
    with pytest.raises(ValueError, match=r":2: byte 0xff at offset 13 is not UTF-8"):
        read_exam(path)


def test_chunks_must_span_their_text(tmp_path: Path) -> None:
    path = write(tmp_path / "chunks.jsonl", {"id": "d#0", "document_id": "d", "text": "abc", "start": 0, "end": 2})
    with pytest.raises(ValueError, match=r":1: start 0 and end 2 span 2; wanted 3 characters"):
        read_chunks(path)


def test_a_failed_write_leaves_the_earlier_file_and_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "exam.jsonl"
    write_exam(path, [question(1)])
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("examcore._file_writing.os.fsync", full)
    with pytest.raises(OSError, match=r"^.*exam\.jsonl: cannot be written \(No space left on device\)") as caught:
        write_exam(path, [question(2)])
    assert caught.value.errno == 28
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["exam.jsonl"]


def test_a_generator_that_fails_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    write_documents(path, [Document("a", "A", "text")])

    def broken():  # type: ignore[no-untyped-def]
        yield Document("b", "B", "text")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        write_documents(path, broken())
    assert [document.id for document in read_documents(path)] == ["a"]
    assert [one.name for one in tmp_path.iterdir()] == ["corpus.jsonl"]
