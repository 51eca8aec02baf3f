"""Whatever way a well-formed question is written down, it is read back as itself; nothing else comes out as one."""

import re
import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen.drafting._json_questions import read_drafts
from exam_gen.drafting._parser import ParsedQuestion, UnparsableReply, parse
from examcore import normalized
from tests.exam_gen.reply_faults import KINDS
from tests.exam_gen.test_json_questions import PASSAGE

OPENINGS = (
    "Question: {}",
    "Question 1: {}",
    "**Question:** {}",
    "Q: {}",
    "### Question\n\n{}",
    "Here is a question based on the documentation:\n\n{}",
)
LAYOUTS = (
    "{upper}) {text}",
    "{upper}. {text}",
    "{upper}: {text}",
    "({upper}) {text}",
    "[{upper}] {text}",
    "{lower}) {text}",
    "{lower}. {text}",
    "({lower}) {text}",
    "{digit}) {text}",
    "{digit}. {text}",
    "**{upper})** {text}",
    "Option {upper}: {text}",
)
ANSWERS = (
    "Correct Answer: {label}",
    "The correct answer is {label}.",
    "Answer: ({label})",
    "Correct Answer: {label}) {text}",
    "correct answer: {text}",
    "**Answer:** {label}\nExplanation: {text} it is.",
)
BETWEEN = ("\n", "\n\n")

WORDS = [
    "bucket",
    "zone",
    "the",
    "a",
    "an",
    "A",
    "B",
    "policy",
    "returns",
    "None",
    "True",
    "x",
    "y",
    "z()",
    "f(x)",
    "str.lower",
    "__init__",
    "*args",
    "3",
    "42",
    "3.5",
    "10%",
    "IPv4",
    "e.g.",
    "C++",
    "C#",
    "«zone»",
    "zone's",
    "café",
    "数据",
    "данные",
    "ε-greedy",
    "'quoted'",
    '"said"',
    "a/b",
    "--force",
    "[0]",
    "{k}",
    "$5",
    "<T>",
    "x=1;",
    "Configure",
    "Delete",
    "is",
    "not",
    "and",
    "or",
    "answer",
    "choice",
    "option",
    "correct",
]
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
# A choice that says "correct answer is" cannot be told from an answer that follows it on its line.
choice_texts = words.filter(
    lambda text: len(normalized(text)) > 2 and not re.search(r"(answer|choice|option)\b.*\bis\b", text)
)


def label(number: int, style: str) -> str:
    return {"upper": "ABCD"[number], "lower": "abcd"[number], "digit": "1234"[number]}[style]


def written(opening: str, layout: str, between: str, answer: str, stem: str, texts: Sequence[str], key: int) -> str:
    style = next(style for style in ("upper", "lower", "digit") if f"{{{style}}}" in layout)
    rows = [layout.format(**{style: label(number, style)}, text=text) for number, text in enumerate(texts)]
    named = answer.format(label=label(key, style), text=texts[key])
    return "\n\n".join([opening.format(stem), between.join(rows), named])


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(OPENINGS),
    st.sampled_from(LAYOUTS),
    st.sampled_from(BETWEEN),
    st.sampled_from(ANSWERS),
    words.map(lambda text: f"What holds for {text}?"),
    st.lists(choice_texts, min_size=4, max_size=4, unique_by=normalized),
    st.integers(0, 3),
)
def test_a_well_formed_question_is_read_back_as_itself(
    opening: str, layout: str, between: str, answer: str, stem: str, texts: list[str], key: int
) -> None:
    raw = written(opening, layout, between, answer, stem, texts, key)
    found = parse(raw)
    assert isinstance(found, ParsedQuestion), (found, raw)
    assert (found.stem, found.choices, found.key) == (stem, tuple(texts), key), raw


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "glue", [" Correct Answer: ", " The correct answer is ", " **Answer:** ", " Explanation: no. Answer: "]
)
def test_no_choice_swallows_an_answer_on_its_line(layout: str, glue: str) -> None:
    raw = written(OPENINGS[0], layout, "\n", "", "What holds?", ["red fox", "blue jay", "grey owl", "tan cow"], 1)
    found = parse(raw.rstrip() + glue + "B")
    assert isinstance(found, ParsedQuestion)
    assert found.choices == ("red fox", "blue jay", "grey owl", "tan cow")
    assert found.key == 1


def test_a_key_told_by_text_beginning_with_a_letter_is_no_label() -> None:
    raw = written(OPENINGS[0], LAYOUTS[0], "\n", ANSWERS[4], "What now?", ["Delete y", "Wait", "Configure x", "Go"], 2)
    found = parse(raw)
    assert isinstance(found, ParsedQuestion)
    assert found.key == 2


PIECES = [
    *("A) ", "(b) ", "C. ", "4) ", "Question: ", "Correct Answer: ", "The correct answer is ", "Answer: B", "**", "_"),
    *("\n", "\n\n", "\t", " ", "(", "[", "A", "Explanation: ", "(correct) ", "Option A: ", "choices ", "?", '"', "{"),
    *("</s>", "### Assistant:", "```", "and ", "B, ", "text: ", "\0", "\ud800", "\u202e", "数", '{"question": ', ", ]"),
    *("#", "\\"),
]


def check(found: ParsedQuestion | UnparsableReply) -> None:
    if isinstance(found, UnparsableReply):
        assert found.kind in KINDS
        return
    assert found.stem.strip()
    assert len(found.choices) == 4
    assert all(choice.strip() for choice in found.choices)
    assert len({normalized(choice) for choice in found.choices}) == 4
    assert 0 <= found.key < 4


@settings(max_examples=800, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=60).map("".join))
def test_nothing_raises_and_nothing_malformed_comes_out(raw: str) -> None:
    check(parse(raw))
    read_drafts(raw, PASSAGE)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("ahead", ["", "Question: x?\nA) b\nB) c\nC) d\nD) "])
def test_a_megabyte_of_repetition_is_read_at_once(piece: str, ahead: str) -> None:
    raw = ahead + piece * (1_000_000 // len(piece)) + "y?\nA) b\nB) c\nC) d\nD) e\nAnswer: A"
    start = time.process_time()
    check(parse(raw))
    read_drafts(raw, PASSAGE)
    assert time.process_time() - start < 1.5


def test_reading_time_grows_with_the_length_not_its_square() -> None:
    def seconds(size: int, piece: str) -> float:
        raw = "Question: x?\nA) b\nB) c\nC) d\nD) " + piece * (size // len(piece))
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            parse(raw)
            best = min(best, time.process_time() - start)
        return best

    for piece in ("\n", "**", "1) x\n", "- ", "Answer: "):
        # Four times the length; a square would take sixteen times as long.
        assert seconds(48_000, piece) < 10 * seconds(12_000, piece) + 0.01, piece
