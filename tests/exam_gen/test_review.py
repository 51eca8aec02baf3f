import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exam_gen.review import Edit, Review, apply_edits
from exam_gen.review._edits import read_edits
from exam_gen.review._review_state import entries
from examcore import Dropped, Exam, Question, locked_log

TIME = "2026-01-02T03:04:05+00:00"
EXAM = Exam(tuple(Question(f"q{n}", f"Stem {n}?", ("a", "b", "c"), n % 3, chunk_id=f"c{n}") for n in range(4)))
DROPPED = (
    Dropped("answer leak: 2 words", "raw text", "c7", Question("d1", "Dropped?", ("x", "y", "z", "v"), 0)),
    Dropped("duplicate choices: 1 of 2", "raw", "c8", Question("d2", "Twice?", ("same", "same"), 1)),
    Dropped("unparsable: empty", "no question here", "c9"),
)


def done(*actions: Sequence[object], exam: Exam = EXAM, dropped: Sequence[Dropped] = DROPPED) -> list[Edit]:
    """The edits of `(question, action[, content or reason])` in turn."""
    review = Review.of(exam, dropped)
    for question, action, *rest in actions:
        content = rest[0] if rest and isinstance(rest[0], dict) else None
        reason = rest[0] if rest and isinstance(rest[0], str) else ""
        review.record(review.propose(str(question), str(action), TIME, content=content, reason=reason))
    return review.edits


def test_without_edits_nothing_changes() -> None:
    exam, dropped = apply_edits(EXAM, DROPPED, [])
    assert exam == EXAM
    assert exam.hash == EXAM.hash
    assert [one.reason for one in dropped] == [one.reason for one in DROPPED]


def test_accepting_everything_leaves_the_exam_as_it_is() -> None:
    exam, dropped = apply_edits(EXAM, DROPPED, done(*((one, "accept") for one in entries(EXAM, DROPPED))))
    assert exam.hash == EXAM.hash
    assert len(dropped) == 3


def test_a_retired_question_moves_to_the_dropped_with_its_reason() -> None:
    exam, dropped = apply_edits(EXAM, DROPPED, done(("q1", "retire", "wrong key")))
    assert exam.ids == ("q0", "q2", "q3")
    assert dropped[0] == Dropped("retired: wrong key", "", "c1", EXAM.questions[1])
    assert exam.hash == EXAM.select(["q0", "q2", "q3"]).hash


def test_an_edited_question_gets_a_new_id_and_says_what_was_changed() -> None:
    edits = done(("q1", "edit", {"question": "Better stem?", "choices": ["a", "b", "d"], "answer": 1}))
    exam, _ = apply_edits(EXAM, DROPPED, edits)
    found = exam.questions[1]
    assert (found.stem, found.choices, found.key) == ("Better stem?", ("a", "b", "d"), 1)
    assert found.id.startswith("q1~")
    assert found.metadata["edited"] == {"from": "q1", "fields": ["question", "choices"]}
    assert found.chunk_id == "c1"
    assert exam.hash != EXAM.hash
    assert edits[0].before == {"question": "Stem 1?", "choices": ["a", "b", "c"], "read": False}


def test_different_wordings_have_different_ids_and_the_first_wording_its_own() -> None:
    ids = {apply_edits(EXAM, (), done(("q1", "edit", {"answer": key}), dropped=())).exam.ids[1] for key in (0, 2)}
    assert len(ids | {"q1"}) == 3
    back = done(("q1", "edit", {"question": "Other?"}), ("q1", "edit", {"question": "Stem 1?"}))
    assert apply_edits(EXAM, DROPPED, back).exam == EXAM


