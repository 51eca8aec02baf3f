"""The commands on corpora and exams, on a run written by a fast model and on the four tasks' configurations."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from exam_gen.corpora import gather, take_inventory
from examcore import Progress, RunFolder, read_chunks, read_documents, read_dropped, read_exam, write_exam
from ragexam._assembling import assemble_exam, compare_exams, version_path
from ragexam._config import Config, ExamConfig
from ragexam._corpus_table import corpus_table, cut_corpus
from ragexam._exam_commands import assemble, corpus, diff
from ragexam._exam_commands import statistics as statistics_command
from ragexam._exam_table import exam_table
from ragexam._settings import read
from ragexam._steps import Steps
from taxonomy import LEVELS
from tests import shared_data
from tests.command_line import ragexam_here

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SHARED = shared_data.SHARED / "corpora"
TASKS = ("devops", "arxiv", "stackexchange", "sec_filings")


def generate(source: str, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = ["generate", source, "--out", str(out), "--questions", "20", "--seed", "3", "--quiet"]
    fast = ["--set", "writer.model=python:examinees:writer", "--set", "writer.encoder=null", "--set", "pool=3"]
    fast += ["--set", "exam.completions=0.9"]
    return ragexam_here(*words, *fast, *more)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated") / "run"
    done = generate("python-docs", folder, "--sample", "20")
    assert done.returncode == 0, done.stderr
    for part in (
        "vocabulary",
        "surviving",
        "refused when read",
        "always the best position",
        "by bloom",
        "20 questions; dropped:",
    ):
        assert part in done.stdout
    return folder


def record(run: Path) -> dict[str, Any]:
    return dict(json.loads((run / "run.json").read_text()))


def test_the_record_of_a_run_keeps_both_tables(run: Path) -> None:
    documents, chunks = read_documents(run / "corpus.jsonl"), read_chunks(run / "chunks.jsonl")
    assert record(run)["corpus"] == json.loads(json.dumps(take_inventory(documents, chunks, {}).as_dict())) | {
        "left_out": {"not drawn into the sample": record(run)["corpus"]["left_out"]["not drawn into the sample"]}
    }
    assert record(run)["statistics"] == exam_table(run).record()


def test_what_was_generated_is_unparsable_dropped_beyond_set_aside_or_asked(run: Path) -> None:
    table = exam_table(run).record()
    dropped = read_dropped(run / "dropped.jsonl")
    assert table["generated"] == len(dropped) + 3 + 20
    assert table["set_aside"] == 3
    assert table["surviving"] == 20
    parts = sum(table["unparsable"].values()) + sum(table["dropped"].values()) + table["beyond"]
    assert table["generated"] == parts + table["set_aside"] + table["surviving"]
    assert sum(table["topics"].values()) == 20
    assert set(table["labels"]) == {"bloom", "knowledge", "form", "words"}
    assert set(table["uncovered_levels"]) == set(LEVELS) - set(table["labels"]["bloom"])
    asked = {one.topic for one in read_exam(run / "exam.jsonl").questions}
    assert set(table["uncovered_topics"]) == {one.topic for one in read_documents(run / "corpus.jsonl")} - asked


def test_an_exam_file_of_ones_own_has_statistics_without_losses(run: Path, tmp_path: Path) -> None:
    questions = read_exam(run / "exam.jsonl").questions
    write_exam(tmp_path / "mine.jsonl", questions[:5])
    table = exam_table(tmp_path / "mine.jsonl").record()
    assert (table["generated"], table["surviving"], table["dropped"]) == (5, 5, {})
    assert exam_table(run / "exam.jsonl").record() == exam_table(run).record()
    with pytest.raises(FileNotFoundError, match=r"none\.jsonl: no such file; wanted an exam\.jsonl or the folder"):
        exam_table(tmp_path / "none.jsonl")


def test_tables_are_printed_for_readers_and_for_programs(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    statistics_command(run)
    printed = capsys.readouterr().out
    assert re.search(r"^surviving +20$", printed, re.MULTILINE)
    assert re.search(r"^tokens for a question +[\d,]+ read, [\d,]+ written$", printed, re.MULTILINE)
    assert re.search(r"^tokens for weighing answers +[\d,]+ read", printed, re.MULTILINE)
    statistics_command(run, as_json=True)
    assert json.loads(capsys.readouterr().out) == exam_table(run).record()
    corpus(str(run))
    assert "documents            20\n" in capsys.readouterr().out
    corpus(str(run), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert {name: found[name] for name in found if name != "source"} == record(run)["corpus"]


def test_the_inventory_of_a_source_and_a_configuration_is_that_of_their_run(run: Path, tmp_path: Path) -> None:
    of_source = corpus_table("python-docs", ["corpus.sample=20", "seed=3"]).record()
    config = tmp_path / "config.yaml"
    config.write_text(
        "run: r\nseed: 3\ncorpus: {source: python-docs, sample: 20}\ngrid: {llms: [x/y], retrievers: [oracle]}\n"
    )
    assert (
        {**of_source, "source": ""}
        == {**corpus_table(str(config)).record(), "source": ""}
        == {**corpus_table(str(run)).record(), "source": ""}
    )
    with pytest.raises(ValueError, match=r"run: --set corpus\.sample=3 cannot change a run"):
        corpus_table(str(run), ["corpus.sample=3"])


def test_an_assembled_exam_tells_where_it_comes_from(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "short.jsonl"
    assemble(run, 8, out, by="topic, bloom", seed=5)
    said = capsys.readouterr().out
    made, whole = read_exam(out), read_exam(run / "exam.jsonl")
    version = json.loads(version_path(out).read_text())
    assert (len(made), version["hash"], version["from"]) == (8, made.hash, whole.hash)
    assert version["hash"] in said
    assert sum(one["taken"] for one in version["strata"]) == 8
    assert assemble_exam(run, 8, tmp_path / "again.jsonl", ["topic", "bloom"], seed=5).record() == version
    found = compare_exams(run, out).difference
    assert (found.same, len(found.removed), found.added, found.moved) == (8, 12, (), False)
    diff(run, out)
    assert f"{whole.hash} -> {made.hash}: 8 same, 0 added, 12 removed" in capsys.readouterr().out
    diff(out, out, as_json=True)
    assert json.loads(capsys.readouterr().out)["same"] == 8


def test_a_run_of_an_earlier_release_goes_on(run: Path, tmp_path: Path) -> None:
    content = record(run)
    del content["configuration"]["corpus"]["layout"], content["configuration"]["corpus"]["select"]
    content["configuration"]["exam"].pop("overlap")
    (tmp_path / "run.json").write_text(json.dumps(content))
    config = ExamConfig.model_validate({**record(run)["configuration"], "run": str(tmp_path)})
    progress = Progress(quiet=True)
    assert Steps.of(RunFolder(tmp_path), config, progress).record.content["statistics"] == content["statistics"]
    other = ExamConfig.model_validate({**record(run)["configuration"], "run": str(tmp_path), "seed": 4})
    with pytest.raises(ValueError, match=r"holds another exam \(seed: stored 3, now 4\)"):
        Steps.of(RunFolder(tmp_path), other, progress)


def test_impossible_assemblies_are_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="20 questions; wanted at least 21, the size of the new exam"):
        assemble_exam(run, 21, tmp_path / "x.jsonl", ["topic"])
    with pytest.raises(ValueError, match="no attribute 'colour' to assemble by; wanted some of bloom, document, form"):
        assemble_exam(run, 5, tmp_path / "x.jsonl", ["colour"])


def test_questions_cannot_steer_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = '{"id": "%s", "question": "Which \\u001b[31m \\u202e?", "choices": ["a", "b"], "answer": 0}\n'
    (tmp_path / "a.jsonl").write_text(line % "q1")
    (tmp_path / "b.jsonl").write_text((line % "q2").replace("Which", "What"))
    diff(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    said = capsys.readouterr().out
    assert "1 added, 1 removed" in said
    assert "\x1b" not in said
    assert "\u202e" not in said


def settings_of(task: str, source: Path | str) -> Config:
    return read(ROOT / "experiments" / task / "config.yaml", Config, [f"corpus.source={source}"])


@pytest.mark.parametrize("task", TASKS)
def test_a_task_asks_for_a_hundred_questions_of_two_models_and_five_retrievers(task: str) -> None:
    config = read(ROOT / "experiments" / task / "config.yaml", Config)
    assert config.corpus.source.startswith("hf:")
    assert config.exam.questions >= 100
    assert config.pool >= max(config.grid.shots)
    assert len(config.grid.llms) == 2
    assert {"closed-book", "bm25", "dense", "hybrid", "oracle"} == {one.kind for one in config.grid.retrievers}


SENTENCE = "The northern mill of the town stored water behind a wall of grey stone in 19{n:02d}. "


def prepared(task: str, number: int) -> dict[str, str]:
    """A record as a prepared corpus has it: `id, title, text, source, topic`."""
    text = "".join(SENTENCE.format(n=number * 9 + n) for n in range(14))
    if task == "sec_filings":
        text = f"Item 1. Business\n{text * 3}\nItem 1A. Risk Factors\n{text * 3}\nItem 2. Properties\nNone.\n"
    return {"id": f"d{number}", "title": "Mills", "text": text, "source": "s", "topic": "t", "date": "2019"}


@pytest.mark.parametrize("task", TASKS)
def test_a_task_takes_a_prepared_corpus(task: str, tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(prepared(task, number)) + "\n" for number in range(4)))
    cut = cut_corpus(settings_of(task, path))
    assert len(cut.documents) == (8 if task == "sec_filings" else 4)
    bounds = settings_of(task, path).corpus.chunks
    assert all(len(one.text.strip()) <= (bounds.max_characters or 10**9) for one in cut.chunks)
    assert cut.left_out == ({"no item 7": 4} if task == "sec_filings" else {})


def test_a_task_is_written_from_its_corpus(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    rows = [{**prepared("devops", n), "text": topic} for n, topic in enumerate(_reference())]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"id": "empty", "text": ""}\n')
    done = generate(str(path), tmp_path / "run", "--set", "corpus.select.topics=18", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["corpus"]["left_out"] == {"no text": 1}
    assert result["statistics"]["surviving"] == result["n_questions"] == 20


def _reference() -> list[str]:
    return [one.text for one in gather("python-docs", sample=20, seed=3).documents]


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason="the shared corpora are not here")
@pytest.mark.parametrize(
    ("task", "documents", "topics"),
    [("devops", 993, 3), ("arxiv", 386, 13), ("stackexchange", 331, 5), ("sec_filings", 84, 20)],
)
def test_a_task_runs_on_the_shared_corpus(task: str, documents: int, topics: int) -> None:
    cut = cut_corpus(settings_of(task, SHARED / f"{task}.jsonl.gz"))
    table = take_inventory(cut.documents, cut.chunks, cut.left_out)
    assert (table.documents, table.topics) == (documents, topics)
    assert table.chunks >= documents
