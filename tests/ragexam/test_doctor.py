import json
import subprocess
import sys

import pytest

from ragexam import _doctor as doctor


def test_the_doctor_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", (*doctor.PACKAGES, "no-such-package-at-all"))
    found = doctor.examine()
    missing = "problem: no-such-package-at-all is not installed; wanted pip install 'ragexam[local]'"
    assert missing in found.lines()
    assert found.lines()[-1] == "not ready"
    assert found.record()["healthy"] is False


def test_a_package_that_is_not_there_has_no_version() -> None:
    assert doctor.version("no-such-package-at-all") is None
    assert doctor.version("numpy") is not None


def test_the_command_prints_json() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ragexam", "doctor", "--json"], capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout)
    assert done.returncode == (0 if found["healthy"] else 1)
    assert {"packages", "processors", "memory_gb", "disk_gb", "models"} <= set(found)
