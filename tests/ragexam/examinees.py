"""Fast language models for whole runs: they find answers in the prompt, and guess by a fixed lottery without."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examcore import Prompt

# The command line loads this file by its folder, so that the tests' own package has to be found first.
sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.rag.scripted_author import author
from tests.scripted_model import ScriptedModel

PAUSE = float(os.environ.get("EXAMINEE_SECONDS", "0"))


class Lookup(ScriptedModel):
    """Finds a continuation likely when it stands in the prompt."""

    def __init__(self, name: str, blunders: float) -> None:
        super().__init__(lambda prompt: author(prompt.user), context_tokens=100_000)
        self.name, self._blunders = name, blunders

    def generate(self, prompts: Sequence[Prompt], **options: Any) -> list[str]:
        time.sleep(PAUSE)
        return super().generate(prompts, **options)

    def keep(self, prompts: Sequence[Prompt]) -> None:
        time.sleep(PAUSE / 10)

    def score_of(self, prompt: Prompt, continuation: str) -> float:
        if continuation in (" Yes", " No"):
            passage, _, asked = prompt.user.rpartition('"""')
            key = re.findall(r"^Proposed answer: (.*)$", asked, re.MULTILINE)[-1]
            return -0.1 if (key in passage) == (continuation == " Yes") else -4.0
        luck = lot(self.name, prompt.user, continuation)
        seen = continuation.strip().lower() in prompt.user.lower()
        cost = 0.3 + luck / 10 if seen and lot(self.name, prompt.user) > self._blunders else 4 + luck
        return -max(1, self.count_tokens(continuation)) * cost


def lot(*parts: str) -> float:
    """A number in [0, 1) that depends on the texts alone."""
    return int(hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8], 16) / 2**32


def writer() -> Lookup:
    return Lookup("lookup-writer", 0.0)


def careful() -> Lookup:
    return Lookup("careful", 0.1)


def hasty() -> Lookup:
    return Lookup("hasty", 0.4)
