"""Log-probabilities of a given text, in the two forms in which servers give them.

A prompt alone and the prompt with each continuation are encoded by the server; scoring starts where the first of the
joint encodings leaves that of the prompt alone, as it does for local models.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

from examcore import Likelihoods
from rag.servers._transport import UnusableError, excerpt

MISMATCHED = "log-probabilities of mismatched length"
NONE_GIVEN = "no log-probabilities"


class ScoredTokens(NamedTuple):
    """A text's tokens as the server names them, and the log-probability of each (the first has none: 0)."""

    tokens: tuple[str, ...]
    logs: tuple[float, ...]


@dataclass(frozen=True)
class LogprobsFormat:
    """A way of asking for the log-probabilities of a text: fields of the request, how a reply about a text is read."""

    name: str
    fields: Mapping[str, Any]
    read: Callable[[Mapping[str, Any], str], ScoredTokens]


def continuation_likelihoods(alone: ScoredTokens, together: Sequence[ScoredTokens]) -> Likelihoods:
    """Likelihoods of continuations from the prompt's encoding and the joint ones.

    Raises `UnusableError` when a joint encoding does not go on where the prompt ends.
    """
    start = min((_common(alone.tokens, one.tokens) for one in together), default=len(alone.tokens))
    if start == 0 or any(len(one.tokens) <= start for one in together):
        lengths = ", ".join(str(len(one.tokens)) for one in together)
        raise UnusableError(
            "log-probabilities of another text",
            f"{start} of the prompt's {len(alone.tokens)} tokens open all continuations, of {lengths} tokens with it",
        )
    sums = tuple(math.fsum(one.logs[start:]) for one in together)
    return Likelihoods(sums, tuple(len(one.tokens) - start for one in together), len(alone.tokens))


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(first), len(second)))


def _read_echo(reply: Mapping[str, Any], text: str) -> ScoredTokens:
    """`choices[0].logprobs` of the echoed prompt and of at most one written token, which is left out."""
    found = _choice(reply).get("logprobs")
    if not isinstance(found, Mapping):
        raise UnusableError(NONE_GIVEN, f"choices[0].logprobs is {excerpt(json.dumps(found))}")
    tokens, logs = found.get("tokens"), found.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(logs, list):
        raise UnusableError(NONE_GIVEN, f"{_sized('tokens', tokens)}, {_sized('token_logprobs', logs)}")
    if len(tokens) != len(logs):
        raise UnusableError(MISMATCHED, f"{_sized('tokens', tokens)}, {_sized('token_logprobs', logs)}")
    count = _prompts(list(map(str, tokens)), text, found.get("text_offset"), reply.get("usage"))
    return _encoded([str(token) for token in tokens[:count]], logs[:count], "token_logprobs")


def _prompts(tokens: Sequence[str], text: str, offsets: object, usage: object) -> int:
    """How many of an echo's tokens are the prompt's: all of them, or all but one that was written.

    Where they spell the text, with or without a token that opens it, they say so themselves. Else it is what the server
    counted; counts that disagree (some count the opening token without naming it) are settled by where tokens begin.
    """
    possible = range(max(len(tokens) - 1, 1), len(tokens) + 1)
    spelled = [count for count in possible if "".join(tokens[:count]).endswith(text)]
    told = _count(usage, "prompt_tokens")
    if spelled:
        return told if told in spelled else spelled[0]
    written = _count(usage, "completion_tokens")
    counted = {told} if written is None else {len(tokens) - written} if told is None else {told, len(tokens) - written}
    if isinstance(offsets, list) and len(offsets) == len(tokens) and len(counted) > 1:
        counted &= {sum(isinstance(one, int) and one < len(text) for one in offsets)}
    count = counted.pop() if len(counted) == 1 else None
    if count is None or count not in possible:
        sizes = [_sized("tokens", tokens), f"usage.prompt_tokens {told}", f"usage.completion_tokens {written}"]
        raise UnusableError(MISMATCHED, f"{', '.join(sizes)}, and the tokens do not spell the prompt")
    return count


def _read_prompt_logprobs(reply: Mapping[str, Any], _: str) -> ScoredTokens:
    """`choices[0].prompt_logprobs`: for each token but the first a mapping of one id to its log-probability."""
    found = _choice(reply).get("prompt_logprobs") or reply.get("prompt_logprobs")
    if not isinstance(found, list) or not found:
        raise UnusableError(NONE_GIVEN, _sized("prompt_logprobs", found))
    told = _count(reply.get("usage"), "prompt_tokens")
    if told not in (None, len(found)):
        raise UnusableError(MISMATCHED, f"{_sized('prompt_logprobs', found)}, usage.prompt_tokens {told}")
    tokens, logs = ["(first)"], [None]
    for place, entry in enumerate(found[1:], start=1):
        if not isinstance(entry, Mapping) or len(entry) != 1:
            raise UnusableError(MISMATCHED, f"{_sized(f'prompt_logprobs[{place}]', entry)}; wanted one token")
        ((token, value),) = entry.items()
        tokens.append(str(token))
        logs.append(value.get("logprob") if isinstance(value, Mapping) else value)
    return _encoded(tokens, logs, "prompt_logprobs")


LOGPROBS_FORMATS = (
    LogprobsFormat("echo", {"echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0}, _read_echo),
    LogprobsFormat("prompt_logprobs", {"prompt_logprobs": 0, "max_tokens": 1, "temperature": 0}, _read_prompt_logprobs),
)
"""In the order in which they are tried: completions with `echo` (vLLM, llama-cpp-python), `prompt_logprobs` (vLLM)."""


def _encoded(tokens: Sequence[str], logs: Sequence[Any], field: str) -> ScoredTokens:
    """Raises `UnusableError` for what is no logarithm of a probability: missing, not finite, above 0."""
    values = [0.0]
    for place, log in enumerate(logs[1:], start=1):
        if isinstance(log, bool) or not isinstance(log, int | float) or not math.isfinite(log) or log > 1e-6:
            raise UnusableError("log-probabilities that are none", f"{field}[{place}] is {json.dumps(log)}")
        values.append(min(float(log), 0.0))
    return ScoredTokens(tuple(tokens), tuple(values))


def _choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise UnusableError("a reply without choices")
    return choices[0]


def _count(usage: object, name: str) -> int | None:
    """A count of the server's; None where it gives none."""
    count = usage.get(name) if isinstance(usage, Mapping) else None
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def _sized(name: str, value: object) -> str:
    """A field and its length, or what it is in place of a list."""
    return f"{name} has {len(value)}" if isinstance(value, Sized) else f"{name} is {excerpt(json.dumps(value))}"
