import pytest

from taxonomy import KNOWLEDGE, KNOWLEDGE_DIMENSION


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the capital of France?", "factual"),
        ("How many rows does the table have?", "factual"),
        ("In which year was it built?", "factual"),
        ("When was it built?", "factual"),
        ("What is the maximum number of steps?", "factual"),
        ("Why does the loop end?", "conceptual"),
        ("What is the difference between a list and a tuple?", "conceptual"),
        ("What is the purpose of a lock?", "conceptual"),
        ("Which of the following best describes an index?", "conceptual"),
        ("How does a cache work?", "conceptual"),
        ("How can you end a loop?", "procedural"),
        ("Which command lists the files?", "procedural"),
        ("You want to delete a bucket. What comes first?", "procedural"),
        ("In order to mount it, what is needed?", "procedural"),
        ("Show how a shower works in methodology.", "factual"),
        ("How sure are you of your answer?", "metacognitive"),
        ("Which learning strategy helps you to remember it?", "metacognitive"),
    ],
)
def test_the_kind_follows_the_wording(question: str, kind: str) -> None:
    assert KNOWLEDGE_DIMENSION.read(question).levels == (kind,)


def test_a_question_with_no_wording_is_factual_and_said_to_be_so_for_want_of_a_sign() -> None:
    assert KNOWLEDGE_DIMENSION.read("What is a tuple?") == (("factual",), "otherwise")
    assert KNOWLEDGE_DIMENSION.read("When was it built?") == (("factual",), "wording")
    assert KNOWLEDGE_DIMENSION.read("42?") == ((), "nothing")
    assert KNOWLEDGE_DIMENSION.names == KNOWLEDGE
