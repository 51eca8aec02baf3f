"""Stems that lean on their document, before and after."""

import pytest

from exam_gen.language._outside_references import outside_reference
from exam_gen.rules import apply_rules, rules_of
from exam_gen.rules._standalone import standing_alone
from examcore import Question


def question(stem: str, title: str) -> Question:
    return Question("q", stem, ("a", "b"), 0, metadata={"title": title} if title else {})


@pytest.mark.parametrize(
    ("title", "before", "after"),
    [
        ("get()", "What does it return when the key is missing?", "What does get() return when the key is missing?"),
        ("Mount Alda", "How many people died when it erupted?", None),
        ("Mount Alda", "Why is it famous?", "Why is Mount Alda famous?"),
        ("Ann Lee", "What year was his first book written?", None),
        ("Ann Lee", "What is her first book called?", "Ann Lee. What is her first book called?"),
        ("Lists", "What is its main advantage?", "What is Lists's main advantage?"),
        ("Tuples", "What are these used for in practice?", "Tuples. What are these used for in practice?"),
        ("Zones.", "According to the passage, which zone holds copies?", "Which zone holds copies?"),
        ("Backups", "Which zone holds copies according to the text?", "Backups. Which zone holds copies?"),
        ("Backups", "Based on the given documentation, what are backups?", "What are backups?"),
        ("Backups", "What is shown in Figure 3 about zones?", None),
        ("Backups", "Which zone holds backups?", None),
        ("", "What does it return when the key is missing?", None),
    ],
)  # fmt: skip
def test_stems_are_rewritten_only_where_they_lean_and_can_be_mended(title: str, before: str, after: str | None) -> None:
    found = standing_alone(question(before, title))
    assert (found and found.stem) == after
    if found is not None:
        assert outside_reference(found.stem) is None
        assert standing_alone(found) is None


def test_what_is_rewritten_is_no_longer_dropped_and_remembers_its_words() -> None:
    one = question("What does it return when the key is missing?", "dict.get()")
    assert not apply_rules([one], rules_of({}, only=["self-contained"])).kept
    (kept,) = apply_rules([one], rules_of({}, only=["self-contained", "standing-alone"])).kept
    assert kept.id == one.id
    assert kept.metadata["rewritten"] == [
        {"rule": "standing-alone", "question": one.stem, "choices": ["a", "b"], "answer": 0}
    ]
