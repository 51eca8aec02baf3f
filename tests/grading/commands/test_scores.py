"""The commands on scores: results for readers and programs, what is said of what was left out, and bad input."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import irt
from examcore import Question, write_exam
from ragexam.cli import app, main
from tests import shared_data
from tests.command_line import snippet_here

ROOT = Path(__file__).parents[3]
SHARED = shared_data.SHARED / "data"
PAGE = ROOT / "docs" / "free-text" / "scores.md"

GRADES = """query,passage,question,grade
q1,p1,r1,5
q1,p1,r2,0
q1,p2,r1,1
q1,p2,r2,4
q1,p3,r3,
q2,p1,r4,3
q2,p2,r4,5
"""
ANSWERS = "system,query,question,correct\nA,q1,x1,1\nA,q1,x2,0\nA,q2,x3,true\nB,q1,x1,1\nB,q1,x2,\n"
GOLD = "query,question,correct\nq1,x1,1\nq1,x2,1\nq2,x3,0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "grades.csv": GRADES,
        "a.run": "q1 Q0 p1 1 3.0 A\nq1 Q0 p2 2 2.0 A\nq1 Q0 p9 3 1.0 A\nq2 Q0 p1 1 1.0 A\n",
        "b.run": "q1 Q0 p2 1 3.0 B\nq2 Q0 p2 1 1.0 B\nq3 Q0 p2 2 1.0 B\n",
        "c.run": "q1 Q0 p9 1 3.0 C\nq2 Q0 p1 1 1.0 C\n",
        "d.run": "q1 Q0 p3 1 3.0 D\nq1 Q0 p1 2 2.0 D\n",
        "answers.csv": ANSWERS,
        "gold.csv": GOLD,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def said(*words: str) -> str:
    done = CliRunner().invoke(app, ["grade", *words])
    assert done.exit_code == 0, done.output
    return str(done.stdout)


def told(*words: str) -> dict[str, Any]:
    return dict(json.loads(said(*words, "--json")))


def test_cover_of_one_run(folder: Path) -> None:
    found = told("cover", "grades.csv", "a.run", "--tau", "4", "--k", "2")
    assert found["per_query"] == {"q1": pytest.approx(2 / 3), "q2": 0.0}
    assert found["cover"]["estimate"] == pytest.approx(1 / 3)
    assert (found["bank"], found["questions"], found["unparsed"]) == ("grades", 4, 1)
    lines = said("cover", "grades.csv", "a.run", "--tau", "4")
    assert re.search(r"^A +0\.333 \[0\.000, 0\.667\] +2 +3 of 4$", lines, re.MULTILINE)
    assert "1 of 4 passages of A were never graded; 1 queries may be covered better than they seem." in lines
    assert "Unparsed grades, which reach no tau: 1 of 7." in lines
    assert "Without --bank the bank is every question graded for the query" in lines
    assert "with fewer than 10 they are too narrow" in lines


def test_cover_of_several_runs_is_a_leaderboard(folder: Path) -> None:
    found = told("cover", "grades.csv", "a.run", "b.run", "c.run", "d.run", "--tau", "4")
    assert list(found["runs"]) == ["B", "A", "D", "C"]
    assert found["runs"]["C"]["per_query"]["q1"] == {"cover": None, "covered": [], "passages": 1, "ungraded": ["p9"]}
    assert found["runs"]["D"]["skipped"] == ["q2"]
    assert found["runs"]["B"]["without_bank"] == ["q3"]
    pair = found["pairs"][0]
    assert (pair["first"], pair["second"], pair["told_apart"]) == ("B", "A", False)
    assert pair["difference"]["estimate"] == pytest.approx(1 / 3)
    assert "Queries of C without a graded passage: no score, left out of the mean: 1 (q1)." in found["warnings"]
    assert "Queries of the bank that D skips, counted 0: 1 (q2)." in found["warnings"]


def test_the_bank_is_the_denominator_of_cover(folder: Path) -> None:
    rows = [
        {"query": query, "id": f"r{place}"} for query, size in (("q1", 10), ("q2", 4)) for place in range(1, size + 1)
    ]
    (folder / "bank.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = told("cover", "grades.csv", "a.run", "--tau", "3", "--bank", "bank.jsonl")
    assert found["per_query"] == {"q1": 0.2, "q2": 0.25}
    assert not any("--bank" in one for one in found["warnings"])


def test_labels_are_printed_as_qrels_and_remarks_elsewhere(folder: Path) -> None:
    assert said("qrels", "grades.csv", "--tau", "4") == "q1 0 p1 1\nq1 0 p2 1\nq2 0 p1 0\nq2 0 p2 1\n"
    assert said("qrels", "grades.csv") == "q1 0 p1 5\nq1 0 p2 4\nq2 0 p1 3\nq2 0 p2 5\n"
    done = CliRunner().invoke(app, ["grade", "qrels", "grades.csv", "--tau", "4"])
    assert "Passages without a parsed grade, which have no label: 1 (p3)." in done.stderr
    found = told("qrels", "grades.csv", "--tau", "4")
    assert found["qrels"] == {"q1": {"p1": 1, "p2": 1}, "q2": {"p1": 0, "p2": 1}}
    assert found["labels"]["q2"] == {"p1": 3, "p2": 5}
    assert (found["n"], found["unparsed"], found["unlabelled"]) == (4, 1, [["q1", "p3"]])


def test_labels_written_to_a_file_can_be_measured(folder: Path) -> None:
    assert said("qrels", "grades.csv", "--out", "exam.qrels").startswith("exam.qrels: 4 passages of 2 queries")
    found = told("measure", "exam.qrels", "a.run", "d.run", "--measures", "MAP,P_1,nDCG@2", "--rel", "4")
    assert found["per_topic"]["A"]["q1"] == {"MAP": 1.0, "P_1": 1.0, "nDCG@2": 1.0}
    assert found["per_topic"]["A"]["q2"]["MAP"] == 0.0
    assert found["per_topic"]["D"]["q1"]["MAP"] == 0.25
    assert found["skipped"] == {"A": [], "D": ["q2"]}
    assert "Topics of the qrels that D skips, counted 0 in the mean: 1 (q2)." in found["warnings"]
    unjudged = "Runs with passages that are not judged, which count as not relevant: 2 (A 1 of 4, D 1 of 2)."
    assert unjudged in found["warnings"]
    assert told("measure", "exam.qrels", "a.run", "d.run", "--over", "common")["topics"] == 1


@pytest.mark.skipif(not (SHARED / "trec_eval_tests").is_dir(), reason="trec_eval's regression files are not here")
def test_the_measures_of_trec_evals_test_come_out() -> None:
    files = SHARED / "trec_eval_tests" / "test"
    found = told("measure", str(files / "qrels.test"), str(files / "results.test"))
    means = {name: round(one["estimate"], 4) for name, one in found["runs"]["STANDARD"].items()}
    assert means == {
        "MAP": 0.1785, "nDCG@20": 0.3525, "nDCG@10": 0.3016, "Rprec": 0.2174, "MRR": 0.4064, "P@5": 0.2667,
        "P@10": 0.3, "P@20": 0.3667,
    }  # fmt: skip


def test_exam_beside_gold_articles(folder: Path) -> None:
    found = told("exam", "answers.csv", "--gold", "gold.csv")
    assert found["systems"]["A"]["per_query"] == {"q1": 0.5, "q2": 1.0}
    assert found["systems"]["B"]["per_query"] == {"q1": 0.5, "q2": 0.0}
    assert found["systems"]["A"]["exam"]["estimate"] == 0.75
    assert found["systems"]["A"]["n_exam"]["estimate"] == 1.5
    assert found["systems"]["B"]["n_exam"]["estimate"] == 0.5
    assert found["gold"]["exam"]["estimate"] == 0.5
    assert "Queries that B skips, counted 0: 1 (q2)." in found["warnings"]
    assert "Questions that articles of B leave unanswered, counted 0: 1." in found["warnings"]
    lines = said("exam", "answers.csv", "--gold", "gold.csv")
    assert re.search(r"^A +0\.750 \[.*\] +1\.500 \[", lines, re.MULTILINE)
    assert "A - B: +0.500 [+0.000, +1.000], not told apart" in lines


def test_exam_of_one_system_stands_on_top_and_the_bank_divides(folder: Path) -> None:
    (folder / "one.csv").write_text("query,question,correct\nq1,x1,1\n")
    (folder / "bank.csv").write_text("query,id\nq1,x1\nq1,x2\nq1,x4\nq1,x5\nq2,x3\n")
    found = told("exam", "one.csv", "--bank", "bank.csv")
    assert found["per_query"] == {"q1": 0.25, "q2": 0.0}
    assert (found["exam"]["estimate"], found["n_exam"], found["skipped"]) == (0.125, None, ["q2"])
    (folder / "zero.csv").write_text("query,question,correct\nq1,x1,0\nq2,x3,0\n")
    zero = told("exam", "one.csv", "--gold", "zero.csv")
    assert zero["n_exam"] == {"estimate": None, "low": None, "high": None}
    assert "The gold articles answer nothing: n-EXAM is unknown." in zero["warnings"]


def test_the_exam_that_pipelines_sat_scores_them_by_topic(folder: Path) -> None:
    asked = [Question(f"x{place}", "Which?", ("a", "b"), 0, topic=f"t{place % 2}") for place in range(5)]
    write_exam(folder / "exam.jsonl", asked)
    (folder / "responses.csv").write_text("student,item,score,llm\nm,x0,1,m\nm,x1,0,m\nm,x2,1,m\nm,x3,,m\nn,x1,1,n\n")
    found = told("exam", "responses.csv", "--bank", "exam.jsonl")
    assert found["systems"]["m"]["per_query"] == {"t0": pytest.approx(2 / 3), "t1": 0.0}
    assert found["systems"]["n"]["per_query"] == {"t0": 0.0, "t1": 0.5}
    assert found["systems"]["n"]["skipped"] == ["t0"]


def test_rouge_ranks_articles(folder: Path) -> None:
    (folder / "articles.csv").write_text("system,query,text\nA,1,The skin has layers\nB,1,Bones\nB,3,Bones\n")
    (folder / "texts.csv").write_text("query,text\n1,Layers of skin\n2,the of\n")
    found = told("rouge", "articles.csv", "texts.csv")
    assert found["systems"]["A"]["per_query"] == {"1": 1.0, "2": None}
    assert "Gold articles without words: no score, left out of the mean: 1 (2)." in found["warnings"]
    assert "Articles of B without a gold article, which take no part: 1 (3)." in found["warnings"]
    assert "ROUGE-1 F1" in said("rouge", "articles.csv", "texts.csv")


def many(folder: Path, systems: int = 12, queries: int = 12, questions: int = 4) -> None:
    """Runs of one passage a query, better by their number, with ratings; official judgements from quality alone."""
    rng = np.random.default_rng(5)
    rows, official = ["query,passage,question,rating"], []
    for system in range(systems):
        lines = []
        for query in range(queries):
            passage = f"s{system}q{query}"
            lines.append(f"q{query} Q0 {passage} 1 1.0 s{system:02d}\n")
            best = 0
            for question in range(questions):
                quality = system / systems + 0.4 * rng.standard_normal() - 0.1 * question + 0.4
                rating = int(np.clip(round(5 * quality), 0, 5))
                best = max(best, rating)
                rows.append(f"q{query},{passage},q{query}r{question},{rating}")
            official.append(f"q{query} 0 {passage} {int(best >= 4)}\n")
        (folder / f"s{system:02d}.run").write_text("".join(lines))
    (folder / "many.csv").write_text("\n".join(rows) + "\n")
    (folder / "official.qrels").write_text("".join(official))


def test_tau_is_chosen_on_some_queries_and_judged_on_others(folder: Path) -> None:
    many(folder)
    found = told("tau", "many.csv", "official.qrels")
    assert (found["agreement"], found["tau"], found["held_out"]["estimate"]) == ("kappa", 4.0, 1.0)
    assert found["chosen"] == {"4": 12}
    assert found["warnings"] == ["Passages with a label and an official grade: 144 of 144 with a label."]
    runs = [f"s{system:02d}.run" for system in range(12)]
    (folder / "leaderboard.csv").write_text("system,score\n" + "".join(f"s{one:02d},{one}\n" for one in range(12)))
    board = told("tau", "many.csv", "leaderboard.csv", *runs)
    assert board["agreement"] == "kendall"
    fewer = told("tau", "many.csv", "leaderboard.csv", *runs[2:])
    assert "Systems of the official leaderboard without a run: 2 (s00, s01)." in fewer["warnings"]
    assert board["held_out"]["estimate"] > 0.6
    assert "on queries held out in 5 folds: kendall" in said("tau", "many.csv", "official.qrels", *runs, "--by", "MAP")


def test_questions_are_items_of_systems(folder: Path) -> None:
    many(folder)
    runs = [word for system in range(12) for word in ("--run", f"s{system:02d}.run")]
    found = told("items", "many.csv", *runs, "--tau", "3", "--out", "items")
    assert (found["students"], found["questions"], found["queries"], found["refused"]) == (12, 48, 12, "")
    assert found["model"]["model"] == "grm"
    assert found["model"]["prune"]["kept"]
    assert set(found["model"]["prune"]["rank_agreement"]) == {"estimate", "low", "high"}
    assert {path.name for path in (folder / "items").iterdir()} >= {
        "items.csv",
        "items.json",
        "responses.csv",
        "fit",
        "pruned",
    }
    data = irt.read_responses(folder / "items" / "responses.csv", graded=True)
    assert data.students == tuple(f"s{system:02d}" for system in range(12))
    rows = [one for one in found["items"] if one["b"] is not None]
    assert len(rows) == found["model"]["items_fitted"]
    assert np.corrcoef([one["b"] for one in rows], [one["mean"] for one in rows])[0, 1] < -0.5
    assert json.loads((folder / "items" / "items.json").read_text())["questions"] == 48


def test_the_analysis_of_items_says_how_far_it_is(folder: Path) -> None:
    many(folder)
    runs = [word for system in range(12) for word in ("--run", f"s{system:02d}.run")]
    words = ["grade", "items", "many.csv", *runs, "--tau", "3", "--out", "items"]
    done = CliRunner().invoke(app, words)
    assert re.findall(r"^(\w+) \.\.\.$", done.stderr, re.MULTILINE) == ["counting", "fitting", "pruning"]
    assert "counting 48/48" in done.stderr
    assert "counting" not in done.stdout


def test_a_reader_is_told_that_only_neighbours_are_shown_and_how_to_see_every_pair(folder: Path) -> None:
    many(folder)
    runs = [f"s{system:02d}.run" for system in (1, 5, 9)]
    for words in (("cover", "many.csv", *runs, "--tau", "3"), ("measure", "official.qrels", *runs)):
        some, every = said(*words), said(*words, "--pairs", "all")
        assert "systems next to each other, 2 of 3 pairs (all with --pairs all):" in some
        assert [len(re.findall(r"s\d\d - s\d\d: ", one)) for one in (some, every)] == [2, 3]
        assert "next to each other" not in every
    assert "Pairs by the other 7 measures: --json." in said("measure", "official.qrels", *runs)
    assert "next to each other" not in said("cover", "many.csv", *runs[:2], "--tau", "3")


def test_few_systems_give_counts_and_a_sentence(folder: Path) -> None:
    found = told("items", "grades.csv", "--run", "a.run", "--run", "b.run", "--out", "items")
    assert found["model"] is None
    assert found["refused"] == (
        "No item response model: 2 systems or passages cannot tell the difficulty and discrimination of 4 questions; "
        "wanted at least 10."
    )
    assert found["supported_by"] == {"0": 1, "2": 3}
    assert "Passages among the first 20 that were never graded: 1 of 6." in found["warnings"]
    assert "supported by nobody" in said("items", "grades.csv", "--out", "items")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("cover", "grades.csv", "a.run", "--tau", "0"), "tau: 0; wanted above 0"),
        (("cover", "none.csv", "a.run", "--tau", "1"), "none.csv: no such file"),
        (
            ("measure", "a.run", "a.run"),
            "a.run:1: 6 columns; wanted 4: topic, iteration, document, grade (six are a run's: QRELS go before RUN)",
        ),
        (("measure", "a.run", "official.qrels"), "official.qrels:1: 4 columns; wanted 6: topic, Q0, document, rank"),
        (
            ("measure", "official.qrels", "a.run", "--measures", ""),
            "--measures '': an empty name; wanted names",
        ),
        (("measure", "official.qrels", "a.run", "--measures", "MAP,"), "--measures 'MAP,': an empty name"),
        (("tau", "grades.csv", "official.qrels", "--folds", "3"), "folds: 3 of 2 queries; wanted at most one fold per"),
        (
            ("items", "grades.csv", "--tau", "9", "--out", "items"),
            "tau: 9; no grade reaches it, the highest is 5; wanted a tau that some grade reaches",
        ),
        (("exam", "grades.csv"), 'grades.csv:2: grade "5"; wanted 0, 1, true, false or nothing'),
        (("exam", "answers.csv", "--bank", "nameless.csv"), "nameless.csv: names no queries, answers.csv does"),
        (("qrels", "twice.csv"), 'twice.csv:3: question "r" is graded twice'),
    ],
)
def test_bad_input_is_one_line(
    folder: Path,
    words: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "official.qrels").write_text("q1 0 p1 1\nq1 0 p2 0\nq2 0 p1 0\nq2 0 p2 1\n")
    (folder / "nameless.csv").write_text("id,text\nx1,Why?\n")
    (folder / "twice.csv").write_text("query,passage,question,grade\nq,p,r,1\nq,p,r,1\n")
    monkeypatch.setattr(sys, "argv", ["ragexam", "grade", *words])
    with pytest.raises(SystemExit, match=r"^2$"):
        main()
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_the_commands_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    shown = [line for block in blocks for line in block.splitlines()]
    used = set()
    for line in shown:
        program, _, *words = shlex.split(line)
        if program == "ragexam":
            assert said(*words).strip(), line
            used.add(words[0])
        else:
            subprocess.run(["bash", "-ec", line], check=True)
    assert used == {"cover", "qrels", "measure", "tau", "exam", "rouge", "items", "leaderboard"}


def test_the_snippet_of_the_page_says_what_it_says(tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = snippet_here(tmp_path, code).splitlines()
    assert lines[:2] == [comment.strip() for comment in re.findall(r"  # (.*)", code)]


@pytest.mark.parametrize("command", ["measure", "cover", "qrels", "tau", "exam", "rouge", "items"])
def test_every_command_has_an_example(command: str) -> None:
    assert f"Example: ragexam grade {command}" in " ".join(said(command, "--help").split())


def refused(*words: str) -> str:
    done = CliRunner().invoke(app, ["grade", *words])
    assert done.exit_code != 0, done.output
    return str(done.exception)


def test_counts_are_summed_over_topics(folder: Path) -> None:
    (folder / "q.qrels").write_text("q1 0 p1 1\nq1 0 p9 1\nq2 0 p1 1\nq3 0 p5 1\n")
    found = told("measure", "q.qrels", "a.run", "--measures", "num_ret,num_rel_ret,P@1")
    assert {name: one["estimate"] for name, one in found["runs"]["A"].items()} == {
        "num_ret": 4,
        "num_rel_ret": 3,
        "P@1": pytest.approx(2 / 3),
    }
    assert found["summed"] == ["num_ret", "num_rel_ret"]
    assert "Counts, of which the sum over topics is given: 2 (num_ret, num_rel_ret)." in found["warnings"]


def test_scores_are_written_as_leaderboard_and_power_read_them(folder: Path) -> None:
    (folder / "q.qrels").write_text("q1 0 p2 1\nq1 0 p9 0\nq2 0 p1 1\nq2 0 p2 0\n")
    told("measure", "q.qrels", "a.run", "b.run", "--measures", "RR,P@1", "--scores", "rr.csv")
    rows = [line.split(",") for line in (folder / "rr.csv").read_text().splitlines()]
    assert rows[0] == ["system", "topic", "score"]
    assert {(one, topic): float(score) for one, topic, score in rows[1:]} == {
        ("A", "q1"): 0.5,
        ("A", "q2"): 1.0,
        ("B", "q1"): 1.0,
        ("B", "q2"): 0.0,
    }
    done = CliRunner().invoke(
        app, ["grade", "cover", "grades.csv", "a.run", "b.run", "c.run", "--tau", "4", "--scores", "cover.csv"]
    )
    assert "cover.csv: cover of 3 systems, 5 scores; 1 undefined scores are left out" in done.stderr
    found = told("leaderboard", "rr.csv", "cover.csv")
    assert (found["n"], found["only_in_b"]) == (2, ["C"])
    assert found["b"]["scores"]["B"] == pytest.approx(2 / 3)
    told("exam", "answers.csv", "--gold", "gold.csv", "--scores", "exam.csv")
    assert "A,q2,1.0\n" in (folder / "exam.csv").read_text()


def test_numbers_off_every_scale_are_refused(folder: Path) -> None:
    (folder / "q.qrels").write_text("q1 0 p1 1\nq1 0 p2 0\nq2 0 p1 1\n")
    for tau in ("inf", "nan", "0"):
        assert f"tau: {tau}; wanted above 0" in refused("cover", "grades.csv", "a.run", "--tau", tau)
        assert f"tau: {tau}; wanted above 0" in refused("qrels", "grades.csv", "--tau", tau)
        assert f"tau: {tau}; wanted above 0" in refused("items", "grades.csv", "--out", "items", "--tau", tau)
    for words in (["measure", "q.qrels", "a.run"], ["tau", "grades.csv", "q.qrels"]):
        done = CliRunner().invoke(app, ["grade", *words, "--rel", "0"])
        assert done.exit_code == 2


def test_files_that_have_nothing_in_common_are_refused_and_not_scored_0(folder: Path) -> None:
    files = {
        "none.csv": "query,passage,question,grade\nq1,p1,r1,\nq2,p1,r4,nan\n",
        "other.run": "q1 Q0 e1 1 2.0 other\nq1 Q0 e2 2 1.0 other\n",
        "q.qrels": "q1 0 p1 1\nq1 0 p2 0\nq2 0 p1 1\n",
        "other.qrels": "q1 0 e1 1\nq2 0 e2 0\n",
        "empty.csv": "system,query,question,correct\nA,q1,x1,\nA,q2,x3,\n",
        "zero.qrels": "q1 0 p1 0\nq2 0 p1 0\n",
        "foreign.csv": "query,question,correct\nz1,y1,1\nz1,y2,1\nz2,y3,0\n",
        "third.csv": "query,question,correct\nq1,x1,1\nz1,y2,1\nz2,y3,0\n",
        "stranger.csv": ANSWERS + "C,z1,y1,1\n",
        "bank.csv": "query,id\nq1,x1\nq2,x3\n",
        "wide.csv": "query,id\nq1,r1\nq2,r4\nq3,r5\nq4,r6\nq5,r7\n",
        "ids.csv": "query,id\nq1,one\nq2,two\n",
        "articles.csv": "system,query,text\nA,q1,Skin\nB,z1,Bones\n",
        "texts.csv": "query,text\nq1,Layers of skin\n",
        "odd.jsonl": '{"qid": "1", "nuggets": [{"text": "a", "importance": "vital", "assignment": "failed"}]}\n',
        "odder.jsonl": '{"qid": "1", "nuggets": [{"text": "a", "importance": "main", "assignment": "support"}]}\n',
        "asked.jsonl": '{"query": "q9", "id": "r9", "question": "Why?"}\n',
        "same.jsonl": '{"query": "q1", "id": "r1", "question": "Why?"}\n',
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    apart = "other.run: none of its 2 passages (such as 'e1' of query 'q1') is graded in grades.csv; wanted some"
    high = "grades.csv: the highest grade is 5; wanted one of 9 or more (--tau)"
    nothing = "none.csv: none of 2 grades is a number; wanted at least one"
    for words, message in {
        "cover none.csv a.run --tau 4": nothing,
        "cover grades.csv a.run --tau 9": high,
        "cover grades.csv a.run other.run --tau 4": apart,
        "cover grades.csv a.run --tau 4 --bank wide.csv": "wide.csv: 3 of 5 queries (such as 'q3', question 'r5') have "
        "no grade in grades.csv; wanted one for at least half of the queries",
        "cover grades.csv a.run --tau 4 --bank ids.csv": "ids.csv: 2 of 2 queries (such as 'q1', question 'one')",
        "qrels none.csv": nothing,
        "qrels grades.csv --tau 9": high,
        "measure q.qrels other.run": "other.run: none of its 2 passages (such as 'e1' of query 'q1') is judged in q.qr",
        "measure q.qrels a.run --rel 3": "q.qrels: the highest grade is 1; wanted one of 3 or more (--rel)",
        "measure q.qrels a.run --measures P(rel=2)@5": "wanted one of 2 or more (P(rel=2)@5)",
        "measure zero.qrels a.run": "zero.qrels: the highest grade is 0; wanted one of 1 or more (--rel)",
        "tau none.csv q.qrels a.run b.run d.run": nothing,
        "tau none.csv q.qrels": nothing,
        "tau grades.csv q.qrels a.run b.run other.run": apart,
        "tau grades.csv zero.qrels a.run b.run d.run": "zero.qrels: the highest grade is 0; wanted one of 1 or more",
        "exam answers.csv --gold foreign.csv": "foreign.csv: 2 of 2 queries (such as 'z1', question 'y1') have no "
        "answer in answers.csv; wanted one for at least half of the queries",
        "exam answers.csv --gold third.csv": "third.csv: 2 of 3 queries (such as 'z1', question 'y2') have no",
        "exam stranger.csv --gold gold.csv": "stranger.csv: system 'C' answers no question of gold.csv; wanted some of",
        "tau grades.csv other.qrels": "other.qrels: none of its 2 judgements (such as of 'e1' of query 'q1') is of a "
        "passage graded in grades.csv; wanted some, such as of 'p1' of query 'q1'",
        "exam empty.csv": "empty.csv:2: no correct or score or grade with a value in any row; wanted a column of 0 and",
        "exam stranger.csv --bank bank.csv": "stranger.csv: system 'C' answers no question of bank.csv; wanted some of",
        "exam answers.csv --bank wide.csv": "answers.csv: no question of it (such as 'x1' of query 'q1') is "
        "in the bank (such as 'r1' of query 'q1'); wanted its answers",
        "rouge articles.csv texts.csv": "articles.csv: system 'B' has no query of texts.csv; wanted some, such as 'q1'",
        "items grades.csv --out items --run other.run": apart,
        "items grades.csv --out items --bank ids.csv": "ids.csv: 2 of 2 queries",
        "nuggets odd.jsonl": "odd.jsonl: none of the 1 labels of support of run 'odd' is known (such as 'failed'); "
        "wanted support, partial_support, not_support",
        "nuggets odder.jsonl": "labels of importance of run 'odder' is known (such as 'main'); wanted vital, okay",
        "bank lint asked.jsonl --grades grades.csv": "grades.csv: none of its 7 grades (such as of question 'r1' of "
        "query 'q1') is of a question of asked.jsonl; wanted some, such as of 'r9' of query 'q9'",
        "bank lint same.jsonl --grades grades.csv --tau 9": high,
        "bank changes asked.jsonl asked.jsonl grades.csv": "is of a question of asked.jsonl or asked.jsonl; wanted",
        "bank changes same.jsonl same.jsonl grades.csv --tau 9": high,
    }.items():
        assert message in refused(*words.split()), words


@pytest.mark.parametrize("ending", [".json", ".txt", "", ".csv"])
def test_a_file_of_json_is_read_whatever_its_ending(folder: Path, ending: str) -> None:
    rows = [
        {"query": query, "passage": "p1", "question": name, "grade": 1} for query, name in (("q1", "r"), ("q2", "s"))
    ]
    nuggets = [{"text": "a", "importance": "vital", "assignment": "support"}]
    scores = [{"system": "A", "score": 2}, {"system": "B", "score": 1}, {"system": "C", "score": 0}]
    files = {
        "grades": "".join(json.dumps(row) + "\n" for row in rows),
        "listed": json.dumps(rows, indent=1),
        "bank": "".join(json.dumps({"query": row["query"], "id": row["question"]}) + "\n" for row in rows),
        "asked": '{"query": "q1", "id": "r", "question": "Which layer is it?"}\n',
        "answers": "".join(json.dumps({**row, "system": "A"}) + "\n" for row in rows),
        "nuggets": json.dumps({"qid": "1", "nuggets": nuggets}) + "\n",
        "bench": json.dumps(["q1", [{"paragraph_id": "p1", "exam_grades": [{"correctAnswered": ["r"]}]}]]) + "\n",
        "board": json.dumps(scores),
    }
    (folder / "grades.csv").rename("rated.csv")
    for name, text in files.items():
        (folder / f"{name}{ending}").write_text(text)
    assert told("cover", f"grades{ending}", "a.run", "--tau", "1", "--bank", f"bank{ending}")["per_query"]["q1"] == 1
    assert told("qrels", f"listed{ending}")["n"] == 2
    assert told("qrels", f"bench{ending}")["n"] == 1
    assert told("exam", f"answers{ending}", "--bank", f"bank{ending}")["exam"]["estimate"] == 1
    assert told("nuggets", f"nuggets{ending}")["all"]["vital_score"]["estimate"] == 1
    assert told("agreement", f"grades{ending}", f"listed{ending}")["n"] == 2
    assert told("leaderboard", f"board{ending}", f"board{ending}")["n"] == 3
    assert "leaderboards: 2 systems in both" in refused("tau", "rated.csv", f"board{ending}", "a.run", "b.run")
    assert told("bank", "lint", f"asked{ending}", "--grades", f"grades{ending}")["n"] == 1


def test_a_leaderboard_is_no_qrels_whatever_its_name(folder: Path) -> None:
    (folder / "board.txt").write_text("system,score\nA,1\nB,2\n")
    assert "leaderboards: 2 systems in both" in refused("tau", "grades.csv", "board.txt", "a.run", "b.run")


def test_a_part_without_grades_is_counted(folder: Path) -> None:
    (folder / "bank.csv").write_text("query,id\nq1,r1\nq2,r4\nq3,r5\nq4,r6\n")
    found = told("cover", "grades.csv", "a.run", "--tau", "4", "--bank", "bank.csv")
    assert "Queries of the bank without a grade, which no passage can answer: 2 (q3, q4)." in found["warnings"]


def test_a_level_that_no_official_grade_reaches_chooses_no_tau(folder: Path) -> None:
    (folder / "q.qrels").write_text("q1 0 p1 1\nq1 0 p2 0\nq2 0 p1 0\nq2 0 p2 1\n")
    expected = "grades from 0 to 1 of 4 passages with a label; wanted some below 7 and some from 7 on"
    assert expected in refused("tau", "grades.csv", "q.qrels", "--rel", "7")
    runs = ("a.run", "b.run", "c.run")
    assert "q.qrels: the highest grade is 1; wanted one of 7 or more (--rel)" in refused(
        "tau", "grades.csv", "q.qrels", *runs, "--rel", "7"
    )
