"""Log-probabilities of a given text, in the two forms in which servers give them.

A prompt alone and the prompt with each continuation are encoded by the server; scoring starts where the first of the
joint encodings leaves that of the prompt alone, as it does for local models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from exam_gen.model import Likelihoods
from rag.servers.transport import UnusableError


class Encoded(NamedTuple):
    """A text's tokens as the server names them, and the log-probability of each (the first has none: 0)."""

    tokens: tuple[str, ...]
    logs: tuple[float, ...]


@dataclass(frozen=True)
class Form:
    """A way of asking for the log-probabilities of a text: fields of the request, and how a reply is read."""

    name: str
    fields: Mapping[str, Any]
    read: Callable[[Mapping[str, Any]], Encoded]


def compare(alone: Encoded, together: Sequence[Encoded]) -> Likelihoods:
    """Likelihoods of continuations from the prompt's encoding and the joint ones.

    Raises `UnusableError` when a joint encoding does not go on where the prompt ends.
    """
    start = min((_common(alone.tokens, one.tokens) for one in together), default=len(alone.tokens))
    if start == 0 or any(len(one.tokens) <= start for one in together):
        raise UnusableError("log-probabilities of another text")
    sums = tuple(math.fsum(one.logs[start:]) for one in together)
    return Likelihoods(sums, tuple(len(one.tokens) - start for one in together), len(alone.tokens))


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(first), len(second)))


def _read_echo(reply: Mapping[str, Any]) -> Encoded:
    """`choices[0].logprobs` of the echoed prompt and of at most one written token, which is left out."""
    found = _choice(reply).get("logprobs")
    count = _prompt_tokens(reply)
    if not isinstance(found, Mapping):
        raise UnusableError("no log-probabilities")
    tokens, logs = found.get("tokens"), found.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(logs, list):
        raise UnusableError("no log-probabilities")
    if len(tokens) != len(logs) or not count <= len(tokens) <= count + 1:
        raise UnusableError("log-probabilities of mismatched length")
    return _encoded([str(token) for token in tokens[:count]], logs[:count])


def _read_prompt_logprobs(reply: Mapping[str, Any]) -> Encoded:
    """`choices[0].prompt_logprobs`: for each token but the first a mapping of one id to its log-probability."""
    found = _choice(reply).get("prompt_logprobs") or reply.get("prompt_logprobs")
    if not isinstance(found, list):
        raise UnusableError("no log-probabilities")
    if len(found) != _prompt_tokens(reply):
        raise UnusableError("log-probabilities of mismatched length")
    tokens, logs = ["(first)"], [None]
    for entry in found[1:]:
        if not isinstance(entry, Mapping) or len(entry) != 1:
            raise UnusableError("log-probabilities of mismatched length")
        ((token, value),) = entry.items()
        tokens.append(str(token))
        logs.append(value.get("logprob") if isinstance(value, Mapping) else value)
    return _encoded(tokens, logs)


FORMS = (
    Form("echo", {"echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0}, _read_echo),
    Form("prompt_logprobs", {"prompt_logprobs": 0, "max_tokens": 1, "temperature": 0}, _read_prompt_logprobs),
)
"""In the order in which they are tried: completions with `echo` (vLLM, llama-cpp-python), `prompt_logprobs` (vLLM)."""


def _encoded(tokens: Sequence[str], logs: Sequence[Any]) -> Encoded:
    """Raises `UnusableError` for what is no logarithm of a probability: missing, not finite, above 0."""
    values = [0.0]
    for log in logs[1:]:
        if isinstance(log, bool) or not isinstance(log, int | float) or not math.isfinite(log) or log > 1e-6:
            raise UnusableError("log-probabilities that are none")
        values.append(min(float(log), 0.0))
    return Encoded(tuple(tokens), tuple(values))


def _choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise UnusableError("a reply without choices")
    return choices[0]


def _prompt_tokens(reply: Mapping[str, Any]) -> int:
    usage = reply.get("usage")
    count = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UnusableError("no count of prompt tokens")
    return count
