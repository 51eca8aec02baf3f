"""Exams run by lm-evaluation-harness, and its samples read back."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from examcore import Exam, Question, write_exam
from rag import (
    Answer,
    AnswerStore,
    ChoiceEvidence,
    Sitting,
    SittingSettings,
    bound_prompts,
    build_retriever,
    choose_answer,
    continuation,
    exam_prompt,
    grid_of,
    load_model,
    sit,
)
from ragexam.exchange import export_exam
from ragexam.exchange._lm_eval import task_files
from ragexam.exchange._reading import import_answers
from tests.ragexam.exported import hostile_exam, pipeline_of, rows_of, sample, write_samples, write_source

HARNESS = pytest.mark.skipif(
    importlib.util.find_spec("lm_eval") is None, reason="lm-eval is not installed (pip install 'ragexam[peers]')"
)
RETRIEVERS = ("closed-book", "oracle", "bm25")
METRICS = {"acc": "sum", "acc_norm": "character", "acc_bytes": "byte"}


class Both(NamedTuple):
    """One model's answers to one exam: by a sitting, and by the harness."""

    exam: Exam
    answers: dict[tuple[str, str], Answer]
    responses: Path
    samples: Path


@pytest.fixture(
    scope="module",
    params=[pytest.param(False, marks=pytest.mark.validate, id="plain"), pytest.param(True, id="chat and crossed")],
)
def both(request: Any, tiny_folder: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Both:
    chat = bool(request.param)
    run, model = tmp_path_factory.mktemp("run"), tiny_folder("llama", chat)
    exam, chunks, pool = hostile_exam()
    write_source(run)
    crossed = {"passages": [1, 3]} if chat else {}
    llm = {"name": model.name, "model": str(model)}
    pipelines = grid_of({"llms": [llm], "retrievers": list(RETRIEVERS), "shots": [0, 2], **crossed}).pipelines
    with AnswerStore(run / "answers.sqlite") as store:
        models = {model.name: lambda: load_model(str(model), "float32", "cpu")}
        retrievers = {name: build_retriever(name, chunks) for name in RETRIEVERS}
        sit(Sitting(exam, pipelines, chunks, models, retrievers, pool, SittingSettings(k=2)), store)
        store.to_responses_csv(run / "responses.csv", exam, pipelines)
        answers = {(one.pipeline, one.question): one for one in store.answers()}
    export_exam(run, "lm-eval", run / "tasks", "oddities")
    evaluate(model, run, "oddities_chat" if chat else "oddities", *(["--apply_chat_template"] if chat else []))
    return Both(exam, answers, run / "responses.csv", run / "samples")


def evaluate(model: Path, run: Path, tasks: str, *more: str) -> None:
    """The command that an export prints."""
    words = ["--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu", "--tasks", tasks]
    words += ["--include_path", str(run / "tasks"), "--output_path", str(run / "samples"), "--log_samples", *more]
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "lm_eval", *words],
        env={**os.environ, **offline, "HF_HOME": str(run / "hub")},
        cwd=run.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in folder.rglob("samples_*.jsonl") for line in path.read_text().splitlines()]


@HARNESS
@pytest.mark.slow
def test_the_harness_finds_the_log_likelihoods_of_a_sitting(both: Both) -> None:
    found = lines(both.samples)
    assert len(found) == len(both.answers) == len(rows_of(both.responses)) - 1
    model = next(iter(both.answers))[0].partition("+")[0]
    for line in found:
        doc = line["doc"]
        ours = both.answers[pipeline_of(model, doc), doc["id"]]
        sums = [float(one[0]) for one in line["filtered_resps"]]
        assert sums == pytest.approx(ours.log_likelihoods, abs=1e-3)


@HARNESS
@pytest.mark.slow
def test_its_accuracies_are_our_normalizations_question_by_question(both: Both) -> None:
    questions = {one.id: one for one in both.exam.questions}
    model = next(iter(both.answers))[0].partition("+")[0]
    agreeing = dict.fromkeys(METRICS, 0)
    for line in lines(both.samples):
        question = questions[line["doc"]["id"]]
        answer = both.answers[pipeline_of(model, line["doc"]), question.id]
        evidence = ChoiceEvidence(question.choices, answer.log_likelihoods, answer.choice_tokens)
        for metric, normalization in METRICS.items():
            agreeing[metric] += line[metric] == (choose_answer(evidence, normalization) == question.key)
    assert agreeing == dict.fromkeys(METRICS, len(both.answers))


