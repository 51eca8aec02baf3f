"""Log-probabilities as servers differ in giving them: what can be computed exactly is, the rest says what is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from rag.servers._likelihoods import LOGPROBS_FORMATS, ScoredTokens, continuation_likelihoods
from rag.servers._transport import UnusableError
from tests.rag.faulty_server import echo, log_probabilities, prompt_logprobs, tokens

ECHO, PROMPT = (form.read for form in LOGPROBS_FORMATS)
TEXT = "The keeper counts ships"
Change = Callable[[dict[str, Any]], object]


def logs(reply: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = reply["choices"][0]["logprobs"]
    return found


def echoed(*changes: Change) -> dict[str, Any]:
    """An echo of the text with one written token, then what a server makes of it otherwise."""
    reply = echo(TEXT)
    for change in changes:
        change(reply)
    return reply


def no_usage(reply: dict[str, Any]) -> None:
    del reply["usage"]


def with_opening(reply: dict[str, Any]) -> None:
    """A token that opens every text, listed and counted (vLLM)."""
    logs(reply)["tokens"].insert(0, "<s>")
    logs(reply)["token_logprobs"][:1] = [None, -3.0]
    reply["usage"]["prompt_tokens"] += 1


def opening_counted(reply: dict[str, Any]) -> None:
    """A token that opens every text, counted and not listed (llama-cpp-python)."""
    reply["usage"]["prompt_tokens"] += 1


def without_written(reply: dict[str, Any]) -> None:
    logs(reply)["tokens"].pop()
    logs(reply)["token_logprobs"].pop()


def written_not_counted(reply: dict[str, Any]) -> None:
    del reply["usage"]["completion_tokens"]


def unspelled(reply: dict[str, Any]) -> None:
    """Tokens as a vocabulary names them."""
    logs(reply)["tokens"] = [one.replace(" ", "\u0120") for one in logs(reply)["tokens"]]


def offsets(reply: dict[str, Any]) -> None:
    """Where each token begins in the text."""
    ends = [len("".join(tokens(TEXT)[:place])) for place in range(len(logs(reply)["tokens"]))]
    logs(reply)["text_offset"] = ends


VARIANTS: dict[str, tuple[Change, ...]] = {
    "as it is": (),
    "no usage": (no_usage,),
    "usage of null": (lambda reply: reply.update(usage=None),),
    "no top_logprobs": (lambda reply: logs(reply).update(top_logprobs=None),),
    "a first log that is a number": (lambda reply: logs(reply)["token_logprobs"].__setitem__(0, -7.0),),
    "no written token": (without_written,),
    "no written token, no usage": (without_written, no_usage),
    "an opening token": (with_opening,),
    "an opening token, no usage": (with_opening, no_usage),
    "an opening token that is counted only": (opening_counted,),
    "an opening token that is counted only, no written token": (opening_counted, without_written),
    "tokens of the vocabulary": (unspelled,),
    "tokens of the vocabulary, the prompt's only": (unspelled, without_written, written_not_counted),
    "tokens of the vocabulary, of which the written are counted": (
        unspelled,
        lambda reply: reply["usage"].pop("prompt_tokens"),
    ),
    "tokens of the vocabulary, and an opening token that is counted only": (unspelled, opening_counted, offsets),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_field_that_is_not_needed_changes_nothing(name: str) -> None:
    found = ECHO(echoed(*VARIANTS[name]), TEXT)
    count = len(tokens(TEXT))
    assert len(found.tokens) - count == ("an opening token" in name and "only" not in name)
    assert found.logs[-count + 1 :] == pytest.approx(log_probabilities(TEXT)[1:])


def test_tokens_that_say_nothing_in_words_may_end_a_prompt() -> None:
    reply = echoed(lambda reply: logs(reply)["tokens"].insert(4, ""))
    logs(reply)["token_logprobs"].insert(4, -2.0)
    reply["usage"]["prompt_tokens"] += 1
    assert ECHO(reply, TEXT).logs[-1] == -2.0


def test_prompt_logprobs_need_no_usage() -> None:
    reply = prompt_logprobs(TEXT)
    assert PROMPT({**reply, "usage": None}, TEXT) == PROMPT(reply, TEXT)


FAULTS: dict[str, tuple[Change, ...]] = {
    "no log-probabilities: choices[0].logprobs is null": (lambda reply: reply["choices"][0].update(logprobs=None),),
    "no log-probabilities: tokens is null, token_logprobs has 5": (lambda reply: logs(reply).update(tokens=None),),
    "log-probabilities of mismatched length: tokens has 5, token_logprobs has 4": (
        lambda reply: logs(reply)["token_logprobs"].pop(),
    ),
    "log-probabilities that are none: token_logprobs[2] is null": (
        lambda reply: logs(reply)["token_logprobs"].__setitem__(2, None),
    ),
    "log-probabilities that are none: token_logprobs[2] is 3.0": (
        lambda reply: logs(reply)["token_logprobs"].__setitem__(2, 3.0),
    ),
    "log-probabilities of mismatched length: tokens has 5, usage.prompt_tokens 9, usage.completion_tokens 1, and the "
    "tokens do not spell the prompt": (unspelled, lambda reply: reply["usage"].update(prompt_tokens=9)),
    "log-probabilities of mismatched length: tokens has 5, usage.prompt_tokens 5, usage.completion_tokens 1, and the "
    "tokens do not spell the prompt": (unspelled, opening_counted),
    "log-probabilities of mismatched length: tokens has 5, usage.prompt_tokens None, usage.completion_tokens None, and "
    "the tokens do not spell the prompt": (unspelled, no_usage),
    "a reply without choices": (lambda reply: reply.update(choices=[]),),
}


@pytest.mark.parametrize("message", FAULTS)
def test_what_cannot_be_read_says_which_fields_disagree(message: str) -> None:
    with pytest.raises(UnusableError, match=f"^{re.escape(message)}$"):
        ECHO(echoed(*FAULTS[message]), TEXT)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: found.pop(), "mismatched length: prompt_logprobs has 3, usage.prompt_tokens 4"),
        (lambda found: found.__setitem__(2, {"a": 1, "b": 2}), "length: prompt_logprobs[2] has 2; wanted one token"),
        (lambda found: found.__setitem__(2, {"a": {"rank": 1}}), "are none: prompt_logprobs[2] is null"),
        (lambda found: found.clear(), "no log-probabilities: prompt_logprobs is null"),
    ],
)
def test_prompt_logprobs_that_cannot_be_read_say_why(change: Change, message: str) -> None:
    reply = prompt_logprobs(TEXT)
    change(reply["choices"][0]["prompt_logprobs"])
    with pytest.raises(UnusableError, match=re.escape(message)):
        PROMPT(reply, TEXT)


def test_an_encoding_that_does_not_go_on_where_the_prompt_ends_says_how_far_it_goes() -> None:
    alone = ScoredTokens(("a", "b", "c"), (0.0, -1.0, -1.0))
    message = "^log-probabilities of another text: 2 of the prompt's 3 tokens open all continuations, of 2, 4"
    with pytest.raises(UnusableError, match=message):
        continuation_likelihoods(
            alone, [ScoredTokens(("a", "b"), (0.0, -1.0)), ScoredTokens(("a", "b", "c", "d"), (0.0, -1.0, -1.0, -1.0))]
        )
    found = continuation_likelihoods(alone, [ScoredTokens((*alone.tokens, "d"), (0.0, -1.0, -1.0, -0.25))])
    assert math.isclose(found.sums[0], -0.25)
