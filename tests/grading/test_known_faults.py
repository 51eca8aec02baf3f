"""The faults of published code that the manual lists: the test it names is there, passes, and fails with the fault in.

Each fault is written down once more and put in the place of ours; then the named test must fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from rapidfuzz import fuzz

from grading._records import Bank, KeyAnswer
from grading.formats import _bank_files as bank_files
from grading.formats._grades import ReadGrades
from grading.formats._trec import TrecRun
from grading.graders import _graders as graders
from grading.graders._reply_parsing import Parsed, parse_rating
from grading.graders._verification import normalised
from grading.scores import _nuggets as nuggets
from grading.scores._cover import Cover, Covered, cover
from grading.scores._exam_scores import exam_score

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "free-text" / "scores.md"
ROWS = re.findall(r"^\| ([^|`]+) \| `(\w+)` in `([\w/.]+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


class Fault(NamedTuple):
    """A fault: what stands in the place of what, and what the named test is called with."""

    test: str
    name: str
    instead: Callable[..., Any]
    given: tuple[object, ...] = ()
    place: ModuleType | None = None


def inverted(reply: str) -> Parsed:
    """A rating parser that takes "unanswerable" for an answer, and an answer for none."""
    found = parse_rating(reply)
    return found if found.rule == "number" else Parsed(1 - found.grade, found.rule)


def by_ratio(answer: str, key: str) -> bool:
    """A fuzzy ratio above 80 for the rule of a fifth."""
    return fuzz.ratio(normalised(answer), normalised(key)) > 80


def texts_only(value: object, place: str) -> str:
    """A key that must be a text."""
    return value.strip()  # type: ignore[attr-defined,no-any-return]


def characters(record: Any) -> Iterator[KeyAnswer]:
    """The set of a gold answer's characters."""
    value = next(record.fields[name] for name in bank_files.ANSWERS if name in record.fields)
    yield from (KeyAnswer(one) for one in sorted(set(str(value))))


def seen_only(graded: ReadGrades, run: TrecRun, tau: float, k: int = 20, bank: Bank | None = None) -> Cover:
    """The questions seen in the grades for the bank."""
    return cover(graded, run, tau, k, None)


def answered_only(system: str, right: Mapping[str, Mapping[str, bool | None]], bank: Bank) -> Any:
    """The questions answered for the bank, and the queries answered for the queries."""
    return exam_score(system, right, {query: list(asked) for query, asked in right.items()})


def per_facet(graded: ReadGrades, run: TrecRun, tau: float, k: int = 20, bank: Bank | None = None) -> Cover:
    """The first k passages of each facet (what stands before the stroke in a question's id)."""
    found = {}
    for query, asked in graded.questions.items():
        reached = set()
        for facet in {name.partition("/")[0] for name in asked}:
            of = {one.passage for one in graded.grades if one.question.partition("/")[0] == facet}
            top = [one for one in run.top(query) if one in of][:k]
            grades = [one for one in graded.grades if one.passage in top and one.grade >= tau]
            reached |= {one.question for one in grades}
        found[query] = Covered(len(reached) / len(asked), tuple(reached), k, ())
    return Cover(run.name, found, (), ())


def bare_yes(reply: str) -> Parsed:
    """Yes is what is spelt "yes" and nothing else."""
    return Parsed(float(reply.strip().lower() == "yes"), "yes" if reply.strip().lower() == "yes" else "no")


def zero_without_vital(found: Sequence[nuggets.Nugget]) -> dict[str, float]:
    """Zero for a topic whose score is over nothing."""
    return {name: 0.0 if np.isnan(value) else value for name, value in _TOPIC_SCORES(found).items()}


_TOPIC_SCORES = nuggets.topic_scores


FOLDER = object()
"""Stands for a folder of the test's own."""
FAULTS = (
    Fault("test_unanswerable_is_0_and_never_1", "parse_rating", inverted, ("unanswerable",)),
    Fault("test_an_answer_without_a_rating_is_1_and_never_0", "parse_rating", inverted, ("the epidermis",)),
    Fault("test_the_limit_is_the_papers_fifth_of_the_longer_string_and_no_similarity_ratio", "is_match", by_ratio),
    Fault(
        "test_a_key_stays_whole_whatever_it_is_called",
        "_plain",
        texts_only,
        (True, ["true"], "key", FOLDER),
        bank_files,
    ),
    Fault(
        "test_a_key_stays_whole_whatever_it_is_called",
        "_answers",
        characters,
        ("epidermis", ["epidermis"], "gold_answers", FOLDER),
        bank_files,
    ),
    Fault("test_the_bank_and_not_what_was_graded_is_the_denominator", "cover", seen_only),
    Fault("test_wrong_unanswered_and_skipped_count_zero_over_the_whole_bank", "exam_score", answered_only),
    Fault("test_k_counts_along_the_query_and_not_per_facet", "cover", per_facet),
    Fault("test_a_verifier_may_write_a_full_stop", "parse_yes_no", bare_yes, ("Yes.", 1)),
    Fault(
        "test_a_model_verifies_only_what_the_words_reject_and_its_full_stop_is_no_no",
        "parse_yes_no",
        bare_yes,
        (FOLDER,),
        graders,
    ),
    Fault(
        "test_a_topic_without_vital_nuggets_is_undefined_and_left_out_of_the_mean_by_name",
        "topic_scores",
        zero_without_vital,
        place=nuggets,
    ),
)
PLACES = {test: "tests." + path.removeprefix("tests/").removesuffix(".py").replace("/", ".") for _, test, path in ROWS}


def called(fault: Fault, folder: Path) -> None:
    getattr(import_module(PLACES[fault.test]), fault.test)(*(folder if one is FOLDER else one for one in fault.given))


def test_every_test_that_the_manual_names_has_its_fault_here() -> None:
    assert len(ROWS) >= 8
    assert {test for _, test, _ in ROWS} == {one.test for one in FAULTS}


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{one.test}-{one.name}" for one in FAULTS])
def test_the_named_test_fails_when_the_fault_is_put_in(
    fault: Fault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    called(fault, tmp_path)
    monkeypatch.setattr(fault.place or import_module(PLACES[fault.test]), fault.name, fault.instead)
    with pytest.raises((AssertionError, AttributeError), match=r"assert|no attribute"):
        called(fault, tmp_path)
