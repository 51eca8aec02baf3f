"""Exams sat by servers and black boxes through the commands: killed, dying, mixed, and what is told of it."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examcore import Progress, Question, RunFolder, write_exam
from irt import load_fit
from rag import Answer, AnswerStore
from ragexam._config import Config, GridSettings
from ragexam._estimate import FOUND_ANEW, estimate_run
from ragexam._measure import run_data
from ragexam._run import HERE as THIS_PROCESS
from ragexam._run import run_sitting
from tests.command_line import ragexam_here
from tests.rag.faulty_server import Body, Say, Server, chat, listed_or_echoed, serving
from tests.ragexam.killed_sittings import command, stored

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
COUNT = 24


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    """Questions about numbers, whose contexts answer them."""
    questions = [
        Question(
            f"q{n}",
            f"Which number follows {n} in the list?",
            tuple(str(n + step) for step in (3, 1, 5, 7)),
            1,
            chunk_id=f"c{n}",
            document_id="d",
            context=f"In the list {n} is followed by {n + 1}.",
        )
        for n in range(10, 10 + COUNT)
    ]
    write_exam(tmp_path / "exam.jsonl", questions)
    return tmp_path / "exam.jsonl"


def script(server: Server, path: str, body: Body) -> Say:
    """A server with log-probabilities that writes letters, and a black box at `ask`; both answer every question."""
    if found := listed_or_echoed(path, body):
        return found
    if path == "ask":
        return Say({"choice": 1} if "1" in body["question"] else {"answer": "I do not know"})
    return Say({**chat("B"), "model": "another-model"})


def grid(server: Server, *, kinds: tuple[str, ...] = ("echo", "letters", "box")) -> dict[str, Any]:
    far = {"model": f"openai:scripted@{server.url}", "server": {"concurrency": 4, "retries": 0, "timeout": 20}}
    llms = [{**far, "name": "echo"}, {**far, "name": "letters", "answers": "letters"}]
    box = {"name": "box", "system": f"{server.url}/ask", "server": {"concurrency": 4, "retries": 0}}
    return {
        "llms": [one for one in llms if one["name"] in kinds],
        "retrievers": ["closed-book", "oracle"] if {"echo", "letters"} & set(kinds) else [],
        "black_boxes": [box] if "box" in kinds else [],
    }


def sat(server: Server, exam: Path, out: Path, **options: Any) -> tuple[dict[str, Any], str]:
    told = io.StringIO()
    result = run_sitting(exam, GridSettings(**grid(server, **options)), out, THIS_PROCESS, 0, Progress(told))
    return result.record(), told.getvalue()


def test_examinees_that_answer_differently_are_warned_of_and_what_named_nothing_is_counted(
    exam: Path, tmp_path: Path
) -> None:
    with serving(script) as server:
        result, told = sat(server, exam, tmp_path / "out")
    warning = "answers come about in different ways (likelihood: echo; letters: letters; endpoint: box): their"
    assert told.count(f"warning: {warning}") == 1
    assert told.index(warning) < told.index("note: box")
    unknown = COUNT - sum("1" in str(n) for n in range(10, 10 + COUNT))
    assert result["unparsed"] == {"box+own+icl0": unknown}
    assert f"note: box: {unknown} of {COUNT} replies named no choice and count as wrong" in told
    assert told.count("its replies name another-model") == 1
    assert result["truncated"] == {}
    assert result["servers"]["letters"]["requests"] == 2 * COUNT
    assert result["accuracy"]["letters+oracle+icl0"] == 1.0
    assert result["accuracy"]["box+own+icl0"] == pytest.approx(1 - unknown / COUNT)
    record = json.loads((tmp_path / "out" / "run.json").read_text())["sitting"]
    assert record == {
        name: result[name] for name in ("modes", "judge", "abstained", "unparsed", "truncated", "servers", "notes")
    }
    assert record["notes"][0].startswith(warning)
    header, *rows = (tmp_path / "out" / "responses.csv").read_text().splitlines()
    assert header == "student,item,score,llm,retriever,icl"
    assert rows[-1].startswith("box+own+icl0,q33,0,box,own,0")


@pytest.mark.parametrize("kind", ["echo", "letters", "box"])
def test_one_way_of_answering_needs_no_warning(exam: Path, tmp_path: Path, kind: str) -> None:
    with serving(script) as server:
        result, told = sat(server, exam, tmp_path / "out", kinds=(kind,))
    assert "different ways" not in told + json.dumps(result["notes"])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "pause"), [("echo", 0.03), ("letters", 0.1), ("box", 0.15)])
def test_kill_9_repeats_no_request_whose_answer_was_stored(exam: Path, tmp_path: Path, kind: str, pause: float) -> None:
    with serving(script) as server:
        sat(server, exam, tmp_path / "whole", kinds=(kind,))
    whole = _all(tmp_path / "whole")
    out, path = tmp_path / "out", tmp_path / "grid.yaml"
    with serving(script, pause=pause) as server:
        path.write_text(json.dumps(grid(server, kinds=(kind,))))
        for share in (0.1, 0.5):
            job = subprocess.Popen(**command(path, exam, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while stored(out) < share * len(whole) and job.poll() is None:
                time.sleep(0.02)
            job.send_signal(signal.SIGKILL)
            assert job.wait() == -signal.SIGKILL
        assert server.most_under_way > 1
        kept, before = _all(out), len(server.asked)
        done = ragexam_here("sit", exam, "--pipelines", path, "--out", out)
        assert done.returncode == 0, done.stderr
        last = [json.dumps(body) for where, body in server.asked[before:] if where != "models"]
    left = len(whole) - len(kept)
    assert 0 < left < len(whole)
    if kind == "echo":
        # Five requests for each prompt, and for each question's choices by themselves; the probe of two is asked by the
        # command and by the model.
        assert len(last) <= 5 * left + 5 * COUNT + 4
    else:
        assert len(last) == left == len(set(last))
    assert [replace(one, seconds=0.0) for one in _all(out)] == [replace(one, seconds=0.0) for one in whole]


def _all(out: Path) -> list[Answer]:
    with AnswerStore(out / "answers.sqlite") as store:
        return store.answers()


@pytest.mark.parametrize("kind", ["echo", "letters", "box"])
def test_a_server_that_dies_mid_way_keeps_what_came_and_the_same_command_goes_on(
    exam: Path, tmp_path: Path, kind: str
) -> None:
    good = {"echo": 60, "letters": 12, "box": 4}[kind]

    def dying(server: Server, path: str, body: Body) -> Say:
        return script(server, path, body) if len(server.asked) <= good or path == "models" else Say(b"", 502)

    with serving(dying) as server:
        with pytest.raises(OSError, match=r"no usable reply to 20 prompts in a row|prompts got no answer"):
            sat(server, exam, tmp_path / "out", kinds=(kind,))
        kept = _all(tmp_path / "out")
        assert kept
        server.script, before = script, len(server.asked)
        sat(server, exam, tmp_path / "out", kinds=(kind,))
        asked = Counter(json.dumps(body) for path, body in server.asked[before:] if path != "models")
    whole = _all(tmp_path / "out")
    assert len(whole) == (1 if kind == "box" else 2) * COUNT
    assert set(kept) <= set(whole)
    if kind != "echo":
        assert len(asked) == sum(asked.values()) == len(whole) - len(kept)


def test_a_server_without_log_probabilities_is_refused_before_the_exam_is_sat(exam: Path, tmp_path: Path) -> None:
    def silent(server: Server, path: str, body: Body) -> Say:
        return Say({"error": "not here"}, 404) if path == "completions" else script(server, path, body)

    with serving(silent) as server:
        with pytest.raises(
            ValueError, match=r"model scripted gives no log-probabilities .*\(answers: letters\)"
        ) as error:
            sat(server, exam, tmp_path / "out", kinds=("echo", "letters"))
        assert "\n" not in str(error.value)
        assert server.count("chat/completions") == 0
        result, _ = sat(server, exam, tmp_path / "other", kinds=("letters",))
    assert len(result["accuracy"]) == 2


def test_how_a_model_answers_may_not_change_in_a_folder(exam: Path, tmp_path: Path) -> None:
    with serving(script) as server:
        far = {"name": "far", "model": f"openai:scripted@{server.url}"}
        oracle = {"retrievers": ["oracle"]}
        run_sitting(exam, GridSettings(llms=[far], **oracle), tmp_path / "out", THIS_PROCESS, 0, Progress(quiet=True))
        changed = GridSettings(llms=[{**far, "answers": "letters"}], **oracle)
        with pytest.raises(
            ValueError,
            match=r"answered under other settings \(behind.far.answers: stored nothing, now 'letters'\)",
        ):
            run_sitting(exam, changed, tmp_path / "out", THIS_PROCESS, 0, Progress(quiet=True))


def configuration(tmp_path: Path, server: Server) -> dict[str, Any]:
    return {
        "run": str(tmp_path / "run"),
        "corpus": {"source": "python-docs", "sample": 30},
        "writer": {"model": "python:examinees:writer", "encoder": None},
        "exam": {"questions": 12},
        "pool": 1,
        "grid": {
            "llms": ["python:examinees:careful", "python:examinees:hasty"],
            "retrievers": ["closed-book", "bm25", "oracle"],
            "black_boxes": [{"name": "box", "system": f"{server.url}/ask"}],
        },
        "fit": {"method": "map"},
        "prune": None,
    }


def first(server: Server, path: str, body: Body) -> Say:
    return Say({"choice": len(body["question"]) % 4}) if path == "ask" else Say(b"", 404)


def run_configured(path: Path, content: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    path.write_text(json.dumps(content))
    done = ragexam_here("run", path)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_systems_of_one_s_own_are_ranked_by_themselves(tmp_path: Path) -> None:
    def answer(_: Server, path: str, body: Body) -> Say:
        return Say({"choice": {"parity": len(body["question"]) % 4, "zero": 0, "one": 1}[path]})

    with serving(answer) as server:
        content = configuration(tmp_path, server)
        names = ("parity", "zero", "one")
        content["grid"] = {"black_boxes": [{"name": name, "system": f"{server.url}/{name}"} for name in names]}
        run_configured(tmp_path / "config.yaml", content)
    best = json.loads((tmp_path / "run" / "run.json").read_text())["summary"]["best"]
    assert list(best) == ["system"]
    fit = load_fit(tmp_path / "run" / "fit")
    lead = fit.compare_students(f"{best['system']['level']}+own+icl0", f"{best['system']['runner_up']}+own+icl0")
    assert best["system"]["gap"]["low"] == pytest.approx(lead.low, abs=1e-6)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Best whole system" in page
    assert "Nothing was compared" not in page
    assert "Best language model" not in page


@pytest.mark.slow
def test_black_boxes_are_listed_and_left_out_of_what_compares_components(tmp_path: Path) -> None:
    with serving(first) as server:
        done = run_configured(tmp_path / "config.yaml", configuration(tmp_path, server))
    assert "note: the fit leaves out box (retriever own): they share no component with the grid" in done.stderr
    assert "note: answers come about in different ways" in done.stdout
    run = tmp_path / "run"
    summary = json.loads((run / "run.json").read_text())["summary"]
    assert summary["n_pipelines"] == 7
    assert "box+own+icl0" in summary["accuracy"]
    assert summary["best"]["retriever"]["level"] == "bm25"
    assert summary["best"]["llm"]["scale"] == "ability"
    assert {summary["best"]["llm"]["level"], summary["best"]["llm"]["runner_up"]} == {"careful", "hasty"}
    assert summary["best"]["system"]["scale"] == "accuracy"
    assert "box" in {summary["best"]["system"]["level"], summary["best"]["system"]["runner_up"]}
    assert "box" not in (run / "fit" / "abilities.csv").read_text()
    assert len(run_data(RunFolder(run)).students) == 6
    page = (run / "report.html").read_text()
    assert "Black boxes bring their own retrieval" in page
    assert "their accuracies are not comparable" in page


def test_an_estimate_counts_letters_and_black_boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE)
    with serving(first) as server:
        content = configuration(tmp_path, server)
        far = {"name": "far", "model": "openai:some-7b@http://127.0.0.1:9/v1"}
        content["grid"]["llms"] = [far, {**far, "name": "lettered", "answers": "letters"}]
        found = estimate_run(Config.model_validate(content), Progress(quiet=True))
        assert not server.asked
    by_likelihood, by_letters, box = found.sitting
    # Of three pipelines two search, and find the same passage for some questions: those prompts are asked once.
    assert by_likelihood.requests == 5 * by_letters.requests == 5 * round((1 + 1 + FOUND_ANEW) * 12)
    assert (box.model, box.requests, box.read_tokens) == ("box", 12, 0)
    assert found.pipelines == 7
    assert "sitting with box: 12 prompts" in "\n".join(found.lines())
