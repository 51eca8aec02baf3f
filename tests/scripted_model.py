"""The language model of the tests: it replies and scores by functions of the prompt, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from examcore import Likelihoods, Prompt

Reply = Callable[[Prompt], str]
Score = Callable[[Prompt, str], float]


def stands_in(prompt: Prompt, continuation: str) -> float:
    """-1 for a continuation that the prompt holds, -5 for any other."""
    return -1.0 if continuation.strip() in prompt.user else -5.0


class ScriptedModel:
    """Replies by `reply` and gives each continuation the log-likelihood `score`; a word is a token.

    `asked` are all prompts in order, `batches` the prompts of each call. Tests that need more override `reply_to` or
    `score_of`.
    """

    name = "scripted"
    context_tokens = 10_000

    def __init__(self, reply: Reply | str = "", score: Score = stands_in, *, context_tokens: int | None = None) -> None:
        self._reply, self._score = reply, score
        self.context_tokens = self.context_tokens if context_tokens is None else context_tokens
        self.asked: list[Prompt] = []
        self.batches: list[list[Prompt]] = []

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt], **_: Any) -> list[str]:
        self.keep(prompts)
        return [self.reply_to(prompt) for prompt in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        self.keep([prompt])
        sums = tuple(self.score_of(prompt, one) for one in continuations)
        return Likelihoods(sums, tuple(max(1, self.count_tokens(one)) for one in continuations), self._size(prompt))

    def reply_to(self, prompt: Prompt) -> str:
        return self._reply if isinstance(self._reply, str) else self._reply(prompt)

    def score_of(self, prompt: Prompt, continuation: str) -> float:
        return self._score(prompt, continuation)

    def keep(self, prompts: Sequence[Prompt]) -> None:
        """Called with the prompts of each call, before it is answered."""
        self.asked += prompts
        self.batches.append(list(prompts))

    def _size(self, prompt: Prompt) -> int:
        return self.count_tokens(prompt.user)
