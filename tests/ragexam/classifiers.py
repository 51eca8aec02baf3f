"""A fast labelling model for whole commands: it reads the question in its prompt, and sometimes talks instead."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from examcore import Likelihoods, Prompt


class VerbReader:
    """Says `apply, create` where the question has "use", `remember` else; talks where it has "unreadable"."""

    name = "verb-reader"
    context_tokens = 1200

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
        if log := os.environ.get("CLASSIFIER_LOG"):
            with Path(log).open("a") as file:
                file.writelines(json.dumps(prompt.user) + "\n" for prompt in prompts)
        return [self._reply(re.findall(r'"""\n(.*)\n"""', prompt.user, re.DOTALL)[0]) for prompt in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        raise AssertionError("labels are read from replies")

    def _reply(self, question: str) -> str:
        if "unreadable" in question:
            return "Let me think about it first."
        return "Apply, Create" if "use" in question else "Remember"


def reader() -> VerbReader:
    return VerbReader()
