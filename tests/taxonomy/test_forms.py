import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomy import FORMS, QUESTION_WORDS, form, labels


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What is shown?", "what"),
        ("What's shown?", "what"),
        ("Which of the following statements is shown?", "which"),
        ("Show the howling whatever.", "other"),
        ("How does it work?", "how"),
        ("Why is that?", "why"),
        ("Where is it?", "where"),
        ("Who wrote it?", "who"),
        ("To whom was it sold?", "who"),
        ("When was it built?", "when"),
        ("When a loop ends, what happens to the variable?", "what"),
        ("When was it built, and by whom?", "when"),
        ("In which year was it built?", "which"),
        ("According to PEP 8, how are names written?", "how"),
        ("If a key is missing, which exception is raised?", "which"),
        ("You know what lists are. How do sets differ?", "how"),
        ("Is a tuple mutable?", "yes/no"),
        ("Doesn't it end?", "yes/no"),
        ("Name the largest one.", "other"),
        ("“Which one?”", "which"),
        ("Is salt healthy: which answer completes the statement?", "which"),
        ('How to "soak up" alcohol: by whom was it tried?', "who"),
        ('What does the message "stop: which" mean?', "what"),
        ("Is it true: a tuple is mutable?", "yes/no"),
        ("", "other"),
    ],
)
def test_the_form_is_the_word_that_asks(question: str, wanted: str) -> None:
    assert form(question) == wanted


def test_question_words_are_whole_words() -> None:
    assert QUESTION_WORDS.read("Show whoever knows: which showroom, and how?").levels == ("which", "how")
    assert QUESTION_WORDS.read("Name it.").levels == ()


def test_labels_join_levels_form_and_words() -> None:
    assert labels("Which command lists files, and how?") == {
        "bloom": ("remember",),
        "knowledge": ("procedural",),
        "form": ("which",),
        "words": ("which", "how"),
    }


@given(st.text(max_size=80))
def test_any_text_has_one_known_form(text: str) -> None:
    assert form(text) in FORMS
