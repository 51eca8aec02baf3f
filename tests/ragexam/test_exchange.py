"""Exams as data sets and tables, and the commands that write and read."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from examcore import Exam, write_exam
from irt._reading import read_responses
from rag import Answer, AnswerStore, ExamPrompts, Pipeline
from ragexam.exchange import export_exam
from ragexam.exchange._formats import answered, exported_fields
from tests.command_line import ragexam_here as ragexam
from tests.ragexam.exported import hostile_exam, sample, write_samples, write_source

ROOT = Path(__file__).parents[2]


def test_the_hub_folder_loads_as_the_exam(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    export_exam(tmp_path / "run", "hf", tmp_path / "hub", "odd")
    code = "import datasets, json, sys; json.dump(list(datasets.load_dataset(sys.argv[1], split='test')), sys.stdout)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "hub")],
        env={**os.environ, "HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows = json.loads(done.stdout)
    assert [row["id"] for row in rows] == list(exam.ids)
    for row, question in zip(rows, exam.questions, strict=True):
        assert (row["question"], tuple(row["choices"]), row["answer"]) == (
            question.stem,
            question.choices,
            question.key,
        )
        assert (row["context"], json.loads(row["metadata"])) == (question.context, question.metadata)
        assert row["labels"] == [f"form={one}" for one in question.labels.get("form", ())]


def test_the_card_says_what_the_data_set_is(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    write_exam(tmp_path / "run" / "exam.jsonl", [replace(one, topic="a|b") for one in exam.questions])
    export_exam(tmp_path / "run", "hf", tmp_path / "hub", "odd")
    _, front, body = (tmp_path / "hub" / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    card = yaml.safe_load(front)
    assert (card["pretty_name"], card["size_categories"]) == ("odd", ["n<1K"])
    assert [one["name"] for one in card["dataset_info"]["features"]] == list(
        json.loads((tmp_path / "hub" / "data" / "test.jsonl").read_text(encoding="utf-8").split("\n")[0])
    )
    assert "of 6 questions (2 with 2, 2 with 3, 2 with 4 choices)" in body
    assert exam.hash in body
    assert r"| a\|b | 6 |" in body


def test_the_table_holds_every_question_and_choice(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    export_exam(tmp_path / "run", "csv", tmp_path / "table")
    with (tmp_path / "table" / "exam.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, question in zip(rows, exam.questions, strict=True):
        shown = [row[f"choice_{place}"] for place in range(4)]
        assert [one for one in shown if one] == list(question.choices)
        assert shown[int(row["answer"])] == question.answer
        assert (row["id"], row["question"], row["context"]) == (question.id, question.stem, question.context)


def test_an_exam_without_sources_goes_out_closed_book(tmp_path: Path) -> None:
    exam, _, _ = hostile_exam()
    write_exam(tmp_path / "exam.jsonl", [replace(one, context="", chunk_id="") for one in exam.questions])
    found = export_exam(tmp_path / "exam.jsonl", "lm-eval", tmp_path / "tasks")
    assert found.passages == ["closed-book"]
    assert found.notes == ["oracle is left out: not every question's source is known"]


def begin(run: Path, exam: Exam, *retrievers: str) -> None:
    with AnswerStore(run / "answers.sqlite") as store:
        store.begin(exam, {Pipeline("m", name): {} for name in retrievers})


def test_answers_to_another_exam_beside_it_are_left_out_and_said(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    other = exam.select(exam.ids[:3])
    begin(tmp_path / "run", other, "bm25")
    found = export_exam(tmp_path / "run", "inspect", tmp_path / "task")
    assert found.passages == ["closed-book", "oracle"]
    assert found.notes == [f"retrievers are left out: {tmp_path}/run/answers.sqlite holds answers to exam {other.hash}"]


def test_answers_so_far_go_out_under_a_name_that_says_so_and_whole_ones_as_responses(tmp_path: Path) -> None:
    run, exam = tmp_path / "run", write_source(tmp_path / "run")
    pipelines = [Pipeline("m", name) for name in ("bm25", "closed-book")]
    given = [(one, name) for one in pipelines for name in exam.ids]

    def add(*asked: tuple[Pipeline, str]) -> None:
        with AnswerStore(run / "answers.sqlite") as store:
            store.begin(exam, {one: {} for one in pipelines})
            store.add(
                *(Answer(one.id, name, 0, name == exam.ids[0], "", (), (), (), (), 1, 0.0) for one, name in asked)
            )

    add(*given[:-2])
    found = export_exam(run, "responses", tmp_path / "part")
    table = read_responses(tmp_path / "part" / "responses-so-far.csv")
    assert sorted(table.students) == [one.id for one in pipelines]
    assert np.isnan(table.scores).sum() == 2
    assert np.nansum(table.scores) == 2
    assert found.notes == [
        "2 of 12 answers are missing (m+closed-book+icl0 2): one that failed at hard questions looks better than it "
        "is; the command of the sitting asks them again"
    ]
    add(*given[-2:])
    assert export_exam(run, "responses", tmp_path / "whole").notes == []
    assert [one.name for one in (tmp_path / "whole").iterdir()] == ["responses.csv"]
    assert not np.isnan(read_responses(tmp_path / "whole" / "responses.csv").scores).any()


def test_no_answers_and_answers_to_another_exam_are_no_table(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    with pytest.raises(ValueError, match=r"answers\.sqlite: no such file; wanted the answers of a sitting"):
        export_exam(tmp_path / "run", "responses", tmp_path / "out")
    begin(tmp_path / "run", exam.select(exam.ids[:3]), "bm25")
    with pytest.raises(ValueError, match=rf"answers\.sqlite: holds answers to exam \w+; wanted exam {exam.hash}"):
        export_exam(tmp_path / "run", "responses", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_something_and_an_unknown_format_are_refused(tmp_path: Path) -> None:
    write_source(tmp_path / "run")
    with pytest.raises(ValueError, match="run: is there and not empty; wanted a new folder"):
        export_exam(tmp_path / "run", "csv", tmp_path / "run")
    with pytest.raises(ValueError, match="--to xml: unknown; wanted one of lm-eval, inspect, hf, csv"):
        export_exam(tmp_path / "run", "xml", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_commands_write_and_read_and_refuse_in_one_line(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    out = ragexam("export", "run", "--to", "lm-eval", "--out", "tasks", "--name", "odd", folder=tmp_path)
    assert (out.returncode, out.stderr) == (0, "")
    assert out.stdout.splitlines()[0] == f"tasks: 6 questions of exam {exam.hash}"
    assert "--tasks odd --include_path tasks --output_path samples --log_samples" in out.stdout
    question = exam.questions[0]
    sums = [-1.0 - (place != question.key) * 50 for place in range(len(question.choices))]
    write_samples(tmp_path / "samples" / "m" / "samples_odd_oracle_1.jsonl", [sample(exam, question, sums)])
    words = ("import", "samples", "--exam", "run", "--out", "back.csv")
    back = ragexam(*words, folder=tmp_path)
    assert (back.returncode, back.stderr) == (0, "")
    assert back.stdout.splitlines() == ["1.000  m+oracle+icl0  (1 of 6 questions)", "back.csv"]
    told = json.loads(ragexam(*words, "--json", folder=tmp_path).stdout)
    assert told["students"] == {"m+oracle+icl0": {"asked": 1, "right": 1, "trials": 1}}
    write_exam(tmp_path / "other.jsonl", exam.select(exam.ids[:3]))
    refused = ragexam("import", "samples", "--exam", "other.jsonl", "--out", "new.csv", folder=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert f'samples_odd_oracle_1.jsonl:1: answers exam "{exam.hash}"; wanted exam' in refused.stderr
    assert not (tmp_path / "new.csv").exists()
    missing = ragexam("import", "none.jsonl", "--exam", "run", "--out", "new.csv", folder=tmp_path)
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)


def test_the_commands_of_the_page_run_in_their_order(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    page = (ROOT / "docs" / "exchange.md").read_text(encoding="utf-8")
    shown = [line for block in re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S) for line in block.splitlines()]
    ours = [line.split()[1:] for line in shown if line.startswith("ragexam ")]
    assert [words[0] for words in ours] == ["export"] * 4 + ["import"] * 2
    for words in ours[:4]:
        done = ragexam(*words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        used = [line for line in done.stdout.splitlines() if line.startswith("lm_eval ")]
        assert set(used) <= set(shown)
    log = {"id": exam.ids[0], "target": "ABCD"[exam.questions[0].key], "scores": {"choice": {"value": "C"}}}
    origin = {"exam": exam.hash, "retriever": "closed-book", "icl": 0}
    (tmp_path / "task" / "logs").mkdir()
    inspected = {"eval": {"model": "openai/gpt-4o"}, "samples": [{**log, "metadata": origin}]}
    (tmp_path / "task" / "logs" / "one.json").write_text(json.dumps(inspected))
    sums = [-float(place) for place in range(len(exam.questions[0].choices))]
    for folder in ("base", "tuned"):
        write_samples(tmp_path / "samples" / folder / "samples_devops_1.jsonl", [sample(exam, exam.questions[0], sums)])
    for words, students in zip(ours[4:], (2, 3), strict=True):
        done = ragexam(*words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == students + 1
    assert "gpt-4o+closed-book+icl0" in done.stdout


def test_an_answer_of_a_grid_that_crosses_ways_of_answering_comes_back_to_its_pipeline() -> None:
    exam, *_ = hostile_exam()
    one = exam.questions[0]
    gone_out = exported_fields(exam, ExamPrompts("bm25", {}, factors={"answers": "likelihood"}))
    pipeline = Pipeline("model", "bm25", answers="likelihood")
    assert answered("log", gone_out, one.id, exam, "org/model") == (pipeline, one)
