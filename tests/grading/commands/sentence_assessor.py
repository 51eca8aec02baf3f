"""A fast model that judges sentences of reports: yes where most long words of the sentence stand in the source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from examcore import Likelihoods, Prompt


class Assessor:
    """Says yes to a sentence whose long words are, more than half of them, in the rest of the prompt."""

    name, context_tokens = "assessor", 4000

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt], **_: Any) -> list[str]:
        return ["Yes" if self._agrees(one.user) else "No" for one in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        agrees = self._agrees(prompt.user)
        return Likelihoods((-0.1, -3.0) if agrees else (-3.0, -0.1), (1, 1), self.count_tokens(prompt.user))

    def _agrees(self, text: str) -> bool:
        before, sentence, after = re.split(r"[Ss]entence: (.*)", text, maxsplit=1)
        said = set(re.findall(r"\w{4,}", sentence.lower()))
        held = set(re.findall(r"\w{4,}", f"{before} {after.partition('Does the')[0]}".lower()))
        return 2 * len(said & held) > len(said)


def assessor() -> Assessor:
    return Assessor()
