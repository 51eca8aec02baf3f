"""Tables on disk: what is accepted, and the one line that refuses the rest."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import irt

LONG = "student,item,score,retriever\nx,q1,1,bm25\nx,q2,0,bm25\ny,q1,,dense\ny,q2,1,dense\n"


def written(folder: Path, text: str, name: str = "r.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_long_table_keeps_first_appearance_and_empty_means_not_asked(tmp_path: Path) -> None:
    data = irt.read_responses(written(tmp_path, LONG))
    assert data.students == ("x", "y")
    assert data.items == ("q1", "q2")
    np.testing.assert_array_equal(data.scores, [[1, 0], [np.nan, 1]])
    assert irt.levels(data, "retriever") == ("bm25", "dense")


def test_wide_table_equals_the_long_one(tmp_path: Path) -> None:
    wide = irt.read_responses(written(tmp_path, "student,q1,q2\nx,1,0\ny,,1\n"))
    long = irt.read_responses(written(tmp_path, LONG, "l.csv"), facets=[])
    np.testing.assert_array_equal(wide.scores, long.scores)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_a_written_table_reads_back_the_same(tmp_path: Path, suffix: str) -> None:
    data = irt.simulate(None, 7, facets={"llm": 2, "retriever": 3}, seed=1, trials=4, missing=0.2).data
    irt.write_responses(data, tmp_path / f"r.{suffix}")
    again = irt.read_responses(tmp_path / f"r.{suffix}")
    np.testing.assert_array_equal(again.scores, data.scores)
    np.testing.assert_array_equal(again.attempts, data.attempts)
    assert again.students == data.students
    assert again.facets is not None
    assert data.facets is not None
    assert again.facets.equals(data.facets)


def test_agreeing_duplicates_count_once_and_are_noted(tmp_path: Path) -> None:
    data = irt.read_responses(written(tmp_path, LONG + "x,q1,1,bm25\n"))
    assert data.scores[0, 0] == 1
    assert data.notes == ("1 repeated (student, item) rows agreed and were counted once.",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LONG.replace("q2,0", "q2,x"), r"r\.csv:3: score 'x' is not 0, 1 or empty"),
        (LONG.replace("q2,0", "q2,2"), r"r\.csv:3: score '2' is not 0, 1 or empty"),
        (LONG.replace("q2,0", "q2,nan"), r"r\.csv:3: score 'nan' is not 0, 1 or empty"),
        (LONG + "x,q2,1,bm25\n", r"r\.csv:6: student 'x', item 'q2' has score '1', line 3 says '0'"),
        (LONG.replace("0,bm25", "0,dense"), r"r\.csv:3: student 'x' has retriever 'dense', earlier 'bm25'"),
        (LONG.replace("0,bm25", "0,"), r"r\.csv:3: student 'x' has no value of facet 'retriever'"),
        (LONG.replace("y,q2,1", "y,q2,"), r"r\.csv: student 'y' has no answers"),
        (LONG.replace("x,q1,1", "x,q1,"), r"r\.csv: item 'q1' has no answers"),
        ("student,item,score\nx,q1,1\nx,q2,0\n", r"r\.csv: only 1 student; at least 2"),
        ("student,item,score\nx,q1,1\ny,q1,0\n", r"r\.csv: only 1 item; at least 2"),
        ("student,item,score\n", r"r\.csv: no answers below the header"),
        ("item,score\nq1,1\n", r"r\.csv:1: column 'student' is missing"),
        ("student,item,score,trials\nx,q1,3,2\n", r"r\.csv:2: score '3' is not a whole number from 0 to its trials"),
        ("student,item,score,trials\nx,q1,1,0\n", r"r\.csv:2: trials '0' is not a whole number of at least 1"),
        ("student,q1,q2\nx,1,0\nx,1,1\n", r"r\.csv:3: student 'x' appears twice"),
        ("q1,q2\n1,0\n0,1\nx,1\n1,1\n", r"r\.csv:4: column 'q1': score 'x' is not 0, 1 or empty$"),
        ("q1,q2\n1,0\n0,1\n3,1\n1,1\n0,1\n", r"r\.csv:4: column 'q1': score '3' is not 0, 1 or empty \(ratings"),
        ("student,q1,q2\nx,1,0\ny,2,1\n", r"r\.csv:3: column 'q1': score '2' is not 0, 1 or empty"),
        (
            "student,llm,q1\nx,m,0\ny,n,1\n",
            r"r\.csv:2: column 'llm': score 'm' is not .*: name it .* --facets, or remove",
        ),
        ("name,q1,q2\nann,1,0\nbob,1,1\nann,1,1\n", r"r\.csv:4: student 'ann' appears twice \(the first column"),
        ("id number,q1,q2\n7,1,0\n8,1,1\n9,0,1\n7,1,1\n", r"r\.csv:5: student '7' appears twice"),
        ("student,item,score\n,q1,1\n", r"r\.csv:2: student is empty"),
        ("student,item,score\nx,q1,1\nx,q1,1,7,9\n", r"r\.csv:3: 5 cells; wanted 3, as in the header$"),
        ("", r"r\.csv: not a readable CSV"),
        ("\n\n", r"r\.csv: not a readable CSV \(no header\)"),
        (
            "student;item;score\nx;q1;1\n",
            r"r\.csv:1: one column, 'student;item;score'; wanted columns separated by commas",
        ),
        ("student,q1,q1\nx,1,0\n", r"r\.csv:1: column 'q1' appears twice"),
        ("student,item,score,score\nx,q1,1,1\n", r"r\.csv:1: column 'score' appears twice"),
        ("student,q1,,q2\nx,1,0,1\n", r"r\.csv:1: column 3 has no name"),
        ("student,q1,q2\nx,1,0\ny,1\n", r"r\.csv:3: 2 cells; wanted 3, as in the header"),
        ("student,q1,q2\nx,1,0,1\ny,0,1,1\n", r"r\.csv:2: 4 cells; wanted 3, as in the header"),
        ("student,item,score\nx,q1,1,1\ny,q1,0,1\n", r"r\.csv:2: 4 cells; wanted 3, as in the header"),
        ('student,q1,q2\n"x,1,0\ny,0,1\n', r"r\.csv: not a readable CSV"),
        (LONG.replace("q2,0", "q2,True"), r"r\.csv:3: score 'True' is not 0, 1 or empty"),
        (
            LONG.replace("q2,0", "q2,nan"),
            r"r\.csv:3: score 'nan' is not 0, 1 or empty \(not asked is an empty cell or NA",
        ),
        ("student,q1,q2\nx,1,nan\ny,0,1\n", r"r\.csv:2: column 'q2': score 'nan' is not .* \(not asked is an empty"),
        (LONG.replace("q2,0", "q2,inf"), r"r\.csv:3: score 'inf' is not 0, 1 or empty"),
        (
            "student,item,score,trials\nx,q1,1,1e300\n",
            r"r\.csv:2: trials '1e300' is not .* at most 1000000",
        ),
    ],
)
def test_bad_tables_are_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        irt.read_responses(written(tmp_path, text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("blank", ["NA", " "])
def test_missing_scores_are_read_as_spreadsheets_and_r_write_them(tmp_path: Path, blank: str) -> None:
    long = irt.read_responses(written(tmp_path, LONG + f"z,q1,{blank},bm25\nz,q2,1,bm25\n"))
    wide = irt.read_responses(written(tmp_path, f"student,q1,q2\nx,1,0\nz,{blank},1\n"))
    for data in (long, wide):
        assert np.isnan(data.scores[-1, 0])
        assert data.scores[-1, 1] == 1


def test_rows_of_scores_alone_are_numbered_and_said(tmp_path: Path) -> None:
    data = irt.read_responses(written(tmp_path, '"q1","q2"\n0,1\n1,NA\n1,0\n'))
    assert (data.students, data.items) == (("1", "2", "3"), ("q1", "q2"))
    np.testing.assert_array_equal(data.scores, [[0, 1], [1, np.nan], [1, 0]])
    assert data.notes == ("No column names the students; rows are numbered from 1.",)
    named = irt.read_responses(written(tmp_path, "student,q1,q2\n0,1,0\n1,0,1\n"))
    assert (named.students, named.notes) == (("0", "1"), ())
    one = irt.read_responses(written(tmp_path, "q1,q2\n0,1\n"), for_scoring=True, items=("q2", "q1"))
    assert (one.students, one.items, one.notes) == (("1",), ("q1", "q2"), data.notes)
    with pytest.raises(ValueError, match="student '1' appears twice"):
        irt.read_responses(written(tmp_path, "student,q1,q2\n0,1,0\n1,0,1\n1,1,1\n"))


def test_an_unknown_facet_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"r\.csv:1: unknown facet 'llm'"):
        irt.read_responses(written(tmp_path, LONG), facets=["llm"])


def test_a_missing_or_undecodable_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file"):
        irt.read_responses(tmp_path / "none.csv")
    (tmp_path / "bad.csv").write_bytes(b"student,item,score\n\xff,q,1\n")
    with pytest.raises(ValueError, match="not UTF-8"):
        irt.read_responses(tmp_path / "bad.csv")


def test_selection_keeps_ids_with_their_answers() -> None:
    data = irt.simulate(None, 5, facets={"llm": 3}, seed=0).data
    part = data.select(["q3", "q0"]).select_students(["llm2", "llm0"])
    np.testing.assert_array_equal(part.scores, data.scores[np.ix_([2, 0], [3, 0])])
    with pytest.raises(ValueError, match="unknown item 'zz'"):
        data.select(["zz"])
    with pytest.raises(ValueError, match="unknown student 'zz'"):
        data.select_students(["zz"])


def test_a_matrix_refuses_impossible_content() -> None:
    with pytest.raises(ValueError, match="student 'x', item 'q1': score 2 is not 0, 1 or NaN"):
        irt.ResponseMatrix(np.array([[2.0]]), ("x",), ("q1",))
    with pytest.raises(ValueError, match="item 'q' appears twice"):
        irt.ResponseMatrix(np.zeros((1, 2)), ("x",), ("q", "q"))
    with pytest.raises(ValueError, match=r"scores have shape \(1, 2\); wanted \(2, 2\)"):
        irt.ResponseMatrix(np.zeros((1, 2)), ("x", "y"), ("p", "q"))


def test_a_table_of_many_columns_is_read_like_any_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = rng.choice(["0", "1", ""], (5, 2050), p=[0.4, 0.5, 0.1])
    names = [f"q{index}" for index in range(scores.shape[1])]
    lines = [",".join(["student", *names]), *(f"s{row}," + ",".join(cells) for row, cells in enumerate(scores))]
    broad, narrow = tmp_path / "broad.csv", tmp_path / "narrow.csv"
    broad.write_text("\n".join(lines) + "\n\n")
    narrow.write_text("\n".join(",".join(line.split(",")[:100]) for line in lines) + "\n")
    found, some = irt.read_responses(broad), irt.read_responses(narrow)
    assert found.scores.shape == scores.shape
    assert found.students == some.students
    np.testing.assert_array_equal(found.scores[:, :99], some.scores)
    broad.write_text("\n".join([*lines, "s9,1"]))
    with pytest.raises(ValueError, match=r"broad\.csv:7: 2 cells; wanted 2051, as in the header"):
        irt.read_responses(broad)
    lines[3] = lines[3].replace("s2,", "s2,x", 1)
    broad.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"broad\.csv:4: column 'q0': score 'x"):
        irt.read_responses(broad)


def test_a_data_frame_is_read_like_the_file_it_would_be_written_to(tmp_path: Path) -> None:
    data = irt.simulate(None, 6, facets={"llm": 2, "icl": 3}, seed=1).data
    scores = data.scores.copy()
    scores[0, 2] = np.nan
    data = replace(data, scores=scores)
    irt.write_responses(data, tmp_path / "long.csv")
    long = pd.read_csv(tmp_path / "long.csv")
    wide = pd.DataFrame(data.scores, columns=list(data.items), index=pd.Index(data.students, name="student"))
    for table in (long, long.astype({"llm": "category"}), long.set_index(["student", "item"])):
        read = irt.read_responses(table)
        assert (read.students, read.items) == (data.students, data.items)
        np.testing.assert_array_equal(read.scores, data.scores)
        assert read.facets is not None
        pd.testing.assert_frame_equal(read.facets, data.facets)
    for table in (wide, wide.reset_index()):
        np.testing.assert_array_equal(irt.read_responses(table).scores, data.scores)
    long.loc[4, "score"] = 3
    with pytest.raises(ValueError, match="DataFrame:5: score '3' is not 0, 1 or empty"):
        irt.read_responses(long)
    with pytest.raises(ValueError, match="DataFrame:1: column 'q1' appears twice"):
        irt.read_responses(wide.rename(columns={"q0": "q1"}))


def test_one_student_is_enough_to_be_scored(tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("student,q0,q1,q2\nnew,1,,0\n")
    with pytest.raises(ValueError, match="only 1 student"):
        irt.read_responses(path)
    assert irt.read_responses(path, for_scoring=True).asked.tolist() == [[True, False, True]]