def test_a_restored_question_comes_behind_the_others_with_its_choices_shuffled() -> None:
    exam, dropped = apply_edits(EXAM, DROPPED, done(("d1", "restore")))
    found = exam.questions[-1]
    assert exam.ids == (*EXAM.ids, "d1")
    assert found.answer == "x"
    assert sorted(found.choices) == ["v", "x", "y", "z"]
    assert found.metadata["restored"] == "answer leak: 2 words"
    assert [one.reason for one in dropped] == [one.reason for one in DROPPED[1:]]
    many = tuple(replace(DROPPED[0], question=Question(f"d{n}", "S?", ("x", "y", "z", "v"), 0)) for n in range(200))
    restored = apply_edits(EXAM, many, done(*((f"d{n}", "restore") for n in range(200)), dropped=many)).exam
    at = [one.key for one in restored.questions[4:]]
    assert all(30 <= at.count(position) <= 70 for position in range(4))


def test_a_retired_question_that_is_restored_stands_where_it_stood() -> None:
    edits = done(("q1", "retire"), ("q1", "restore"))
    assert apply_edits(EXAM, DROPPED, edits).exam == EXAM


def test_a_dropped_question_is_restored_only_with_choices_that_an_exam_may_ask() -> None:
    with pytest.raises(ValueError, match=r"edit 1 \(question 'd2'\): choice \"same\" stands twice"):
        done(("d2", "restore"))
    mended = done(("d2", "edit", {"choices": ["same", "other"]}), ("d2", "restore"))
    assert apply_edits(EXAM, DROPPED, mended).exam.questions[-1].answer == "other"
    raw = list(entries(EXAM, DROPPED))[-1]
    for action in ("restore", "edit"):
        with pytest.raises(ValueError, match="only its raw text is left"):
            done((raw, action))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([("nobody", "accept")], "neither in the exam nor among the dropped"),
        ([("q1", "restore")], "already in the exam; restore was wanted"),
        ([("d1", "retire")], "already out of the exam; retire was wanted"),
        ([("q1", "undo")], "nothing to undo"),
        ([("q1", "accept"), ("q1", "accept")], "accept changes nothing"),
        ([("q1", "destroy")], "'destroy': unknown; wanted one of accept, edit, retire, restore, undo"),
        ([("q1", "edit", {"context": "other"})], "no field 'context' to edit"),
        ([("q1", "edit", {"choices": ["a"]})], "choices are 1; wanted at least 2"),
        ([("q1", "edit", {"choices": ["a", " "]})], "choice 1 is blank"),
        ([("q1", "edit", {"choices": "ab"})], "choices is JSON string; wanted list"),
        ([("q1", "edit", {"choices": ["a", 3]})], "choices hold something else; wanted strings"),
        ([("q1", "edit", {"answer": 3})], "answer is 3; wanted the index of a choice"),
        ([("q2", "edit", {"answer": True})], "answer is JSON boolean"),
        ([("q1", "edit", {"question": " "})], "the question is blank"),
        ([("q1", "edit", {"question": None})], "question is JSON null"),
    ],
)
def test_what_makes_no_sense_is_refused(actions: list[tuple[object, ...]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        done(*actions)


actions = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["q0", "q1", "d1", "d2"]), st.sampled_from(["accept", "retire", "restore", "undo"])),
        st.tuples(
            st.sampled_from(["q0", "q1", "d1"]),
            st.just("edit"),
            st.fixed_dictionaries(
                {}, optional={"question": st.sampled_from(["A?", "B?"]), "answer": st.integers(0, 2)}
            ),
        ),
    ),
    max_size=25,
)


@given(actions)
def test_undoing_everything_leads_back_and_the_log_says_all(wanted: list[tuple[object, ...]]) -> None:
    review = Review.of(EXAM, DROPPED)
    for question, action, *content in wanted:
        try:
            review.record(review.propose(str(question), str(action), TIME, content=content[0] if content else None))  # type: ignore[arg-type]
        except ValueError:
            continue
    again = Review.of(EXAM, DROPPED, [Edit(**json.loads(json.dumps(vars(one)))) for one in review.edits])
    assert again.standings == review.standings
    while review.last is not None:
        review.record(review.propose(review.last.question, "undo", TIME))
    assert review.standings == Review.of(EXAM, DROPPED).standings
    assert apply_edits(EXAM, DROPPED, review.edits).exam == EXAM


