"""The command that labels an exam: by rules, by a model, by a taxonomy of one's own, by clusters; and compares."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from examcore import Question, cohen_kappa, read_exam, wilson, write_exam
from ragexam.classify import read_taxonomy
from ragexam.cli import app
from taxonomy import TAXONOMIES, labels
from tests.command_line import done_in, ragexam_here

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PAGE = (ROOT / "docs" / "taxonomy.md").read_text(encoding="utf-8")
# The model is loaded by the name of its file.
sys.path.insert(0, str(HERE))
MODEL = "python:classifiers:reader"
STEMS = (
    "Which command would you use to list the files?",
    "What is the capital of the realm?",
    "Why does the loop end?",
    "What is unreadable here?",
    "How many rows are there?",
)


def here(*words: str) -> Any:
    done = CliRunner().invoke(app, ["classify", *words, "--quiet"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def result(*words: str) -> dict[str, Any]:
    return dict(json.loads(here(*words, "--json").stdout))


def refused(*words: str) -> str:
    with pytest.raises((ValueError, OSError)) as caught:
        CliRunner().invoke(app, ["classify", *words, "--quiet"], catch_exceptions=False)
    return str(caught.value)


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    """Five questions, one of which has a label of its own and a stale one."""
    questions = [Question(f"q{n}", stem, ("one", "two"), 0, topic="t") for n, stem in enumerate(STEMS)]
    own = Question(
        "q5", "Which design was chosen?", ("one", "two"), 1, labels={"house": ("east",), "bloom": ("create",)}
    )
    write_exam(tmp_path / "exam.jsonl", [*questions, own])
    return tmp_path / "exam.jsonl"


def test_shares_of_the_rules_labels_have_wilsons_intervals(exam: Path) -> None:
    found = result(str(exam), "--interval", "0.8")
    assert (found["questions"], list(found["dimensions"])) == (6, ["bloom", "knowledge", "form", "words"])
    given = [labels(one.stem) for one in read_exam(exam).questions]
    for taxonomy in TAXONOMIES:
        table = found["dimensions"][taxonomy.name]
        counts = {level: sum(level in one[taxonomy.name] for one in given) for level in taxonomy.names}
        assert {level: one["count"] for level, one in table["levels"].items()} == counts
        assert table["labelled"] == sum(table["basis"].values()) == 6
    one = found["dimensions"]["bloom"]["levels"]["remember"]
    assert (one["low"], one["high"]) == pytest.approx(wilson(one["count"] / 6, 6, 0.8))
    said = here(str(exam)).stdout
    assert re.search(r"^  remember +\d+ +\d+\.\d%  \[", said, re.MULTILINE)
    assert "labelled 2 by a listed word, 1 by the wording, 3 by neither" in said


def test_the_labelled_exam_keeps_what_else_it_had_and_says_who_labelled(exam: Path, tmp_path: Path) -> None:
    before = exam.read_bytes()
    result(str(exam), "--out", str(tmp_path / "out.jsonl"))
    old, new = read_exam(exam), read_exam(tmp_path / "out.jsonl")
    assert exam.read_bytes() == before
    assert new.hash == old.hash
    assert new.questions[5].labels["house"] == ("east",)
    assert new.questions[5].labels["bloom"] == ("evaluate",)
    assert all({**labels(one.stem)}.items() <= dict(one.labels).items() for one in new.questions)
    assert new.questions[0].metadata["labelled_by"] == dict.fromkeys(("bloom", "knowledge", "form", "words"), "rules")
    message = refused(str(exam), "--out", str(exam))
    assert message == f"--out {exam}: is the exam that is read; wanted another file"


def test_a_models_losses_are_counted_and_the_rules_do_not_stand_in(exam: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    table = result(str(exam), "--model", MODEL, "--only", "bloom", "--out", str(out))["dimensions"]["bloom"]
    assert (table["labelled"], table["unparsed"], table["unanswered"], table["clipped"]) == (5, 1, 0, 0)
    assert table["unparsed_examples"] == ["Let me think about it first."]
    assert {level: one["count"] for level, one in table["levels"].items() if one["count"]} == {
        "remember": 4,
        "apply": 1,
        "create": 1,
    }
    assert table["levels"]["apply"]["share"] == 1 / 5
    found = {one.id: one.labels["bloom"] for one in read_exam(out).questions}
    assert (found["q0"], found["q3"]) == (("apply", "create"), ())
    assert read_exam(out).questions[0].metadata["labelled_by"] == {"bloom": "verb-reader, prompt taxonomy-1"}


def test_a_question_too_long_for_the_model_is_not_put_and_is_told(tmp_path: Path) -> None:
    long = Question("q1", "word " * 3000, ("a", "b"), 0)
    write_exam(tmp_path / "exam.jsonl", [Question("q0", "🙂" * 3000, ("a", "b"), 0), long])
    found = result(str(tmp_path / "exam.jsonl"), "--model", MODEL, "--only", "knowledge")
    assert found["no_reply"] == {}
    narrow = Question("q2", "a " * 3000, ("a", "b"), 0)
    write_exam(tmp_path / "exam.jsonl", [narrow, Question("q3", "Which?", ("a", "b"), 0)])
    found = result(str(tmp_path / "exam.jsonl"), "--model", MODEL, "--only", "bloom")
    assert found["no_reply"] == {"too long for the model": 1}
    assert (found["dimensions"]["bloom"]["unanswered"], found["dimensions"]["bloom"]["clipped"]) == (1, 1)


def test_nothing_is_asked_twice(exam: Path, tmp_path: Path) -> None:
    log = tmp_path / "asked"
    words = ["classify", str(exam), "--model", MODEL, "--only", "bloom", "--json", "--quiet"]
    told = [ragexam_here(*words, CLASSIFIER_LOG=str(log)).stdout for _ in range(2)]
    assert len(log.read_text().splitlines()) == 6
    first, again = map(json.loads, told)
    assert first["dimensions"] == again["dimensions"]
    assert (first["usage"]["cached"], again["usage"]["cached"]) == (0, 6)
    assert (tmp_path / "exam.replies.sqlite").is_file()


def write_table(path: Path, *rows: tuple[str, ...]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def test_agreement_with_a_table_is_that_of_the_labels_in_common(exam: Path, tmp_path: Path) -> None:
    rows = [("q0", "remember; apply"), ("q1", "remember"), ("q2", "apply"), ("q3", ""), ("other", "create")]
    other = write_table(tmp_path / "hand.csv", ("question", "bloom"), *rows)
    found = result(str(exam), "--compare", str(other))["agreement"]
    assert list(found) == ["bloom"]
    table = found["bloom"]
    assert (table["n"], table["equal"]["count"]) == (3, 2)
    assert (table["only_ours"], table["only_theirs"]) == (["q3", "q4", "q5"], ["other"])
    ours = [frozenset(labels(stem)["bloom"]) for stem in STEMS[:3]]
    theirs = [frozenset(("remember", "apply")), frozenset(("remember",)), frozenset(("apply",))]
    assert table["kappa"]["estimate"] == pytest.approx(cohen_kappa(ours, theirs).estimate)
    assert table["levels"]["apply"] | {"kappa": 0} == {"ours": 1, "theirs": 2, "both": 1, "kappa": 0}
    said = here(str(exam), "--compare", str(other)).stdout
    assert f"bloom: agreement with {other} over 3 questions" in said
    assert "labelled only there: 1 (other)" in said


def test_an_exam_agrees_wholly_with_its_own_labels(exam: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    here(str(exam), "--out", str(out))
    found = result(str(exam), "--compare", str(out))["agreement"]
    table = tmp_path / "labels.csv"
    here(str(exam), "--out", str(table))
    assert table.read_text().splitlines()[:2] == [
        "question,bloom,knowledge,form,words",
        "q0,remember;apply,procedural,which,which",
    ]
    assert result(str(exam), "--compare", str(table))["agreement"].keys() == found.keys()
    assert set(found) == {"bloom", "knowledge", "form", "words"}
    assert all(table["equal"]["estimate"] == table["kappa"]["estimate"] == 1 for table in found.values())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [("question", "bloom"), ("q0", "rember")],
            ":2: bloom 'rember'; wanted remember, understand, apply, analyze, evaluate, create, several divided by ';'",
        ),
        (
            [("question", "bloom"), ("q0", "apply"), ("q0", "apply")],
            ":3: question 'q0' stands in {}:2 too; wanted it once",
        ),
        (
            [("question", "house"), ("q0", "east")],
            ": no labels of these questions; wanted 'question' and some of bloom, knowledge, form, words",
        ),
        (
            [("question", "bloom"), ("zz", "apply")],
            ": no labels of these questions; wanted 'question' and some of bloom, knowledge, form, words",
        ),
        ([("stem", "bloom"), ("zz", "apply")], ":2: no question or id or question_id; found stem, bloom"),
    ],
)
def test_a_table_that_cannot_be_compared_is_refused(
    exam: Path, tmp_path: Path, rows: list[tuple[str, ...]], message: str
) -> None:
    other = write_table(tmp_path / "hand.csv", *rows)
    assert refused(str(exam), "--compare", str(other)) == f"{other}{message.format(other)}"


OWN = """name: depth
several: false
levels:
  - name: counted
    words: [row]
    wordings: ['how many']
  - name: stated
    words: [capital, command]
