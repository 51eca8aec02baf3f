"""What exam writing and exam sitting ask of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


@dataclass(frozen=True)
class Prompt:
    """A request: `system` and `user` go through the model's chat template, `reply` starts its answer."""

    user: str
    system: str = ""
    reply: str = ""


class Likelihoods(NamedTuple):
    """Natural-log likelihood and length in tokens of each continuation of one prompt."""

    sums: tuple[float, ...]
    tokens: tuple[int, ...]
    prompt_tokens: int


class LanguageModel(Protocol):
    """A text model: writes replies and scores given continuations."""

    @property
    def name(self) -> str:
        """The name that answers and questions are stored under."""
        ...

    @property
    def context_tokens(self) -> int:
        """The longest prompt and reply together, in tokens."""
        ...

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text, without special ones."""
        ...

    def generate(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[str]:
        """One reply per prompt, as one batch; `reply` is not repeated, a stop string ends and is cut."""
        ...

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        """Log-likelihood of each continuation right after the prompt, the prompt encoded once."""
        ...
