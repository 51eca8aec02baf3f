"""Folders of per-query output: trec_eval, ir_measures, nuggetizer's metrics, and tables with a column of measures."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from grading.formats._score_tables import read_scores
from tests.command_line import ragexam_here
from tests.shared_data import SHARED

PUBLISHED = SHARED / "data" / "trec_eval_tests" / "test"


def trec_eval(scores: dict[str, dict[str, float]], run: str) -> str:
    """Output of `trec_eval -q`, which pads names and ends with the values over all topics."""
    by_topic = [
        (name, topic, f"{value:.4f}") for topic in ("1", "2") for name in scores for value in [scores[name][topic]]
    ]
    means = [("runid", "all", run), *((name, "all", f"{sum(one.values()) / 2:.4f}") for name, one in scores.items())]
    return "".join(f"{name:<22}\t{topic}\t{value}\n" for name, topic, value in [*by_topic, *means])


def folder(tmp_path: Path, name: str, **files: str) -> Path:
    found = tmp_path / name
    found.mkdir()
    for file, text in files.items():
        (found / file.replace("__", ".")).write_text(text)
    return found


def test_trec_eval_gives_systems_by_their_run_names(tmp_path: Path) -> None:
    first, second = ({"map": {"1": one, "2": 0.25}, "P_5": {"1": 0.2, "2": 0.4}} for one in (0.5, 0.75))
    table = read_scores(
        folder(tmp_path, "x", a__txt=trec_eval(first, "bm25"), b__txt=trec_eval(second, "dense")), "map"
    )
    assert (table.systems, table.topics) == (("bm25", "dense"), ("1", "2"))
    assert table.values.tolist() == [[0.5, 0.25], [0.75, 0.25]]


def test_runs_of_one_name_go_by_their_files(tmp_path: Path) -> None:
    text = trec_eval({"map": {"1": 0.5, "2": 0.25}}, "mine")
    assert read_scores(folder(tmp_path, "x", bm25__eval=text, dense__eval=text)).systems == ("bm25", "dense")


@pytest.mark.parametrize("output", ["tsv", "jsonl"])
@pytest.mark.parametrize("summary", [(), ("-n",)])
def test_what_ir_measures_prints_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, summary: tuple[str, ...]
) -> None:
    main = pytest.importorskip("ir_measures.__main__").main_cli
    (tmp_path / "q").write_text("1 0 d1 1\n2 0 d2 1\n")
    (tmp_path / "r").write_text("1 Q0 d1 1 2 run\n2 Q0 d1 1 2 run\n2 Q0 d2 2 1 run\n")
    files = [str(tmp_path / one) for one in "qr"]
    monkeypatch.setattr("sys.argv", ["ir_measures", *files, "AP", "P@1", "-q", "-o", output, *summary])
    printed = io.StringIO()
    with redirect_stdout(printed):
        main()
    table = read_scores(folder(tmp_path, "x", **{f"run__{output}": printed.getvalue()}), "AP")
    assert (table.systems, table.topics, table.values.tolist()) == (("run",), ("1", "2"), [[1.0, 0.5]])


def test_metrics_of_nuggetizer_are_read_without_their_mean(tmp_path: Path) -> None:
    records = [
        {"qid": one, "strict_vital_score": 0.5, "vital_score": score} for one, score in (("1", 0.25), ("2", 1.0))
    ]
    text = "".join(json.dumps(one) + "\n" for one in [*records, {"qid": "all", "vital_score": 0.625}])
    table = read_scores(folder(tmp_path, "x", gpt__jsonl=text), "vital_score")
    assert (table.systems, table.topics, table.values.tolist()) == (("gpt",), ("1", "2"), [[0.25, 1.0]])


def test_scores_of_auto_argue_are_a_table_with_measures(tmp_path: Path) -> None:
    path = tmp_path / "run.scores.tsv"
    lines = ["run_id\trequest_id\tmetric\tvalue", "a\tall\tf1_macro\t0.3", "a\t1\tf1\t0.25", "a\t1\tcitations\t7"]
    path.write_text("\n".join(lines) + "\n")
    table = read_scores(path, "f1")
    assert (table.systems, table.topics, table.values.tolist()) == (("a",), ("1",), [[0.25]])
    with pytest.raises(ValueError, match=r"3 measures .f1_macro, f1, citations.; wanted --measure"):
        read_scores(path)


def test_leaderboards_of_two_tools_are_compared_by_a_measure_of_each(tmp_path: Path) -> None:
    theirs = {
        f"{name}__txt": trec_eval({"map": {"1": one, "2": one}}, name)
        for name, one in zip("abc", (0.1, 0.2, 0.3), strict=True)
    }
    ours = {
        f"{name}__tsv": f"1\tP@5\t{one}\n2\tP@5\t{one}\nall\tP@5\t{one}\n"
        for name, one in zip("abc", (3, 2, 1), strict=True)
    }
    words = (folder(tmp_path, "a", **theirs), folder(tmp_path, "b", **ours), "--measure", "map", "--measure", "P@5")
    found = json.loads(ragexam_here("grade", "leaderboard", *words, "--json").stdout)
    assert found["n"] == 3
    assert found["kendall"]["estimate"] == -1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("map 1 0.5 x\n", "x/a.txt:1: 4 columns; wanted 3 as of trec_eval -q"),
        ("map                   \tall\t0.5\n", "x/a.txt: has no scores of single topics; wanted per-query output (-q)"),
        ("map                   \t1\tmuch\n", 'x/a.txt:1: map "much"; wanted a number'),
        ("map                   \t1\t0.5\n" * 2, "x/a.txt:2: map of topic 1 stands twice; wanted one system"),
        ("map                   \t1\t0.5\nP_5                   \t1\t0.5\n", "2 measures (map, P_5); wanted --measure"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        read_scores(folder(tmp_path, "x", a__txt=text))


def test_a_measure_that_a_file_lacks_is_named_with_the_file(tmp_path: Path) -> None:
    path = folder(tmp_path, "x", a__txt=trec_eval({"map": {"1": 0.5, "2": 1}}, "a"))
    with pytest.raises(ValueError, match=r"a\.txt: no measure 'ndcg'; found map"):
        read_scores(path, "ndcg")


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no files; wanted the per-query output"):
        read_scores(folder(tmp_path, "x"))


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the files of trec_eval's own tests are not here")
def test_the_published_output_of_trec_eval_is_read(tmp_path: Path) -> None:
    text = (PUBLISHED / "out.test.aq").read_text()
    table = read_scores(folder(tmp_path, "x", a__txt=text), "map")
    assert (table.systems, table.topics) == (("STANDARD",), ("301", "302", "303"))
    assert table.values.tolist() == [[0.0324, 0.4175, 0.0858]]
    # The published mean is of unrounded values.
    assert float(table.means[0]) == pytest.approx(0.1785, abs=1e-4)


METRICS = SHARED / "data" / "rag24_nuggets" / "data" / "metrics"


@pytest.mark.skipif(not METRICS.is_dir(), reason="the metrics of TREC RAG 2024 are not here")
def test_the_published_metrics_of_nuggetizer_come_to_their_published_means() -> None:
    table = read_scores(METRICS, "vital_score")
    assert sorted(round(float(one), 6) for one in table.means) == [0.469904, 0.477864, 0.481096]
