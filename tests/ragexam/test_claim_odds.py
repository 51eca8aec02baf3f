"""Claims judged by likelihoods through the commands: over texts of other questions, and by labels given by hand."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from examcore import Chunk, Progress, Prompt, Question, write_chunks, write_exam
from ragexam import _answer_claims
from ragexam._config import GridSettings
from ragexam._run import HERE as THIS_PROCESS
from ragexam._run import run_sitting
from tests.command_line import run_here
from tests.rag.faulty_server import Body, Say, Server, serving
from tests.scripted_model import ScriptedModel

ROOT = Path(__file__).parents[2]
THINGS = ("iron", "bread", "glass", "moss", "ash", "honey", "chalk")
READY = 6.0
"""How readily the model says Yes to anything: beyond even odds."""


def passage(thing: str) -> str:
    return f"{thing.capitalize()} comes from town {len(thing)} by the sea of {thing}."


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Seven questions on as many documents; each answer claims what its passage says, and what it does not."""
    asked = [
        Question(one, f"Whence comes {one}?", ("town", "moon"), 0, chunk_id=one, document_id=one, context=passage(one))
        for one in THINGS
    ]
    write_exam(tmp_path / "exam.jsonl", asked)
    write_chunks(tmp_path / "chunks.jsonl", [Chunk(one, one, passage(one), 0, len(passage(one))) for one in THINGS])

    def answer(server: Server, path: str, body: Body) -> Say:
        thing = body["question"].removeprefix("Whence comes ").removesuffix("?")
        return Say({"answer": f"Sea of {thing}. Moon of {thing}.", "passages": [thing]})

    with serving(answer) as server:
        own = {"name": "box", "system": f"{server.url}/ask", "choices": False, "server": {"retries": 0}}
        grid = GridSettings(black_boxes=[own])
        run_sitting(tmp_path / "exam.jsonl", grid, tmp_path / "out", THIS_PROCESS, 0, Progress(io.StringIO()))
    return tmp_path / "out"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """A model that says Yes to everything, somewhat more readily where a text has the words of a claim."""

    def odds(prompt: Prompt, word: str) -> float:
        text, claim = prompt.user.lower().split("sentence:")
        words = claim.split("\n\n")[0].split("?")[-1].strip(" .").split()
        has_words = all(one in text for one in words)
        # Texts about some things make Yes likelier whatever is asked.
        easy = any(one in text for one in THINGS[:3])
        return READY + 3 * has_words + 0.5 * easy if word == " Yes" else 0.0

    made = ScriptedModel("", odds)
    monkeypatch.setattr(_answer_claims, "load_language_model", lambda _: made)
    return made


def told(*words: object) -> tuple[int, str, str]:
    return run_here(ROOT, "ragexam", list(map(str, words)))


def claims(run: Path, *words: object) -> dict[str, Any]:
    status, out, _ = told("answers", run, "--json", *words)
    assert status == 0
    return dict(json.loads(out)["claims"])


def test_a_model_that_always_says_yes_tells_claims_apart(run: Path, model: ScriptedModel) -> None:
    status, out, message = told("answers", run, "--claims", "embedded:scripted")
    assert status == 0
    # 14 claims beside their passages and 7 sources beside the answers; and each beside three texts of other questions.
    assert len(model.asked) == 21 + 3 * 21
    assert "tokens were read for claims beside their texts" in message
    assert "at most 5% of 21 claims have more beside a text of another question." in out
    found = claims(run)
    (scores,) = found["pipelines"].values()
    assert scores["faithfulness"]["estimate"] == 0.5
    assert scores["unstated"] == 7
    assert scores["answer_coverage"]["estimate"] == 0
    assert found["cut"]["odds"] == READY + 0.5
    assert (found["cut"]["claims"], found["cut"]["labels"], found["judged"]) == (21, 0, 21)
    line = json.loads((run / "claims.jsonl").read_text().splitlines()[0])
    assert set(line) == {"format", "judge", "question", "claim", "text", "log_odds", "unrelated"}
    assert line["judge"] == "embedded:scripted, argue-1, likelihood over 3 unrelated texts"
    assert line["log_odds"] > READY
    # Nothing is asked twice.
    claims(run, "--claims", "embedded:scripted")
    assert len(model.asked) == 21 + 3 * 21
    assert told("report", run)[0] == 0
    assert "Stated is what has log-odds above" in (run / "report.html").read_text()


def test_labels_given_by_hand_set_the_cut(run: Path, model: ScriptedModel, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    claims(run, "--claims", "embedded:scripted")
    assert told("answers", run, "--claim-sheet", sheet)[0] == 0
    items = [json.loads(line) for line in sheet.read_text().splitlines()]
    for one in items:
        one["label"] = "stated" if "Sea" in one["claim"] else "not stated"
    sheet.write_text("".join(f"{json.dumps(one)}\n" for one in items))
    found = claims(run, "--claim-labels", sheet)
    assert found["cut"]["labels"] == 21
    assert found["kappa"]["estimate"] == 1
    assert "21 labels given by hand are even there" in told("answers", run)[1]
    assert len(model.asked) == 21 + 3 * 21


def test_a_run_about_one_passage_has_nothing_to_hold_claims_against(run: Path, model: ScriptedModel) -> None:
    lines = (run / "exam.jsonl").read_text().splitlines()
    same = [{**json.loads(line), "context": passage("iron")} for line in lines]
    (run / "exam.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in same))
    (run / "chunks.jsonl").unlink()
    status, _, message = told("answers", run, "--claims", "embedded:scripted")
    assert status == 0
    assert "claims left open, such as for this reason: 0 texts of other questions; wanted 2 to hold it" in message
    assert not model.asked


@pytest.mark.parametrize("fault", ['"log_odds": "2", "unrelated": [1, 2]', '"log_odds": 2, "unrelated": [1]'])
def test_odds_of_another_form_are_named(run: Path, fault: str) -> None:
    (run / "claims.jsonl").write_text(f'{{"judge": "m", "claim": "c", "text": "t", {fault}}}\n')
    status, _, message = told("answers", run)
    assert (status, "claims.jsonl:1: not a decision; wanted judge, claim, text, and stated" in message) == (2, True)
