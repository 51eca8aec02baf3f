"""What is said in JSON is JSON, and files of labels are read or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from irt.commands.review import chosen_options, labels
from irt.commands.said import finite, rows, text, write_tables


def test_what_is_empty_or_infinite_becomes_null() -> None:
    record = finite({"a": np.inf, "b": pd.NA, "c": np.float64(1.5), "d": np.int64(2), "e": np.bool_(True), "f": "x"})
    assert json.loads(json.dumps(record)) == {"a": None, "b": None, "c": 1.5, "d": 2, "e": True, "f": "x"}
    table = pd.DataFrame({"p": pd.array([0.5, None], dtype="Float64")})
    assert rows(table) == [{"p": 0.5}, {"p": None}]
    assert "NA" not in text(table)


def test_tables_get_names_that_are_file_names(tmp_path: Path) -> None:
    write_tables(tmp_path / "new", {"item fit": pd.DataFrame({"x": [1]}), "dif a/b": pd.DataFrame({"x": [1]})})
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["dif-a-b.csv", "item-fit.csv"]


def test_labels_are_read_by_column(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item, group\nq1,law\nq1,law\nNA,01\n")
    assert labels(path, "group") == {"q1": "law", "NA": "01"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,topic\nq1,law\n", r"labels\.csv:1: no column 'group'; a table item,group was wanted"),
        ("item,group\n\nq1,law\nq1,art\n", r"labels\.csv:4: item 'q1' is 'art' here and 'law' above"),
        ("item,group\nq1,\n", r"labels\.csv:2: group is empty \('q1,'\); a row item,group was wanted"),
        ("item,group\n,law\n", r"labels\.csv:2: item is empty \(',law'\); a row item,group was wanted"),
        ("item,group\nq1,law,x\n", r"labels\.csv:2: 3 cells; 2, as in the header, were wanted"),
        ("item,group\nq2,law\n", r"labels\.csv: item 'q1' has no group; a row item,group for every item was wanted"),
        ("", r"labels\.csv: not a readable CSV"),
    ],
)
def test_broken_labels_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        labels(path, "group", ["q1"])


def test_chosen_options_are_text_by_student(tmp_path: Path) -> None:
    path = tmp_path / "options.csv"
    path.write_text("student,q1,q2\ns1,1,\ns2,02,B\n")
    assert chosen_options(path).loc[["s2"]].to_numpy().tolist() == [["02", "B"]]
    with pytest.raises(FileNotFoundError, match="no such file; a CSV table of students by items was wanted"):
        chosen_options(tmp_path / "none.csv")
