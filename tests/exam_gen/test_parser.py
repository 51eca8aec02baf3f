import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen.drafting._parser import ParsedQuestion, UnparsableReply, parse
from examcore import normalized
from tests.exam_gen.reply_faults import KINDS

STEM = "Which storage class keeps an object in a single zone only?"
CHOICES = ("Standard", "One Zone-IA", "Glacier Deep Archive", "Intelligent-Tiering")
WANTED = (STEM, CHOICES, 1)

FORMS = {
    "paper": "Question: {S}\n{P}\n\nCorrect Answer: B",
    "blank lines": "Question: {S}\n\nA) {0}\n\nB) {1}\n\nC) {2}\n\nD) {3}\n\nCorrect Answer: B",
    "answer text": "Question 1: {S}\n{P}\n\nCorrect answer: {1}",
    "label and text": "Question: {S}\nA. {0}\nB. {1}\nC. {2}\nD. {3}\nAnswer: B. {1}\nExplanation: one zone.",
    "glued": "Question: {S}\nA. {0}\nB. {1}\nC. {2}\nD. {3}\nAnswer: B {1}",
    "lower": "question: {S}\na) {0}\nb) {1}\nc) {2}\nd) {3}\n\nThe correct answer is b).",
    "digits": "Question: {S}\n1. {0}\n2. {1}\n3. {2}\n4. {3}\n\nAnswer: 2",
    "digit answer": "Question: {S}\n{P}\n\nAnswer: 2",
    "answer below": "Question: {S}\n{P}\n\nCorrect answer:\n\nB",
    "bold": "**Question:** {S}\n\n**A)** {0}\n**B)** {1}\n**C)** {2}\n**D)** {3}\n\n**Correct Answer: B**",
    "bold lines": "**Question: {S}**\n\n**A) {0}**\n**B) {1}**\n**C) {2}**\n**D) {3}**\n\n**Correct Answer:** B",
    "heading": "### Question\n\n{S}\n\n### Choices\n\n- A: {0}\n- B: {1}\n- C: {2}\n- D: {3}\n\n### Answer: (B)",
    "brackets": "Question: {S}\n(A) {0}\n(B) {1}\n(C) {2}\n(D) {3}\nThe correct answer is (B).",
    "options": "Question: {S}\nOption A: {0}\nOption B: {1}\nOption C: {2}\nOption D: {3}\nAnswer: Option B",
    "leak": "Question: {S}\n{P} Correct Answer: B",
    "leak with explanation": "Question: {S}\n{P} Correct Answer: B) {1} Explanation: x",
    "one line": "Question: {S} A) {0} B) {1} C) {2} D) {3} Answer: B",
    "choices on a line": "Question: {S}\nA. {0} B. {1} C. {2} D. {3}\nCorrect answer: B",
    "marked": "Question: {S}\nA) {0}\nB) {1} (correct)\nC) {2}\nD) {3}",
    "ticked": "Question: {S}\nA) {0}\nB) {1} ✓\nC) {2}\nD) {3}\n",
    "is correct": "Question: {S}\n{P}\n\nOption B is correct because zones differ.",
    "no label": "Here is a question based on the documentation:\n\n{S}\n\n{P}\n\nAnswer: B",
    "documentation": "Sure! Based on the documentation: {S}\n{P}\nAnswer: B",
    "turn": "### Human: Question: no?\nA) x\n### Assistant: Question: {S}\n{P}\nAnswer: B",
    "fifth choice": "Question: {S}\n{P}\nE) None\nAnswer: B",
    "second question": ("Question: {S}\n{P}\nAnswer: B\n\nQuestion 2: Else?\nA) 1\nB) 2\nC) 3\nD) 4"),
    "explained choices": ("Question: {S}\n{P}\nAnswer: B\nExplanations:\nA) is wrong: many zones.\nB) right."),
    "label alone": "Question: {S}\nA)\n{0}\nB)\n{1}\nC)\n{2}\nD)\n{3}\n\nAnswer: B",
    "explained in turn": (
        "Question: {S}\nA) {0}\nExplanation: many.\nB) {1}\nExplanation: one.\n\nC) {2}\nExplanation: no.\nD) {3}\n"
        "Explanation: no.\n\nCorrect Answer: B"
    ),
    "explained behind": (
        "Question: {S}\nA) {0} Explanation: many.\nB) {1} Explanation: one.\nC) {2} Explanation: no.\nD) {3} "
        "Explanation: no.\nCorrect Answer: B"
    ),
    "answer first": "Question: {S}\nCorrect answer: B\n{P}",
    "windows": "Question: {S}\r\nA) {0}\r\nB) {1}\r\nC) {2}\r\nD) {3}\r\nAnswer: B\r\n",
    "end mark": "Question: {S}\n{P}\nAnswer: B</s>",
    "because": "Question: {S}\n{P}\nAnswer: B because it keeps one zone.",
}


