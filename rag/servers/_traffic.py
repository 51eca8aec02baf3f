"""Counts of requests: sent, failed by kind, tokens; and notes for the user."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Traffic:
    """Counts of one model's requests; `lost` prompts got no usable reply; each of `notes` is shown once."""

    requests: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    prompt_tokens: int = 0
    written_tokens: int = 0
    notes: dict[str, None] = field(default_factory=dict)

    def note(self, sentence: str) -> None:
        """Keep a sentence, once."""
        self.notes[sentence] = None

    def as_dict(self) -> dict[str, object]:
        """Counts for a record."""
        return {
            "requests": self.requests,
            "failed": dict(self.failed.most_common()),
            "lost": self.lost,
            "prompt_tokens": self.prompt_tokens,
            "written_tokens": self.written_tokens,
        }