@HARNESS
@pytest.mark.slow
def test_its_samples_read_back_are_the_responses_of_the_sitting(both: Both, tmp_path: Path) -> None:
    write_exam(tmp_path / "exam.jsonl", both.exam)
    import_answers([str(both.samples)], tmp_path / "exam.jsonl", tmp_path / "back.csv", "character")
    back, ours = rows_of(tmp_path / "back.csv"), rows_of(both.responses)
    assert back[0] == ours[0]
    assert sorted(back) == sorted(ours)


def test_a_task_holds_the_prompts_of_a_sitting_word_for_word(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    _, chunks, _ = hostile_exam()
    found = export_exam(tmp_path / "run", "lm-eval", tmp_path / "tasks", "odd/name")
    assert found.name == "odd_name"
    assert found.passages == ["closed-book", "oracle"]
    docs = [json.loads(line) for line in (tmp_path / "tasks" / "oracle.jsonl").read_text("utf-8").split("\n") if line]
    for doc, question in zip(docs, exam.questions, strict=True):
        source = next(chunk for chunk in chunks if chunk.id == question.chunk_id)
        assert doc["prompt"] == exam_prompt(question, [source]).user
        assert [f" {choice}" for choice in doc["choices"]] == [continuation(one) for one in question.choices]


def test_a_task_file_names_what_the_harness_needs(tmp_path: Path) -> None:
    exam = write_source(tmp_path / "run")
    export_exam(tmp_path / "run", "lm-eval", tmp_path / "tasks", "odd")
    files = sorted((tmp_path / "tasks").glob("*.yaml"))
    assert [one.stem for one in files] == ["odd_closed-book", "odd_closed-book_chat", "odd_oracle", "odd_oracle_chat"]
    for file in files:
        text = file.read_text(encoding="utf-8")
        task = yaml.safe_load(text.replace("!function ", ""))
        assert task["custom_dataset"] == "exam_data.load"
        assert (task["task"], task["output_type"]) == (file.stem, "multiple_choice")
        assert task["tag"] == ("odd_chat" if file.stem.endswith("_chat") else "odd")
        assert (tmp_path / "tasks" / task["dataset_kwargs"]["file"]).is_file()
        assert task["metadata"]["exam"] == exam.hash


@pytest.mark.parametrize("name", ["chat", "closed-book_chat"])
def test_a_retriever_whose_tasks_would_bear_another_ones_name_is_refused(name: str) -> None:
    exam, chunks, _ = hostile_exam()
    floor, _ = bound_prompts(exam, chunks)
    with pytest.raises(
        ValueError, match=f"retriever '{name}': two things are called 'odd_{name}'; wanted another name"
    ):
        task_files(exam, [floor, replace(floor, retriever=name)], "odd")


@pytest.fixture
def exam() -> Exam:
    return hostile_exam()[0]


@pytest.fixture
def three(exam: Exam) -> Question:
    """A question of three choices."""
    return next(one for one in exam.questions if len(one.choices) == 3)


def read(tmp_path: Path, exam: Exam, *samples: dict[str, Any], normalization: str = "sum") -> list[list[str]]:
    write_exam(tmp_path / "exam.jsonl", exam)
    path = write_samples(tmp_path / "org__model-1" / "samples_odd_2026-01-01T00-00-00.0.jsonl", samples)
    import_answers([str(path)], tmp_path / "exam.jsonl", tmp_path / "responses.csv", normalization)
    return rows_of(tmp_path / "responses.csv")


def test_a_choice_is_taken_by_the_normalization_asked_for(tmp_path: Path, exam: Exam, three: Question) -> None:
    lengths = [len(choice) for choice in three.choices]
    longest = lengths.index(max(lengths))
    per_character = [-(2.0 + (place != longest)) * length for place, length in enumerate(lengths)]
    shortest = max(range(3), key=lambda place: per_character[place])
    assert shortest != longest
    line = sample(exam, three, per_character)
    for normalization, chosen in (("sum", shortest), ("character", longest)):
        rows = read(tmp_path, exam, line, normalization=normalization)
        scores = {row[1]: row[2] for row in rows[1:]}
        assert scores.pop(three.id) == str(int(chosen == three.key))
        assert set(scores.values()) == {""}


def test_of_equal_scores_the_higher_sum_is_taken_as_in_a_sitting(tmp_path: Path) -> None:
    exam = Exam((Question("q", "Which?", ("ab", "a"), 1),))
    rows = read(tmp_path, exam, sample(exam, exam.questions[0], (-2.0, -1.0)), normalization="character")
    assert rows[1] == ["model-1+oracle+icl0", "q", "1", "model-1", "oracle", "0"]


def test_a_model_is_called_what_the_results_of_its_run_say(tmp_path: Path, exam: Exam, three: Question) -> None:
    results = tmp_path / "org__model-1" / "results_2026-01-01T00-00-00.0.json"
    results.parent.mkdir()
    results.write_text(json.dumps({"model_name": "/models/a b+c"}))
    assert read(tmp_path, exam, sample(exam, three, (-1, -2, -3)))[1][0] == "a-b-c+oracle+icl0"
    results.write_text("{")
    assert read(tmp_path, exam, sample(exam, three, (-1, -2, -3)))[1][0] == "model-1+oracle+icl0"


def test_two_models_are_two_students_and_a_name_can_be_given(tmp_path: Path, exam: Exam, three: Question) -> None:
    write_exam(tmp_path / "exam.jsonl", exam)
    for name in ("one", "two"):
        write_samples(tmp_path / "all" / name / "samples_odd_1.jsonl", [sample(exam, three, (-1, -2, -3))])
    found = import_answers([str(tmp_path / "all")], tmp_path / "exam.jsonl", tmp_path / "r.csv", "sum")
    assert list(found.students) == ["one+oracle+icl0", "two+oracle+icl0"]
    sources = [f"{name}={tmp_path}/all/{name}/samples_odd_1.jsonl" for name in ("one", "two")]
    again = import_answers(
        [sources[0], sources[1].replace("two=", "new=")], tmp_path / "exam.jsonl", tmp_path / "r.csv", "sum"
    )
    assert list(again.students) == ["one+oracle+icl0", "new+oracle+icl0"]
    with pytest.raises(ValueError, match=r"samples_odd_1.jsonl:1: one\+oracle\+icl0 answered 'd1/q #1' before, at"):
        import_answers(
            [sources[0], sources[1].replace("two=", "one=")], tmp_path / "exam.jsonl", tmp_path / "r.csv", "sum"
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"exam": "0123456789abcdef"}, r"samples.*:1: answers exam \"0123456789abcdef\"; wanted exam [0-9a-f]{16}$"),
        ({"id": "unknown"}, r":1: question \"unknown\"; wanted one of exam"),
        ({"choices": ["x", "y", "z"]}, r":1: other choices or key of question 'd1/q #1'; wanted the exam's"),
        ({"answer": 9}, r":1: other choices or key"),
        ({"passages": 0}, r":1: passages is 0; wanted a whole number from 1"),
        ({"budget": "many"}, r":1: budget is \"many\"; wanted a whole number from 1"),
        ({"icl": True}, r":1: no exam, retriever and icl; wanted an answer to what ragexam exported"),
        ({"retriever": None}, r":1: no exam, retriever and icl; wanted an answer to what ragexam exported"),
    ],
)
def test_answers_to_other_questions_are_refused(
    tmp_path: Path, exam: Exam, three: Question, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, exam, sample(exam, three, (-1, -2, -3), **change))