PAREN = "A) {0}\nB) {1}\nC) {2}\nD) {3}"


def written(form: str, choices: Sequence[str]) -> str:
    return FORMS[form].replace("{S}", STEM).replace("{P}", PAREN).format(*choices)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_question(form: str) -> None:
    found = parse(written(form, CHOICES))
    assert isinstance(found, ParsedQuestion), found
    assert found[:3] == WANTED


def question(choices: tuple[str, ...], answer: str) -> str:
    lines = [f"{chr(65 + n)}) {choice}" for n, choice in enumerate(choices)]
    return "\n".join([f"Question: {STEM}", *lines, "", answer])


@pytest.mark.parametrize(
    ("choices", "answer", "key"),
    [
        (("Configure x", "Delete y", "Configure z", "Move w"), "Correct Answer: Configure x", 0),
        (("Delete y", "Configure x", "Configure xyz", "Move w"), "Correct Answer: Configure xyz", 2),
        (("A role", "A bucket policy", "A user", "A group"), "Correct Answer: A bucket policy", 1),
        (("A role", "A bucket policy", "A user", "A group"), "Correct Answer: A", 0),
        (("A role", "A bucket policy", "A user", "A group"), "Correct Answer: B A bucket policy", 1),
        (("4", "3", "2", "1"), "Answer: 2", 2),
        (("4", "3", "2", "1"), "Answer: 2)", 1),
        (("4", "3", "2", "1"), "Answer: B", 1),
        (("Dogs", "Cats", "Birds", "Fish"), "The correct answer is: *Birds*.", 2),
        (("Dogs", "Cats", "Birds", "Fish"), "Answer key: D", 3),
        (("It is the correct answer to all", "Cats", "Birds", "Fish"), "Answer: A", 0),
    ],
)
def test_keys_given_by_text_or_label_are_told_apart(choices: tuple[str, ...], answer: str, key: int) -> None:
    found = parse(question(choices, answer))
    assert isinstance(found, ParsedQuestion), found
    assert (found.choices[found.key], found.key) == (choices[key], key)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("", "empty reply"),
        (" \n</s>", "empty reply"),
        ("Question: " + STEM, "no choices"),
        ("A) x\nB) y\nC) z\nD) w\nAnswer: A", "no question"),
        (f"Question: {STEM}\nA) x\nB) y\nC) z\nAnswer: A", "too few choices"),
        (question(("x", "", "z", "w"), "Answer: A"), "empty choice"),
        (question(("x", "y", "X.", "w"), "Answer: A"), "duplicate choices"),
        (question(("Ａ  b", "a b", "z", "w"), "Answer: A"), "duplicate choices"),
        (question(("x", "y", "z", "w"), ""), "no answer"),
        (question(("x", "y", "z", "w"), "Correct Answer: Configure x"), "answer names no choice"),
        (question(("x", "y", "z", "w"), "Answer: E"), "answer names no choice"),
        (question(("x", "y", "z", "w"), "Correct Answers: A and C"), "no answer"),
        (question(("x", "y", "z", "w"), "Correct Answer: A and C"), "several answers"),
        (question(("x", "y", "z", "w"), "Correct Answer: B, D"), "several answers"),
        (question(("x", "y", "z", "w"), "Answer: A\nCorrect answer: B"), "contradictory answers"),
    ],
)
def test_what_is_no_question_is_counted_by_kind(raw: str, kind: str) -> None:
    assert parse(raw) == UnparsableReply(kind)


