"""Language models that follow rules, so that the same prompts always get the same replies.

They are named on the command line as `python:tests.golden.scripted_models:FACTORY` and know the program's prompts by
their words only.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

# The only names taken from the program: the records that a language model is asked with and answers with.
from examcore import Likelihoods, Prompt
from tests.plain_words import reworded

GAP = "which of them"
KEYS = re.compile(r"(?<=[a-z,] )(?:[A-Z][a-z]+(?: [A-Z][a-z]+)*|\d+ [a-z]+|\d+)")
SCARCE = re.compile(r"[a-z]{4,}")


class Scripted:
    """A model whose reply to a prompt is `reply` of it, and whose likelihoods are `costs` of its continuations."""

    context_tokens = 100_000

    def __init__(self, name: str) -> None:
        self.name = name

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt], **_: Any) -> list[str]:
        return [self.reply(prompt) for prompt in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        tokens = tuple(max(1, self.count_tokens(one)) for one in continuations)
        return Likelihoods(self.sums(prompt, continuations, tokens), tokens, self.count_tokens(prompt.user))

    def reply(self, prompt: Prompt) -> str:
        raise NotImplementedError

    def sums(self, prompt: Prompt, continuations: Sequence[str], tokens: Sequence[int]) -> tuple[float, ...]:
        raise NotImplementedError


class Reader(Scripted):
    """Writes questions by hiding a name or a number of a sentence; believes what stands in the prompt."""

    def __init__(self, name: str, blunders: float) -> None:
        super().__init__(name)
        self.blunders = blunders

    def reply(self, prompt: Prompt) -> str:
        if asked := reworded(prompt):
            return asked
        if "The gap: " in prompt.user:
            statement = re.findall(r"^Statement: (.*)$", prompt.user, re.MULTILINE)[-1]
            return f" What is it where {statement.replace('____', GAP)[:220].rstrip('.')}?"
        if "Right answer: " in prompt.user:
            return _wrong_answers(prompt.user.rsplit("Right answer: ", 1)[1].split("\n")[0])
        return _answer(prompt.user) if "Answer in a few words copied" in prompt.user else _question(prompt.user)

    def sums(self, prompt: Prompt, continuations: Sequence[str], tokens: Sequence[int]) -> tuple[float, ...]:
        if tuple(continuations) == (" Yes", " No"):
            passage, _, asked = prompt.user.rpartition('"""')
            key = re.findall(r"^Proposed answer: (.*)$", asked, re.MULTILINE)[-1]
            return (-0.1, -4.0) if key in passage else (-4.0, -0.1)
        return tuple(-n * self._cost(prompt, one) for n, one in zip(tokens, continuations, strict=True))

    def _cost(self, prompt: Prompt, continuation: str) -> float:
        luck = lot(self.name, prompt.user, continuation)
        seen = continuation.strip().lower() in prompt.user.lower()
        return 0.3 + luck / 10 if seen and lot(self.name, prompt.user) > self.blunders else 4 + luck


class Grader(Scripted):
    """Grades by the share of a question's long words that the text holds; writes questions for a bank."""

    def reply(self, prompt: Prompt) -> str:
        if "Reply with JSON" in prompt.user:
            subject = re.findall(r"'([^']*)'", prompt.user)[-1]
            return json.dumps({"questions": [f"Which {word} has {subject}?" for word in ("use", "cost", "use")]})
        if prompt.reply == "Judgement:":
            *_, query, passage = re.findall(r"(?:Query|Passage): (.*)", prompt.user)
            return "Yes." if _share(query, passage) > 0.5 else "No."
        if prompt.reply == "Reply:":
            return "Yes."
        text, _, question = prompt.user.rpartition("\n\nQuestion: ")
        share = _share(question, text.rpartition("Text:\n")[2])
        if prompt.reply == "Rating:":
            return "..." if "unreadable" in text else f" {round(5 * share)}"
        return text.split()[-1] if share > 0.5 else "unanswerable"

    def sums(self, prompt: Prompt, continuations: Sequence[str], tokens: Sequence[int]) -> tuple[float, ...]:
        return tuple(-1.0 if one.strip().lower() in prompt.user.lower() else -6.0 for one in continuations)


class SentenceJudge(Scripted):
    """Says yes to a sentence more than half of whose long words stand in the rest of the prompt."""

    def reply(self, prompt: Prompt) -> str:
        return "Yes" if self._agrees(prompt.user) else "No"

    def sums(self, prompt: Prompt, continuations: Sequence[str], tokens: Sequence[int]) -> tuple[float, ...]:
        return (-0.1, -3.0) if self._agrees(prompt.user) else (-3.0, -0.1)

    def _agrees(self, text: str) -> bool:
        before, sentence, after = re.split(r"[Ss]entence: (.*)", text, maxsplit=1)
        words = set(SCARCE.findall(sentence.lower()))
        held = set(SCARCE.findall(f"{before} {after.partition('Does the')[0]}".lower()))
        return 2 * len(words & held) > len(words)


class Labeller(Scripted):
    """Labels a question by one of its words; talks instead where the question speaks of sheep."""

    def reply(self, prompt: Prompt) -> str:
        question = re.findall(r'"""\n(.*)\n"""', prompt.user, re.DOTALL)[0]
        if "sheep" in question:
            return "Let me think about it first."
        return "Apply, Create" if "keeper" in question or "work" in question else "Remember"


def lot(*parts: str) -> float:
    """A number in [0, 1) that depends on the texts alone."""
    return int(hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8], 16) / 2**32


def _question(asked: str) -> str:
    sentence = re.findall(r"^Sentence: (.*)$", asked, re.MULTILINE)[-1]
    found = KEYS.findall(sentence)
    key = found[-1] if found else ""
    hidden = sentence.replace(key, GAP, 1) if key else sentence
    return f" What is it where {hidden[:220].rstrip('.')}?\nAnswer: {key}"


def _answer(asked: str) -> str:
    """What stands in the passage where the question, made by `_question`, hides something."""
    passage, _, rest = asked.rpartition("\n\nQuestion: ")
    gap = GAP if GAP in rest else "____"
    before, _, after = rest.split("\n")[0].partition(gap)
    before = re.split(r'What is it where |statement "', before)[-1]
    end = re.escape(re.split(r"\?|\"\?", after)[0][:12]) or r"\."
    found = re.search(re.escape(before[-20:]) + "(.+?)" + end, " ".join(passage.split()))
    return found.group(1) if before and found else "nothing"


def _wrong_answers(key: str) -> str:
    return "; ".join(" ".join(word[::-1] + letter for word in key.split()) for letter in "uvwx")


def _share(question: str, text: str) -> float:
    words = set(SCARCE.findall(question.lower())) - {"what", "which", "does", "where", "when"}
    return sum(word in text.lower() for word in words) / max(len(words), 1)


def writer() -> Reader:
    return Reader("writer", 0.0)


def careful() -> Reader:
    return Reader("careful", 0.1)


def hasty() -> Reader:
    return Reader("hasty", 0.4)


def grader() -> Grader:
    return Grader("grader")


def sentence_judge() -> SentenceJudge:
    return SentenceJudge("sentence-judge")


def labeller() -> Labeller:
    return Labeller("labeller")
