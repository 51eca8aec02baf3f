"""Whole runs with fast models: what they write, that they go on after any stop, and what they refuse."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from examcore import read_exam
from ragexam.review import ExamEditor
from tests.command_line import ragexam_here as ragexam

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CONFIG = """\
run: {run}
seed: 3
corpus:
  source: python-docs
  sample: 25
writer: {{model: "python:examinees:writer", encoder: null}}
exam: {{questions: 30, completions: 0.9}}
pool: 2
grid:
  llms: ["python:examinees:careful", "python:examinees:hasty"]
  retrievers: [closed-book, bm25, oracle]
  shots: [0, 1]
fit: {{model: 1pl, method: map}}
prune: {{keep: 0.8, holdout: 0.3}}
"""


def command(*words: str, pause: float = 0.0) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{HERE}", "EXAMINEE_SECONDS": str(pause)}
    return {"args": [sys.executable, "-m", "ragexam", *words], "env": environment, "cwd": ROOT}


def write_config(folder: Path) -> Path:
    path = folder / "config.yaml"
    path.write_text(CONFIG.format(run=folder / "run"))
    return path


def results(run: Path) -> dict[str, object]:
    """All that a run found out, without the times it took."""
    with sqlite3.connect(run / "answers.sqlite") as store:
        rows = store.execute(
            "SELECT exam, pipeline, question, chosen, correct, log_likelihoods, unconditional, passages FROM answers"
        ).fetchall()
    summary = json.loads((run / "run.json").read_text())["summary"]
    for name in ("seconds", "peak_memory_bytes", "longest_silence_seconds"):
        del summary[name]
    files = ["corpus.jsonl", "chunks.jsonl", "exam.jsonl", "shots.jsonl", "dropped.jsonl", "responses.csv"]
    files += ["fit/items.csv", "fit/abilities.csv", "fit/components.csv", "pruned/prune.json"]
    return {"answers": sorted(rows), "summary": summary, **{name: (run / name).read_text() for name in files}}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    done = ragexam("run", str(write_config(folder)))
    assert done.returncode == 0, done.stderr
    assert "oracle minus closed book" in done.stdout
    return folder


def test_a_run_writes_every_file_of_the_plan(finished: Path) -> None:
    run = finished / "run"
    names = "corpus.jsonl chunks.jsonl exam.jsonl dropped.jsonl answers.sqlite responses.csv report.html run.json"
    names += " retrieval.csv retrieval-ranks.csv"
    names += " fit/items.csv fit/abilities.csv fit/components.csv fit/posterior.nc fit/fit.json pruned/prune.json"
    assert [name for name in names.split() if not (run / name).is_file()] == []
    assert list((run / "figures").iterdir())


def test_the_summary_holds_the_numbers_of_the_plan(finished: Path) -> None:
    summary = json.loads((finished / "run" / "run.json").read_text())["summary"]
    assert summary["n_questions"] == 30
    assert summary["n_pipelines"] == len(summary["accuracy"]) == 12
    gain = summary["oracle_minus_closed_book"]
    assert 0 < gain["low"] < gain["estimate"] < gain["high"] <= 1
    assert set(summary["best"]) == {"llm", "retriever", "icl"}
    assert summary["best"]["retriever"]["level"] == "bm25"
    assert 5e7 < summary["peak_memory_bytes"] < 1e11
    assert 0 < summary["longest_silence_seconds"] < 60
    assert summary["tokens_read_per_question"] > 100
    assert set(summary["seconds"]) == {"corpus", "chunks", "exam", "answers", "retrieval", "fit", "prune", "report"}


def test_a_finished_run_does_nothing_again(finished: Path) -> None:
    before = results(finished / "run")
    again = ragexam("run", str(finished / "config.yaml"))
    assert again.returncode == 0
    assert "answers: already done" in again.stderr
    assert results(finished / "run") == before


@pytest.mark.slow
@pytest.mark.parametrize("trials", [1, pytest.param(4, marks=pytest.mark.validate)])
def test_kill_9_at_random_moments_changes_no_result_and_repeats_no_answer(
    finished: Path, tmp_path: Path, trials: int
) -> None:
    undisturbed = results(finished / "run")
    lottery = random.Random(trials)
    kills = 0
    for trial in range(trials):
        folder = tmp_path / str(trial)
        folder.mkdir()
        config = write_config(folder)
        for _ in range(5):
            process = subprocess.Popen(
                **command("run", str(config), pause=0.1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(lottery.uniform(0.3, 6))
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        last = ragexam("run", str(config))
        assert last.returncode == 0, last.stderr
        found = results(folder / "run")
        for name, expected in undisturbed.items():
            assert found[name] == expected, name
        keys = [row[:3] for row in found["answers"]]  # type: ignore[index,union-attr]
        assert len(set(keys)) == len(keys) == 30 * 12
    assert kills >= 3.75 * trials


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    # A background job of a shell ignores Ctrl-C and its children inherit that; a handler of our own they do not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        **command("run", str(config), pause=1.0), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    signal.signal(signal.SIGINT, before)
    while not (tmp_path / "run" / "replies.sqlite").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told.splitlines()[-1] == "ragexam: stopped; the same command goes on from here"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("corpus.source=/none/such", "/none/such: no such file or folder"),
        ("grid.retrievers=[bm52]", "grid.retrievers.0.kind: 'bm52'; wanted one of closed-book, oracle, bm25"),
        ('writer.model="python:examinees:nobody"', "nobody"),
        ("writer.model=/none/such.gguf", "/none/such.gguf"),
        ("exam.questions=0", ": exam.questions is 0; wanted at least 1"),
        ("grid.shots=[3]", "pool of 2"),
        ("exam.thresholds.agreement=7", ": exam.thresholds.agreement is 7; wanted 0 to 1"),
        ("exam.question=3", "unknown setting 'exam.question'; did you mean exam.questions?"),
        ("grid.normalization=none", "normalization"),
    ],
)
def test_bad_input_is_one_line_and_status_2(tmp_path: Path, override: str, message: str) -> None:
    done = ragexam("run", str(write_config(tmp_path)), "--quiet", "--set", override)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stderr.startswith("ragexam: ")
    assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("override", ["corpus.source=/none/such", "users=/none/such.jsonl"])
def test_a_run_without_its_input_leaves_no_folder(tmp_path: Path, override: str) -> None:
    done = ragexam("run", str(write_config(tmp_path)), "--quiet", "--set", override)
    assert done.returncode == 2, done.stderr
    assert "/none/such" in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert not (tmp_path / "run").exists()


def test_a_folder_of_another_exam_is_refused_and_left_intact(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished / "run", run)
    before = results(run)
    done = ragexam("run", str(write_config(tmp_path)), "--set", "exam.per_chunk=3")
    assert done.returncode == 2
    assert "holds another exam (exam.per_chunk: stored 2, now 3)" in done.stderr
    assert results(run) == before


def test_a_larger_grid_asks_only_the_new_pipelines(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished / "run", run)
    before = results(run)["answers"]
    done = ragexam("run", str(write_config(tmp_path)), "--set", "grid.shots=[0, 1, 2]", "--set", "prune=null")
    assert done.returncode == 0, done.stderr
    after = results(run)["answers"]
    assert len(after) == 30 * 18  # type: ignore[arg-type]
    assert set(before) < set(after)  # type: ignore[call-overload]


def test_the_steps_one_by_one_agree_with_the_run(finished: Path, tmp_path: Path) -> None:
    run, grid = tmp_path / "run", tmp_path / "grid.yaml"
    grid.write_text(
        'llms: ["python:examinees:careful", "python:examinees:hasty"]\nretrievers: [closed-book, bm25, oracle]\n'
        "shots: [0, 1]\n"
    )
    written = ragexam(
        *["generate", "python-docs", "--out", str(run), "--questions", "30", "--sample", "25", "--seed", "3"],
        *[
            "--writer",
            "python:examinees:writer",
            "--set",
            "writer.encoder=null",
            "--set",
            "pool=2",
            "--set",
            "exam.completions=0.9",
            "--json",
        ],
    )
    assert written.returncode == 0, written.stderr
    assert json.loads(written.stdout)["n_questions"] == 30
    sat = ragexam("sit", str(run / "exam.jsonl"), "--pipelines", str(grid), "--out", str(run), "--seed", "3")
    assert sat.returncode == 0, sat.stderr
    for name in ("exam.jsonl", "responses.csv"):
        assert (run / name).read_text() == (finished / "run" / name).read_text()
    fit = tmp_path / "fit"
    fitted = ragexam(
        *["fit", str(run / "responses.csv"), "--model", "1pl", "--method", "map", "--out", str(fit), "--seed", "3"]
    )
    assert fitted.returncode == 0, fitted.stderr
    assert (fit / "components.csv").read_text() == (finished / "run" / "fit" / "components.csv").read_text()
    pruned = ragexam("prune", str(run / "responses.csv"), "--keep", "0.8", "--out", str(tmp_path / "pruned"), "--json")
    assert pruned.returncode == 0, pruned.stderr
    assert {"kept", "dropped", "trajectory", "heldout_gain"} <= set(json.loads(pruned.stdout))
    page = ragexam("report", str(run))
    assert page.returncode == 0, page.stderr
    assert (run / "report.html").stat().st_size > 10_000


def test_answers_go_beside_a_copy_of_the_exam_when_out_is_elsewhere(finished: Path, tmp_path: Path) -> None:
    grid = tmp_path / "grid.yaml"
    grid.write_text('llms: ["python:examinees:hasty"]\nretrievers: [oracle]\n')
    sat = ragexam("sit", str(finished / "run"), "--pipelines", str(grid), "--out", str(tmp_path / "out"))
    assert sat.returncode == 0, sat.stderr
    assert (tmp_path / "out" / "exam.jsonl").read_text() == (finished / "run" / "exam.jsonl").read_text()


def test_a_hand_written_exam_needs_no_chunk_ids(tmp_path: Path) -> None:
    exam, grid = tmp_path / "mine" / "exam.jsonl", tmp_path / "grid.yaml"
    exam.parent.mkdir()
    asked = {
        "q1": ("Which statement ends a loop?", ["break", "pass"], 0, "The break statement ends the nearest loop."),
        "q2": ("Which statement does nothing?", ["return", "pass"], 1, "The pass statement does nothing."),
    }
    lines = [
        json.dumps({"id": name, "question": stem, "choices": choices, "answer": key, "context": context})
        for name, (stem, choices, key, context) in asked.items()
    ]
    exam.write_text("\n".join(lines) + "\n")
    grid.write_text('llms: ["python:examinees:writer"]\nretrievers: [closed-book, {name: gold, kind: oracle}]\n')
    sat = ragexam("sit", str(exam), "--pipelines", str(grid), "--out", str(tmp_path / "out"), "--json")
    assert sat.returncode == 0, sat.stderr
    assert json.loads(sat.stdout)["accuracy"]["writer+gold+icl0"] == 1.0
    with sqlite3.connect(tmp_path / "out" / "answers.sqlite") as store:
        read = store.execute("SELECT question, passages FROM answers WHERE pipeline LIKE '%gold%' ORDER BY question")
        assert [(name, json.loads(passages)) for name, passages in read] == [("q1", ["q1"]), ("q2", ["q2"])]
    page = ragexam("report", str(tmp_path / "out"), "--json")
    assert page.returncode == 0, page.stderr
    found = json.loads(page.stdout)
    assert found["oracle_minus_closed_book"]["estimate"] is not None
    assert found["best"]["retriever"]["level"] is None


def test_an_exam_without_contexts_or_chunks_is_refused(tmp_path: Path) -> None:
    exam, grid = tmp_path / "exam.jsonl", tmp_path / "grid.yaml"
    exam.write_text('{"id": "q1", "question": "Which one?", "choices": ["a", "b"], "answer": 0}\n')
    grid.write_text('llms: ["python:examinees:writer"]\nretrievers: [oracle]\n')
    sat = ragexam("sit", str(exam), "--pipelines", str(grid), "--out", str(tmp_path / "out"), "--quiet")
    assert sat.returncode == 2
    assert "question 'q1' has no context" in sat.stderr


def test_a_reviewed_exam_is_sat_in_a_folder_of_its_own(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished / "run", run)
    desk = ExamEditor(run)
    first, second, *_ = desk.files.exam.ids
    desk.act(first, "retire", seen=0, content={})
    desk.act(second, "edit", seen=1, content={"question": "Which word completes the statement as it was reviewed?"})
    desk.write()
    reviewed = read_exam(run / "reviewed.jsonl")
    grid = tmp_path / "grid.yaml"
    grid.write_text('llms: ["python:examinees:careful"]\nretrievers: [bm25, oracle]\nshots: [1]\n')
    refused = ragexam("sit", str(run / "reviewed.jsonl"), "--pipelines", str(grid), "--out", str(run))
    assert refused.returncode == 2
    assert f"wanted {reviewed.hash}, or another --out" in refused.stderr
    sat = ragexam("sit", str(run / "reviewed.jsonl"), "--pipelines", str(grid), "--out", str(tmp_path / "again"))
    assert sat.returncode == 0, sat.stderr
    rows = (tmp_path / "again" / "responses.csv").read_text().splitlines()[1:]
    assert {row.split(",")[1] for row in rows} == set(reviewed.ids)
    said = ragexam("sit", str(run), "--pipelines", str(grid), "--out", str(tmp_path / "first"))
    assert "exam.jsonl is sat, not reviewed.jsonl" in said.stderr


def test_a_run_of_a_few_minutes_is_a_smaller_exam_that_the_same_command_goes_on_with(
    finished: Path, tmp_path: Path
) -> None:
    config, run = write_config(tmp_path), tmp_path / "run"
    first = ragexam("run", str(config), "--minutes", "0.0001")
    assert first.returncode == 0, first.stderr
    before = json.loads((run / "run.json").read_text())
    assert 0 < before["summary"]["n_questions"] < 30
    (note,) = (one for one in before["usage"]["notes"] if "minutes for writing were over" in one)
    assert "the same command goes on" in note
    assert note in first.stdout
    assert (run / "report.html").is_file()
    with sqlite3.connect(run / "replies.sqlite") as store:
        asked = {key for (key,) in store.execute("SELECT key FROM replies")}
    again = ragexam("run", str(config))
    assert again.returncode == 0, again.stderr
    assert "those to the exam as it was are kept in answers-" in again.stderr
    assert len(list(run.glob("answers-*.sqlite"))) == 1
    with sqlite3.connect(run / "replies.sqlite") as store:
        assert asked < {key for (key,) in store.execute("SELECT key FROM replies")}
    assert results(run) == results(finished / "run")
    assert not json.loads((run / "run.json").read_text())["usage"]["notes"]


def test_an_exam_with_more_questions_uses_those_written(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "run", tmp_path / "run")
    config = write_config(tmp_path)
    with sqlite3.connect(tmp_path / "run" / "replies.sqlite") as store:
        before = store.execute("SELECT count(*) FROM replies").fetchone()[0]
    larger = ragexam("run", str(config), "--set", "exam.questions=33", "--set", "prune=null")
    assert larger.returncode == 0, larger.stderr
    usage = json.loads((tmp_path / "run" / "run.json").read_text())["usage"]["writing"]
    assert usage["cached"] >= before
    assert len(read_exam(tmp_path / "run" / "exam.jsonl").questions) == 33
