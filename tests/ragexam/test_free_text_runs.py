"""Answers in free text through the commands: sat, judged, killed while judging, labelled by hand, on the page."""

from __future__ import annotations

import io
import json
import re
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from runpy import run_path
from threading import Thread
from typing import Any

import pytest

from examcore import Chunk, Progress, Question, read_exam, write_chunks, write_exam
from rag import AnswerStore, LlmSpec, build_retriever
from ragexam._config import GridSettings
from ragexam._run import HERE as THIS_PROCESS
from ragexam._run import run_sitting
from tests.command_line import ragexam_here, run_here
from tests.rag.faulty_server import Body, Say, Server, chat, listed_or_echoed, serving
from tests.ragexam.killed_sittings import command, stored
from tests.scripted_model import ScriptedModel

ROOT = Path(__file__).parents[2]
WORDS = ("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
COUNT = len(WORDS)
SYSTEM = "box+own+icl0"


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    """Questions about numbers, whose right choice is the second."""
    questions = [
        Question(
            f"q{n}",
            f"Which number follows {n - 1} in the list?",
            (str(n + 2), str(n), str(n + 4), str(n + 6)),
            1,
            chunk_id=f"c{n}",
            document_id="d",
            context=f"In the list {n - 1} is followed by {n}.",
        )
        for n in range(12, 12 + COUNT)
    ]
    write_exam(tmp_path / "exam.jsonl", questions)
    return tmp_path / "exam.jsonl"


def number(text: str) -> int:
    """The number that a question names."""
    return int(text.split(" follows ")[1].split()[0]) + 1


def script(server: Server, path: str, body: Body) -> Say:
    """A system and a model that say even numbers as words, decline 13 and err at 15; a judge that reads words."""
    if path == "ask":
        found = number(body["question"])
        return Say({"answer": wording(found), "passages": [f"c{found}"]})
    if found := listed_or_echoed(path, body):
        return found
    asked = body["messages"][-1]["content"]
    if "Somebody answered" not in asked:
        return Say(chat(wording(number(asked))))
    said = asked.split("<answer>")[1].split("</answer>")[0]
    named = next((12 + place for place, word in enumerate(WORDS) if word in said), None)
    letters = re.findall(r"^([A-Z])\) ", asked, re.MULTILINE)
    return Say(chat(letters[1 if named == number(asked) else 4]))


def wording(found: int) -> str:
    if found == 13:
        return "I do not know."
    if found == 15:
        return "It is 99."
    return f"It is {WORDS[found - 12]}." if found % 2 == 0 else f"It is {found}."


def grid(server: Server, **options: Any) -> dict[str, Any]:
    far = {"model": f"openai:scripted@{server.url}", "server": {"concurrency": 2, "retries": 0, "timeout": 20}}
    own = {"name": "box", "system": f"{server.url}/ask", "choices": False, "server": {"concurrency": 2, "retries": 0}}
    return {
        "llms": [{**far, "name": "far"}],
        "retrievers": ["closed-book", "oracle"],
        "shots": [0],
        "answers": ["likelihood", "text"],
        "judge": far,
        "black_boxes": [own],
        **options,
    }


def asked_of(server: Server, words: str) -> int:
    """How many requests held these words."""
    return sum(words in str(body) for _, body in server.asked)


def sat(content: dict[str, Any], exam: Path, out: Path) -> dict[str, Any]:
    return run_sitting(exam, GridSettings(**content), out, THIS_PROCESS, 0, Progress(io.StringIO())).record()


def told(*words: object) -> tuple[int, str, str]:
    """Exit status, output and messages of a command."""
    return run_here(ROOT, "ragexam", list(map(str, words)))


def test_free_text_is_sat_beside_choices_graded_and_labelled(exam: Path, tmp_path: Path) -> None:
    run = tmp_path / "out"
    with serving(script) as server:
        result = sat(grid(server, judge=None), exam, run)
        # Without a judge only digits are read: four even numbers in words, one refusal and one error are not right.
        assert result["accuracy"][SYSTEM] == pytest.approx((COUNT - 6) / COUNT)
        assert result["abstained"][SYSTEM] == 1
        answered = asked_of(server, "Which number")
        result = sat(grid(server), exam, run)
        # Nothing is answered again: four words and the error of three pipelines are judged.
        assert asked_of(server, "Somebody answered") == 3 * 5
        assert asked_of(server, "Which number") == answered + 3 * 5
        assert result["accuracy"][SYSTEM] == pytest.approx((COUNT - 2) / COUNT)
        assert result["accuracy"]["far+oracle+icl0+a-text"] == pytest.approx((COUNT - 2) / COUNT)
        assert result["modes"] == {"far+a-likelihood": "likelihood", "far+a-text": "text", "box": "text"}
        sat(grid(server), exam, run)
        assert asked_of(server, "Which number") == answered + 3 * 5
    with AnswerStore(run / "answers.sqlite") as store:
        own = {one.question: one for one in store.answers() if one.pipeline == SYSTEM}
    assert (own["q12"].correct, own["q12"].reply, own["q12"].passages) == (True, "It is twelve.", ("c12",))
    assert "scripted" in own["q12"].judge
    assert (own["q17"].correct, own["q17"].judge) == (True, "")
    rows = (run / "responses.csv").read_text().splitlines()
    assert rows[0] == "student,item,score,llm,retriever,icl,answers"
    assert f"{SYSTEM},q12,1,box,own,0," in rows

    found = json.loads(told("answers", run, "--json")[1])
    assert found["n"] == 3 * COUNT
    assert found["judged"] == 15
    assert found["pipelines"][SYSTEM] == {"right": COUNT - 2, "wrong": 1, "declined": 1, "n": COUNT}
    assert found["kappa"] == {"grades": None, "rules_alone": None}

    sheet = tmp_path / "sheet.jsonl"
    assert told("answers", run, "--sheet", sheet, "--size", 20)[0] == 0
    items = [json.loads(line) for line in sheet.read_text().splitlines()]
    assert len(items) == 20
    assert all(
        set(one) == {"format", "pipeline", "question", "asked", "key", "passage", "answer", "lang", "dir", "label"}
        for one in items
    )
    truth = {13: "declined", 15: "wrong"}
    labelled = [{**one, "label": truth.get(number(one["asked"]), "right")} for one in items]
    sheet.write_text("".join(f"{json.dumps(one)}\n" for one in labelled))
    kappa = json.loads(told("answers", run, "--labels", sheet, "--json")[1])["kappa"]
    assert kappa["grades"]["estimate"] == 1.0
    assert kappa["rules_alone"]["estimate"] < 0.6

    assert told("report", run)[0] == 0
    page = (run / "report.html").read_text()
    assert "Answers in free text" in page
    assert "labels given by hand, Cohen" in page
    assert "It is 99." in page
    assert "far + oracle + no examples + free text" in page
    assert "their accuracies are not comparable" not in page


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (
            '{"pipeline": "box+own+icl0", "question": "q12", "label": "good"}',
            'label is "good"; wanted right, wrong, declined',
        ),
        ('{"pipeline": "box+own+icl0", "question": "q99", "label": "right"}', 'gave no free-text answer to "q99"'),
        ("no json", "sheet.jsonl:1"),
    ],
)
def test_labels_of_nothing_are_refused(exam: Path, tmp_path: Path, line: str, wanted: str) -> None:
    with serving(script) as server:
        sat(grid(server, llms=[], retrievers=[], answers=None, judge=None), exam, tmp_path / "out")
    (tmp_path / "sheet.jsonl").write_text(line + "\n")
    status, _, message = told("answers", tmp_path / "out", "--labels", tmp_path / "sheet.jsonl")
    assert status == 2
    assert wanted in message
    assert not (tmp_path / "out" / "answer_labels.jsonl").exists()


