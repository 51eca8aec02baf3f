"""The commands that use a saved fit: a record, lines, warnings, and one line for bad input."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import irt
from irt.commands import main
from irt.kernels import ItemParameters
from tests.irt.calibrated_fit import calibrated
from tests.irt.quick_gibbs import quick_fit


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("fits")
    rng = np.random.default_rng(1)
    items = ItemParameters(rng.lognormal(0.2, 0.3, 25), rng.normal(0, 1, 25), np.zeros(25), np.ones(25))
    fit = calibrated(items, students=6)
    fit.save(home / "fit")
    calibrated(items, students=6, seed=1).save(home / "other")
    irt.write_responses(replace(fit.data, students=tuple(f"new{n}" for n in range(6))), home / "new.csv")
    return home


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fit of thirty students, and their answers."""
    home = tmp_path_factory.mktemp("many")
    items = ItemParameters(np.ones(9), np.linspace(-1, 1, 9), np.zeros(9), np.ones(9))
    fit = calibrated(items, students=30)
    fit.save(home / "fit")
    irt.write_responses(fit.data, home / "many.csv")
    return home


CALLS = {
    "score": ["score", "{}/fit", "{}/new.csv"],
    "adaptive": ["adaptive", "{}/fit", "--pipeline", "new1", "--responses", "{}/new.csv"],
    "link": ["link", "{}/fit", "{}/other"],
    "compare": ["compare", "{}/fit", "s0", "s1"],
    "power": ["power", "{}/fit", "--gap", "0.3"],
    "gap": ["power", "{}/fit", "--questions", "300", "--scale", "accuracy"],
}


@pytest.mark.parametrize("call", list(CALLS))
def test_a_command_prints_lines_or_strict_json(call: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word.format(folder) for word in CALLS[call]]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert printed.out.strip()
    assert not printed.err
    assert main([*words, "--json"]) == 0

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    assert json.loads(capsys.readouterr().out, parse_constant=refuse)


