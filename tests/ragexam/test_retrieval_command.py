"""`ragexam retrieval`: the table a sitting writes, by hand, as JSON and in words."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("ir_measures")

from examcore import Chunk, Exam, Progress, Question, write_chunks, write_exam
from rag.retrieval import _dense as encoders
from rag.retrieval._dense import Vectors, VectorStore
from ragexam._config import GridSettings
from ragexam._exam_commands import retrieval
from ragexam._run import HERE, run_sitting
from tests.rag.letter_pairs import FakeEncoder

TEXTS = (
    ("river", "The river Oder rises in the Moravian hills.", "Where does the river rise?"),
    ("keeper", "The lighthouse keeper counts ships by night.", "What does the keeper count?"),
    ("bread", "Yeast lifts the bread of the baker.", "Which lighthouse keeper counts loaves of bread?"),
    ("glass", "Glass is melted from sand.", "What does nobody know?"),
)
GRID = GridSettings(
    llms=["python:tests.ragexam.examinees:careful"],
    retrievers=["closed-book", "bm25", "tfidf", {"kind": "lsa", "name": "topics"}],
)
KINDS = ("dense", "hybrid")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small exam, sat."""
    folder = tmp_path_factory.mktemp("retrieval")
    chunks = [Chunk(name, name, text, 0, len(text)) for name, text, _ in TEXTS]
    questions = [Question(f"q-{name}", stem, ("sand", "yeast"), 0, name, name) for name, _, stem in TEXTS]
    write_chunks(folder / "exam" / "chunks.jsonl", chunks)
    write_exam(folder / "exam" / "exam.jsonl", Exam(tuple(questions)))
    run_sitting(folder / "exam", GRID, folder / "run", HERE, 0, Progress(quiet=True))
    return folder / "run"


def test_a_sitting_writes_the_ranks_and_what_they_are_worth(run: Path) -> None:
    with (run / "retrieval-ranks.csv").open() as file:
        ranks = {(row["retriever"], row["question"]): row["rank"] for row in csv.DictReader(file)}
    assert {name for name, _ in ranks} == {"bm25", "tfidf", "topics"}
    assert [ranks["bm25", f"q-{name}"] for name, _, _ in TEXTS] == ["1", "1", "2", ""]
    with (run / "retrieval.csv").open() as file:
        rows = {(row["retriever"], row["measure"]): row for row in csv.DictReader(file)}
    columns = ["retriever", "measure", "estimate", "low", "high", "questions", "queries"]
    assert list(next(iter(rows.values()))) == columns
    wanted = {"hit@1": 2 / 4, "hit@3": 3 / 4, "hit@10": 3 / 4, "mrr@10": 2.5 / 4, "ndcg@10": (2 + 0.63093) / 4}
    for measure, value in wanted.items():
        row = rows["bm25", measure]
        assert float(row["estimate"]) == pytest.approx(value, abs=1e-5)
        assert 0 <= float(row["low"]) < value < float(row["high"]) <= 1


def test_the_command_tells_the_table_without_searching_again(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    retrieval(run, as_json=True)
    told = capsys.readouterr()
    assert "already done" in told.err
    found = json.loads(told.out)
    assert (found["questions"], found["interval"]) == (4, 0.9)
    assert found["retrievers"]["bm25"]["hit@1"]["estimate"] == 0.5
    (run / "retrieval.csv").unlink()
    retrieval(run)
    words = capsys.readouterr().out
    assert "source passage found, 4 questions, 90% intervals" in words
    assert "bm25    hit@1 0.500 [" in words
    retrieval(run, as_json=True)
    assert json.loads(capsys.readouterr().out) == found


def test_what_is_no_run_with_retrievers_is_refused_in_one_line(run: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no run\.json beside an exam\.jsonl"):
        retrieval(tmp_path)
    for name in ("exam.jsonl", "run.json"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    content = json.loads((tmp_path / "run.json").read_text())
    content["configuration"]["grid"]["retrievers"] = ["closed-book", "oracle"]
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"run\.json: no retriever of the grid searches"):
        retrieval(tmp_path, quiet=True)
    del content["configuration"]["grid"]
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"run\.json: no grid; wanted a run whose exam was sat"):
        retrieval(tmp_path, quiet=True)


def test_passages_are_asked_of_the_store_once_and_told_when_a_later_grid_brings_an_encoder(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    known = VectorStore.known

    def counted(store: VectorStore, digests: Sequence[bytes]) -> dict[bytes, Vectors]:
        asked.append(len(digests))
        return known(store, digests)

    monkeypatch.setattr(encoders, "_load", lambda _: FakeEncoder())
    monkeypatch.setattr(encoders, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(VectorStore, "known", counted)

    def sat(*encoder: str) -> str:
        dense = [{"kind": kind, "encoder": one, "name": f"{kind}-{one}"} for one in encoder for kind in KINDS]
        grid = GridSettings(llms=GRID.llms, retrievers=["bm25", *dense])
        stream = io.StringIO()
        run_sitting(run, grid, tmp_path / "out", HERE, 0, Progress(stream))
        return stream.getvalue()

    for encoder, told in ((("one",), True), (("one", "two"), True), (("one", "two"), False), (("two",), False)):
        asked.clear()
        assert ("passages ..." in sat(*encoder)) is told
        assert asked == [len(TEXTS)] * (len(encoder) if told or encoder == ("two",) else 0)


def test_one_question_found_is_not_taken_for_certainty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, text, stem = TEXTS[0]
    write_chunks(tmp_path / "exam" / "chunks.jsonl", [Chunk(name, name, text, 0, len(text))])
    write_exam(tmp_path / "exam" / "exam.jsonl", [Question("q", stem, ("sand", "yeast"), 0, name, name)])
    run_sitting(tmp_path / "exam", GRID, tmp_path / "run", HERE, 0, Progress(quiet=True))
    retrieval(tmp_path / "run", as_json=True)
    found = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    # Wilson (1927) for 1 of 1 at 90 %: 1 / (1 + 1.6449 ** 2).
    assert found["retrievers"]["bm25"]["hit@1"] == {"estimate": 1.0, "low": 0.269866, "high": 1.0}
    retrieval(tmp_path / "run")
    assert "bm25    hit@1 1.000 [0.270, 1.000]" in capsys.readouterr().out
