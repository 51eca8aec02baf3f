"""The commands on banks: lint, changes, write, and grading that can be killed, stopped, and spread over workers."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from examcore import Question, write_exam
from grading.formats._answers import read_answers
from grading.formats._bank_files import read_bank
from ragexam.cli import app
from tests.command_line import ragexam_here as ragexam

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
# The models are loaded by the name of their file.
sys.path.insert(0, str(HERE))
MODEL = ("--model", "python:assessors:seeker")


def command(*words: str, **environment: str) -> dict[str, Any]:
    paths = {"PYTHONPATH": f"{ROOT}:{HERE}"}
    return {
        "args": [sys.executable, "-m", "ragexam", *words],
        "cwd": ROOT,
        "env": {**os.environ, **paths, **environment},
    }


def here(*words: str) -> Any:
    """A command in this process, which spares loading everything once more."""
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def result(*words: str) -> dict[str, Any]:
    return dict(json.loads(here(*words, "--json").stdout))


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank of two queries, passages of them, and a folder."""
    folder = tmp_path_factory.mktemp("banks")
    lines(
        folder / "bank.jsonl",
        {
            "id": "q1",
            "query": "skin",
            "question": "Which layer is the outer layer of the skin?",
            "answers": ["epidermis"],
        },
        {"id": "q2", "query": "skin", "question": "Which layer holds sweat glands?", "answers": "dermis"},
        {"id": "q3", "query": "tides", "question": "What raises ocean tides?", "answers": ["the moon"]},
    )
    lines(
        folder / "passages.jsonl",
        {"query": "skin", "passage": "p1", "text": "The outer layer of the skin is the epidermis"},
        {"query": "skin", "passage": "p2", "text": "This unreadable passage is about bread"},
        {"query": "tides", "passage": "p3", "text": "The tides of the ocean are raised by the moon"},
        {"query": "zebra", "passage": "p4", "text": "Stripes"},
    )
    return folder


def grade(place: Path, out: str, *more: str) -> dict[str, Any]:
    words = ("grade", "run", str(place / "bank.jsonl"), str(place / "passages.jsonl"))
    return result(*words, *MODEL, "--out", str(place / out), *more)


def grades(folder: Path) -> dict[tuple[str, str], Any]:
    records = map(json.loads, (folder / "grades.jsonl").read_text().splitlines())
    return {(one["passage"], one["question"]): one["grade"] for one in records}


def test_answers_of_trec_rag_are_graded_by_segments_and_scored_as_runs(place: Path, tmp_path: Path) -> None:
    sentences = ["The outer layer of the skin is the epidermis", "Stripes are on zebras"]
    answers = [
        {
            "run_id": run,
            "topic_id": "skin",
            "references": ["d"],
            "answer": [{"text": text, "citations": [0]} for text in texts],
        }
        for run, texts in (("a/b", sentences), ("c", sentences[1:]))
    ]
    files = (str(place / "bank.jsonl"), str(lines(tmp_path / "answers.jsonl", *answers)))
    told = result("grade", "run", *files, *MODEL, "--segment", "8", "--out", str(tmp_path / "out"))
    assert told["n"] == 6
    assert grades(tmp_path / "out")["a/b#1", "q1"] == 5
    runs = [str(tmp_path / "out" / "runs" / name) for name in ("a_b.run", "c.run")]
    found = result("grade", "cover", str(tmp_path / "out" / "grades.jsonl"), *runs, "--tau", "4")
    assert {name: one["cover"]["estimate"] for name, one in found["runs"].items()} == {"a/b": 0.5, "c": 0.0}
    here("grade", "report", str(tmp_path / "out"), "--tau", "4")
    assert sentences[0] in (tmp_path / "out" / "report.html").read_text()


def test_ratings_are_written_and_unparsed_ones_are_null_and_shown(place: Path) -> None:
    told = grade(place, "rating")
    assert grades(place / "rating") == {
        ("p1", "q1"): 5,
        ("p1", "q2"): 1,
        ("p2", "q1"): None,
        ("p2", "q2"): None,
        ("p3", "q3"): 3,
    }
    assert (told["n"], told["unparsed"]) == (5, 2)
    assert told["unparsed_share"]["estimate"] == pytest.approx(0.4)
    assert told["unparsed_examples"][0] == {"query": "skin", "passage": "p2", "question": "q1", "reply": "..."}
    assert told["left_out"] == {"queries_without_questions": ["zebra"], "queries_without_passages": [], "passages": 1}
    again = grade(place, "rating")
    assert (again["usage"]["calls"], again["usage"]["cached"]) == (5, 5)
    said = here(
        "grade", "run", str(place / "bank.jsonl"), str(place / "passages.jsonl"), *MODEL, "--out", str(place / "rating")
    )
    assert "unparsed: 2, a share of 0.400" in said.stdout
    assert "note: 1 passages are of queries without questions" in said.stdout
    assert "grading 5/5" in said.stderr


