"""`python -m irt`: files in, files out, one line when the input is bad."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import irt
from irt.commands import COMMANDS, main


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    data = irt.simulate(None, 15, facets={"llm": 1, "retriever": 4, "icl": 3}, seed=1).data
    irt.write_responses(data, tmp_path / "responses.csv")
    (tmp_path / "responses.csv.groups").write_text("item,group\nq0,law\n")
    return tmp_path / "responses.csv"


def test_fit_then_information(answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(answers), "--method", "map", "--out", str(tmp_path / "fit"), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == json.loads((tmp_path / "fit" / "fit.json").read_text())
    assert "note: Facet 'llm' has one level only and was left out" in printed.err
    assert "warning: " not in printed.err
    assert main(["information", str(tmp_path / "fit"), "--points", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "theta,information,low,high,standard_error"
    assert main(["information", str(tmp_path / "fit"), "--points", "3", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["items"]) == 15


def test_prune_writes_what_it_prints(answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prune", str(answers), "--out", str(tmp_path / "p"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "p" / "prune.json").read_text())
    assert main(["prune", str(answers)]) == 0
    assert "held-out gain in mean information" in capsys.readouterr().out


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fit of answers in which q3 is keyed wrongly, the options chosen, and files that group and key the items."""
    home = tmp_path_factory.mktemp("checked")
    data = irt.simulate(items=12, facets={"llm": 4, "retriever": 10}, log_a_sd=0.1, mean_a=1.5, seed=3).data
    options = pd.DataFrame(np.where(data.scores == 1, "A", "B"), columns=list(data.items), index=list(data.students))
    scores = data.scores.copy()
    scores[:, 3] = 1 - scores[:, 3]
    irt.fit(replace(data, scores=scores), method="map", seed=1).save(home / "fit")
    options.rename_axis("student").to_csv(home / "options.csv")
    key = pd.Series(["B" if item == "q3" else "A" for item in data.items], index=list(data.items), name="key")
    key.rename_axis("item").to_csv(home / "key.csv")
    topics = pd.Series([f"topic {n % 2}" for n in range(12)], index=list(data.items), name="group")
    topics.rename_axis("item").to_csv(home / "groups.csv")
    return home


