import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from exam_gen.review._edits import read_edits
from examcore import read_dropped, read_exam
from ragexam.review._exam_editor import ExamEditor
from ragexam.review._server import ConflictError
from tests.ragexam.review.reviewed_run import plain_run

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return plain_run(tmp_path / "run")


def detail(desk: ExamEditor, name: str) -> dict[str, Any]:
    found = desk.reads["question"]({"n": str(list(desk.review.entries).index(name) + 1)})
    assert isinstance(found, dict)
    return found


def act(desk: ExamEditor, name: str, action: str, **content: object) -> None:
    desk.act(name, action, seen=len(desk.review.edits), content=content)


def test_a_folder_that_is_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no such folder; wanted a run folder"):
        ExamEditor(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"no exam\.jsonl; wanted a run folder"):
        ExamEditor(tmp_path)


def test_a_detail_shows_question_key_passage_and_reason_side_by_side(run: Path) -> None:
    found = detail(ExamEditor(run), "d2")
    assert found["choices"][found["answer"]] == "answer 0"
    assert found["reason"] == "answer leak: 3 words"
    assert found["raw"] == "raw 2"
    assert [text for text, kind in found["passage"] if kind == "key"] == ["answer 0"]
    assert found["facts"]["support"] == "-1.5"


def test_a_drop_without_a_question_shows_its_raw_text_and_its_chunk(run: Path) -> None:
    desk = ExamEditor(run)
    name = list(desk.review.entries)[-2]
    found = detail(desk, name)
    assert found["choices"] is None
    assert found["raw"] == "a reply\nwithout choices"
    assert found["passage"][0][0] == "The passage says that answer 1 holds."


def test_search_finds_every_word_anywhere(run: Path) -> None:
    search = ExamEditor(run).reads["search"]
    assert search({"q": "WHEEL in 11"}) == ["q11"]
    assert search({"q": "leak raw"}) == [f"d{n}" for n in range(5)]
    assert search({"q": "nowhere"}) == []


def test_search_follows_edits_and_undoing_them(run: Path) -> None:
    desk = ExamEditor(run)
    for word in ("zebra", "okapi"):
        act(desk, "q1", "edit", choices=["answer 0", "answer 1", word])
        assert desk.reads["search"]({"q": word}) == ["q1"]
        desk.act("", "undo", seen=len(desk.review.edits), content={})
        assert desk.reads["search"]({"q": word}) == []


def test_flags_and_shares_come_from_the_measurement(run: Path) -> None:
    (run / "fit").mkdir()
    (run / "fit" / "items.csv").write_text("item,a,flags\nq1,1.0,\nq2,-0.4,negative discrimination\n")
    (run / "checks").mkdir()
    with (run / "checks" / "keys.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["item", "sentence"], ["q2", "q2: the key may be answer 1."], ["q3", ""]])
    (run / "responses.csv").write_text("student,item,score\na,q2,1\nb,q2,0\nc,q2,\n")
    found = detail(ExamEditor(run), "q2")
    assert found["flags"] == ["negative discrimination", "q2: the key may be answer 1."]
    assert found["right"] == (1, 2)
    rows = ExamEditor(run).reads["start"]({})
    assert isinstance(rows, dict)
    assert [row["id"] for row in rows["rows"] if row["flagged"]] == ["q2"]


def test_writing_leaves_the_exam_and_writes_the_reviewed_one_beside_it(run: Path) -> None:
    before = (run / "exam.jsonl").read_bytes(), (run / "dropped.jsonl").read_bytes()
    desk = ExamEditor(run)
    assert not desk.is_written()
    act(desk, "q0", "edit", question="Which wheel has no spokes in the big machine?")
    act(desk, "q1", "retire")
    act(desk, "d0", "restore")
    assert desk.write().questions == 12
    assert desk.is_written()
    assert ((run / "exam.jsonl").read_bytes(), (run / "dropped.jsonl").read_bytes()) == before
    exam = read_exam(run / "reviewed.jsonl")
    assert exam.ids[0].startswith("q0~")
    assert exam.ids[1:] == (*(f"q{n}" for n in range(2, 12)), "d0")
    assert tuple(exam.questions[0].labels["form"]) == ("which",)
    lost = read_dropped(run / "reviewed-dropped.jsonl")
    assert lost[0].reason == "retired: by the reader"
    assert len(lost) == 7
    act(desk, "q2", "retire")
    assert not desk.is_written()


def test_an_exam_without_questions_is_not_written(tmp_path: Path) -> None:
    desk = ExamEditor(plain_run(tmp_path, questions=5))
    for number in range(5):
        act(desk, f"q{number}", "retire")
    with pytest.raises(ValueError, match="no question is left"):
        desk.write()
    assert not (tmp_path / "reviewed.jsonl").exists()


def test_two_desks_see_each_other_and_nobody_decides_on_what_he_does_not_see(run: Path) -> None:
    one, other = ExamEditor(run), ExamEditor(run)
    act(one, "q1", "retire")
    with pytest.raises(ConflictError, match="another page"):
        other.act("q1", "accept", seen=0, content={})
    assert other.review.standings["q1"]["reason"] == "retired: by the reader"
    act(other, "q2", "accept")
    one.refresh()
    assert len(one.review.edits) == 2
    one.act("", "undo", seen=2, content={})
    assert one.review.edits[-1].question == "q2"
    assert len(read_edits(run / "edits.jsonl")) == 3


def test_a_log_that_was_cut_off_is_said_and_goes_on(run: Path) -> None:
    act(ExamEditor(run), "q1", "retire")
    with (run / "edits.jsonl").open("ab") as file:
        file.write(b'{"format": 1, "number": 2, "time": "20')
    desk = ExamEditor(run)
    state = desk.reads["state"]({})
    assert isinstance(state, dict)
    assert "middle of a line" in state["notice"]
    act(desk, "q2", "accept")
    assert [edit.question for edit in read_edits(run / "edits.jsonl")] == ["q1", "q2"]
    assert not ExamEditor(run).torn


def test_a_log_of_another_exam_is_refused_by_name(run: Path) -> None:
    act(ExamEditor(run), "q1", "edit", question="Another stem?")
    plain_run(run, questions=1)
    with pytest.raises(ValueError, match=r"edits\.jsonl: edit 1 .*'q1'.*neither in the exam"):
        ExamEditor(run)


def test_an_exam_that_was_written_anew_is_noticed(run: Path) -> None:
    desk = ExamEditor(run)
    plain_run(run, questions=11)
    with pytest.raises(ValueError, match=r"exam\.jsonl: changed since it was read"):
        act(desk, "q1", "accept")
    assert not (run / "edits.jsonl").exists()


def test_kill_9_loses_no_confirmed_edit(run: Path) -> None:
    code = f"""
from pathlib import Path
from ragexam.review._exam_editor import ExamEditor
desk = ExamEditor(Path({str(run)!r}))
while True:
    for action in ("retire", "restore"):
        print(desk.act("q1", action, seen=len(desk.review.edits), content={{}}).number, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout is not None
        for _ in range(40):
            writer.stdout.readline()
        os.kill(writer.pid, signal.SIGKILL)
        confirmed = 40 + len(writer.stdout.read().splitlines())
    desk = ExamEditor(run)
    assert len(desk.review.edits) in (confirmed, confirmed + 1)
    act(desk, "q2", "accept")
    numbers = [json.loads(line)["number"] for line in (run / "edits.jsonl").read_text().splitlines()]
    assert numbers == list(range(1, len(desk.review.edits) + 1))