def test_an_undo_is_of_the_last_edit_in_force() -> None:
    review = Review.of(EXAM, DROPPED)
    for question, action in (("q0", "accept"), ("q1", "retire"), ("q0", "retire")):
        review.record(review.propose(question, action, TIME))
    review.record(review.propose("q0", "undo", TIME))
    assert review.edits[-1].undoes == 3
    assert review.last is not None
    assert review.last.number == 2
    assert review.standings["q0"]["reason"] is None
    assert review.standings["q0"]["read"] is True


def test_edits_of_another_exam_are_refused() -> None:
    edits = done(("q1", "edit", {"question": "Better?"}))
    other = Exam((Question("q1", "Another stem?", ("a", "b", "c"), 1),))
    with pytest.raises(
        ValueError, match=r"edit 1 .*question was \"Stem 1\?\" then; wanted the \"Another stem\?\" of now"
    ):
        apply_edits(other, (), edits)
    with pytest.raises(ValueError, match=r"edit 2 .*wanted number 1"):
        apply_edits(EXAM, DROPPED, [replace(edits[0], number=2)])
    with pytest.raises(ValueError, match=r"accept changes answer; wanted some of read"):
        apply_edits(EXAM, DROPPED, [Edit(1, TIME, "q1", "accept", {"answer": 1}, {"answer": 2})])
    with pytest.raises(ValueError, match=r"reason is null; wanted none to restore, some to retire"):
        apply_edits(EXAM, DROPPED, [Edit(1, TIME, "d1", "retire", {"reason": DROPPED[0].reason}, {"reason": None})])
    forged = Edit(2, TIME, "q1", "undo", {}, {"answer": 2}, undoes=1)
    with pytest.raises(ValueError, match=r"edit 2 .*undoes 1; wanted 1, with what stood before it"):
        apply_edits(EXAM, DROPPED, [*edits, forged])


def test_ids_that_stand_twice_are_told_apart() -> None:
    twice = Question("q1", "Other?", ("a", "b"), 0)
    lost = [Dropped("one", "r", "c", twice), Dropped("two", "r", "c", twice), Dropped("raw", "r"), Dropped("raw", "r")]
    assert list(entries(EXAM, lost))[4:6] == ["q1~2", "q1~3"]
    assert len(entries(EXAM, lost)) == 8
    exam, _ = apply_edits(EXAM, lost, done(("q1~3", "restore"), dropped=lost))
    assert exam.ids == (*EXAM.ids, "q1~3")


def test_the_log_file_says_what_the_edits_say(tmp_path: Path) -> None:
    path = tmp_path / "edits.jsonl"
    edits = done(("q1", "edit", {"question": "\ud800?"}), ("q1", "undo"), ("d1", "restore"))
    with locked_log(path) as pen:
        for edit in edits:
            pen.append(edit.fields)
    assert read_edits(path) == edits


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": "1"}, "number is JSON string; wanted a whole number"),
        ({"after": []}, "after is JSON list; wanted an object"),
        ({"action": "burn"}, 'action is "burn"; wanted one of accept'),
        ({"action": "undo"}, "undoes is null; wanted the number of an edit"),
        ({"undoes": 3}, "undoes is 3; wanted the number of an edit, for undo only"),
    ],
)
def test_a_line_that_is_no_edit_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "edits.jsonl"
    line = {"number": 1, "time": TIME, "question": "q1", "action": "accept", "before": {}, "after": {}}
    path.write_text(json.dumps(line | change) + "\n")
    with pytest.raises(ValueError, match=rf"edits\.jsonl:1: {message}"):
        read_edits(path)