def test_check_names_the_wrong_key_first_and_writes_its_tables(
    checked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["check", f"{checked}/fit", "--options", f"{checked}/options.csv", "--key", f"{checked}/key.csv"]
    assert main([*words, "--groups", f"{checked}/groups.csv", "--out", str(tmp_path / "checks")]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "'q3' is probably keyed wrongly" in first
    assert "check whether 'A' is right" in first
    written = {path.name for path in (tmp_path / "checks").iterdir()}
    assert {"keys.csv", "item-fit.csv", "item-groups.csv", "dif-llm.csv", "students.csv"} <= written
    assert main([*words, "--json"]) == 0
    record = strict_json(capsys.readouterr().out)
    assert record["tables"]["keys"][0]["suggested"] == "A"
    assert record.keys() == {"sentences", "limits", "skipped", "tables"}


def test_dif_reads_the_facet_from_the_fit_or_from_a_table(
    checked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dif", f"{checked}/fit", "--facet", "llm", "--json"]) == 0
    whole = strict_json(capsys.readouterr().out)
    assert len(whole["items"]) == 12 * 4
    data = irt.load_fit(checked / "fit").data
    irt.fit(data, method="mml", facets=(), seed=0).save(tmp_path / "free")
    irt.write_responses(data, tmp_path / "r.csv")
    assert main(["dif", f"{tmp_path}/free", "--facet", "llm"]) == 2
    assert "the fit has no facet 'llm' (it has none)" in capsys.readouterr().err
    words = ["dif", f"{tmp_path}/free", "--facet", "llm", "--responses", f"{tmp_path}/r.csv"]
    assert main([*words, "--out", f"{tmp_path}/dif"]) == 0
    assert "comparisons differ by facet llm" in capsys.readouterr().out
    assert (tmp_path / "dif" / "dif-llm.csv").is_file()


def test_information_by_group_adds_up_to_the_exam(checked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["information", f"{checked}/fit", "--points", "3", "--json"]
    assert main(words) == 0
    whole = strict_json(capsys.readouterr().out)["total"]["mean"]
    assert main([*words, "--groups", f"{checked}/groups.csv"]) == 0
    groups = pd.DataFrame(strict_json(capsys.readouterr().out)["groups"])
    np.testing.assert_allclose(groups.groupby("theta")["total"].sum(), whole, rtol=1e-9)


def test_prune_keeps_groups_and_names_its_criterion(
    answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = "".join(f"q{item},{'ab'[item % 2]}\n" for item in range(15))
    (tmp_path / "groups.csv").write_text(f"item,group\n{labels}")
    words = ["prune", str(answers), "--keep", "0.6", "--criterion", "information", "--at=-1,0"]
    assert main([*words, "--groups", f"{tmp_path}/groups.csv"]) == 0
    printed = capsys.readouterr()
    assert "lowest information for new levels of 15 items" in printed.out
    assert "group a: 5 of 8" in printed.out
    assert "Nothing was written" in printed.err


def test_ratings_are_fitted_with_their_highest_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    irt.write_responses(irt.simulate_graded(80, 6, top=3, seed=1).data, tmp_path / "ratings.csv")
    words = ["fit", f"{tmp_path}/ratings.csv", "--method", "mml"]
    for said in (["--model", "grm"], ["--graded"], ["--top", "3"]):
        assert main([*words, *said, "--quiet"]) == 0
        assert capsys.readouterr().out.startswith("grm by mml: converged")
    words += ["--model", "grm", "--graded", "--top", "3"]
    assert main([*words, "--out", f"{tmp_path}/fit", "--quiet"]) == 0
    assert "grm by mml: converged" in capsys.readouterr().out
    assert main(["score", f"{tmp_path}/fit", f"{tmp_path}/ratings.csv"]) == 0
    assert main(["check", f"{tmp_path}/fit", "--quiet"]) == 0
    assert "Not checked: overall" in capsys.readouterr().out
    for words in (["dif", "--facet", "llm"], ["compare", "s0", "s1"]):
        assert main([words[0], f"{tmp_path}/fit", *words[1:]]) == 2
        assert "found a fit of ratings (grm); wanted one of right and wrong answers" in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_error(checked: Path) -> None:
    words = [sys.executable, "-m", "irt", "information", f"{checked}/fit", "--points", "600", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.wait() == 0
        assert not running.stderr.read()


def strict_json(text: str) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    read = json.loads(text, parse_constant=refuse)
    assert isinstance(read, dict)
    return read


@pytest.mark.parametrize("words", [["fit", "--method", "map"], ["fit", "--method", "laplace"], ["prune"]])
def test_work_that_begins_is_announced_once(
    words: list[str], answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([words[0], str(answers), *words[1:]]) == 0
    assert capsys.readouterr().err.splitlines().count(f"{words[0]} ...") == 1
    assert main([words[0], str(answers), *words[1:], "--quiet"]) == 0
    assert f"{words[0]} ..." not in capsys.readouterr().err


def test_options_of_other_students_are_refused_before_any_check_begins(
    checked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (checked / "options.csv").read_text().splitlines()
    (tmp_path / "options.csv").write_text("\n".join(rows[:9]))
    words = ["check", f"{checked}/fit", "--options", f"{tmp_path}/options.csv", "--key", f"{checked}/key.csv"]
    assert main(words) == 2
    printed = capsys.readouterr()
    assert len(printed.err.splitlines()) == 1
    assert f"options.csv: no row of student '{rows[9].split(',')[0]}'" in printed.err
    (tmp_path / "options.csv").write_text("\n".join(row.partition(",")[2] for row in rows))
    assert main(words) == 2
    assert "options.csv:1: the first column is item 'q0'; wanted the students (llm0|" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "none.csv"], "none.csv: no such file"),
        (["fit", "{}", "--method", "em"], "unknown method 'em'"),
        (["fit", "{}", "--facets", "vendor"], "unknown facet 'vendor'"),
        (["fit", "{}", "--facets", "llm"], "llm"),
        (["fit", "{}", "--options", "1"], "options 1 is not a number of choices"),
        (["prune", "{}", "--method", "em"], "unknown method 'em'"),
        (["prune", "{}", "--keep", "2"], "keep"),
        (
            ["prune", "{}", "--groups", "{}.groups"],
            ".groups: item 'q1' has no group; wanted a row item,group for every item",
        ),
        (["check", "nowhere"], "no such file"),
        (["information", "nowhere"], "no such file"),
        (["prune", "{}", "--groups", "{}"], "no column 'group'; wanted a table item,group"),
        (
            ["prune", "{}", "--at", "high"],
            "--at: found 'high'; wanted numbers separated by commas (see python -m irt prune",
        ),
        (["prune", "{}", "--stop", "never"], "stop: found 'never'; wanted None or 'auto'"),
        (["fit"], "RESPONSES: missing (see python -m irt fit --help)"),
        (["fit", "{}", "--options", "none.csv"], "none.csv: no such file; wanted a CSV table item,options"),
        (["fit", "{}", "--prior", "spread=1"], "--prior: found 'spread=1'; wanted NAME=VALUE with one of spread_a,"),
        (["fit", "{}", "--prior", "spread_a=wide"], "--prior spread_a: found 'wide'; wanted a number"),
        (["guess"], "No such command 'guess' (see python -m irt --help)"),
        ([], "Missing command (see python -m irt --help)"),
    ],
)
def test_bad_input_is_one_line_and_status_two(
    arguments: list[str], message: str, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([part.format(answers) for part in arguments]) == 2
    printed = capsys.readouterr()
    assert len(printed.err.splitlines()) == 1
    assert message in printed.err
    assert not printed.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("fit {0}", "a response table (.csv or .parquet)"),
        ("prune {0}", "a response table (.csv or .parquet)"),
        ("prune {1}/r.csv --groups {0}", "a CSV table item,group"),
        ("information {1}/fit --groups {0}", "a CSV table item,group"),
        ("check {1}/fit --options {0} --key {0}", "a CSV table of students by items"),
        ("check {1}/fit --options {1}/options.csv --key {0}", "a CSV table item,key"),
        ("dif {1}/fit --facet llm --responses {0}", "a response table (.csv or .parquet)"),
        ("score {1}/fit {0}", "a response table (.csv or .parquet)"),
        ("adaptive {1}/fit --pipeline p --responses {0}", "a response table (.csv or .parquet)"),
        ("adaptive {1}/fit --pipeline p --live --longest 2 --state {0}", "the state of an adaptive exam"),
    ],
)
def test_a_folder_in_the_place_of_a_file_is_called_one(
    words: str, message: str, checked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    irt.write_responses(irt.load_fit(checked / "fit").data, checked / "r.csv")
    assert main(words.format(tmp_path, checked).split()) == 2
    assert capsys.readouterr().err == f"irt: {tmp_path}: is a folder; wanted {message}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("fit {0} --out {0}", "a folder for the results"),
        ("prune {0} --out {0}", "a folder for the results"),
        ("dif {1}/fit --facet llm --out {0}", "a folder for tables"),
        ("information {0}", "a folder written by Fit.save (fit --out)"),
    ],
)
def test_a_file_in_the_place_of_a_folder_is_called_one(
    words: str, message: str, checked: Path, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.format(answers, checked).split()) == 2
    assert capsys.readouterr().err == f"irt: {answers}: is a file; wanted {message}\n"


@pytest.mark.parametrize("command", list(COMMANDS))
def test_help_shows_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "-h"]) == 0
    assert f"Example: python -m irt {command} " in capsys.readouterr().out


def test_help_shows_the_usual_options_first_and_the_others_under_headings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--help"]) == 0
    said = capsys.readouterr().out
    assert re.findall(r"^(?:\w[\w ]+:$|  --[a-z-]+)", said, re.MULTILINE)[:8] == [
        "Arguments:", "Options:", "  --model", "  --facets", "  --options", "  --out", "  --method", "  --interactions",
    ]  # fmt: skip
    assert re.search(r"Sampling by nuts:\n  --warmup .*(\n .*)?\n  --draws ", said)
    assert re.search(r"Priors:\n  --priors .*\n.*\n  --prior ", said)


def test_help_of_the_whole_says_what_a_table_is_and_what_to_do_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert "student,item,score" in said
    first = [line.split()[3] for line in said.splitlines() if line.startswith("  python -m irt ")]
    assert [word for word in first if word != "COMMAND"] == ["fit", "check", "score"]
