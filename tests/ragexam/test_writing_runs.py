"""Exams written by a fast model in this process: without a pool, without a survivor, without a corpus."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from examcore import Progress, read_dropped, read_exam
from ragexam._config import Config, GridSettings, generate_config
from ragexam._corpus_table import corpus_table
from ragexam._exam_table import exam_table
from ragexam._run import HERE, run_all, run_exam, run_sitting
from ragexam._run_results import WritingResult
from ragexam.exchange._writing import asked_beside
from tests.rag.faulty_server import Body, Say, Server, serving

GRID = {"llms": ["python:examinees:careful"], "retrievers": ["closed-book", "oracle"]}
FAST = {"model": "python:examinees:writer", "encoder": None}


@pytest.fixture(autouse=True)
def _models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)


def generated(out: Path, *overrides: str, source: str = "python-docs") -> WritingResult:
    given = {"writer.model": FAST["model"], "exam.questions": 6, "corpus.sample": 6}
    return run_exam(
        generate_config(source, out, 3, given, ["writer.encoder=null", "pool=0", *overrides]), Progress(quiet=True)
    )


def test_a_run_without_a_pool_is_sat(tmp_path: Path) -> None:
    config = Config.model_validate(
        {
            "run": tmp_path / "run",
            "corpus": {"source": "python-docs", "sample": 6},
            "writer": FAST,
            "exam": {"questions": 6, "completions": 1.0},
            "pool": 0,
            "grid": GRID,
            "fit": {"method": "map"},
            "prune": None,
        }
    )
    assert run_all(config, Progress(quiet=True)).record()["n_pipelines"] == 2


@pytest.mark.parametrize("name", ["", "exam.jsonl"])
def test_an_exam_without_a_pool_is_sat_elsewhere_and_exported(tmp_path: Path, name: str) -> None:
    run = tmp_path / "run"
    assert generated(run).pool == 0
    grid = GridSettings.model_validate(GRID)
    result = run_sitting(run / name, grid, tmp_path / "sat", HERE, 0, Progress(quiet=True))
    assert set(result.accuracy) == {"careful+closed-book+icl0", "careful+oracle+icl0"}
    asked, _ = asked_beside(tmp_path / "sat", read_exam(run / "exam.jsonl"))
    assert asked


def test_a_written_by_hand_exam_takes_its_examples_from_beside_it(tmp_path: Path) -> None:
    lines = [
        json.dumps(
            {
                "id": f"q{n}",
                "question": f"What follows {n}?",
                "choices": [f"{n + 1}", f"{n}"],
                "answer": 0,
                "context": f"After {n} comes {n + 1}.",
            }
        )
        for n in range(4)
    ]
    path = tmp_path / "own" / "exam.jsonl"
    path.parent.mkdir()
    path.write_text("\n".join(lines[:2]))
    grid = GridSettings.model_validate({**GRID, "retrievers": ["closed-book"], "shots": [0, 1]})
    wanted = r"shots\.jsonl: 0 questions to be shown as examples; wanted 1 beside those of the exam"
    with pytest.raises(ValueError, match=wanted):
        run_sitting(path, grid, tmp_path / "sat", HERE, 0, Progress(quiet=True))
    (path.parent / "shots.jsonl").write_text(lines[2])
    more = GridSettings.model_validate({**GRID, "retrievers": ["closed-book"], "shots": [0, 2]})
    with pytest.raises(ValueError, match=r"shots\.jsonl: 1 questions to be shown as examples; wanted 2"):
        run_sitting(path, more, tmp_path / "sat", HERE, 0, Progress(quiet=True))
    (path.parent / "shots.jsonl").write_text("\n".join(lines[2:]))
    result = run_sitting(path, more, tmp_path / "sat", HERE, 0, Progress(quiet=True))
    assert set(result.accuracy) == {"careful+closed-book+icl0", "careful+closed-book+icl2"}
    # Answers were given now: their examples stay.
    (path.parent / "shots.jsonl").write_text(lines[2])
    assert run_sitting(path, more, tmp_path / "sat", HERE, 0, Progress(quiet=True)) == result


def test_an_exam_without_a_survivor_leaves_every_reason_and_its_statistics(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(ValueError, match=rf"no question survived \(\d+ .*all losses: {run}/dropped\.jsonl"):
        generated(run, "exam.thresholds.lift=1000")
    lost = read_dropped(run / "dropped.jsonl")
    table = exam_table(run)
    assert table.statistics.generated == len(lost) > 0
    assert table.statistics.surviving == 0
    assert "surviving" in "\n".join(table.lines())


def test_survivors_that_the_pool_would_use_up_are_among_the_losses(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(ValueError, match=rf"questions? survived and the pool takes 500; .*{run}/dropped\.jsonl"):
        generated(run, "pool=500", "corpus.sample=2")
    assert any(one.reason == "fewer survived than the pool takes" for one in read_dropped(run / "dropped.jsonl"))


def _failing(server: Server, path: str, body: Body) -> Say:
    return Say(status=500)


def test_failed_requests_are_named_where_no_question_survives(tmp_path: Path) -> None:
    with serving(_failing) as server, pytest.raises(ValueError, match=r"no question survived .*failed requests: \d+ "):
        generated(
            tmp_path / "run",
            f"writer.model=openai:scripted@{server.url}",
            "writer.server={timeout: 2, retries: 0, backoff: 0.01}",
            "exam.verification=letters",
            "corpus.sample=1",
        )


@pytest.mark.parametrize("name", ["none", "empty"])
def test_a_corpus_that_is_not_there_is_refused_before_weights_are_fetched(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr("ragexam._run.prepare_models", lambda *_: pytest.fail("weights were asked for"))
    with pytest.raises((ValueError, FileNotFoundError), match=r"no such file or folder|the corpus is empty"):
        generated(tmp_path / "run", source=str(tmp_path / name))


def test_a_file_that_cannot_be_read_is_left_out_of_a_run_and_told(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "good.txt").write_text("The mill holds one boiler. " * 20)
    (documents / "latin.txt").write_bytes(b"caf\xe9")
    told = io.StringIO()
    config = generate_config(
        str(documents), tmp_path / "run", 3, {"writer.model": FAST["model"]}, ["writer.encoder=null", "pool=0"]
    )
    with pytest.raises(ValueError, match="no question survived"):
        run_exam(config, Progress(told))
    assert f"warning: left out: {documents}/latin.txt:1: byte 0xe9 at offset 3 is not UTF-8" in told.getvalue()
    table = corpus_table(str(documents))
    assert table.inventory.left_out == {"not UTF-8": 1}
    assert "latin.txt:1" in "\n".join(table.lines())