def test_no_choice_holds_the_answer_line() -> None:
    found = parse(f"Question: {STEM}\nA) one\nB) two\nC) three\nD) four\nCorrect Answer: C\nExplanation: three it is.")
    assert isinstance(found, ParsedQuestion)
    assert found.choices == ("one", "two", "three", "four")
    assert found.key == 2


def test_a_stem_with_a_numbered_list_and_code_keeps_them() -> None:
    stem = "Question: Given these steps:\n1. open\n2. close\nwhich comes last?"
    raw = f"{stem}\nA) open\nB) close\nC) both\nD) none of it\nAnswer: B"
    found = parse(raw)
    assert isinstance(found, ParsedQuestion)
    assert found.stem == "Given these steps:\n1. open\n2. close which comes last?"
    assert found.choices == ("open", "close", "both", "none of it")


def test_wrapped_stems_and_choices_become_one_line() -> None:
    found = parse("Question: Which of\nthese is it?\nA) one\n   and more\nB) two\nC) three\nD) four\nAnswer: a")
    assert isinstance(found, ParsedQuestion)
    assert found.stem == "Which of these is it?"
    assert found.choices[0] == "one and more"


def test_python_names_with_underscores_stay_whole() -> None:
    found = parse(question(("__init__", "__new__", "**kwargs", "a ** b"), "Answer: __new__"))
    assert isinstance(found, ParsedQuestion)
    assert found.choices == ("__init__", "__new__", "**kwargs", "a ** b")
    assert found.key == 1


def test_the_number_of_choices_can_be_asked_for() -> None:
    found = parse(f"Question: {STEM}\nA) x\nB) y\nC) z\nAnswer: C", choices=3)
    assert isinstance(found, ParsedQuestion)
    assert (found.choices, found.key) == (("x", "y", "z"), 2)


WORDS = st.text("abcdefghij klmnopxyz", min_size=3, max_size=25).map(lambda text: "w" + " ".join(text.split()) + "w")


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, min_size=4, max_size=4, unique=True), st.integers(0, 3), st.sampled_from(sorted(FORMS)))
def test_any_words_survive_every_form(words: list[str], key: int, form: str) -> None:
    turned = [*words]
    turned[1], turned[key] = turned[key], turned[1]
    found = parse(written(form, turned))
    assert isinstance(found, ParsedQuestion), found
    assert found.choices == tuple(turned)
    assert found.key == 1


SNIPPETS = [
    "Question:",
    "A)",
    "B)",
    "C)",
    "D)",
    "a.",
    "1.",
    "2)",
    "Correct Answer:",
    "Answer: B",
    "answer is",
    "\n",
    "\n\n",
]
SNIPPETS += [" ", "Explanation:", "**", "(correct)", "x", "Which?", "### Assistant:", "```", "✓", "é", "E)", "(", "C"]


@settings(max_examples=1500, deadline=None)
@given(
    st.one_of(st.lists(st.sampled_from(SNIPPETS), max_size=40).map("".join), st.text(max_size=200)), st.integers(2, 5)
)
def test_no_text_breaks_the_parser(raw: str, choices: int) -> None:
    found = parse(raw, choices=choices)
    if isinstance(found, UnparsableReply):
        assert found.kind in KINDS
    else:
        assert found.stem
        assert len(found.choices) == choices
        assert 0 <= found.key < choices
        assert len({normalized(choice) for choice in found.choices}) == choices


RUNAWAYS = ["A) x " * 20_000, "*" * 100_000, "Correct Answer: " * 10_000, "(" * 100_000, "A) " + "x" * 10_000_000]
RUNAWAYS += [
    "Question: " + "why? " * 20_000,
    "A)\n" * 20_000,
    "\n" * 100_000 + "A",
    "Question: x" + " " * 40_000 + "y?\nA) a" + " " * 9_000 + "b",
]
RUNAWAYS += ["A) b\nB) c\nC) d\nD) e\n" + "answer " * 9_000, "A) b\nB) c\nC) d\nD) e\n" + "**" * 20_000 + "Answer"]


@pytest.mark.parametrize("raw", RUNAWAYS, ids=range(len(RUNAWAYS)))
def test_a_runaway_reply_takes_no_time(raw: str) -> None:
    start = time.process_time()
    parse(raw)
    assert time.process_time() - start < 3
