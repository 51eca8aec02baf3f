"""The calls from Python: what they return, and that the commands return the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import ragexam
from examcore import Progress, read_exam
from ragexam.report import analyse_run
from tests.command_line import ragexam_here

QUIET = Progress(quiet=True)
CONFIG = {
    "run": "run",
    "corpus": {"source": "python-docs", "sample": 20},
    "writer": {"model": "python:examinees:writer", "encoder": None},
    "exam": {"questions": 60},
    "grid": {
        "llms": ["python:examinees:careful", "python:examinees:hasty"],
        "retrievers": ["closed-book", "bm25", "oracle"],
    },
    "fit": {"method": "map"},
    "prune": {"keep": 0.7},
}
TIMED = ("seconds", "peak_memory_bytes", "longest_silence_seconds")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("python")
    (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    (folder / "grid.yaml").write_text(yaml.safe_dump(CONFIG["grid"]))
    return folder


@pytest.fixture(scope="module")
def result(place: Path) -> ragexam.RunResult:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parent)
        return ragexam.run(
            place / "config.yaml", out=place / "mine", overrides={"exam.questions": 6}, minutes=60, progress=QUIET
        )


def test_a_run_holds_what_lies_in_its_folder(result: ragexam.RunResult, place: Path) -> None:
    assert result.path == place / "mine"
    assert not (place / "run").exists()
    assert result.report.read_text().startswith("<!doctype html>")
    assert result.exam == read_exam(result.path / "exam.jsonl")
    assert len(result.exam) == 6
    assert result.fit is not None
    assert result.fit.contrast("retriever", "oracle", "closed-book").estimate > 0
    assert result.pruned is not None
    assert set(result.pruned.ids) < set(result.exam.ids)
    assert result.answers is not None
    assert len(result.answers) == result.responses.scores.size == 6 * 6
    assert list(result.retrieval.retrievers) == ["bm25"]
    assert result.verdict == result.record()["verdict"] == analyse_run(result.path).record()["verdict"]
    assert json.loads((result.path / "run.json").read_text())["configuration"]["exam"]["minutes"] == 48


def test_the_command_goes_on_with_a_run_from_python_and_prints_what_it_returned(
    result: ragexam.RunResult, place: Path
) -> None:
    words = ("run", "config.yaml", "--set", "exam.questions=6", "--set", "run=mine", "--minutes", "60", "--json")
    done = ragexam_here(*words, folder=place)
    assert done.returncode == 0, done.stderr
    assert "exam: already done" in done.stderr
    told = json.loads(done.stdout)
    assert {**told, **dict.fromkeys(TIMED)} == {**result.record(), **dict.fromkeys(TIMED)}


def test_an_exam_is_written_sat_and_read_step_by_step(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    changes = {"writer.encoder": None}
    source, model = "python-docs", "python:examinees:writer"
    written = ragexam.generate(
        source, place / "steps", questions=6, writer=model, sample=20, overrides=changes, progress=QUIET
    )
    sat = ragexam.sit(written.exam, place / "grid.yaml", place / "steps", overrides={"shots": [1]}, progress=QUIET)
    retrievers = ("closed-book", "bm25", "oracle")
    assert set(sat.accuracy) == {f"{llm}+{how}+icl1" for llm in ("careful", "hasty") for how in retrievers}
    bare = ragexam.load_run(place / "steps")
    assert (bare.fit, bare.pruned) == (None, None)
    assert ragexam.retrieval(place / "steps", progress=QUIET).record() == bare.retrieval.record()
    assert not bare.report.exists()
    assert bare.write_report() == bare.report
    assert bare.report.exists()


def test_what_is_no_run_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none: no such folder; wanted a run folder, whose exam\.jsonl holds"):
        ragexam.load_run(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"none\.yaml: no such file; wanted a YAML configuration"):
        ragexam.run(tmp_path / "none.yaml")
