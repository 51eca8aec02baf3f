"""TREC files: what is read, in which order, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.formats._trec import qrels_lines, read_qrels, read_run, read_runs, write_qrels
from tests import shared_data

SHARED = shared_data.SHARED / "data" / "trec_eval_tests" / "test"
trec_eval = pytest.mark.skipif(not SHARED.is_dir(), reason="trec_eval's regression files are not here")


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_qrels_of_beir_and_mtrag_are_read_with_their_header(tmp_path: Path) -> None:
    text = "query-id\tcorpus-id\tscore\ndd6b<::>2\t822_7384-8758-0-1374\t1\ndd6b<::>2\t822_6698\t0\nee<::>1\tx\t2\n"
    found = read_qrels(write(tmp_path / "dev.tsv", text))
    assert found == {"dd6b<::>2": {"822_7384-8758-0-1374": 1, "822_6698": 0}, "ee<::>1": {"x": 2}}
    with pytest.raises(ValueError, match=r"dev\.tsv:2: 4 columns; wanted 3: query-id, corpus-id, score"):
        read_qrels(write(tmp_path / "dev.tsv", "query-id\tcorpus-id\tscore\na\t0\tb\t1\n"))
    with pytest.raises(ValueError, match=r"bare\.tsv:1: 3 columns; wanted 4"):
        read_qrels(write(tmp_path / "bare.tsv", "a\tb\t1\n"))


def test_a_segment_id_with_a_number_sign_stays_whole(tmp_path: Path) -> None:
    segment = "msmarco_v2.1_doc_00_880019750#4_1633802806"
    qrels = write(tmp_path / "q", f"# a comment\n2024-1 0 {segment} 2\n#another\n2024-1\t0\tplain#\t-1\r\n")
    run = write(tmp_path / "r", f"2024-1 Q0 {segment} 1 2.5 mine\n")
    assert read_qrels(qrels) == {"2024-1": {segment: 2, "plain#": -1}}
    assert read_run(run).rankings == {"2024-1": [(segment, 2.5)]}


def test_gzipped_files_are_read(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "q.gz", "wt") as file:
        file.write("1 0 a 1\n")
    assert read_qrels(tmp_path / "q.gz") == {"1": {"a": 1}}


def test_scores_order_a_run_and_ids_break_ties_downwards(tmp_path: Path) -> None:
    run = read_run(write(tmp_path / "r", "1 Q0 a 1 1.0 t\n1 Q0 c 2 2.0 t\n1 Q0 b 3 2.0 t\n1 Q0 d 4 1e-3 t\n"))
    assert run.top("1") == ("c", "b", "a", "d")
    assert run.top("1", 2) == ("c", "b")
    assert run.top("2") == ()
    assert run.name == "t"
    assert any("rank and score disagree for 2 passages in 1 topics" in note for note in run.notes)


def test_ranks_that_agree_with_scores_are_not_remarked_in_any_order_of_lines(tmp_path: Path) -> None:
    run = read_run(write(tmp_path / "r", "1 Q0 b 1 1.0 t\n1 Q0 a 0 2.0 t\n1 Q0 c 2 0.5 t\n"))
    assert run.top("1") == ("a", "b", "c")
    assert run.notes == ()


def test_ties_that_the_ranks_order_otherwise_are_counted(tmp_path: Path) -> None:
    run = read_run(write(tmp_path / "r", "1 Q0 a 1 1.0 t\n1 Q0 b 2 1.0 t\n1 Q0 c 3 0.5 t\n"))
    assert run.top("1") == ("b", "a", "c")
    assert [note.split(": ")[1] for note in run.notes] == [
        "2 passages with tied scores are ordered by id, as in trec_eval, not by rank."
    ]


def test_scores_tie_where_trec_eval_cannot_tell_them_apart(tmp_path: Path) -> None:
    run = read_run(write(tmp_path / "r", "1 Q0 a 1 0.300000012 t\n1 Q0 b 2 0.3 t\n"))
    assert run.top("1") == ("b", "a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0 a\n", r"q:1: 3 columns; wanted 4: topic, iteration, document, grade"),
        ("1 0 a 1 x\n", r"q:1: 5 columns; wanted 4"),
        ("1 0 a 1.0\n", r'q:1: grade "1\.0"; wanted a whole number'),
        ("1 0 a 1\n\n1 0 a 1\n", r'q:3: document "a" stands twice in topic 1; wanted one grade'),
        ("# nothing\n", r"q: has no judgements; wanted lines of topic"),
    ],
)
def test_bad_qrels_are_refused_at_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_qrels(write(tmp_path / "q", text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("   Q0 a 1 2.0 t\n", r"r:1: 5 columns; wanted 6: topic, Q0, document, rank, score, run"),
        ("1 Q0 a first 2.0 t\n", r'r:1: rank "first"; wanted a whole number'),
        ("1 Q0 a 1 high t\n", r'r:1: score "high"; wanted a finite number'),
        ("1 Q0 a 1 nan t\n", r'r:1: score "nan"; wanted a finite number'),
        ("1 Q0 a 1 inf t\n", r'r:1: score "inf"; wanted a finite number'),
        ("1 Q0 a 1 2.0 t\n1 Q0 a 2 1.0 t\n", r'r:2: document "a" stands twice in topic 1; wanted once'),
        ("", r"r: has no lines; wanted lines of topic, Q0"),
    ],
)
def test_bad_runs_are_refused_at_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_run(write(tmp_path / "r", text))


def test_runs_of_one_tag_go_by_their_files(tmp_path: Path) -> None:
    first, second = (write(tmp_path / name, "1 Q0 a 1 1.0 same\n") for name in ("x.run", "y.run"))
    other = write(tmp_path / "z.run", "1 Q0 a 1 1.0 other\n")
    assert [run.name for run in read_runs([first, second, other])] == ["x.run", "y.run", "other"]
    with pytest.raises(ValueError, match=r"a second run named 'x\.run'; wanted distinct tags or file names"):
        read_runs([first, first])


@settings(deadline=None, max_examples=40)
@given(
    st.dictionaries(
        st.from_regex(r"[!-~]{1,8}", fullmatch=True).filter(lambda name: not name.startswith("#")),
        st.dictionaries(st.from_regex(r"[!-~é]{1,8}", fullmatch=True), st.integers(-2, 5), min_size=1),
        min_size=1,
    )
)
def test_qrels_come_back_as_they_were_written(qrels: dict[str, dict[str, int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_qrels(Path(folder) / "q", qrels)
        assert read_qrels(Path(folder) / "q") == qrels


def test_an_id_with_white_space_cannot_be_written() -> None:
    with pytest.raises(
        ValueError, match=r'document "two words": has white space; wanted an id that TREC qrels can hold'
    ):
        list(qrels_lines({"1": {"two words": 1}}))


@trec_eval
def test_segments_of_trec_rag_are_read_whole() -> None:
    qrels = read_qrels(SHARED / "qrels.comment.test")
    assert len(qrels) == 31
    assert sum(map(len, qrels.values())) == 5890
    assert all("#" in document for judged in qrels.values() for document in judged)


@trec_eval
def test_comments_are_left_out_and_nothing_else() -> None:
    plain = read_qrels(SHARED / "qrels.test")
    assert plain["301"].pop("CR93E-1860") == 0
    remarked = read_qrels(SHARED / "qrels.test.with-comments")
    assert remarked["301"].pop("CR#93E-1860") == 0
    assert remarked == plain


@trec_eval
def test_columns_beyond_the_sixth_are_noted() -> None:
    run = read_run(SHARED / "results.trunc")
    assert sum(map(len, run.rankings.values())) == 584
    assert any("5 lines have more than 6 columns" in note for note in run.notes)
    with pytest.raises(ValueError, match=r"prefs\.rank20:1: 5 columns; wanted 6"):
        read_run(SHARED / "prefs.rank20")


@pytest.mark.parametrize("grade", ["2000000000", "-100001", "9" * 5000])
def test_a_grade_that_would_exhaust_the_memory_is_refused(tmp_path: Path, grade: str) -> None:
    with pytest.raises(ValueError, match=r"q:2: grade .*; wanted at most 100000, of either sign"):
        read_qrels(write(tmp_path / "q", f"1 0 a 100000\n1 0 b {grade}\n"))


def test_names_of_a_mixed_run_are_cut_only_where_there_are_more(tmp_path: Path) -> None:
    lines = [f"1 Q0 d{place} {place} {9 - place} tag{place}\n" for place in range(5)]
    assert "holds 2 run names (tag0, tag1); they" in read_run(write(tmp_path / "r", "".join(lines[:2]))).notes[0]
    assert "holds 5 run names (tag0, tag1, tag2 …); they" in read_run(write(tmp_path / "r", "".join(lines))).notes[0]