def test_a_run_without_free_text_says_so(exam: Path, tmp_path: Path) -> None:
    with serving(script) as server:
        sat(grid(server, answers=None, judge=None, black_boxes=[]), exam, tmp_path / "out")
    status, _, message = told("answers", tmp_path / "out")
    assert status == 2
    assert "no free-text answers; wanted a grid with answers: text" in message


def test_answers_that_a_judge_did_not_judge_stay_open(exam: Path, tmp_path: Path) -> None:
    busy = True

    def often_busy(server: Server, path: str, body: Body) -> Say:
        return Say(b"busy", 500) if busy and "Somebody answered" in str(body) else script(server, path, body)

    with serving(often_busy) as server:
        content = grid(server, llms=[], retrievers=[], answers=None)
        with pytest.raises(OSError, match=r"judge openai:.*: 5 answers not judged: status 500"):
            sat(content, exam, tmp_path / "out")
        busy = False
        result = sat(content, exam, tmp_path / "out")
        assert asked_of(server, "Which number") == COUNT + 2 * 5
    assert result["accuracy"][SYSTEM] == pytest.approx((COUNT - 2) / COUNT)


def test_a_sitting_half_done_ranks_nothing(exam: Path, tmp_path: Path) -> None:
    with serving(script) as server:
        sat(grid(server, shots=[0], retrievers=["closed-book", "oracle", "bm25"], judge=None), exam, tmp_path / "out")
    with closing(sqlite3.connect(tmp_path / "out" / "answers.sqlite")) as store, store:
        store.execute("DELETE FROM answers WHERE pipeline = 'far+oracle+icl0+a-text'")
    found = json.loads(told("answers", tmp_path / "out", "--json")[1])
    assert found["rank_agreement"] is None
    assert len(found["pipelines"]) == 3


