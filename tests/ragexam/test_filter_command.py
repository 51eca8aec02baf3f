"""`ragexam filter`: dry runs that change nothing, new exams beside old ones, and rules in a run's configuration."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from examcore import (
    Chunk,
    Dropped,
    Progress,
    Question,
    RunFolder,
    read_dropped,
    read_exam,
    write_chunks,
    write_dropped,
    write_exam,
    write_lines,
)
from examcore._exam_files import question_fields
from ragexam._config import Config, ExamConfig
from ragexam._settings import check
from ragexam._steps import Steps
from ragexam.cli import main

HERE = Path(__file__).parent
Command: TypeAlias = "Callable[..., Done]"
PASSAGE = "Copies stand in the north hall. The north hall is locked at night."


def questions() -> Iterator[Question]:
    stems = [
        "Which hall of the house holds the copies?",
        "Which hall of the house holds the copies, then?",
        "According to the passage, which hall is locked at night?",
        "Which room is it that nobody may enter at night?",
    ]
    choices = ("north hall", "south hall", "west wing", "east wing")
    for number, stem in enumerate(stems):
        where = {"document_id": "d", "chunk_id": "d#0", "context": PASSAGE}
        yield Question(f"q{number}", stem, choices, number % 4, **where, metadata={"title": "The house"})  # type: ignore[arg-type]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    write_exam(folder / "exam.jsonl", questions())
    write_chunks(folder / "chunks.jsonl", [Chunk("d#0", "d", PASSAGE, 0, len(PASSAGE))])
    write_dropped(folder / "dropped.jsonl", [Dropped("no choices", "raw text", "d#0")])
    return folder


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def ragexam(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process: it loads its libraries once for all tests."""
    monkeypatch.syspath_prepend(HERE)

    def command(*words: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["ragexam", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return command


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_dry_run_tells_what_each_rule_would_remove_and_changes_nothing(ragexam: Command, run: Path) -> None:
    before = content(run)
    done = ragexam("filter", run, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["n_questions"], found["kept"]) == (4, 2)
    rules = {one["rule"]: one for one in found["rules"]}
    assert rules["near-duplicate"]["alone"] == rules["near-duplicate"]["dropped"] == 1
    assert rules["near-duplicate"]["limit"] == "0.79"
    assert rules["self-contained"]["share"] == 0.25
    (example,) = rules["self-contained"]["examples"]
    assert example["id"] == "q2"
    assert example["reason"] == "self-contained: 'the passage' points outside the question"
    assert content(run) == before
    in_words = ragexam("filter", run, "--dry-run").stdout
    assert "According to the passage, which hall" in in_words
    assert in_words.splitlines()[-1] == "2 of 4 questions would be kept"


def test_a_new_run_folder_holds_the_kept_and_the_dropped_and_can_be_sat(
    ragexam: Command, run: Path, tmp_path: Path
) -> None:
    before, out = content(run), tmp_path / "strict"
    done = ragexam("filter", run, "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{out}/exam.jsonl: 2 questions; dropped: 1 self-contained, 1 near-duplicate"]
    assert content(run) == before
    assert read_exam(out / "exam.jsonl").ids == ("q0", "q3")
    lost = read_dropped(out / "dropped.jsonl")
    assert [one.question and one.question.id for one in lost] == [None, "q2", "q1"]
    grid = tmp_path / "grid.yaml"
    grid.write_text('llms: ["python:examinees:careful"]\nretrievers: [closed-book, oracle]\n')
    sat = ragexam("sit", out, "--pipelines", grid, "--out", out)
    assert sat.returncode == 0, sat.stderr
    assert (out / "responses.csv").is_file()


def test_an_exam_that_is_there_is_never_overwritten(ragexam: Command, run: Path, tmp_path: Path) -> None:
    before = content(run)
    done = ragexam("filter", run, "--out", run)
    assert done.returncode == 2
    assert "exam.jsonl: already there; wanted a new folder or file for the filtered exam" in done.stderr
    assert content(run) == before
    config = tmp_path / "config.yaml"
    out = tmp_path / "new"
    assert ragexam("filter", run, "--out", out).returncode == 0
    config.write_text(f"run: {out}\ncorpus: {{source: python-docs}}\ngrid: {{llms: [x], retrievers: [oracle]}}\n")
    done = ragexam("run", config)
    assert done.returncode == 2
    assert "holds an exam that ragexam filter made" in done.stderr


def test_a_file_is_filtered_into_a_file_with_the_dropped_beside_it(ragexam: Command, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "kept.jsonl"
    words = ("filter", run / "exam.jsonl", "--out", out, "--rule", "near-duplicate=1", "--rule", "standing-alone=on")
    assert ragexam(*words).returncode == 0
    assert [one.stem for one in read_exam(out).questions][2] == "The house. Which hall is locked at night?"
    assert read_dropped(tmp_path / "kept.dropped.jsonl") == []
    again = ragexam(*words)
    assert again.returncode == 2
    assert "kept.jsonl: already there" in again.stderr


def test_only_the_rules_asked_for_are_applied_with_their_limits(ragexam: Command, run: Path) -> None:
    done = ragexam("filter", run, "--dry-run", "--json", "--only", "stem-long", "--rule", "stem-long=50%", "-q")
    (rule,) = json.loads(done.stdout)["rules"]
    assert (rule["rule"], rule["limit"], rule["dropped"]) == ("stem-long", "50%", 2)
    assert done.stderr == ""


def test_choices_that_a_reader_of_exams_refuses_are_dropped_by_their_rules(ragexam: Command, tmp_path: Path) -> None:
    one = next(questions())
    bad = replace(one, id="bad", stem="Which of the walls has no door?", choices=("x", "X", "", "y"), key=0)
    write_lines(tmp_path / "exam.jsonl", map(question_fields, [one, bad]))
    done = ragexam("filter", tmp_path / "exam.jsonl", "--dry-run", "--json")
    rules = {found["rule"]: found for found in json.loads(done.stdout)["rules"]}
    assert [rules[name]["alone"] for name in ("empty-choice", "duplicate-choices")] == [1, 1]
    assert [rules[name]["dropped"] for name in ("empty-choice", "duplicate-choices")] == [1, 0]


def test_likelihood_rules_use_the_model_that_is_named_and_ask_it_once(ragexam: Command, run: Path) -> None:
    words = ("filter", run, "--dry-run", "--json", "--only", "needless-passage", "--rule", "needless-passage=50%")
    done = ragexam(*words, "--model", "python:examinees:careful")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rules"][0]["dropped"] == 2
    assert (run / "replies.sqlite").is_file()
    again = ragexam(*words, "--model", "python:examinees:careful")
    assert again.stdout == done.stdout


def test_the_commands_of_the_manual_run(ragexam: Command, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run.rename(run.parent / "quickstart")
    (run.parent / "runs").symlink_to(run.parent, target_is_directory=True)
    monkeypatch.chdir(run.parent)
    manual = (HERE.parents[1] / "docs" / "exam-writing.md").read_text(encoding="utf-8")
    shown = re.findall(r"^ragexam filter (.*)$", manual, re.MULTILINE)
    assert len(shown) >= 3
    for line in shown:
        done = ragexam("filter", *shlex.split(line.replace("embedded:smollm2-135m", "python:examinees:careful")))
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "filter: found both or neither of --dry-run and --out"),
        (("--dry-run", "--out", "x"), "filter: found both or neither of --dry-run and --out"),
        (("--dry-run", "--rule", "near-duplicate"), "--rule near-duplicate: no value; wanted NAME=LIMIT"),
        (("--dry-run", "--rule", "near=1"), "filters: unknown rule 'near'"),
        (("--dry-run", "--rule", "stem-long=["), "--rule stem-long=[: '[' is not YAML; wanted it in quotes"),
        (("--dry-run", "--only", "near"), "filters: unknown rule 'near'"),
        (("--out", "none.jsonl", "--rule", "stem-long=1"), "no question is left"),
    ],
)
def test_bad_input_is_one_line_and_status_2(ragexam: Command, run: Path, words: tuple[str, ...], message: str) -> None:
    done = ragexam("filter", run, "--quiet", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_configuration_names_rules_and_wrong_names_are_refused_with_their_line() -> None:
    content = {"run": "r", "corpus": {"source": "python-docs"}, "filters": {"extra-words": "10%", "catch-all": False}}
    settings = check("c.yaml", content, ExamConfig, ["filters.near-duplicate=0.7"])
    assert settings.filters == {"extra-words": "10%", "catch-all": False, "near-duplicate": 0.7}
    with pytest.raises(ValueError, match=r"c\.yaml:9: filters: unknown rule 'extra'"):
        check(
            "c.yaml", {**content, "filters": {"extra": 1}}, ExamConfig, (), {("filters",): 7, ("filters", "extra"): 9}
        )
    listed = {("filters",): 7, ("filters", "order", 0): 8}
    with pytest.raises(ValueError, match=r"c\.yaml:8: filters: unknown rule 'extra'"):
        check("c.yaml", {**content, "filters": {"order": ["extra"]}}, ExamConfig, (), listed)
    assert "filters" in Config.model_fields
    blind = {**content, "writer": {"encoder": None}, "filters": {"intra-meaning": True}}
    with pytest.raises(ValueError, match=r"filters: some compare meanings and writer\.encoder is null"):
        check("c.yaml", blind, ExamConfig)


def test_a_run_of_a_release_without_filters_goes_on_and_other_filters_are_refused(tmp_path: Path) -> None:
    content = {"run": str(tmp_path), "corpus": {"source": "python-docs"}}
    settings = check("c.yaml", content, ExamConfig)
    before = Steps.of(RunFolder(tmp_path), settings, Progress(quiet=True)).record
    before.begin("exam", "f")
    before.spend("exam", 1.0, done=True)
    del before.content["configuration"]["filters"]
    before.save()
    assert Steps.of(RunFolder(tmp_path), settings, Progress(quiet=True)).record.fingerprint("exam") == "f"
    other = check("c.yaml", {**content, "filters": {"catch-all": False}}, ExamConfig)
    with pytest.raises(ValueError, match=r"holds another exam \(filters\.catch-all: stored nothing, now False\)"):
        Steps.of(RunFolder(tmp_path), other, Progress(quiet=True))
