"""Fast language models for whole runs: they find answers in the prompt, and guess by a fixed lottery without."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from examcore import Likelihoods, Prompt

# The command line loads this file by its folder, so that the tests' own package has to be found first.
sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.rag.scripted_author import author

PAUSE = float(os.environ.get("EXAMINEE_SECONDS", "0"))


class Lookup:
    """Finds a continuation likely when it stands in the prompt."""

    def __init__(self, name: str, blunders: float) -> None:
        self.name = name
        self.context_tokens = 100_000
        self._blunders = blunders

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
        time.sleep(PAUSE)
        return [author(prompt.user) for prompt in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        time.sleep(PAUSE / 10)
        if tuple(continuations) == (" Yes", " No"):
            passage, _, asked = prompt.user.rpartition('"""')
            key = re.findall(r"^Proposed answer: (.*)$", asked, re.MULTILINE)[-1]
            return Likelihoods((-0.1, -4.0) if key in passage else (-4.0, -0.1), (1, 1), self.count_tokens(prompt.user))
        tokens = tuple(max(1, self.count_tokens(one)) for one in continuations)
        sums = tuple(-n * self._cost(prompt, one) for n, one in zip(tokens, continuations, strict=True))
        return Likelihoods(sums, tokens, self.count_tokens(prompt.user))

    def _cost(self, prompt: Prompt, continuation: str) -> float:
        luck = lot(self.name, prompt.user, continuation)
        seen = continuation.strip().lower() in prompt.user.lower()
        return 0.3 + luck / 10 if seen and lot(self.name, prompt.user) > self._blunders else 4 + luck


def lot(*parts: str) -> float:
    """A number in [0, 1) that depends on the texts alone."""
    return int(hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8], 16) / 2**32


def writer() -> Lookup:
    return Lookup("lookup-writer", 0.0)


def careful() -> Lookup:
    return Lookup("careful", 0.1)


def hasty() -> Lookup:
    return Lookup("hasty", 0.4)