def test_each_grader_says_what_it_decided_by(place: Path) -> None:
    told = grade(place, "qa", "--grader", "qa", "--verify", "model")
    assert told["settings"] == {"prompt": "qa-1", "verify": "model", "verify_prompt": "verify-1"}
    assert grades(place / "qa")[("p1", "q1")] == 1
    assert told["rules"]["unanswerable"] == 3
    told = grade(place, "relevance", "--grader", "relevance", "--shots", "2", "--limit", "3")
    assert told["beyond_limit"] == 2
    assert set(grades(place / "relevance")) == {("p1", "relevance"), ("p2", "relevance")}


def test_a_published_judge_is_asked_the_texts_of_queries_once_a_passage(place: Path, tmp_path: Path) -> None:
    texts = {"skin": "outer layer of the skin", "tides": "ocean tides raised by winds"}
    topics = lines(tmp_path / "topics.txt", *({"query": query, "text": text} for query, text in texts.items()))
    words = ("grade", "run", str(topics), str(place / "passages.jsonl"), *MODEL, "--grader", "umbrela")
    told = result(*words, "--queries", str(topics), "--out", str(place / "umbrela"))
    assert grades(place / "umbrela") == {("p1", "relevance"): 3, ("p2", "relevance"): 0, ("p3", "relevance"): 2}
    assert (told["rules"], told["settings"]["scale"]) == ({"final score": 3}, "0-3")
    qrels = here("grade", "qrels", str(place / "umbrela" / "grades.jsonl")).stdout
    assert qrels == "skin 0 p1 3\nskin 0 p2 0\ntides 0 p3 2\n"
    assert "note: Queries are asked by their ids" in here(*words, "--out", str(tmp_path / "ids")).stderr
    few = lines(tmp_path / "few.jsonl", {"query": "skin", "text": texts["skin"]})
    with pytest.raises(ValueError, match=r"few.jsonl: has no text for 1 of 2 queries \(such as 'tides'\); wanted one"):
        here(*words, "--queries", str(few), "--out", str(tmp_path / "out"))


def test_a_bank_of_nuggets_is_rated_by_a_prompt_of_its_own(place: Path, tmp_path: Path) -> None:
    bank = lines(tmp_path / "nuggets.jsonl", {"qid": "skin", "nuggets": [{"text": "The outer layer is the epidermis"}]})
    words = ("grade", "run", str(bank), str(place / "passages.jsonl"), *MODEL, "--out", str(tmp_path / "out"))
    log = tmp_path / "asked.log"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSESSOR_LOG", str(log))
        told = result(*words)
    assert told["settings"] == {"prompt": "rating-1", "nugget_prompt": "nugget-rating-1"}
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(asked) == told["n"] == 2
    assert all(one.endswith("Fact: The outer layer is the epidermis") and "question" not in one for one in asked)


def test_the_exam_that_pipelines_sit_grades_articles_of_systems(place: Path) -> None:
    questions = [
        Question("e1", "What lifts bread?", ("yeast", "sand"), 0, topic="bread"),
        Question("e2", "What is glass made of?", ("yeast", "sand"), 1, topic="bread"),
    ]
    write_exam(place / "exam.jsonl", questions)
    articles = [("A", "p1", "Bread is lifted by yeast"), ("A", "p2", "Sand makes glass"), ("B", "p1", "Nothing")]
    records = [{"query": "bread", "system": system, "passage": name, "text": text} for system, name, text in articles]
    lines(place / "articles.jsonl", *records)
    told = result(
        *("grade", "run", str(place / "exam.jsonl"), str(place / "articles.jsonl"), *MODEL),
        *("--grader", "choices", "--out", str(place / "choices")),
    )
    assert told["rules"] == {"right choice": 1, "wrong choice": 1, "abstained": 2}
    assert grades(place / "choices")[("B", "e1")] == 0
    systems = read_answers(place / "choices" / "grades.jsonl")
    assert systems == {
        "A": {"bread": {"e1": True, "e2": False}},
        "B": {"bread": {"e1": False, "e2": False}},
    }
    assert told["settings"]["margin"] == 2.0


