"""A scripted writer of exams: hides words of a sentence, finds them again in the passage, and spells wrong answers."""

from __future__ import annotations

import json
import re

from exam_gen.language._spans import sentences, spans
from tests.plain_words import ANSWERABLE, SEARCHED, of_passage

HIDDEN = "which of them"


def author(asked: str) -> str:
    """The reply to a request for a question, for an answer from a passage, for wrong answers, or about a wording."""
    if ANSWERABLE in asked:
        return "Yes"
    if SEARCHED in asked:
        return of_passage(asked)
    if "Exam question: " in asked:
        return f" {_wording(asked.rsplit('Exam question: ', 1)[1])}"
    if '"queries"' in asked:
        return _questions(asked)
    if "The gap: " in asked:
        statement = re.findall(r"^Statement: (.*)$", asked, re.MULTILINE)[-1]
        return f" What is it where {statement.replace('____', HIDDEN)[:220].rstrip('.')}?"
    if "Right answer: " in asked:
        return "; ".join(_wrong(asked.rsplit("Right answer: ", 1)[1].split("\n")[0]))
    if "Answer in a few words copied from the text." in asked:
        return _answer(asked)
    return question_about(re.findall(r"^Sentence: (.*)$", asked, re.MULTILINE)[-1])


def _wording(stem: str) -> str:
    before, hidden, after = stem.split("\n")[0].strip().rstrip("?").partition(HIDDEN)
    return f"say, {' '.join(before.split(' ')[-9:])}{hidden}{' '.join(after.split(' ')[:8])}?"


def _wrong(key: str) -> list[str]:
    return [" ".join(word[::-1] + letter for word in key.split()) for letter in "uvwx"]


def _questions(asked: str) -> str:
    """A question about each of the first sentences of the passage, as JSON."""
    found = []
    for sentence in sentences(asked.split('"""')[1]):
        stem, _, key = question_about(sentence).partition("\nAnswer: ")
        parts = {"evidence": sentence, "question": stem.strip(), "answer": key, "wrong_answers": _wrong(key)}
        found.append({**parts, "queries": [_wording(stem)], "critique": "none"})
    return json.dumps({"questions": found[:2]})


def question_about(sentence: str) -> str:
    """A question that hides words of a sentence, and these as its answer."""
    key = next((one.text for one in reversed(spans(sentence)) if one.start > 0 and one.end < 200), "")
    said = sentence.replace(key, HIDDEN, 1) if key else sentence
    return f" What is it where {said[:220].rstrip('.')}?\nAnswer: {key}"


def _answer(asked: str) -> str:
    """What stands in the passage where the question, made by `question_about`, says that something is hidden."""
    passage, _, rest = asked.rpartition("\n\nQuestion: ")
    gap = HIDDEN if HIDDEN in rest else "____"
    before, _, after = rest.split("\n")[0].partition(gap)
    before = re.split(r'What is it where |statement "', before)[-1]
    end = re.escape(re.split(r"\?|\"\?", after)[0][:12]) or r"\."
    around = re.escape(before[-20:]) + "(.+?)" + end
    found = re.search(around, " ".join(passage.split()))
    return found.group(1) if before and found else "nothing"