@pytest.mark.parametrize("command", ["score", "link"])
def test_many_students_are_all_in_the_file_and_in_json_while_twenty_are_printed(
    command: str, many: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [command, f"{many}/fit", f"{many}/fit" if command == "link" else f"{many}/many.csv"]
    assert main([*words, "--out", f"{many}/{command}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.split()[0] in {f"s{n}" for n in range(30)}]) == 20
    assert lines[-1] == f"... and 10 more: all in {many}/{command}/abilities.csv"
    assert len((many / command / "abilities.csv").read_text().splitlines()) == 31
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "... and 10 more: --json or --out DIR gives all"
    assert main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert len(record["abilities" if command == "link" else "students"]) == 30


def test_a_single_new_student_is_scored_and_examined(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.csv").write_text("student,q0,q1,q2\nnew,1,,0\n")
    assert main(["score", f"{folder}/fit", f"{tmp_path}/one.csv", "--json"]) == 0
    assert [row["answered"] for row in json.loads(capsys.readouterr().out)["students"]] == [2]
    assert main(["adaptive", f"{folder}/fit", "--pipeline", "new", "--responses", f"{tmp_path}/one.csv"]) == 0
    assert "of 2 questions" in capsys.readouterr().out


def test_link_writes_its_tables(folder: Path, tmp_path: Path) -> None:
    assert main(["link", f"{folder}/fit", f"{folder}/other", "--out", str(tmp_path / "linked")]) == 0
    assert sorted(path.name for path in (tmp_path / "linked").iterdir()) == ["abilities.csv", "drift.csv", "items.csv"]


def test_replaying_a_pipeline_of_the_fit_says_that_it_flatters(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["adaptive", f"{folder}/fit", "--pipeline", "s2"]) == 0
    assert "took part in calibrating" in capsys.readouterr().err


def test_an_error_that_was_not_reached_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["adaptive", f"{folder}/fit", "--pipeline", "s2", "--se"]
    said = "the wanted error of 0.001 was not reached: these questions give 0."
    assert main([*words, "0.001"]) == 0
    assert said in capsys.readouterr().out
    assert main([*words, "0.9"]) == 0
    assert "not reached" not in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n0\n"))
    assert main([*words, "0.001", "--live", "--longest", "2"]) == 0
    assert said in capsys.readouterr().out


def test_a_live_exam_goes_on_where_it_stopped(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["adaptive", f"{folder}/fit", "--pipeline", "p", "--live", "--longest", "5"]
    words += ["--state", str(tmp_path / "state.json")]
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n0\n"))
    assert main(words) == 2
    printed = capsys.readouterr()
    assert "standard input ended at item" in printed.err
    assert "wanted a line 0 (wrong) or 1 (right) (with --state FILE the same command" in printed.err
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n1\n0\n"))
    assert main([*words, "--json"]) == 0
    rest = capsys.readouterr().out
    asked = json.loads(rest[rest.index("{") :])["asked"]
    assert len(set(asked)) == 5
    assert rest.split("{")[0].split() == asked[2:]
    words[3] = "someone-else"
    assert main(words) == 2
    assert "found the exam of 'p', not of 'someone-else'; wanted --pipeline 'p' or another" in capsys.readouterr().err


def test_a_mistyped_answer_is_said_and_asked_for_again(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["adaptive", f"{folder}/fit", "--pipeline", "p", "--live", "--longest", "2", "--json"]
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n0\n"))
    assert main(words) == 0
    straight = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("1\nno\n\n0\n"))
    assert main(words) == 0
    printed = capsys.readouterr()
    first, second, record = straight.split("\n", 2)
    assert printed.out == "\n".join([first, second, second, second, record])
    complaints = [f"item '{second}': score '{found}' is not 0 (wrong) or 1 (right); again:" for found in ("no", "")]
    assert printed.err.splitlines() == complaints
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    assert main(words) == 2
    assert f"standard input ended at item '{first}'" in capsys.readouterr().err


def test_rows_without_names_are_numbered_said_and_not_taken_for_those_of_the_fit(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit = irt.load_fit(folder / "fit")
    replace(fit, data=replace(fit.data, students=tuple("123456"))).save(tmp_path / "fit")
    header = ",".join(fit.data.items)
    rows = [",".join(f"{score:g}" for score in row) for row in fit.data.scores]
    (tmp_path / "new.csv").write_text("\n".join([header, *rows[:2]]))
    said = "note: No column names the students; rows are numbered from 1.\n"
    assert main(["score", f"{tmp_path}/fit", f"{tmp_path}/new.csv", "--json"]) == 0
    printed = capsys.readouterr()
    assert [(row["student"], row["answered"]) for row in json.loads(printed.out)["students"]] == [("1", 25), ("2", 25)]
    assert printed.err == said
    words = ["adaptive", f"{tmp_path}/fit", "--pipeline", "2"]
    assert main([*words, "--responses", f"{tmp_path}/new.csv"]) == 0
    assert capsys.readouterr().err == said
    assert main(words) == 0
    assert "took part in calibrating" in capsys.readouterr().err


def test_a_state_of_another_exam_is_named(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "state.json").write_text('{"pipeline": "p", "answers": [["z9", 1]]}')
    words = ["adaptive", f"{folder}/fit", "--pipeline", "p", "--live", "--longest", "5"]
    assert main([*words, "--state", f"{tmp_path}/state.json"]) == 2
    assert f"{tmp_path}/state.json: unknown item 'z9'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--gap", "0.999", "--scale", "accuracy"], "questions"),
        (["--gap", "1e6"], "questions"),
        (["--questions", "1"], "gap"),
    ],
)
def test_a_plan_out_of_reach_is_answered_by_null_and_a_reason(
    words: list[str], asked: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["power", f"{folder}/fit", *words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record[asked] is None
    assert main(["power", f"{folder}/fit", *words]) == 0
    assert capsys.readouterr().out == f"no answer: {record['reason']}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["power", "{}/fit"], "wanted either --gap (between two students) or --questions"),
        (["power", "{}/none", "--gap", "1"], "no such file"),
        (["compare", "{}/fit", "s0", "x"], "unknown 'x'"),
        (
            ["adaptive", "{}/fit", "--pipeline", "x"],
            "unknown student 'x' (--pipeline); it has s0, s1",
        ),
        (["adaptive", "{}/fit", "--pipeline", "x", "--responses", "{}/new.csv"], "new.csv: unknown student 'x'"),
        (["adaptive", "{}/fit", "--pipeline", "x", "--live"], "found no rule to stop; wanted --longest N"),
        (["adaptive", "{}/fit", "--pipeline", "x", "--state", "s"], "--state: wanted --live with it"),
        (["adaptive", "{}/fit", "--pipeline", "x", "--live", "--responses", "r"], "--live: found with --responses"),
        (["score", "{}/fit", "{}/new.csv", "--method", "mle"], "unknown method 'mle'"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word.format(folder) for word in words]) == 2
    assert message in capsys.readouterr().err.strip().splitlines()[-1]


def test_a_fit_that_did_not_converge_is_doubted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = ItemParameters(np.ones(5), np.linspace(-1, 1, 5), np.zeros(5), np.ones(5))
    calibrated(items, converged=False).save(tmp_path / "fit")
    assert main(["power", str(tmp_path / "fit"), "--gap", "0.5"]) == 0
    assert "did not converge" in capsys.readouterr().err


@pytest.fixture(scope="module")
def with_effects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("effects") / "fit"
    quick_fit().save(folder)
    return folder


def test_components_are_those_of_the_fit(with_effects: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["components", str(with_effects), "--random", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(json.dumps(quick_fit().variance_components(random=True).record()))


def test_a_study_looks_at_every_design_asked_for(with_effects: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["d-study", str(with_effects), "--facet", "llm", "--questions", "20,80", "--levels", "retriever=2,4"]
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["table"]
    assert [(row["retriever"], row["questions"]) for row in rows] == [(2, 20), (2, 80), (4, 20), (4, 80)]
    assert rows[0]["se"] > rows[1]["se"]
    assert main(words) == 0
    assert "levels of retriever" in capsys.readouterr().out


def test_effects_are_shown_for_a_level(with_effects: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["effects", str(with_effects), "retriever", "--level", "retriever1"]
    assert main([*words, "--json"]) == 0
    effects = json.loads(capsys.readouterr().out)["effects"]
    assert [row["level"] for row in effects] == ["retriever1"] * 40
    assert effects[0]["effect"] > 0 > effects[-1]["effect"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    assert "retriever1: what speaks for it" in capsys.readouterr().out
    assert len((tmp_path / "level-items.csv").read_text().splitlines()) == 41


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["components", "{}/fit"], "found a fit without effects of levels on items"),
        (["d-study", "{effects}"], "found neither a facet nor two students"),
        (["d-study", "{effects}", "--between", "llm0"], "--between: found 1 names; wanted two"),
        (["d-study", "{effects}", "--facet", "llm", "--levels", "4"], "--levels: found '4'; wanted a facet"),
        (["d-study", "{effects}", "--facet", "llm", "--questions", "many"], "--questions: found 'many'"),
        (["effects", "{effects}", "retriever", "--level", "bm25"], "unknown level 'bm25' of facet 'retriever'"),
    ],
)
def test_what_cannot_be_studied_is_refused_in_one_line(
    words: list[str], said: str, folder: Path, with_effects: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word.format(folder, effects=with_effects) for word in words]) == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert printed.count("\n") == 1
