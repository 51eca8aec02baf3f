import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from examcore import FailedError, RunFolder, RunRecord, fingerprint_of


def test_a_fingerprint_depends_on_values_and_not_on_order() -> None:
    assert fingerprint_of({"a": 1, "b": 2}) == fingerprint_of({"b": 2, "a": 1})
    assert fingerprint_of({"a": 1}) != fingerprint_of({"a": 2})


def test_a_step_counts_as_done_only_after_it_ended(tmp_path: Path) -> None:
    record = RunRecord.open(RunFolder(tmp_path))
    record.begin("exam", "f1")
    assert record.fingerprint("exam") is None
    record.spend("exam", 2.0, done=True)
    assert RunRecord.open(RunFolder(tmp_path)).fingerprint("exam") == "f1"


def test_the_seconds_of_a_step_add_up_over_attempts(tmp_path: Path) -> None:
    record = RunRecord.open(RunFolder(tmp_path))
    for seconds in (1.5, 2.0):
        record.begin("exam", "f1")
        record.spend("exam", seconds, done=False)
    assert record.seconds == {"exam": 3.5}
    record.begin("exam", "f2")
    assert record.seconds == {"exam": 0.0}


def test_a_newer_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"format": 99, "steps": {}}))
    with pytest.raises(ValueError, match=r"run\.json: format 99 is newer"):
        RunRecord.open(RunFolder(tmp_path))


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 1}'])
def test_a_record_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match=r"run\.json"):
        RunRecord.open(RunFolder(tmp_path))


def test_a_folder_is_held_by_one_process_and_freed_by_its_death(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
import time
from examcore._run_folder import RunFolder
with RunFolder(Path({str(tmp_path)!r})).held():
    print("held", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FailedError, match="another ragexam process"), RunFolder(tmp_path).held():
            pass
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    time.sleep(0.05)
    with RunFolder(tmp_path).held():
        pass