def test_a_grid_needs_likelihoods_only_where_a_mode_does() -> None:
    base = {"llms": ["embedded:smollm2-135m"], "retrievers": ["oracle"]}
    for modes, needed in ((["letters", "text"], "letters"), (["text", "likelihood"], "likelihood"), ("text", "text")):
        (model,) = GridSettings.model_validate({**base, "answers": modes}).examinees
        assert isinstance(model, LlmSpec)
        assert model.answers == needed


def test_the_server_of_the_examples_sits_and_names_its_passages(exam: Path, tmp_path: Path) -> None:
    example = run_path(str(ROOT / "examples" / "answering_server.py"))
    questions = read_exam(exam).questions
    chunks = [Chunk(one.chunk_id, "d", one.context, 0, len(one.context)) for one in questions]
    answerer = example["Answerer"](build_retriever("bm25", chunks), "python:tests.scripted_model:ScriptedModel")
    answerer._model = ScriptedModel(lambda prompt: f"It is {number(prompt.user.split('Question: ')[1])}.")
    write_chunks(tmp_path / "chunks.jsonl", chunks)
    with example["server_of"](answerer, 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        mine = {"name": "mine", "system": f"http://127.0.0.1:{server.server_port}/ask", "choices": False}
        result = sat({"black_boxes": [mine]}, exam, tmp_path / "out")
        server.shutdown()
    assert result["accuracy"] == {"mine+own+icl0": 1.0}
    with AnswerStore(tmp_path / "out" / "answers.sqlite") as store:
        assert all(
            f"c{number(one.stem)}" in answer.passages for one, answer in zip(questions, store.answers(), strict=True)
        )


@pytest.mark.slow
def test_kill_9_while_judging_asks_no_judgment_twice(exam: Path, tmp_path: Path) -> None:
    out, path = tmp_path / "out", tmp_path / "grid.yaml"
    with serving(script, pause=0.15) as server:
        path.write_text(json.dumps(grid(server)))
        for least in (3, 8):
            job = subprocess.Popen(**command(path, exam, out), stderr=subprocess.DEVNULL)
            while stored(out, "judgments") < least and job.poll() is None:
                time.sleep(0.02)
            job.send_signal(signal.SIGKILL)
            job.wait()
        kept = stored(out, "judgments")
        assert 8 <= kept < 15
        before = asked_of(server, "Somebody answered")
        assert ragexam_here("sit", exam, "--pipelines", path, "--out", out).returncode == 0
        assert asked_of(server, "Somebody answered") - before <= 15 - kept
    assert stored(out, "judgments") == 15
