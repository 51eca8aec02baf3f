"""Labels under two banks: the definition by hand, and what grades cannot say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from grading._records import BankQuestion, Grade, KeyAnswer
from grading.banks._label_changes import LabelChange, bank_difference, label_changes
from grading.formats._grades import ReadGrades
from grading.scores._cover import exam_labels

A, B, C = (BankQuestion(name, "q", f"What is {name}?", (KeyAnswer(name),)) for name in "abc")
GRADES = [
    *(Grade("q", "p1", question, grade) for question, grade in (("a", 5), ("b", 3), ("c", 1))),
    *(Grade("q", "p2", question, grade) for question, grade in (("a", 2), ("b", 4), ("c", 4))),
    *(Grade("q", "p3", question, grade) for question, grade in (("a", 1), ("b", math.nan), ("c", 1))),
]


def changed(
    before: tuple[BankQuestion, ...], after: tuple[BankQuestion, ...], tau: float | None = None
) -> list[LabelChange]:
    return list(label_changes(before, after, GRADES, tau).changes)


def test_retiring_the_question_a_passage_answers_best_lowers_its_label() -> None:
    assert changed((A, B, C), (B, C)) == [LabelChange("q", "p1", 5, 3)]
    assert changed((A, B, C), (A, C)) == []
    assert changed((A, C), (A, B, C)) == []


def test_with_tau_only_crossings_count() -> None:
    assert changed((A, B, C), (B, C), tau=3) == []
    assert changed((A, B, C), (B, C), tau=4) == [LabelChange("q", "p1", 5, 3)]


def test_a_grade_of_a_changed_question_holds_no_more() -> None:
    found = label_changes((A, B), (replace(A, question="What is a now?"), B), GRADES)
    assert found.edits.changed == (("q", "a"),)
    assert found.changes[0] == LabelChange("q", "p1", 5, 3)
    assert (found.changes[1].passage, found.changes[1].before) == ("p3", 1)
    assert math.isnan(found.changes[1].after)
    assert found.ungraded == (("q", "p1", "a"), ("q", "p2", "a"), ("q", "p3", "a"))


def test_a_label_that_is_missing_has_its_reason() -> None:
    """By definition: the query left the bank, the grade is of another wording, the reply fits no rule."""
    other = BankQuestion("z", "other", "What is z?")
    assert [(one.passage, one.before, one.why) for one in changed((A,), (other,))] == [
        ("p1", 5, "not asked"), ("p2", 2, "not asked"), ("p3", 1, "not asked"),
    ]  # fmt: skip
    assert [one.why for one in changed((other,), (A,))] == ["not asked"] * 3
    assert [one.why for one in changed((A,), (replace(A, question="And now?"),))] == ["not graded"] * 3
    assert [(one.passage, one.why) for one in changed((A,), (B,))] == [("p1", ""), ("p2", ""), ("p3", "unparsed")]


def test_an_added_question_without_grades_leaves_the_labels_open() -> None:
    new = BankQuestion("new", "q", "What is new?")
    found = label_changes((A,), (A, new), GRADES)
    assert found.changes == ()
    assert found.ungraded == (("q", "p1", "new"), ("q", "p2", "new"), ("q", "p3", "new"))


def test_grades_of_other_questions_are_counted_and_left_out() -> None:
    found = label_changes((A,), (A,), GRADES)
    assert (found.passages, found.foreign) == (3, 6)


def test_sub_topic_and_spaces_are_no_change_and_key_and_combine_are() -> None:
    two = replace(A, answers=(*A.answers, KeyAnswer("z")))
    assert bank_difference((A,), (replace(A, subtopic="s", question="What  is a?"),)) == ((), (), ())
    assert bank_difference((A,), (two,)).changed == (("q", "a"),)
    assert bank_difference((two,), (replace(two, combine="and"),)).changed == (("q", "a"),)


def test_labels_are_those_that_qrels_are_made_of() -> None:
    """The second implementation: EXAM-Label of the grades of either bank's questions."""
    rng = np.random.default_rng(1)
    bank = tuple(BankQuestion(f"r{n}", "q", f"What is {n}?") for n in range(6))
    kept = bank[:3]
    grades = [Grade("q", f"p{p}", one.id, float(rng.integers(0, 6))) for p in range(40) for one in bank]
    before = exam_labels(ReadGrades(tuple(grades))).best["q"]
    names = {one.id for one in kept}
    after = exam_labels(ReadGrades(tuple(one for one in grades if one.question in names))).best["q"]
    found = label_changes(bank, kept, grades)
    assert {one.passage: (one.before, one.after) for one in found.changes} == {
        name: (before[name], after[name]) for name in before if before[name] != after[name]
    }
    assert len(found.changes) > 5


@pytest.mark.parametrize("tau", [math.nan, math.inf, 0.0])
def test_a_tau_that_nothing_or_everything_reaches_is_refused(tau: float) -> None:
    with pytest.raises(ValueError, match=r"tau: .*; wanted above 0, the grade for no answer, and finite"):
        changed((A, B), (A,), tau)
