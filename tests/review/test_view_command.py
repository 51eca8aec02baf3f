import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from exam_gen import read_exam
from exam_gen.edits import read_edits
from ragexam.review import Desk
from tests.review.reviewed_run import plain_run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return plain_run(tmp_path / "run")


def view(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ragexam", "view", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)


def test_a_page_is_served_until_it_is_stopped_and_the_end_says_what_was_done(run: Path) -> None:
    command = [sys.executable, "-m", "ragexam", "view", str(run), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", process.stderr.readline())
        assert found is not None
        body = json.dumps({"question": "q1", "action": "retire", "seen": 0}).encode()
        request = urllib.request.Request(f"{found[0]}api/act", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as response:
            assert json.load(response)["progress"]["retired"] == 1
        os.kill(process.pid, signal.SIGINT)
        said = json.loads(process.stdout.read())
        assert process.wait(20) == 0
    assert said == {"exam": 12, "read": 1, "edited": 0, "retired": 1, "restored": 0, "edits": 1}
    assert len(read_edits(run / "edits.jsonl")) == 1


def test_edits_become_an_exam_without_a_page(run: Path) -> None:
    Desk(run).act("q1", "retire", seen=0, content={})
    done = view(run, "--write")
    assert done.returncode == 0
    assert "reviewed.jsonl: 11 questions, 1 of 12 read, 0 edited, 1 retired, 0 restored" in done.stdout
    assert len(read_exam(run / "reviewed.jsonl")) == 11
    assert len(read_exam(run / "exam.jsonl")) == 12


def test_an_audit_goes_without_a_page_too(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    done = view(run, "--audit", 4, "--seed", 3, "--sheet", sheet, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["items"] == 8
    with (run / "audit.jsonl").open("w") as log:
        for line in sheet.read_text().splitlines():
            row = json.loads(line)
            log.write(json.dumps({"audit": row["audit"], "item": row["item"], "faults": []}) + "\n")
    found = json.loads(view(run, "--audit", 4, "--seed", 3, "--result", "--json").stdout)
    assert found["judged"] == found["drawn"] == 8
    assert found["survivors"]["estimate"] == 1.0
    assert "0 of 8 judged" in view(run, "--audit", 4, "--seed", 4, "--result").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--result"], "--result: wanted --audit N with it"),
        (["--sheet", "x"], "--sheet: wanted --audit N with it"),
        (["--audit", "3", "--write"], "--write: found with --audit; wanted one of them"),
        (["--audit", "0"], "--audit"),
        (["--port", "70000"], "--port"),
    ],
)
def test_bad_words_end_with_status_2_and_one_line(run: Path, words: list[str], message: str) -> None:
    done = view(run, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_log_that_fits_nothing_ends_with_status_2_and_its_name(run: Path) -> None:
    (run / "edits.jsonl").write_text('{"number": 1}\n')
    done = view(run, "--write")
    assert done.returncode == 2
    assert "edits.jsonl:1: time is JSON null; wanted a string" in done.stderr
