"""`ragexam grade nuggets create` and `assign`: the loop to scores, workers, servers, kills, and what is refused."""

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
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from examcore import Prompt
from grading.formats._bank_files import read_bank
from grading.formats._nugget_files import read_nuggets
from tests.command_line import ragexam_here
from tests.grading.commands.assessors import seeker
from tests.rag.faulty_server import Body, Say, Server, chat, serving

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
MODEL = ("--model", "python:assessors:seeker")
KILLS = int(os.environ.get("NUGGET_KILLS", "5"))
"""Kills of each command: five moments show what twenty do, in a quarter of the time."""


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(one) for one in path.read_text(encoding="utf-8").splitlines()]


def nuggets(folder: Path, *words: object, **environment: str) -> dict[str, Any]:
    """The result of a command on nuggets as JSON."""
    done = ragexam_here("grade", "nuggets", *words, "--json", folder=folder, **environment)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Passages of two topics, answers of two systems, and a topic on each side that the other lacks."""
    lines(
        tmp_path / "passages.jsonl",
        {"query": "t1", "passage": "p1", "text": "The outer layer of skin is called epidermis. Glands lie deeper."},
        {
            "query": "t1",
            "passage": "p2",
            "text": "Skin renews itself monthly. The outer layer of skin is called epidermis.",
        },
        {"query": "t2", "passage": "p3", "text": "Bones store calcium."},
    )
    (tmp_path / "queries.csv").write_text("query,text\nt1,what does skin consist of\nt2,what do bones store\n")
    lines(
        tmp_path / "answers.jsonl",
        {"query": "t1", "system": "A", "text": "Skin renews itself monthly; its outer layer is called epidermis."},
        {"query": "t2", "system": "A", "text": "Calcium: bones store it."},
        {"query": "t1", "system": "B", "text": "Skin renews itself."},
        {"query": "t9", "system": "B", "text": "Stripes."},
    )
    return tmp_path


def test_nuggets_are_made_assigned_and_scored(place: Path) -> None:
    made = nuggets(place, "create", "passages.jsonl", "--queries", "queries.csv", *MODEL, "--out", "made")
    assert read(place / "made" / "nuggets.jsonl") == [
        {
            "format": 1,
            "query": "what does skin consist of",
            "qid": "t1",
            "nuggets": [
                {"text": "The outer layer of skin is called epidermis", "importance": "vital"},
                {"text": "Skin renews itself monthly", "importance": "vital"},
                {"text": "Glands lie deeper", "importance": "okay"},
            ],
        },
        {
            "format": 1,
            "query": "what do bones store",
            "qid": "t2",
            "nuggets": [{"text": "Bones store calcium", "importance": "vital"}],
        },
    ]
    assert (made["n"], made["importance"], made["duplicates"]) == (4, {"vital": 3, "okay": 1}, 1)
    assigned = nuggets(place, "assign", "made/nuggets.jsonl", "answers.jsonl", *MODEL, "--out", "made")
    assert assigned["labels"] == {"support": 3, "not_support": 3, "partial_support": 1}
    assert assigned["topics_without_nuggets"] == ["t9"]
    assert assigned["topics_without_answer"] == {"B": ["t2"]}
    first = read(place / "made" / "assignments.jsonl")[0]
    assert (first["run_id"], first["qid"], first["query"]) == ("A", "t1", "what does skin consist of")
    scored = nuggets(place, "made/assignments.jsonl")["systems"]
    # A: of t1 both vital nuggets and not the okay one, of t2 all; B: of t1 a vital one in part.
    assert scored["A"]["topics"]["t1"]["vital_score"] == 1
    assert scored["A"]["topics"]["t1"]["weighted_score"] == pytest.approx(2 / 2.5)
    assert scored["A"]["topics"]["t2"]["all_score"] == 1
    assert scored["B"]["topics"]["t1"] == pytest.approx(
        {
            "strict_vital_score": 0,
            "vital_score": 0.25,
            "strict_weighted_score": 0,
            "weighted_score": 0.5 / 2.5,
            "strict_all_score": 0,
            "all_score": 0.5 / 3,
        }
    )


def test_made_nuggets_are_read_as_nuggets_and_as_a_bank(place: Path) -> None:
    nuggets(place, "create", "passages.jsonl", *MODEL, "--out", "made")
    found = read_nuggets(place / "made" / "nuggets.jsonl")
    assert [(one.query, one.importance) for one in found.nuggets].count(("t1", "okay")) == 3
    assert found.faults == ()
    assert [one.question for one in read_bank(place / "made" / "nuggets.jsonl")] == [
        one.question for one in found.nuggets
    ]


def test_pooled_answers_are_a_source_as_well(place: Path) -> None:
    made = nuggets(place, "create", "answers.jsonl", *MODEL, "--out", "made")
    assert (made["topics"], made["passages"]) == (3, 4)


def test_scores_need_no_name_of_a_command_and_may_have_it(place: Path) -> None:
    one = {"text": "a", "importance": "vital", "assignment": "support"}
    lines(place / "x.jsonl", {"qid": "1", "run_id": "x", "nuggets": [one]})
    wanted = nuggets(place, "score", "x.jsonl")
    assert nuggets(place, "x.jsonl") == wanted
    assert nuggets(place, "--metric", "all_score", "x.jsonl") == wanted
    done = ragexam_here("grade", "nuggets", folder=place)
    assert (done.returncode, done.stderr) == (2, "ragexam: ASSIGNMENTS...: missing (see --help)\n")
    listed = ragexam_here("grade", "nuggets", "--help", folder=place).stdout
    assert all(f"\n  {name} " in listed for name in ("create", "assign", "score"))


def test_what_was_asked_once_is_kept_and_told(place: Path) -> None:
    nuggets(place, "create", "passages.jsonl", *MODEL, "--out", "made")
    again = nuggets(place, "create", "passages.jsonl", *MODEL, "--out", "made")
    assert again["usage"]["calls"] == again["usage"]["cached"] == 4
    record = json.loads((place / "made" / "create.json").read_text())
    assert record["prompts"] == ["nuggets-1", "importance-1"]
    assert record["settings"] == {"together": 10, "most": 30}
    done = ragexam_here(
        "grade", "nuggets", "assign", "made/nuggets.jsonl", "answers.jsonl", *MODEL, "--out", "made", folder=place
    )
    assert "note: 1 topics of answers have no nuggets: t9\n" in done.stdout
    assert "note: B has no answer on 1 topics with nuggets: t2\n" in done.stdout
    assert done.stdout.endswith("scores: ragexam grade nuggets made/assignments.jsonl\n")
    assert "assigning 3/3" in done.stderr


def test_a_topic_without_a_reply_is_left_out_and_asked_again(place: Path) -> None:
    words = ("grade", "nuggets", "create", "passages.jsonl", *MODEL, "--out", "made")
    done = ragexam_here(*words, folder=place, ASSESSOR_SILENCED_BY="calcium")
    assert done.returncode == 1
    assert "ragexam: 1 topics got no reply (1 " in done.stderr
    assert ": t2; the rest is written; what was done is kept" in done.stderr
    assert [one["qid"] for one in read(place / "made" / "nuggets.jsonl")] == ["t1"]
    made = nuggets(place, *words[2:])
    assert [one["qid"] for one in read(place / "made" / "nuggets.jsonl")] == ["t1", "t2"]
    assert made["usage"]["calls"] - made["usage"]["cached"] == 2
    words = ("grade", "nuggets", "assign", "made/nuggets.jsonl", "answers.jsonl", *MODEL, "--out", "made")
    done = ragexam_here(*words, folder=place, ASSESSOR_SILENCED_BY="calcium")
    assert (done.returncode, len(read(place / "made" / "assignments.jsonl"))) == (1, 2)
    assert ": A on t2; the rest is written;" in done.stderr
    assert nuggets(place, *words[2:])["answers"] == 3


def test_replies_that_no_list_is_in_are_counted_and_shown(place: Path) -> None:
    text = "The score of this text is 5."
    lines(place / "one.jsonl", {"query": "t", "passage": "p", "text": text})
    done = ragexam_here(
        *("grade", "nuggets", "create", "one.jsonl", "--model", "python:assessors:mumbler", "--out", "made"),
        folder=place,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "ragexam: one.jsonl: no nugget in any reply ('Well ...'); wanted another model or other passages"
    )
    assert not (place / "made" / "nuggets.jsonl").exists()
    lines(place / "n.jsonl", {"qid": "t1", "query": "q", "nuggets": [{"text": "a", "importance": "vital"}] * 2})
    told = nuggets(place, "assign", "n.jsonl", "answers.jsonl", "--model", "python:assessors:mumbler", "--out", "made")
    assert (told["unparsed"], told["labels"], told["unread_examples"][0]) == (4, {"failed": 4}, "Well ...")
    scored = ragexam_here("grade", "nuggets", "made/assignments.jsonl", folder=place)
    assert scored.returncode == 2
    assert "none of the 2 labels of support of run 'A' is known (such as 'failed')" in scored.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("create nowhere.jsonl", "nowhere.jsonl: no such file"),
        ("create empty.jsonl", "empty.jsonl: has no rows"),
        (
            "create passages.jsonl --queries other.csv",
            "other.csv: none of its queries (z) is a topic here; wanted t1, t2",
        ),
        ("assign empty.jsonl answers.jsonl", "empty.jsonl: holds no nuggets"),
        ("assign nuggets.jsonl empty.jsonl", "empty.jsonl: has no rows"),
        (
            "assign nuggets.jsonl other.csv",
            "other.csv: none of its topics (z) has nuggets in nuggets.jsonl; wanted some",
        ),
        ("assign nuggets.jsonl answers.jsonl answers.jsonl", "answers.jsonl: run 'A' on topic 't1' is also in answers"),
        ("assign passages.csv answers.jsonl", "passages.csv:2: found query;text; wanted query_id"),
    ],
)
def test_what_does_not_fit_together_is_refused_before_any_request(place: Path, words: str, message: str) -> None:
    (place / "empty.jsonl").write_text("")
    (place / "other.csv").write_text("query,text\nz,Stripes\n")
    (place / "passages.csv").write_text("query;text\nt1;one\n")
    lines(place / "nuggets.jsonl", {"qid": "t1", "query": "q", "nuggets": [{"text": "a", "importance": "vital"}]})
    done = ragexam_here("grade", "nuggets", *words.split(), *MODEL, "--out", "made", folder=place)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ragexam: {message}")
    assert done.stderr.count("\n") == 1
    assert not (place / "made").exists()


def answering(_: Server, path: str, body: Body) -> Say:
    """What the seeker replies, from a server."""
    if path == "models":
        return Say({"data": [{"id": "seeker"}]})
    return Say(chat(seeker().generate([Prompt(body["messages"][-1]["content"])], max_tokens=100)[0]))


def test_a_server_and_workers_give_what_one_process_gives(place: Path) -> None:
    nuggets(place, "create", "passages.jsonl", *MODEL, "--out", "alone")
    nuggets(place, "assign", "alone/nuggets.jsonl", "answers.jsonl", *MODEL, "--out", "alone")
    with serving(answering) as server:
        model = ("--model", f"openai:seeker@{server.url}")
        nuggets(place, "create", "passages.jsonl", *model, "--out", "served")
        nuggets(place, "assign", "served/nuggets.jsonl", "answers.jsonl", *model, "--out", "served")
        asked = Counter(json.dumps(body) for path, body in server.asked if path == "chat/completions")
    assert set(asked.values()) == {1}
    for words in (("create", "passages.jsonl"), ("assign", "alone/nuggets.jsonl", "answers.jsonl")):
        job = command(place, *words, "--out", "spread", "--workers", "2")
        assert subprocess.run(**job, capture_output=True, check=False, timeout=300).returncode == 0
    for name in ("nuggets.jsonl", "assignments.jsonl"):
        wanted = (place / "alone" / name).read_bytes()
        assert (place / "served" / name).read_bytes() == (place / "spread" / name).read_bytes() == wanted


def command(folder: Path, *words: str, **environment: str) -> dict[str, Any]:
    """A command on nuggets as a process of its own."""
    return {
        "args": [sys.executable, "-m", "ragexam", "grade", "nuggets", *words, *MODEL],
        "cwd": folder,
        "env": {**os.environ, "PYTHONPATH": f"{ROOT}:{HERE}", **environment},
    }


def stored(path: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
            return int(store.execute("SELECT count(*) FROM replies").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Passages of twelve topics in three batches each, what is made of them, and answers."""
    folder = tmp_path_factory.mktemp("large")
    topics = [f"layer number {topic}" for topic in "abcdefghijkl"]
    parts = [(topic, f"p{n}", f"Part {n} of {topic} weighs {n * n} grams.") for topic in topics for n in range(24)]
    lines(folder / "passages.jsonl", *({"query": a, "passage": b, "text": text} for a, b, text in parts))
    answers = [(topic, system) for topic in topics for system in ("A", "B")]
    lines(
        folder / "answers.jsonl",
        *({"query": a, "system": b, "text": f"Part of {a} by {b} weighs much."} for a, b in answers),
    )
    nuggets(folder, "create", "passages.jsonl", *MODEL, "--out", "whole")
    nuggets(folder, "assign", "whole/nuggets.jsonl", "answers.jsonl", *MODEL, "--out", "whole")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("create", "passages.jsonl"), "nuggets.jsonl"),
        (("assign", "whole/nuggets.jsonl", "answers.jsonl"), "assignments.jsonl"),
    ],
)
def test_kill_9_at_random_moments_loses_nothing_and_asks_nothing_twice(
    large: Path, tmp_path: Path, words: tuple[str, ...], name: str
) -> None:
    log, out, generator = tmp_path / "asked.log", tmp_path / "out", random.Random(5)
    seconds = nuggets(large, *words, *MODEL, "--out", str(tmp_path / "counted"))["usage"]
    requests, kills = int(seconds["calls"]), 0
    for kill in range(KILLS):
        job = subprocess.Popen(
            **command(large, *words, "--out", str(out), ASSESSOR_SECONDS="0.02", ASSESSOR_LOG=str(log)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        before = stored(out / "replies.sqlite")
        wanted = before + generator.uniform(0, (requests - before) / (KILLS - kill))
        while stored(out / "replies.sqlite") < wanted and job.poll() is None:
            time.sleep(0.01)
        time.sleep(generator.uniform(0, 0.05))
        kept = stored(out / "replies.sqlite")
        job.send_signal(signal.SIGKILL)
        kills += job.wait() == -signal.SIGKILL
        assert stored(out / "replies.sqlite") >= kept
    assert kills == KILLS
    nuggets(large, *words, *MODEL, "--out", str(out), ASSESSOR_LOG=str(log))
    assert (out / name).read_bytes() == (large / "whole" / name).read_bytes()
    asked = Counter(log.read_text().splitlines())
    assert len(asked) == requests
    # The prompt under way at each kill is asked once more.
    assert asked.total() <= requests + kills
    shutil.rmtree(out)
