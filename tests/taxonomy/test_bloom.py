import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomy import LEVELS, VERBS, WORD_PATTERN, bloom
from taxonomy._bloom import read_bloom
from tests.shared_data import SHARED


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


def test_words_count_whole_and_what_stands_before_them_too() -> None:
    # "Kafka" ends in an a and is no article; "showroom" and "reuse" hold no listed verb.
    assert bloom("Does Kafka rank brokers?") == ("evaluate",)
    assert bloom("What is the showroom's reuse policy?") == ("remember",)
    assert bloom("Which data set is larger?") == ("remember",)


def test_a_text_without_a_word_has_no_level() -> None:
    assert bloom("") == bloom("42 ?! 🙂") == ()
    assert read_bloom("Which one?") == (("remember",), "otherwise")
    assert read_bloom("Why so?") == (("understand",), "wording")
    assert read_bloom("Which one is recommended?") == (("evaluate",), "words")


PAPER = SHARED / "seeds" / "auto_rag_eval_2024.txt"
NAMES = dict(zip(("Remember", "Understand", "Apply", "Analyz", "Evaluat", "Creat"), LEVELS, strict=True))


@pytest.fixture(scope="module")
def table() -> list[list[str]]:
    """Name, description, example and keywords of each level in the paper's table 6."""
    if not PAPER.is_file():
        pytest.skip(f"{PAPER}: the paper's text is not here")
    rows = [[cell.strip() for cell in line.split("|")] for line in PAPER.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if len(row) == 5 and row[0].removesuffix("ing") in NAMES]


def test_the_verbs_are_those_of_the_papers_table(table: list[list[str]]) -> None:
    listed = {NAMES[row[0].removesuffix("ing")]: {word.strip() for word in row[3].split(",")} for row in table}
    assert listed == VERBS


def test_the_papers_verbs_give_five_of_its_six_examples_their_level_and_most_of_them_others_too(
    table: list[list[str]],
) -> None:
    found = {NAMES[row[0].removesuffix("ing")]: bloom(row[2]) for row in table}
    assert [level for level, given in found.items() if level not in given] == ["evaluate"]
    assert sum(map(len, found.values())) == 15


@given(st.text(max_size=80))
def test_any_text_with_a_word_has_levels_in_order(text: str) -> None:
    found = bloom(text)
    assert bool(found) == bool(WORD_PATTERN.search(text))
    assert list(found) == [level for level in LEVELS if level in found]