def test_a_calibrated_margin_is_written_told_and_used(place: Path) -> None:
    keys = [f"substance{n:02}" for n in range(30)]
    questions = [
        Question(f"e{n}", f"What is number {n}?", (key, "sand", "glass"), 0, document_id=f"d{n}", topic="bread",
                 context=f"Number {n} is {key} indeed")
        for n, key in enumerate(keys)
    ]  # fmt: skip
    write_exam(place / "known.jsonl", [*questions, Question("bare", "What is sand?", ("grains", "dust"), 0)])
    words = ("grade", "margin", str(place / "known.jsonl"), *MODEL, "--out", str(place / "margin"))
    told = result(*words)
    written = json.loads((place / "margin" / "margin.json").read_text())
    assert written == {"format": 1, **told}
    assert (told["margin"], told["n"], told["without_passage"]) == (0.0, 30, 1)
    assert told["held_out"]["unsupported"]["estimate"] == 0
    assert told["held_out"]["right"]["estimate"] == 1
    again = here(*words)
    assert "answered from passages of other documents: 0.000 [0.000, 0.083], wanted at most 0.05" in again.stdout
    assert "Questions without a document or passage, which take no part: 1." in again.stdout
    assert json.loads((place / "margin" / "margin.json").read_text())["usage"]["cached"] == 90
    lines(place / "one.jsonl", {"query": "bread", "passage": "p1", "text": "Number 3 is substance03 indeed"})
    grading = ("grade", "run", str(place / "known.jsonl"), str(place / "one.jsonl"), "--grader", "choices")
    margin = ("--margin", str(place / "margin" / "margin.json"))
    used = result(*grading, *MODEL, *margin, "--out", str(place / "by-margin"))
    assert used["settings"]["margin"] == 0.0
    with pytest.raises(ValueError, match=r'margin.json: is of model "python:assessors:seeker"; wanted that of "other"'):
        here(*grading, "--model", "other", *margin, "--out", str(place / "by-margin"))
    assert "is a rule of thumb" in here(*grading, *MODEL, "--out", str(place / "by-thumb")).stdout


@pytest.mark.parametrize("grader", ["qa", "reader"])
def test_graders_that_compare_with_keys_want_one(place: Path, tmp_path: Path, grader: str) -> None:
    keyless = lines(tmp_path / "keyless.jsonl", {"id": "q1", "query": "skin", "question": "What is skin?"})
    files = (str(keyless), str(place / "passages.jsonl"))
    with pytest.raises(ValueError, match=r"keyless\.jsonl: no question with passages has a key; wanted answers, or"):
        here("grade", "run", *files, *MODEL, "--grader", grader, "--out", str(tmp_path / "out"))


