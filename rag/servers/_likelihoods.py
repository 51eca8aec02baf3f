"""Log-probabilities of a given text, in the two formats that servers use.

The server encodes the prompt alone and with each continuation. As for local models, scoring starts at the first token
where one of the joint encodings differs from that of the prompt alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

from examcore import Likelihoods, common_prefix
from rag.servers._transport import UnusableError, excerpt

MISMATCHED = "log-probabilities of mismatched length"
NONE_GIVEN = "no log-probabilities"


class ScoredTokens(NamedTuple):
    """A text's tokens as the server names them, and the log-probability of each (0 for the first, which has none)."""

    tokens: tuple[str, ...]
    logs: tuple[float, ...]


@dataclass(frozen=True)
class LogprobsFormat:
    """One way to ask for the log-probabilities of a text: fields of the request, and how to read the reply."""

    name: str
    fields: Mapping[str, Any]
    read: Callable[[Mapping[str, Any], str], ScoredTokens]


def continuation_likelihoods(alone: ScoredTokens, together: Sequence[ScoredTokens]) -> Likelihoods:
    """Likelihoods of continuations, from the encoding of the prompt alone and those with each continuation.

    Raises `UnusableError` when a joint encoding does not continue the prompt.
    """
    start = min((common_prefix(alone.tokens, one.tokens) for one in together), default=len(alone.tokens))
    if start == 0 or any(len(one.tokens) <= start for one in together):
        lengths = ", ".join(str(len(one.tokens)) for one in together)
        raise UnusableError(
            "log-probabilities of another text",
            f"{start} of the prompt's {len(alone.tokens)} tokens open all continuations, of {lengths} tokens with it",
        )
    sums = tuple(math.fsum(one.logs[start:]) for one in together)
    return Likelihoods(sums, tuple(len(one.tokens) - start for one in together), len(alone.tokens))


def _read_echo(reply: Mapping[str, Any], text: str) -> ScoredTokens:
    """Read `choices[0].logprobs` of the echoed prompt; at most one written token follows and is left out."""
    found = first_choice(reply).get("logprobs")
    if not isinstance(found, Mapping):
        raise UnusableError(NONE_GIVEN, f"choices[0].logprobs is {excerpt(json.dumps(found))}")
    tokens, logs = found.get("tokens"), found.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(logs, list):
        raise UnusableError(NONE_GIVEN, f"{_sized('tokens', tokens)}, {_sized('token_logprobs', logs)}")
    if len(tokens) != len(logs):
        raise UnusableError(MISMATCHED, f"{_sized('tokens', tokens)}, {_sized('token_logprobs', logs)}")
    count = _prompt_length(list(map(str, tokens)), text, found.get("text_offset"), reply)
    return _encoded([str(token) for token in tokens[:count]], logs[:count], "token_logprobs")


def _prompt_length(tokens: Sequence[str], text: str, offsets: object, reply: Mapping[str, Any]) -> int:
    """How many tokens of an echo belong to the prompt: all, or all but one that was written.

    If the tokens spell the text, with or without an opening token, that decides. Else the server's counts do; when they
    disagree (some servers count the opening token without listing it), the offsets of the tokens decide.
    """
    possible = range(max(len(tokens) - 1, 1), len(tokens) + 1)
    spelled = [count for count in possible if "".join(tokens[:count]).endswith(text)]
    reported = reported_tokens(reply, "prompt_tokens")
    if spelled:
        return reported if reported in spelled else spelled[0]
    written = reported_tokens(reply, "completion_tokens")
    unwritten = None if written is None else len(tokens) - written
    counted = {one for one in (reported, unwritten) if one is not None}
    if isinstance(offsets, list) and len(offsets) == len(tokens) and len(counted) > 1:
        counted &= {sum(isinstance(one, int) and one < len(text) for one in offsets)}
    count = counted.pop() if len(counted) == 1 else None
    if count is None or count not in possible:
        sizes = [_sized("tokens", tokens), f"usage.prompt_tokens {reported}", f"usage.completion_tokens {written}"]
        raise UnusableError(MISMATCHED, f"{', '.join(sizes)}, and the tokens do not spell the prompt")
    return count


def _read_prompt_logprobs(reply: Mapping[str, Any], _: str) -> ScoredTokens:
    """Read `choices[0].prompt_logprobs`: for each token but the first, a mapping of one id to its log-probability."""
    found = first_choice(reply).get("prompt_logprobs") or reply.get("prompt_logprobs")
    if not isinstance(found, list) or not found:
        raise UnusableError(NONE_GIVEN, _sized("prompt_logprobs", found))
    reported = reported_tokens(reply, "prompt_tokens")
    if reported not in (None, len(found)):
        raise UnusableError(MISMATCHED, f"{_sized('prompt_logprobs', found)}, usage.prompt_tokens {reported}")
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
"""In the order they are tried: completions with `echo` (vLLM, llama-cpp-python), `prompt_logprobs` (vLLM)."""


def _encoded(tokens: Sequence[str], logs: Sequence[Any], field: str) -> ScoredTokens:
    values = [0.0]
    for place, log in enumerate(logs[1:], start=1):
        if isinstance(log, bool) or not isinstance(log, int | float) or not math.isfinite(log) or log > 1e-6:
            raise UnusableError("log-probabilities that are none", f"{field}[{place}] is {json.dumps(log)}")
        values.append(min(float(log), 0.0))
    return ScoredTokens(tuple(tokens), tuple(values))


MOST_TOKENS = 1_000_000_000
"""No reply is billed for more."""


def first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first of a reply's choices."""
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise UnusableError("a reply without choices")
    return choices[0]


def reported_tokens(reply: Mapping[str, Any], name: str) -> int | None:
    """A count from the server's `usage`; None if it gives none, or one that cannot be."""
    usage = reply.get("usage")
    count = usage.get(name) if isinstance(usage, Mapping) else None
    is_count = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_TOKENS
    return count if is_count else None


def _sized(name: str, value: object) -> str:
    """A field and its length, or its value if it is no list."""
    return f"{name} has {len(value)}" if isinstance(value, Sized) else f"{name} is {excerpt(json.dumps(value))}"
