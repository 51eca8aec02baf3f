"""Files of labels and of chosen options are read, or refused in one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import irt
from irt._reading import NUMBERED
from irt.commands._label_files import read_chosen_options, read_labels
from irt.kernels import ItemParameters
from tests.irt.calibrated_fit import calibrated


def test_labels_are_read_by_column(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item, group\nq1,law\nq1,law\nNA,01\n")
    assert read_labels(path, "group") == {"q1": "law", "NA": "01"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,topic\nq1,law\n", r"labels\.csv:1: no column 'group'; wanted a table item,group"),
        ("1,4,1\n", r"labels\.csv:1: no column 'item'; wanted a table item,group, with that header and a line per"),
        ("item,group\n\nq1,law\nq1,art\n", r"labels\.csv:4: item 'q1' is 'art' here and 'law' above"),
        ("item,group\nq1,\n", r"labels\.csv:2: group is empty \('q1,'\); wanted a row item,group"),
        ("item,group\n,law\n", r"labels\.csv:2: item is empty \(',law'\); wanted a row item,group"),
        ("item,group\nq1,law,x\n", r"labels\.csv:2: 3 cells; wanted 2, as in the header"),
        ("item,group\nq2,law\n", r"labels\.csv: item 'q1' has no group; wanted a row item,group for every item"),
        ("", r"labels\.csv: not a readable CSV"),
    ],
)
def test_broken_labels_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_labels(path, "group", ["q1"])


def fitted(students: tuple[str, ...], *notes: str) -> irt.Fit:
    fit = calibrated(ItemParameters(np.ones(2), np.zeros(2), np.zeros(2), np.ones(2)), students=len(students))
    data = replace(fit.data, students=students, items=("q1", "q2"))
    return replace(fit, data=data, notes=notes)


def test_chosen_options_are_text_by_student(tmp_path: Path) -> None:
    path, fit = tmp_path / "options.csv", fitted(("s2", "s1"))
    path.write_text("student,q1,q2\ns1,1,\ns2 ,02,B\ns3,2,2\n")
    found = read_chosen_options(path, fit)
    assert found.index.tolist() == ["s2", "s1"]
    assert found.to_numpy().tolist() == [["02", "B"], ["1", ""]]
    with pytest.raises(FileNotFoundError, match="no such file; wanted a CSV table of students by items"):
        read_chosen_options(tmp_path / "none.csv", fit)


def test_options_without_students_belong_to_the_rows_of_a_table_without_students(tmp_path: Path) -> None:
    path = tmp_path / "options.csv"
    path.write_text("q1,q2\nA,B\nA,C\n")
    numbered = fitted(("1", "2"), NUMBERED)
    assert read_chosen_options(path, numbered).to_dict("index") == {
        "1": {"q1": "A", "q2": "B"},
        "2": {"q1": "A", "q2": "C"},
    }
    with pytest.raises(
        ValueError, match=r"options\.csv:1: the first column is item 'q1'; wanted the students \(1, 2\)"
    ):
        read_chosen_options(path, fitted(("1", "2")))
    with pytest.raises(
        ValueError, match=r"options\.csv: found 2 rows and no column of students; wanted 3 rows, as in the table"
    ):
        read_chosen_options(path, fitted(("1", "2", "3"), NUMBERED))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("student,q1\ns1,A\ns2,A\n", r"options\.csv:1: no column 'q2'; wanted the chosen options of every item"),
        (
            "student,q1,q2\ns1,A,A\n",
            r"options\.csv: no row of student 's2'; wanted one for each student of the fit$",
        ),
        ("student,q1,q2\ns1,A,A\ns2,A,B\n\ns1,B,B\n", r"options\.csv:5: student 's1' appears twice"),
    ],
)
def test_options_that_do_not_cover_the_fit_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "options.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_chosen_options(path, fitted(("s1", "s2")))
    path.write_text("student,q1,q2\na,A,A\nb,A,B\n")
    with pytest.raises(
        ValueError, match=r"no row of student '1'.*; its table names none: leave out 'student' to match"
    ):
        read_chosen_options(path, fitted(("1", "2"), NUMBERED))
