"""A fast grading model for whole commands: it looks for the question's words in the text, and can be slow."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from examcore import Likelihoods, Prompt

PAUSE = float(os.environ.get("ASSESSOR_SECONDS", "0"))


class WordSeeker:
    """Rates by the share of the question's long words that the text holds; answers with the text's last word."""

    name = "word-seeker"
    context_tokens = 100_000

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[str]:
        return [self._reply(prompt) for prompt in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        time.sleep(PAUSE)
        sums = tuple(-1.0 if one.strip().lower() in prompt.user.lower() else -6.0 for one in continuations)
        return Likelihoods(sums, tuple(max(1, self.count_tokens(one)) for one in continuations), 10)

    def _reply(self, prompt: Prompt) -> str:
        time.sleep(PAUSE)
        if log := os.environ.get("ASSESSOR_LOG"):
            with Path(log).open("a") as file:
                file.write(json.dumps(prompt.user) + "\n")
        if (silencing := os.environ.get("ASSESSOR_SILENCED_BY")) and silencing in prompt.user:
            return "\ud800"  # which no file can hold: no reply
        if "\nFacts:\n" in prompt.user:
            return json.dumps(_labels(prompt.user))
        if "The list so far: " in prompt.user:
            return json.dumps({"nuggets": _revised_list(prompt.user)})
        if "Reply with JSON" in prompt.user:
            subject = re.findall(r"'([^']*)'", prompt.user)[-1]
            return json.dumps({"questions": [f"Which {word} has {subject}?" for word in ("use", "cost", "use")]})
        if "##final score" in prompt.user:
            ((query, passage),) = re.findall(r"Query: (.*)\nPassage: (.*)", prompt.user)
            return f"M: 2\nT: 3\n##final score: {round(3 * _found(query, passage))}"
        if prompt.reply == "Judgement:":
            *_, query, passage = re.findall(r"(?:Query|Passage): (.*)", prompt.user)
            return "Yes." if _found(query, passage) > 0.5 else "No."
        if prompt.reply == "Reply:":
            return "Yes."
        text, _, question = prompt.user.rpartition("\n\nQuestion: ")
        share = _found(question, text.rpartition("Text:\n")[2])
        if prompt.reply == "Rating:":
            return "..." if "unreadable" in text else f" {round(5 * share)}"
        return text.split()[-1] if share > 0.5 else "unanswerable"


def _found(question: str, text: str) -> float:
    words = set(re.findall(r"[a-z]{4,}", question.lower())) - {"what", "which", "does", "where", "when"}
    return sum(word in text.lower() for word in words) / max(len(words), 1)


def _revised_list(asked: str) -> list[str]:
    """The list so far and the sentences of the passages; a passage that is unreadable adds nothing."""
    before, _, after = asked.partition("\n\nThe list so far: ")
    known = json.loads(after.partition("\n")[0])["nuggets"]
    found = re.findall(r"[^.\n]+", re.sub(r"\[\d+\] ", "\n", before.partition("Passages:\n")[2]))
    return [*known, *(one.strip() for one in found if one.strip())]


def _labels(asked: str) -> dict[str, str]:
    """A fact is vital if it has a word of the query; an answer supports it by the share of its long words."""
    query = re.findall(r"Query: (.*)", asked)[0]
    answer = re.findall(r"<answer>\n(.*)\n</answer>", asked, re.DOTALL)
    facts = re.findall(r"^(\d+)\. (.*)$", asked.partition("\nFacts:\n")[2], re.MULTILINE)
    if not answer:
        return {number: "vital" if _found(query, fact) else "okay" for number, fact in facts}
    shares = {number: _found(fact, answer[0]) for number, fact in facts}
    return {
        number: "support" if share == 1 else "partial_support" if share >= 0.5 else "not_support"
        for number, share in shares.items()
    }


def seeker() -> WordSeeker:
    return WordSeeker()


class Mumbler(WordSeeker):
    """Says nothing that can be read."""

    name = "mumbler"

    def _reply(self, prompt: Prompt) -> str:
        return "Well ..."


def mumbler() -> Mumbler:
    return Mumbler()
