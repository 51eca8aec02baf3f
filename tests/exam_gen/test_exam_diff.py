from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from exam_gen import ExamDiff, diff_exams
from examcore import Exam, Question


def question(number: int) -> Question:
    return Question(f"q{number}", f"Which is number {number}?", ("a", "b", f"c{number}"), 2, "d", "d#0", "t", "text")


def exam(*questions: Question) -> Exam:
    return Exam(questions)


def is_empty(found: ExamDiff) -> bool:
    return not (found.added or found.removed or found.changed or found.renamed or found.moved)


def test_an_exam_does_not_differ_from_itself() -> None:
    one = exam(*map(question, range(5)))
    found = diff_exams(one, one)
    assert is_empty(found)
    assert (found.same, found.before) == (5, found.after)


def test_added_removed_changed_and_renamed_questions_are_told_apart() -> None:
    before = exam(*map(question, range(6)))
    after = exam(
        question(0),
        replace(question(1), stem="Which is number one?"),
        replace(question(2), choices=("c2", "a", "b"), key=0),
        replace(question(3), key=0, labels={"bloom": ("apply",)}),
        replace(question(4), id="x4", choices=("C4 ", "b", "a"), key=0),
        question(9),
    )
    found = diff_exams(before, after)
    assert found.added == ("q9",)
    assert found.removed == ("q5",)
    assert found.changed == {
        "q1": ("question",),
        "q2": ("order of choices",),
        "q3": ("answer", "labels"),
    }
    assert found.renamed == {"q4": "x4"}
    assert (found.same, found.moved, is_empty(found)) == (1, False, False)
    assert found.before != found.after


def test_another_order_is_noticed() -> None:
    found = diff_exams(exam(question(0), question(1)), exam(question(1), question(0)))
    assert (found.same, found.moved, is_empty(found)) == (2, True, False)


def test_metadata_does_not_count() -> None:
    assert is_empty(diff_exams(exam(question(0)), exam(replace(question(0), metadata={"model": "m"}))))


def edited(number: int, stem: str) -> Question:
    changed = {"edited": {"from": f"q{number}", "fields": ["question"]}}
    return replace(question(number), id=f"q{number}~{len(stem)}", stem=stem, metadata=changed)


def test_an_edited_question_is_a_changed_one() -> None:
    before = exam(question(0), question(1), question(2))
    after = exam(question(0), edited(1, "Which one is it?"), question(2))
    for found in (diff_exams(before, after), diff_exams(after, before)):
        assert list(found.changed.values()) == [("question",)]
        assert (found.added, found.removed, found.renamed, found.same, found.moved) == ((), (), {}, 2, False)
    assert list(diff_exams(before, after).changed) == ["q1"]


def test_two_edits_of_one_question_are_a_change_of_it() -> None:
    found = diff_exams(exam(edited(1, "Which one is it?")), exam(edited(1, "Which of them is it?")))
    assert found.changed == {"q1~16": ("question",)}
    assert not found.added


def test_an_edited_question_beside_its_original_is_added() -> None:
    found = diff_exams(exam(question(1)), exam(question(1), edited(1, "Which one is it?")))
    assert (found.added, found.changed, found.same) == (("q1~16",), {}, 1)


subsets = st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.booleans()), unique_by=lambda one: one[0])


@given(subsets, subsets)
def test_every_question_of_both_exams_is_accounted_for(
    old: list[tuple[int, bool, bool]], new: list[tuple[int, bool, bool]]
) -> None:
    def build(kinds: list[tuple[int, bool, bool]]) -> Exam:
        made = [question(number) for number, _, _ in kinds]
        made = [
            replace(one, id=f"x{one.id}") if rename else one for one, (_, rename, _) in zip(made, kinds, strict=True)
        ]
        return exam(*(replace(q, topic="u") if change else q for q, (_, _, change) in zip(made, kinds, strict=True)))

    before, after = build(old), build(new)
    found = diff_exams(before, after)
    kept = found.same + len(found.changed) + len(found.renamed)
    assert kept + len(found.removed) == len(before)
    assert kept + len(found.added) == len(after)
    back = diff_exams(after, before)
    assert (set(back.added), set(back.removed)) == (set(found.removed), set(found.added))
    assert {new: old for old, new in found.renamed.items()} == dict(back.renamed)
    assert is_empty(found) == (before.questions == after.questions)