@pytest.mark.parametrize("sums", [(-1, -2), (-1, "nan", -2), (-1, "x", -2), (-1, 0.5, -2), (-1, "inf", -2)])
def test_numbers_that_are_none_are_refused(tmp_path: Path, exam: Exam, three: Question, sums: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r":1: filtered_resps is a list; wanted 3 log-likelihoods"):
        read(tmp_path, exam, sample(exam, three, sums))


def test_samples_of_another_task_are_refused(tmp_path: Path, exam: Exam) -> None:
    with pytest.raises(ValueError, match=r":1: no doc with an id; wanted a sample of a task that ragexam exported"):
        read(tmp_path, exam, {"doc": {"question": "2 + 2?"}})
    with pytest.raises(ValueError, match="no answers; wanted samples of lm-eval or logs of Inspect"):
        read(tmp_path, exam)


def test_a_file_that_was_cut_off_is_refused_at_its_line(tmp_path: Path, exam: Exam) -> None:
    write_exam(tmp_path / "exam.jsonl", exam)
    others = [sample(exam, one, [-1.0] * len(one.choices)) for one in exam.questions]
    path = write_samples(tmp_path / "m" / "samples_odd_1.jsonl", others)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=rf"samples_odd_1\.jsonl:{len(others)}: malformed JSON \("):
        import_answers([str(path)], tmp_path / "exam.jsonl", tmp_path / "r.csv", "sum")


def test_a_normalization_that_samples_have_no_numbers_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="--normalization token: not in these files; wanted one of sum, character, byte"
    ):
        import_answers(["x"], tmp_path / "exam.jsonl", tmp_path / "r.csv", "token")
