"""A model for the graders' tests: it says what a function of the prompt says, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from examcore import Likelihoods, Prompt, ReplyStore
from grading.graders._assessor import Assessor, CachedAssessor

Say = Callable[[Prompt], str]


class Scripted:
    """Replies by `say`; a continuation is likely when it stands in the prompt."""

    name = "scripted"

    def __init__(self, say: Say = lambda _: "", context_tokens: int = 10_000) -> None:
        self.context_tokens = context_tokens
        self._say = say
        self.asked: list[str] = []
        self.sizes: list[int] = []

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
        self.asked += [one.user for one in prompts]
        self.sizes.append(len(prompts))
        return [self._say(one) for one in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        self.asked.append(prompt.user)
        sums = tuple(-1.0 if one.strip() in prompt.user else -5.0 for one in continuations)
        return Likelihoods(sums, tuple(len(one.split()) for one in continuations), len(prompt.user.split()))


def asking(model: Scripted, path: Path, batch: int = 1) -> CachedAssessor:
    return CachedAssessor(Assessor(model, batch=batch), ReplyStore(path / "replies.sqlite"), batch)
