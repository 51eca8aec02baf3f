import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from exam_gen.review import FAULTS
from exam_gen.review._edits import read_edits
from examcore import read_exam
from ragexam.cli import main
from ragexam.review import ExamEditor
from tests.ragexam.review.reviewed_run import plain_run

ROOT = Path(__file__).parents[3]
INTERRUPTIBLE = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("ragexam", run_name="__main__", alter_sys=True)
"""
"""`python -m ragexam` that heeds Ctrl-C: tests in the background of a shell ignore it, and so would their children."""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return plain_run(tmp_path / "run")


class Done(NamedTuple):
    """How a command ended."""

    status: int
    stdout: str
    stderr: str


View = Callable[..., Done]


@pytest.fixture
def view(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> View:
    """`ragexam view` with the given words."""

    def run_view(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["ragexam", "view", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return run_view


def test_a_page_is_served_until_it_is_stopped_and_the_end_says_what_was_done(run: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTIBLE, "view", str(run), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", process.stderr.readline())
            assert found is not None
            body = json.dumps({"question": "q1", "action": "retire", "seen": 0}).encode()
            request = urllib.request.Request(f"{found[0]}api/act", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=10) as response:
                assert json.load(response)["progress"]["retired"] == 1
            os.kill(process.pid, signal.SIGINT)
            said = json.loads(process.communicate(timeout=30)[0])
        finally:
            process.kill()
        assert process.returncode == 0
    assert said == {"exam": 12, "read": 1, "edited": 0, "retired": 1, "restored": 0, "edits": 1}
    assert len(read_edits(run / "edits.jsonl")) == 1


def test_edits_become_an_exam_without_a_page(view: View, run: Path) -> None:
    ExamEditor(run).act("q1", "retire", seen=0, content={})
    done = view(run, "--write")
    assert done.status == 0
    assert "reviewed.jsonl: 11 questions, 1 of 12 read, 0 edited, 1 retired, 0 restored" in done.stdout
    assert len(read_exam(run / "reviewed.jsonl")) == 11
    assert len(read_exam(run / "exam.jsonl")) == 12


def test_an_audit_goes_without_a_page_too(view: View, run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    done = view(run, "--audit", 4, "--seed", 3, "--sheet", sheet, "--json")
    assert done.status == 0
    assert json.loads(done.stdout)["items"] == 8
    with (run / "audit.jsonl").open("w") as log:
        for line in sheet.read_text().splitlines():
            row = json.loads(line)
            log.write(json.dumps({"audit": row["audit"], "item": row["item"], "faults": []}) + "\n")
    found = json.loads(view(run, "--audit", 4, "--seed", 3, "--result", "--json").stdout)
    assert found["judged"] == found["drawn"] == 8
    assert found["survivors"]["estimate"] == 1.0
    other = view(run, "--audit", 4, "--seed", 4, "--result")
    assert "0 of 8 judged" in other.stdout
    assert "note: " not in other.stderr
    assert "note: 400 of each were asked for" in view(run, "--audit", 400, "--result").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--result"], "--result: found without --audit; wanted --audit N with it"),
        (["--sheet", "x"], "--sheet: found without --audit; wanted --audit N with it"),
        (["--audit", "3", "--write"], "--write: found with --audit; wanted one of them"),
        (["--audit", "0"], "--audit"),
        (["--port", "70000"], "--port"),
    ],
)
def test_bad_words_end_with_status_2_and_one_line(view: View, run: Path, words: list[str], message: str) -> None:
    done = view(run, *words)
    assert done.status == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_log_that_fits_nothing_ends_with_status_2_and_its_name(view: View, run: Path) -> None:
    (run / "edits.jsonl").write_text('{"number": 1}\n')
    done = view(run, "--write")
    assert done.status == 2
    assert "edits.jsonl:1: time is JSON null; wanted a string" in done.stderr


def test_the_commands_of_the_manual_that_end_by_themselves_run_in_their_order(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = re.findall(r"^ragexam view (.*)", (ROOT / "docs" / "review.md").read_text(encoding="utf-8"), re.MULTILINE)
    ending = [line for line in shown if re.search("--(write|result|sheet)", line)]
    assert len(ending) == 3
    plain_run(tmp_path / "runs" / "quickstart")
    monkeypatch.chdir(tmp_path)
    for line in ending:
        done = view(*line.split())
        assert done.status == 0, f"{line}\n{done.stderr}"
    assert (tmp_path / "sheet.jsonl").is_file()
    assert (tmp_path / "runs" / "quickstart" / "reviewed.jsonl").is_file()


def test_every_fault_is_explained_in_the_manual() -> None:
    text = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` | {meaning} |" in text for name, meaning in FAULTS.items())