"""


def test_a_taxonomy_of_ones_own_labels_by_its_words_and_says_what_has_none(exam: Path, tmp_path: Path) -> None:
    own = tmp_path / "depth.yaml"
    own.write_text(OWN)
    table = result(str(exam), "--taxonomy", str(own), "--only", "depth")["dimensions"]["depth"]
    assert {level: one["count"] for level, one in table["levels"].items()} == {"counted": 1, "stated": 2}
    assert (table["unlabelled"], table["labelled"], table["several"]) == (3, 6, False)
    assert "without a level: 3" in here(str(exam), "--taxonomy", str(own)).stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("levels: []", ":1: no setting 'name'; wanted a value for it"),
        (OWN.replace("depth", "bloom"), ":1: name: 'bloom' is taken; wanted another name"),
        (OWN.replace("stated", "Counted"), ":3: levels: 'counted' stands twice; wanted distinct names"),
        (
            OWN.replace("'how many'", "'how (many'"),
            ":6: levels.0.wordings.0: 'how (many' is no regular expression (missing )",
        ),
        (OWN.replace("'how many'", "'x*'"), ":6: levels.0.wordings.0: 'x*' matches every text"),
        (OWN.replace("[row]", "['a|b']"), ":5: levels.0.words.0: 'a|b'; wanted one or several words of letters"),
        (OWN.replace("[row]", "row"), ":5: levels.0.words: 'row'; wanted a valid list"),
        (OWN.replace("several: false", "otherwise: none"), ":2: otherwise: 'none' is no level; wanted one of"),
        (OWN.replace("several: false", "sevral: false"), ":2: unknown setting 'sevral'; did you mean several?"),
        (OWN.replace("name: stated", "name: 'a, b'"), ":7: levels.1.name: 'a, b'; wanted a name without commas"),
        (OWN.replace("levels:", "levels: ["), ": "),
    ],
)
def test_a_faulty_taxonomy_is_refused_by_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"{path}{message}") if message != ": " else r"own\.yaml:\d+: "):
        read_taxonomy(path)


def test_what_cannot_be_done_is_refused_before_anything_is(exam: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("name: depth\nlevels: [{name: a, definition: one thing}, {name: b, definition: another}]\n")
    message = "taxonomy depth: has no words or wordings to label by; wanted --model"
    assert refused(str(exam), "--taxonomy", str(own)) == message
    assert refused(str(exam), "--only", "blom").startswith("--only blom: no such taxonomy; wanted some of bloom, ")
    assert refused(str(exam), "--encoder", "x") == "--encoder x: found without --clusters; wanted both"
    assert refused(str(exam), "--replies", "x") == "--replies x: found without --model; wanted both"
    assert refused(str(exam), "--taxonomy", str(own), "--taxonomy", str(own)).endswith("; wanted different names")
    assert "no such file" in refused(str(tmp_path / "none.jsonl"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["exam.jsonl", "own.yaml"]


def test_an_exam_too_small_for_clusters_is_told_so(exam: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    found = result(str(exam), "--clusters", "--encoder", "nowhere/none", "--out", str(out))
    assert found["clusters"]["clusters"] == []
    assert found["clusters"]["reason"] == "6 questions; 20 or more are grouped"
    assert "cluster" not in found["dimensions"]
    assert "cluster" not in read_exam(out).questions[0].labels


@pytest.mark.models
def test_questions_on_two_matters_fall_into_two_clusters(tmp_path: Path) -> None:
    cooking = [
        f"How long does the {what} have to {how}?"
        for what in ("soup", "bread", "rice")
        for how in ("cook", "bake", "boil", "simmer")
    ]
    space = [
        f"How far is the {what} from the {other}?"
        for what in ("planet", "comet", "moon")
        for other in ("sun", "star", "galaxy", "nebula")
    ]
    write_exam(
        tmp_path / "exam.jsonl",
        [Question(f"q{n}", stem, ("a", "b"), 0) for n, stem in enumerate([*cooking, *space])],
    )
    out = tmp_path / "out.jsonl"
    found = result(str(tmp_path / "exam.jsonl"), "--clusters", "--out", str(out))
    assert found["clusters"]["clusters"], found["clusters"]["reason"]
    given = [one.labels["cluster"][0] for one in read_exam(out).questions]
    assert not set(given[:12]) & set(given[12:])
    assert found["dimensions"]["cluster"]["by"] == "k-means, seed 0"


def test_hostile_questions_are_labelled_and_printed_plainly(tmp_path: Path) -> None:
    stems = ["x" * 10_000, "🙂" * 500, "\x1b[31m use\x07", "<script>alert(1)</script>", "the set " * 2000, "42"]
    write_exam(tmp_path / "exam.jsonl", [Question(f"q{n}\x1b", stem, ("a", "b"), 0) for n, stem in enumerate(stems)])
    other = write_table(tmp_path / "hand.csv", ("question", "bloom"), ("q0\x1b", "apply"))
    said = here(str(tmp_path / "exam.jsonl"), "--model", MODEL, "--compare", str(other)).stdout
    assert "\x1b" not in said
    assert "\x07" not in said
    found = result(str(tmp_path / "exam.jsonl"))["dimensions"]["bloom"]
    assert (found["unlabelled"], found["basis"]["nothing"]) == (2, 2)


def fences(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_manual_run(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "quickstart"
    run.mkdir(parents=True)
    numbers = range(1, 7)
    write_exam(run / "exam.jsonl", [Question(f"q{n}", f"How many more is {n}?", ("a", "b"), 0) for n in numbers])
    (table,), (own,) = fences("csv"), fences("yaml")
    (tmp_path / "labels.csv").write_text(table)
    (tmp_path / "depth.yaml").write_text(own)
    shown = [line for block in fences("sh") for line in block.splitlines()]
    assert len(shown) >= 6
    for line in shown:
        assert line.startswith("ragexam classify ")
        assert done_in(tmp_path, line.replace("embedded:smollm2-135m", MODEL)).strip()
    assert read_taxonomy(tmp_path / "depth.yaml").read("How many more?") == (("computed",), "wording")
    assert read_exam(tmp_path / "labelled.jsonl").questions[0].labels["bloom"] == ("remember",)
    assert (run / "replies.sqlite").is_file()


def test_the_rules_label_the_languages_they_know_and_no_others(tmp_path: Path) -> None:
    stems = {
        "en": "What is the name of the port?",
        "de": "Was ist der Name des Hafens?",
        "it": "Qual è il nome del porto?",
    }
    exam = [Question(code, stem, ("a", "b"), 0, metadata={"language": code}) for code, stem in stems.items()]
    write_exam(tmp_path / "exam.jsonl", exam)
    own = tmp_path / "own.yaml"
    own.write_text(
        "name: own\nlevels:\n  - {name: port, words: [Hafens]}\n  - {name: road, words: [Weg]}\n", encoding="utf-8"
    )
    here(str(tmp_path / "exam.jsonl"), "--taxonomy", str(own), "--out", str(tmp_path / "labelled.jsonl"))
    english, german, italian = read_exam(tmp_path / "labelled.jsonl").questions
    assert english.labels["form"] == ("what",)
    assert english.labels["own"] == ()
    assert german.labels["form"] == ("what",)
    assert german.labels["bloom"] == ("remember",)
    assert {name: italian.labels[name] for name in ("bloom", "knowledge", "form", "words")} == dict.fromkeys(
        ("bloom", "knowledge", "form", "words"), ()
    )
    assert german.labels["own"] == ("port",)
