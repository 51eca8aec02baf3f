"""A run whose fit has item covariates: what is known of questions and of users', and whose mix the verdict is for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import irt
from examcore import Chunk, Query, Question, RunFolder
from ragexam._question_covariates import read_mix, values_of, values_of_users, write_mix
from ragexam.validity import UserQuestion
from tests.command_line import ragexam_here as ragexam
from tests.ragexam.test_run import CONFIG

QUESTIONS = [
    Question(
        "q1", "Which port is open?", ("a", "b"), 0, topic="net", context="An open port lets mail in.",
        labels={"bloom": ["apply", "analyze"]}, metadata={"lift": 0.3}, queries=(Query("keywords", "port mail"),),
    ),
    Question("q2", "Why do queues fill?", ("a", "b"), 1, topic="mail", context="A queue fills when workers stop."),
]  # fmt: skip


def test_what_is_known_of_questions_is_looked_up_by_name() -> None:
    found = values_of(QUESTIONS, ["overlap", "length", "topic", "bloom", "lift"], "keywords")
    assert found == {
        "overlap": {"q1": 1.0, "q2": pytest.approx(1.0)},
        "length": {"q1": 2.0, "q2": 2.0},
        "topic": {"q1": "net", "q2": "mail"},
        "bloom": {"q1": "apply"},
        "lift": {"q1": 0.3},
    }
    with pytest.raises(
        ValueError, match="found 'colour', which no question has; wanted overlap, length, topic, a label"
    ):
        values_of(QUESTIONS, ["colour"], "stem")


def test_lengths_of_users_questions_leave_out_the_function_words_of_their_language() -> None:
    text = "Der Hafenmeister zählt die Kisten der Schiffe."
    chunk = Chunk("c", "d", text, 0, len(text), language="de")
    mix = values_of_users([UserQuestion("u", "Was zählt der Hafenmeister?", passages=("c",))], [chunk])
    assert mix == {"overlap": [1.0], "length": [2.0]}


def test_overlaps_and_lengths_are_known_of_users_questions(tmp_path: Path) -> None:
    chunks = [
        Chunk("c1", "d1", "An open port lets mail in.", 0, 26),
        Chunk("c2", "d2", "A queue fills when workers stop.", 0, 32),
    ]
    asked = [UserQuestion("u1", "Is the port closed?", ("d1",)), UserQuestion("u2", "When does a queue fill?")]
    mix = values_of_users(asked, chunks)
    assert mix == {"overlap": [0.5, 1.0], "length": [2.0, 2.0]}
    write_mix(tmp_path / "mix.json", mix)
    assert read_mix(tmp_path / "mix.json") == mix
    assert read_mix(tmp_path / "none.json") == {}
    (tmp_path / "mix.json").write_text("[1]")
    with pytest.raises(ValueError, match=r"mix.json: found '\[1\]'; wanted a list of numbers by covariate"):
        read_mix(tmp_path / "mix.json")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run that names two covariates, with users whose questions are as long as the exam's."""
    path = tmp_path_factory.mktemp("covariates")
    users = [{"text": f"Which statement number{n} ends the nearest enclosing loop of python?"} for n in range(12)]
    (path / "users.jsonl").write_text("\n".join(map(json.dumps, users)))
    settings = CONFIG.format(run=path / "run").replace("map}", "map, item_covariates: [overlap, length]}")
    (path / "config.yaml").write_text(f"{settings}users: {path / 'users.jsonl'}\n")
    done = ragexam("run", path / "config.yaml")
    assert done.returncode == 0, done.stderr
    return RunFolder(path / "run")


def test_a_run_fits_the_covariates_that_it_names(run: RunFolder) -> None:
    fit = irt.load_fit(run.fit)
    assert fit.design.item_covariates is not None
    assert fit.design.item_covariates.names == ("overlap", "length")
    assert set(fit.covariate_effects()["facet"]) == {"item", *fit.design.item_facets}
    assert set(read_mix(run.users_mix)) == {"overlap", "length"}
    assert len(read_mix(run.users_mix)["length"]) == 12


def test_the_page_says_what_the_verdict_depends_on(run: RunFolder) -> None:
    page = run.report.read_text()
    assert "What the verdict depends on" in page
    verdict, _, rest = page.partition("What the verdict depends on")
    assert "your users" in rest[:600]
    assert "the mean of your users" in verdict or "those of your users" in verdict


def test_a_name_that_no_question_has_is_refused(run: RunFolder) -> None:
    done = ragexam("run", run.path.parent / "config.yaml", "--set", "fit.item_covariates=[colour]")
    assert done.returncode == 2
    assert "fit.item_covariates: found 'colour', which no question has" in done.stderr