def test_bad_input_is_refused_before_anything_of_models_is_loaded(place: Path, tmp_path: Path) -> None:
    """In a process of its own: no model library is imported for missing or malformed files."""
    bank, passages = str(place / "bank.jsonl"), str(place / "passages.jsonl")
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": "q1", "query"\n')
    code = "import sys, runpy\ntry:\n  runpy.run_module('ragexam', run_name='__main__')\nexcept SystemExit as end:\n" \
        "  print(sorted({'torch', 'transformers', 'jax'} & set(sys.modules)), end.code)"  # fmt: skip
    for words, message in (
        ((str(broken), passages), "broken.jsonl:1: malformed JSON"),
        ((bank, passages, "--queries", "nowhere.csv", "--grader", "relevance"), "nowhere.csv: no such file"),
    ):
        run = command("grade", "run", *words, *MODEL, "--out", str(tmp_path / "out"))
        run["args"] = [sys.executable, "-c", code, *run["args"][3:]]
        done = subprocess.run(**run, capture_output=True, text=True, check=False, timeout=300)
        assert message in done.stderr
        assert done.stdout.strip() == "[] 2"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "engine", [("--workers", "2"), pytest.param(("--engine", "ray", "--workers", "2"), marks=pytest.mark.slow)]
)
def test_workers_grade_as_one_process_does(place: Path, engine: tuple[str, ...]) -> None:
    # Not imported here: Ray reads RAY_AUTH_MODE once, and tests/rag/test_engines.py sets it for the cluster it joins.
    if "ray" in engine and importlib.util.find_spec("ray") is None:
        pytest.skip("needs ragexam[ray]")
    grade(place, "alone")
    out = place / f"workers-{len(engine)}"
    # In a process of its own: what Ray starts is forked, which JAX in this one would complain of.
    files = (str(place / "bank.jsonl"), str(place / "passages.jsonl"))
    words = command("grade", "run", *files, *MODEL, "--out", str(out), *engine, "--json")
    done = subprocess.run(**words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert grades(out) == grades(place / "alone")
    assert json.loads(done.stdout)["usage"]["cached"] == 0


@pytest.fixture
def long(tmp_path: Path) -> list[str]:
    """The words of a command that asks for 120 ratings."""
    bank = [{"id": f"q{n}", "query": "skin", "question": f"Which layer number {n} is outer?"} for n in range(6)]
    passages = [{"query": "skin", "passage": f"p{n}", "text": f"layer {n} is outer"} for n in range(20)]
    lines(tmp_path / "bank.jsonl", *bank)
    lines(tmp_path / "passages.jsonl", *passages)
    return ["grade", "run", str(tmp_path / "bank.jsonl"), str(tmp_path / "passages.jsonl"), *MODEL]


def stored(path: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
            return int(store.execute("SELECT count(*) FROM replies").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.slow
def test_kill_9_asks_nothing_twice_whose_reply_was_kept(long: list[str], tmp_path: Path) -> None:
    whole, out, log = tmp_path / "whole", tmp_path / "out", tmp_path / "asked.log"
    assert ragexam(*long, "--out", str(whole)).returncode == 0
    kills = 0
    for share in (0.2, 0.6):
        job = subprocess.Popen(
            **command(*long, "--out", str(out), ASSESSOR_SECONDS="0.05", ASSESSOR_LOG=str(log)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while stored(out / "replies.sqlite") < share * 120 and job.poll() is None:
            time.sleep(0.02)
        job.send_signal(signal.SIGKILL)
        kills += job.wait() == -signal.SIGKILL
    assert kills == 2
    assert not (out / "grades.jsonl").exists()
    done = ragexam(*long, "--out", str(out), ASSESSOR_LOG=str(log))
    assert done.returncode == 0, done.stderr
    assert (out / "grades.jsonl").read_bytes() == (whole / "grades.jsonl").read_bytes()
    asked = Counter(log.read_text().splitlines())
    assert len(asked) == 120
    # The prompt under way at each kill is asked once more.
    assert asked.total() <= 120 + kills


def test_ctrl_c_says_how_to_go_on(long: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    # A background job of a shell ignores Ctrl-C and its children inherit that; a handler of our own they do not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    job = subprocess.Popen(
        **command(*long, "--out", str(out), ASSESSOR_SECONDS="0.2"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, before)
    while stored(out / "replies.sqlite") < 2 and job.poll() is None:
        time.sleep(0.02)
    job.send_signal(signal.SIGINT)
    _, told = job.communicate(timeout=60)
    assert job.returncode == 130
    assert told.splitlines()[-1] == "ragexam: stopped; the same command goes on from here"


def test_a_bank_is_written_linted_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "topics.csv").write_text("query,text\nt1,the skin\nt2,the tides\n")
    bank = tmp_path / "bank.jsonl"
    told = result(
        "grade", "bank", "write", str(tmp_path / "topics.csv"), *MODEL, "--out", str(bank), "--questions", "3"
    )
    assert (told["n"], told["losses"]) == (4, {"stands in the bank already": 2})
    assert told["short"] == [{"query": "t1", "subtopic": "", "n": 2}, {"query": "t2", "subtopic": "", "n": 2}]
    assert [one.question for one in read_bank(bank)][:2] == ["Which use has the skin?", "Which cost has the skin?"]
    found = result("grade", "bank", "lint", str(bank))
    assert found["n"] == 4
    assert found["counts"] == {"few-questions": 2}


def test_lint_lists_findings_and_ends_well(place: Path, tmp_path: Path) -> None:
    bank = lines(
        tmp_path / "bank.jsonl",
        {"id": "a", "query": "q", "question": "Is the sky blue by day?", "answers": [True]},
        {"id": "b", "query": "q", "question": "is the sky blue by day", "answers": [False]},
    )
    done = here("grade", "bank", "lint", str(bank), "--fewest", "1")
    assert "2 questions for 1 queries; 2 findings" in done.stdout
    assert "a and b ask the same and have no answer in common: 'true' and 'false'" in done.stdout
    table = tmp_path / "grades.csv"
    table.write_text("query,passage,question,grade\n" + "".join(f"q,p{n},a,4\n" for n in range(9)) + "q,p1,zz,1\n")
    found = result("grade", "bank", "lint", str(bank), "--fewest", "1", "--grades", str(table), "--tau", "4")
    assert [one["rule"] for one in found["findings"]] == ["duplicate", "contradiction", "too-broad"]
    assert found["findings"][2]["ids"] == ["a"]
    assert found["grades_of_other_questions"] == 1


def test_the_passages_whose_label_changes_are_listed(tmp_path: Path) -> None:
    questions = [{"id": name, "query": "q", "question": f"What is {name}?"} for name in "abc"]
    before = lines(tmp_path / "before.jsonl", *questions)
    after = lines(tmp_path / "after.jsonl", *questions[1:], {"id": "d", "query": "q", "question": "What is d?"})
    table = tmp_path / "grades.csv"
    table.write_text("query,passage,question,grade\nq,p1,a,5\nq,p1,b,3\nq,p2,a,2\nq,p2,c,4\n")
    found = result("grade", "bank", "changes", str(before), str(after), str(table), "--tau", "4")
    assert found["changes"] == [{"query": "q", "passage": "p1", "before": 5.0, "after": 3.0, "why": ""}]
    assert (found["n_changed"], found["passages"], found["up"], found["down"]) == (1, 2, 0, 1)
    assert found["questions"]["added"] == [{"query": "q", "id": "d"}]
    assert len(found["ungraded"]) == 2
    done = here("grade", "bank", "changes", str(before), str(after), str(table))
    assert "q  p1  5 -> 3" in done.stdout
    assert "note: 2 pairs of 2 passages and added or changed questions have no grade" in done.stdout
    gone = lines(tmp_path / "gone.jsonl", questions[1], {"id": "z", "query": "other", "question": "What is z?"})
    done = here("grade", "bank", "changes", str(gone), str(lines(tmp_path / "z.jsonl", *questions[2:])), str(table))
    assert "q  p1  3 -> not graded" in done.stdout
    assert "q  p2  not graded before -> 4" in done.stdout
    other = lines(tmp_path / "other.jsonl", {"id": "z", "query": "other", "question": "What is z?"})
    assert "q  p1  5 -> no longer asked" in here("grade", "bank", "changes", str(before), str(other), str(table)).stdout
    assert (
        "q  p1  not asked before -> 5" in here("grade", "bank", "changes", str(other), str(before), str(table)).stdout
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--grader", "choices"), r"bank.jsonl:1: choices"),
        (("--workers", "2", "--batch", "4"), "--batch 4: found with --engine or --workers; wanted one of them"),
        (("--grader", "helm", "--shots", "2"), "--shots 2: --grader helm does not read it; wanted --grader relevance"),
        (("--verify", "model"), "--verify model: --grader rating does not read it; wanted --grader qa"),
        (("--engine", "cloud"), "--engine cloud: unknown; wanted local or ray"),
        (("--model", "nowhere/at all"), "model nowhere/at all: no such folder"),
        (("--queries", "nowhere.csv", "--grader", "relevance"), r"nowhere\.csv: no such file"),
        (("--margin", "wide", "--grader", "choices"), r"bank.jsonl:1: choices"),
    ],
)
def test_bad_input_is_named(place: Path, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    files = (str(place / "bank.jsonl"), str(place / "passages.jsonl"))
    with pytest.raises((ValueError, OSError), match=message):
        here("grade", "run", *files, *MODEL, "--out", str(tmp_path / "out"), *words)


def test_bad_input_is_one_line_and_status_2(tmp_path: Path) -> None:
    done = ragexam("grade", "bank", "lint", str(lines(tmp_path / "bank.jsonl", {"id": "a", "query": "q"})))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "bank.jsonl:1: found id, query; wanted question or question_text" in done.stderr
