import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomy import LEVELS, bloom


@pytest.mark.parametrize(
    ("question", "levels"),
    [
        ("What year was the company founded?", ("remember",)),
        ("Which of the following is mentioned as a risk?", ("remember",)),
        ("Which statement best describes these two terms?", ("understand",)),
        ("Which sentence summarises the policy?", ("understand",)),
        ("Which command would you use to list the files?", ("remember", "apply")),
        ("What should you verify before deleting it?", ("evaluate",)),
        ("How can the team troubleshoot the failed deployment?", ("analyze",)),
        ("Which comparison distinguishes a list from a tuple?", ("analyze",)),
        ("Which design was chosen?", ("evaluate",)),
        ("Which approach generates customised reports?", ("create",)),
        ("You are testing a service. What went wrong?", ("analyze", "evaluate")),
        ("How do you implement a queue?", ("apply", "create")),
        ("What is the name of the set?", ("remember",)),
        ("What is the state of the lock?", ("remember",)),
        ("Why is the sky blue?", ("understand",)),
        ("What is the difference between x and y?", ("analyze",)),
        ("Which option is the most appropriate?", ("evaluate",)),
        ("How can one end the loop?", ("apply",)),
        ('What does the method "create" return?', ("remember",)),
        ("What does `list.use` return?", ("remember",)),
    ],
)
def test_levels_follow_the_verbs(question: str, levels: tuple[str, ...]) -> None:
    assert bloom(question) == levels


@given(st.text(max_size=80))
def test_any_text_has_levels_in_order(text: str) -> None:
    found = bloom(text)
    assert found
    assert list(found) == [level for level in LEVELS if level in found]
