import json
import multiprocessing
import os
from pathlib import Path

import pytest

from examcore import _file_writing as logbook
from examcore import locked_log, read_log


def append(path: Path, **fields: object) -> None:
    with locked_log(path) as pen:
        pen.append(fields)


def test_lines_come_back_in_their_order_with_any_text(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    texts = ["a\u2028b\n", "\ud800", "אבג\u202e", "\0", "😀", '"'] * 2
    for text in texts:
        append(path, text=text)
    found = read_log(path)
    assert [record.fields["text"] for record in found.records] == texts
    assert [record.place for record in found.records][2] == f"{path}:3"
    assert found.torn == b""


def test_no_file_is_an_empty_log(tmp_path: Path) -> None:
    assert read_log(tmp_path / "log.jsonl") == ([], b"")


def test_a_log_cut_off_anywhere_loses_the_cut_line_only(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for number in range(3):
        append(path, number=number, text="ü😀")
    content = path.read_bytes()
    second = content.index(b"\n", content.index(b"\n") + 1)
    for length in range(second + 1, len(content)):
        path.write_bytes(content[:length])
        found = read_log(path)
        whole = 3 if length == len(content) - 1 else 2
        assert len(found.records) == whole
        assert bool(found.torn) == (whole == 2 and length > second + 1)
        append(path, number="next")
        after = read_log(path)
        assert [one.fields["number"] for one in after.records] == [*range(whole), "next"]
        assert after.torn == b""


def test_a_damaged_line_that_is_not_the_last_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": \n{"a": 3}\n')
    with pytest.raises(ValueError, match=r"log\.jsonl:2: malformed JSON"):
        read_log(path)
    path.write_bytes(b'{"format": 2}\n')
    with pytest.raises(ValueError, match=r"log\.jsonl:1: format is 2; wanted at most 1"):
        read_log(path)


def test_a_full_disk_leaves_the_log_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    append(path, number=1)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(logbook.os, "fsync", full)
    with pytest.raises(OSError, match=r"log\.jsonl: cannot be written \(No space left") as caught:
        append(path, number=2)
    assert caught.value.errno == 28
    assert path.read_bytes() == before


def test_every_line_is_synchronised_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    append(path, number=1)
    lengths: list[int] = []
    monkeypatch.setattr(logbook.os, "fsync", lambda handle: lengths.append(os.fstat(handle).st_size))
    append(path, number=2)
    assert lengths == [path.stat().st_size]


def count_up(path: Path, times: int) -> None:
    for _ in range(times):
        with locked_log(path) as pen:
            pen.append({"number": len(read_log(path).records)})


def test_processes_that_share_a_log_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=count_up, args=(path, 15)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    numbers = [json.loads(line)["number"] for line in path.read_text().splitlines()]
    assert numbers == list(range(30))
