"""The commands on scores as a user calls them: their JSON, their words, their refusals, and the manual's examples."""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from ragexam.cli import main
from tests import shared_data

ROOT = Path(__file__).parents[3]
SHARED = shared_data.SHARED / "data"
PAGE = ROOT / "docs" / "free-text" / "leaderboards.md"
real = pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """`ragexam grade …` in this process and a folder of its own: exit status, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def called(*words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ragexam", "grade", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return int(end.value.code or 0), shown.out, shown.err

    return called


def answer(call: Call, *words: str | Path) -> dict[str, Any]:
    status, out, err = call(*words, "--json")
    assert status == 0, err
    return dict(json.loads(out))


def nugget_line(qid: str, run: str, *labels: str) -> str:
    nuggets = [{"text": str(at), "importance": "vital", "assignment": label} for at, label in enumerate(labels)]
    return json.dumps({"qid": qid, "run_id": run, "nuggets": nuggets}) + "\n"


def test_each_pair_of_systems_is_printed_where_that_is_wanted(call: Call) -> None:
    labels = {"x": "support", "y": "partial_support", "z": "not_support"}
    for run, label in labels.items():
        Path(f"{run}.jsonl").write_text("".join(nugget_line(str(topic), run, label) for topic in range(6)))
    files = [f"{run}.jsonl" for run in labels]
    some, every = call("nuggets", *files)[1], call("nuggets", *files, "--pairs", "all")[1]
    assert "Each difference: --pairs all." in some
    assert re.findall(r"^  (\w - \w): ", every, re.MULTILINE) == ["x - y", "x - z", "y - z"]
    assert re.findall(r"^  (\w - \w): ", some, re.MULTILINE) == []


def test_a_pilot_whose_difference_never_varies_plans_nothing_and_says_so(call: Call) -> None:
    rows = [f"{system},t{topic},{score}" for system, score in (("x", 0.7), ("y", 0.5)) for topic in range(4)]
    Path("pilot.csv").write_text("\n".join(["system,topic,score", *rows]) + "\n")
    assert answer(call, "power", "pilot.csv", "--gap", "0.1")["pairs"][0]["topics"]["estimate"] is None
    assert "no number can be told: the 4 topics all have the same difference" in call("power", "pilot.csv")[1]
    status, _, err = call("power", "pilot.csv", "--gap", "2")
    assert (status, err.count("\n")) == (2, 1)
    assert "gap: 2 between scores that are from 0 to 1 in the pilot; wanted at most 1" in err


def test_nuggets_of_one_run(call: Call) -> None:
    Path("x.jsonl").write_text(nugget_line("1", "x", "support", "partial_support") + nugget_line("2", "x", "odd"))
    found = answer(call, "nuggets", "x.jsonl")
    assert found["topics"]["1"]["vital_score"] == 0.75
    assert found["topics"]["1"]["strict_vital_score"] == 0.5
    assert found["all"]["vital_score"]["estimate"] == 0.375
    assert found["all"]["vital_score"].keys() == {"estimate", "low", "high"}
    assert found["unknown_labels"] == {"importance": {}, "support": {"odd": 1}}
    _, out, _ = call("nuggets", "x.jsonl")
    assert "1 unknown labels of support count as no support: 'odd' 1" in out
    assert "vital_score            0.375 [0.000, 0.750]" in out


def test_nuggets_of_several_runs_are_compared(call: Call) -> None:
    for run, label in (("x", "support"), ("y", "not_support")):
        Path(f"{run}.jsonl").write_text("".join(nugget_line(str(at), run, label, "support") for at in range(8)))
    Path("y.jsonl").write_text(Path("y.jsonl").read_text() + nugget_line("more", "y", "support"))
    found = answer(call, "nuggets", "x.jsonl", "y.jsonl", "--metric", "all_score")
    assert found["pairs"][0]["difference"] == {"estimate": 0.5, "low": 0.5, "high": 0.5}
    assert found["pairs"][0]["p"] == 2 / 2**8
    assert found["supported_by"] == {"0": 0, "1": 8, "2": 8}
    assert found["missing_topics"] == {"x": ["more"]}
    assert len(found["by_other_metrics"]) == 5
    _, out, _ = call("nuggets", "x.jsonl", "y.jsonl")
    assert "vital_score: 1 of 1 pairs differ over 8 topics (p adjusted): x above y" in out
    assert "x lacks 1 topics that others have: more" in out
    assert "left out: 1 nuggets that lack in some system: more '0'" in out


@real
def test_the_three_runs_of_rag_24(call: Call) -> None:
    files = sorted((SHARED / "rag24_nuggets" / "data" / "assignments").glob("*.jsonl"))
    found = answer(call, "nuggets", *files)
    assert found["supported_by"] == {"0": 3508, "1": 804, "2": 667, "3": 1148}
    assert "the 3 systems cannot be told apart over 301 topics" in found["sentence"]
    assert all(pair["difference"]["low"] < 0 < pair["difference"]["high"] for pair in found["pairs"])
    assert found["systems"]["baseline_rag24.test_gpt-4o_top20"]["all"]["vital_score"]["estimate"] == pytest.approx(
        0.4699039019845869, abs=1e-9
    )


def test_agreement_of_qrels(call: Call) -> None:
    first = [(f"t{at % 12}", f"d{at}", at // 12 % 4) for at in range(240)]
    second = [(topic, doc, (grade + (at % 5 == 0)) % 4) for at, (topic, doc, grade) in enumerate(first)]
    for name, rows in (("a", first), ("b", [*second, ("t99", "extra", 1)])):
        Path(f"{name}.qrels").write_text("".join(f"{topic} 0 {doc} {grade}\n" for topic, doc, grade in rows))
    found = answer(call, "agreement", "a.qrels", "b.qrels")
    grades = [[row[2] for row in rows] for rows in (first, second)]
    assert found["n"] == 240
    assert found["kappa"]["estimate"] == pytest.approx(cohen_kappa_score(*grades))
    assert found["kappa_quadratic"]["estimate"] == pytest.approx(cohen_kappa_score(*grades, weights="quadratic"))
    assert found["alpha"]["low"] <= found["alpha"]["estimate"] <= found["alpha"]["high"]
    assert found["only_in_b"] == {"n": 1, "topics": ["t99"], "first": [{"topic": "t99", "passage": "extra"}]}
    assert found["interval_over"] == "topics"
    assert sum(n for row in found["confusion"].values() for n in row.values()) == 240
    _, out, _ = call("agreement", "a.qrels", "b.qrels")
    assert "240 pairs of 12 topics judged by both; 90% intervals over topics" in out
    assert "only in B: 1 pairs (t99 extra); 1 topics wholly: t99" in out


def test_a_threshold_adds_the_kappa_of_relevant_or_not(call: Call) -> None:
    Path("a.qrels").write_text("1 0 a 3\n1 0 b 1\n1 0 c 0\n1 0 d 2\n")
    Path("b.qrels").write_text("1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 3\n")
    found = answer(call, "agreement", "a.qrels", "b.qrels", "--threshold", "2")
    assert (found["threshold"], found["kappa_binary"]["estimate"]) == (2, 1.0)
    assert found["kappa"]["estimate"] < 0
    assert "kappa_binary     1.000" in call("agreement", "a.qrels", "b.qrels", "--threshold", "2")[1]
    assert "kappa_binary" not in call("agreement", "a.qrels", "b.qrels")[1]
    for threshold, message in {
        "4": "a.qrels: the highest grade is 3; wanted one of 4 or more (--threshold)",
        "0": "a.qrels, b.qrels: the lowest grade is 0; wanted one below 0 (--threshold)",
        "nan": "threshold: nan; wanted a finite number",
    }.items():
        status, _, err = call("agreement", "a.qrels", "b.qrels", "--threshold", threshold)
        assert (status, err.count("\n")) == (2, 1)
        assert message in err


def test_the_counts_of_exam_plus_plus_table_4_have_one_kappa(call: Call) -> None:
    """The four counts of its Table 4, ratings from 4 and below against official grades from 1 and below: .37."""
    cells = [(4, 1, 1910), (5, 0, 1117), (3, 3, 880), (0, 0, 2445)]
    rows = [(rating, grade) for rating, grade, count in cells for _ in range(count)]
    grades = "".join(f"t,d{at},q,{rating}\n" for at, (rating, _) in enumerate(rows))
    Path("grades.csv").write_text(f"query,passage,question,rating\n{grades}")
    Path("official.qrels").write_text("".join(f"t 0 d{at} {grade}\n" for at, (_, grade) in enumerate(rows)))
    assert call("qrels", "grades.csv", "--tau", "4", "--out", "exam.qrels")[0] == 0
    found = answer(call, "agreement", "official.qrels", "exam.qrels", "--threshold", "1")
    assert found["n"] == 6352
    assert found["kappa_binary"]["estimate"] == pytest.approx(0.3676, abs=5e-5)


def test_a_grade_for_all_leaves_agreement_undefined(call: Call) -> None:
    Path("a.qrels").write_text("1 0 a 1\n1 0 b 1\n")
    found = answer(call, "agreement", "a.qrels", "a.qrels")
    assert found["kappa"] == found["alpha"] == {"estimate": None, "low": None, "high": None}
    _, out, _ = call("agreement", "a.qrels", "a.qrels")
    assert "kappa            unknown" in out


def test_leaderboards_without_topics(call: Call) -> None:
    first = {f"s{at}": float(at) for at in range(12)}
    second = {f"s{at}": float((at * 5) % 12) for at in range(12)} | {"new": 3.5}
    for name, scores in (("a", first), ("b", second)):
        Path(f"{name}.csv").write_text("system,score\n" + "".join(f"{one},{score}\n" for one, score in scores.items()))
    found = answer(call, "leaderboard", "a.csv", "b.csv")
    x, y = zip(*((first[one], second[one]) for one in first), strict=True)
    assert found["n"] == 12
    assert found["spearman"]["estimate"] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found["kendall"]["estimate"] == pytest.approx(stats.kendalltau(x, y).statistic)
    assert found["tau_ap"]["low"] < found["tau_ap"]["estimate"] < found["tau_ap"]["high"]
    assert found["over_topics"] is None
    assert found["only_in_b"] == ["new"]
    assert found["random_ties"]["kendall"]["sd"] == 0
    _, out, _ = call("leaderboard", "a.csv", "b.csv")
    assert "only in B: 1 systems: new" in out


def test_leaderboards_with_topics_test_their_systems(call: Call) -> None:
    rows = [f"s{at},t{topic},{at + (topic * at) % 3 / 9}" for at in range(10) for topic in range(12)]
    Path("a.csv").write_text("\n".join(["system,topic,score", *rows]))
    Path("b.csv").write_text("\n".join(["run,qid,value", *rows[:-1]]))
    found = answer(call, "leaderboard", "a.csv", "b.csv")
    assert found["over_topics"]["kendall"]["estimate"] == 1
    assert len(found["a"]["pairs"]) == 45
    assert found["a"]["best"]["s9"] == 1
    assert found["b"]["missing_topics"] == {"s9": ["t11"]}
    assert found["b"]["pairs"][-1]["n"] == 11
    _, out, _ = call("leaderboard", "a.csv", "b.csv")
    assert "a.csv: 45 of 45 pairs differ over 12 topics" in out
    assert "b.csv: 1 systems lack topics that others have; their scores are means over the topics they have." in out


@real
def test_exam_2021s_leaderboards(call: Call) -> None:
    table = list(csv.DictReader((SHARED / "exam2021_car_y3" / "table4.csv").read_text().splitlines()))
    for name in ("map", "n_exam"):
        Path(f"{name}.csv").write_text("system,score\n" + "".join(f"{row['system']},{row[name]}\n" for row in table))
    ties = answer(call, "leaderboard", "map.csv", "n_exam.csv")["random_ties"]
    assert ties["spearman"]["estimate"] == pytest.approx(0.748, abs=0.002)
    assert ties["kendall"]["estimate"] == pytest.approx(0.574, abs=0.002)
    _, out, _ = call("leaderboard", "map.csv", "n_exam.csv")
    assert "ties broken at random (9 systems tied in A, 7 in B)" in out


def test_power_by_pairs_and_by_one_pair(call: Call) -> None:
    rows = [f"{s},{t},{(t * 7 + at * 3) % 5 / 10 + at * 0.1}" for at, s in enumerate("xyz") for t in range(15)]
    Path("pilot.csv").write_text("\n".join(["system,topic,score", *rows]))
    every = answer(call, "power", "pilot.csv", "--gap", "0.1")
    one = answer(call, "power", "pilot.csv", "--gap", "0.1", "--pair", "x, y")
    assert len(every["pairs"]) == 3
    assert every["alpha_per_pair"] == pytest.approx(0.05 / 3)
    assert (one["pairs"][0]["first"], one["pairs"][0]["second"]) == ("x", "y")
    assert one["pairs"][0]["topics"]["estimate"] < every["pairs"][0]["topics"]["estimate"]
    assert one["pairs"][0]["question_sd"] is None
    _, out, _ = call("power", "pilot.csv")
    assert "A pilot's own gap is a noisy guess" in out


def test_reusability_of_runs_of_nuggets(call: Call) -> None:
    labels = {"x": ("support", "support"), "y": ("support", "not_support"), "z": ("not_support", "not_support")}
    for run, given in labels.items():
        Path(f"{run}.jsonl").write_text(nugget_line("1", run, *given) + nugget_line("2", run, *given))
    found = answer(call, "reusability", "x.jsonl", "y.jsonl", "z.jsonl")
    assert [one["unique"] for one in found["systems"]] == [2, 0, 0]
    assert found["systems"][0]["change"]["estimate"] == 0
    assert found["systems"][0]["rank_without"] == 1.5
    _, out, _ = call("reusability", "x.jsonl", "y.jsonl", "z.jsonl")
    assert "a bank of 4 questions, 2 topics; each of 3 systems left out in turn" in out


def test_bias_in_words(call: Call) -> None:
    rows = [
        f"s{at},{family},{judge},t{topic},{at + 2 * (family == judge) + topic % 2}"
        for at, family in enumerate("gggllloo")
        for judge in "gl"
        for topic in range(4)
    ]
    Path("judged.csv").write_text("\n".join(["system,family,judge,topic,score", *rows, "s0,g,g,t9,1"]))
    found = answer(call, "bias", "judged.csv")
    assert found["favour"]["estimate"] == pytest.approx(2)
    assert found["left_out_topics"] == ["t9"]
    _, out, _ = call("bias", "judged.csv")
    assert "judges favour their own family" in out
    assert "left out: 1 topics that lack some score: t9" in out


@pytest.mark.parametrize(
    ("words", "files", "message"),
    [
        (
            "nuggets a.jsonl b.jsonl",
            {"a.jsonl": nugget_line("1", "x"), "b.jsonl": nugget_line("1", "x")},
            "run 'x' is also",
        ),
        ("nuggets a.jsonl", {"a.jsonl": "{"}, "a.jsonl:1: malformed JSON"),
        ("nuggets none.jsonl", {}, "none.jsonl: no such file"),
        ("agreement a b", {"a": "1 0 d 1\n", "b": "1 0 d\n"}, "b:1: 3"),
        ("agreement a b", {"a": "1 0 d 1\n", "b": "1 0 d yes\n"}, "wanted a whole number"),
        ("argue a b --citations some", {}, "--citations: Value error, 'some' is not one of 'any', 'all', 'micro'"),
        ("similarity a b --measure bleu", {}, "--measure: Value error, 'bleu' is not one of 'jaccard', 'dice'"),
        ("run a b --model m --out o --grader guess", {}, "'guess' is not one of 'qa', 'rating', 'relevance'"),
        ("agreement a b", {"a": "1 0 d 1\n", "b": "1 0 e 1\n"}, "no topic and passage is judged by both"),
        (
            "leaderboard a.csv b.csv",
            {"a.csv": "system,score\nx,1\n", "b.csv": "system,score\nx,1\n"},
            "wanted at least 2",
        ),
        ("leaderboard a.csv a.csv", {"a.csv": "system,score\nx,one\n"}, 'a.csv:2: score "one"; wanted a number'),
        ("power a.csv", {"a.csv": "system,topic,score\nx,1,1\n"}, "has 1 system; wanted at least 2"),
        ("power a.csv --pair x", {"a.csv": "system,topic,score\nx,1,1\ny,1,1\n"}, "--pair: 'x'; wanted two systems"),
        ("reusability a.csv a.csv", {"a.csv": "system,topic,passage,grade\nx,1,1,1\n"}, "a.csv: a second table"),
        ("bias a.csv", {"a.csv": "system,judge,topic,score\nx,1,1,1\n"}, "a.csv:2: no family or system_family"),
        ("nuggets a.jsonl --metric best", {"a.jsonl": nugget_line("1", "x")}, "'best' is not one of"),
    ],
)
def test_bad_input_is_one_line_and_status_2(call: Call, words: str, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        Path(name).write_text(text)
    status, out, err = call(*words.split())
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize("command", ["nuggets", "agreement", "leaderboard", "power", "reusability", "bias"])
def test_every_command_has_an_example_and_stands_in_the_manual(call: Call, command: str) -> None:
    status, out, _ = call(command, "--help")
    assert status == 0
    assert f"Example: ragexam grade {command}" in " ".join(out.split())
    assert f"ragexam grade {command} " in PAGE.read_text(encoding="utf-8")


def test_the_commands_of_the_manual_run_in_their_order(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert sum(line.startswith("ragexam grade ") for line in lines) >= 7
    for line in lines:
        if line.startswith("ragexam grade "):
            words = shlex.split(line.replace("embedded:qwen2.5-coder-1.5b", "python:assessors:seeker"))[2:]
            status, out, err = call(*words, *(["--quiet"] if "--model" in words else []))
            assert (status, err) == (0, ""), line
            assert out.strip(), line
        else:
            subprocess.run(["bash", "-ec", line], cwd=tmp_path, check=True)


def test_a_level_beyond_one_is_refused_before_it_is_divided(call: Call) -> None:
    rows = [f"{one},{topic},{topic % 3 + at}" for at, one in enumerate("xyz") for topic in range(5)]
    Path("pilot.csv").write_text("system,topic,score\n" + "\n".join(rows) + "\n")
    status, _, err = call("power", "pilot.csv", "--gap", "1", "--alpha", "2")
    assert (status, err) == (2, "ragexam: alpha: 2; wanted a share between 0 and 1\n")


def test_a_tau_beyond_the_grades_is_refused(call: Call) -> None:
    rows = [f"{one},{topic},q{topic},{int(at > topic % 3)}" for at, one in enumerate("xyz") for topic in range(5)]
    Path("grades.csv").write_text("system,topic,question,grade\n" + "\n".join(rows) + "\n")
    status, _, err = call("reusability", "grades.csv", "--tau", "9")
    assert (status, err) == (2, "ragexam: tau: 9; wanted above 0 and at most 1, the highest grade\n")


def test_nugget_scores_are_written_by_topic(call: Call) -> None:
    Path("x.jsonl").write_text(nugget_line("1", "x", "support", "odd") + nugget_line("2", "x", "partial_support"))
    Path("y.jsonl").write_text(nugget_line("1", "y", "support"))
    answer(call, "nuggets", "x.jsonl", "y.jsonl", "--metric", "strict_vital_score", "--scores", "both.csv")
    assert Path("both.csv").read_text() == "system,topic,score\nx,1,0.5\nx,2,0.0\ny,1,1.0\n"
    answer(call, "nuggets", "x.jsonl", "--scores", "one.csv")
    assert Path("one.csv").read_text() == "system,topic,score\nx,1,0.5\nx,2,0.5\n"
