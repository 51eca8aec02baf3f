"""Reading a run folder or released answers: what is taken, named and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paper_figs._task_results import TaskResults, read_run
from tests.paper_figs.released_folder import CORPUS, LLMS, write_released
from tests.ragexam.report.run_folder import write_run


def test_released_folder_is_called_after_the_one_around_it(hard: TaskResults, released: Path, cache: Path) -> None:
    assert hard.task == "hard & long"
    assert hard.slug == "hard-long"
    assert read_run(f"DevOps={released}", cache).task == "DevOps"


def test_a_folder_with_an_equals_sign_in_its_name_is_found(tmp_path: Path, cache: Path) -> None:
    folder = write_released(tmp_path / "seed=1")
    assert read_run(str(folder), cache).task == "seed=1"


def test_facets_levels_and_labels_are_those_of_the_files(hard: TaskResults) -> None:
    assert hard.levels("llm") == LLMS
    assert hard.levels("budget") == ()
    assert len(hard.students_at(llm=LLMS[0], retriever="bm25")) == 2
    groups = hard.labelled("bloom")
    assert {name: len(ids) for name, ids in groups.items()} == {"remember": 8, "apply": 16, "create": 8}
    assert hard.questions["text"].isna().all()


def test_a_run_folder_gives_text_and_labels_read_off_it(tmp_path: Path, cache: Path) -> None:
    run = read_run(str(write_run(tmp_path / "mine", questions=12, hostile=False)), cache)
    assert run.task == "mine"
    assert run.questions["text"].str.len().min() > 10
    assert sum(len(ids) for ids in run.labelled("form").values()) == 12


def test_counts_come_from_their_file_or_from_the_record(hard: TaskResults, tmp_path: Path, cache: Path) -> None:
    assert hard.corpus == CORPUS
    folder = write_released(tmp_path / "run", counts=False)
    assert read_run(str(folder), cache).corpus is None
    (folder / "run.json").write_text(json.dumps({"corpus": {"documents": 3}}))
    assert read_run(str(folder), cache).corpus == {"documents": 3}
    assert read_run(str(folder), cache).statistics is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("corpus.json", "{}", r"corpus.json: no 'documents'; wanted what ragexam corpus --json tells"),
        ("corpus.json", "[1]", r"corpus.json: found JSON list; wanted an object"),
        ("corpus.json", "{", r"corpus.json: malformed JSON .*; wanted one JSON object"),
        ("questions.csv", "question,key\nq,1\n", r"questions.csv:2: KeyError 'topic'; wanted a released question"),
    ],
)
def test_damaged_files_are_refused_in_one_line(
    name: str, content: str, message: str, tmp_path: Path, cache: Path
) -> None:
    folder = write_released(tmp_path / "run")
    (folder / name).write_text(content)
    run = read_run(str(folder), cache)
    with pytest.raises(ValueError, match=message) as error:
        _ = run.corpus, run.questions
    assert "\n" not in str(error.value)


def test_an_answer_to_an_unknown_question_is_refused(tmp_path: Path, cache: Path) -> None:
    folder = write_released(tmp_path / "run")
    lines = (folder / "questions.csv").read_text(encoding="utf-8").splitlines()
    (folder / "questions.csv").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"item 'q23#éé' is no question"):
        _ = read_run(str(folder), cache).questions


def test_what_is_no_folder_is_refused(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such folder; wanted a run, or TASK=RUN"):
        read_run(str(tmp_path / "nothing"), cache)
    with pytest.raises(FileNotFoundError, match=r"responses.csv: no such file"):
        _ = read_run(str(tmp_path), cache).data
