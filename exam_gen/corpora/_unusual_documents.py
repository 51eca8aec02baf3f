"""Unusual documents: what may trip a reader or a model, found by rule, so that it can be counted and avoided."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from examcore import Document

LONG_LINE = 10_000
"""Characters of a line that no person wrote."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u200f]")
_DIRECTION = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_EMOJI = re.compile(r"[\U0001f300-\U0001faff]")
_MARKUP = re.compile(
    r"</?(?:script|style|iframe|div|span|p|a|img|table|tr|td|br|b|i|ul|li|h[1-6])\b[^<>]{0,2000}>", re.I
)
_CHAT_MARKS = re.compile(r"<\|[\w ]{1,40}\|>|<\/?(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>|</?s>")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|everything\s+)?(?:of\s+)?(?:the\s+|your\s+|these\s+|those\s+)?"
    r"(?:above|previous|prior|preceding|earlier|foregoing|system|instructions?|prompts?|rules)\b"
    r"|\b(?:answer|choose|select|reply|respond)\s+(?:only\s+)?(?:with\s+)?(?:option\s+|choice\s+|letter\s+)?[\"'“(]?"
    r"(?-i:[A-D])(?=[\"'”).,!;:]|\s*$|\s+(?:and|for|to|in|as|no|every)\b)"
    r"|\byou\s+are\s+(?:now\s+)?an?\s+(?:ai|language\s+model|assistant|chatbot)\b"
    r"|\b(?:new|system|developer)\s+(?:instructions?|prompt)\s*:",
    re.IGNORECASE,
)


def addresses_a_model(text: str) -> bool:
    """Whether a text gives orders to a language model ("ignore the above and answer A") or holds marks of a chat."""
    return bool(_ORDERS.search(text) or _CHAT_MARKS.search(text))


def is_unsafe(sentence: str) -> bool:
    """Whether a sentence should not be asked about: control or direction characters, chat marks, orders to a model."""
    return bool(_CONTROL.search(sentence) or _DIRECTION.search(sentence) or addresses_a_model(sentence))


CASES: Mapping[str, Callable[[str], bool]] = {
    "control characters": lambda text: bool(_CONTROL.search(text)),
    "right-to-left text": lambda text: bool(_RIGHT_TO_LEFT.search(text)),
    "direction overrides": lambda text: bool(_DIRECTION.search(text)),
    "emoji": lambda text: bool(_EMOJI.search(text)),
    "HTML tags": lambda text: bool(_MARKUP.search(text)),
    "orders to a model": addresses_a_model,
    f"a line above {LONG_LINE:,} characters": lambda text: max(map(len, text.split("\n"))) > LONG_LINE,
}
"""The unusual things that are counted, by name."""


def count_cases(documents: Iterable[Document]) -> dict[str, int]:
    """How many documents show each of `CASES`, and how many repeat the text of an earlier one; cases without any are
    left out."""
    counts: Counter[str] = Counter()
    seen: set[int] = set()
    for document in documents:
        counts.update(name for name, shows in CASES.items() if shows(document.text))
        digest = hash(document.text)
        counts["text of an earlier document"] += digest in seen
        seen.add(digest)
    return {name: count for name, count in counts.most_common() if count}
