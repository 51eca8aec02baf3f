"""A language model behind a server: what it asks, and what becomes of every way a server can fail."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from dataclasses import asdict
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
import yaml

from examcore import (
    CachedLanguageModel,
    FailedError,
    LanguageModel,
    Likelihoods,
    NoReply,
    Prompt,
    RemoteLanguageModel,
    ReplyStore,
)
from rag import grid_of, load_model
from rag._models import check_model
from rag.servers import ServerOptions, parse_address
from rag.servers._server_model import ServerModel, without_repeated_opening
from rag.servers._transport import MAX_FAILURES_IN_A_ROW, MAX_REPLY_BYTES, RefusedError
from tests.rag.faulty_server import (
    Body,
    Say,
    Server,
    chat,
    echo,
    log_probabilities,
    prompt_logprobs,
    scripted,
    serving,
    tokens,
)

QUICK: dict[str, Any] = {"timeout": 0.3, "retries": 2, "backoff": 0.01}
GOOD = Say(chat("fine"))


def model(server: Server, **options: Any) -> ServerModel:
    return ServerModel(f"openai:scripted@{server.url}", ServerOptions(**{**QUICK, **options}))


def replies(asked: ServerModel, *users: str, **options: Any) -> list[str | NoReply]:
    found = {one.place: one.value for one in asked.replies([Prompt(user) for user in users], max_tokens=8, **options)}
    return [found[place] for place in range(len(users))]


class Once:
    """The first answers as told, then good ones."""

    def __init__(self, *first: Say) -> None:
        self.first: Iterator[Say] = iter(first)

    def __call__(self, server: Server, path: str, body: Body) -> Say:
        with server.lock:
            return next(self.first, GOOD)


FAULTS = {
    "status 429": Say({"error": {"message": "slow down"}}, 429, {"Retry-After": "0.05"}),
    "status 500": Say(b"<html>oops</html>", 500),
    "status 503": Say(b"", 503),
    "no answer within 0.3 s": Say({}, silence=0.6),
    "broken JSON": Say(b'{"choices": [{"message": {"content": "fi'),
    "HTML for JSON": Say(b"\n<!DOCTYPE html><html><body>Welcome to the hotel network</body></html>"),
    "a reply above 10 MB": Say(b'{"choices": "' + b"x" * (MAX_REPLY_BYTES + 1) + b'"}'),
    "a reply without choices": Say({"choices": []}),
    "a reply without text": Say({"choices": [{"message": {}}]}),
    "a reply with half a character (a lone surrogate)": Say(chat("A \ud800")),
    "an empty reply": Say(b""),
    "connection: ": Say(b"cut", headers={"Content-Length": "500"}),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_failed_request_is_repeated_and_counted_by_kind(kind: str) -> None:
    with serving(Once(FAULTS[kind])) as server:
        asked = model(server)
        assert replies(asked, "hello") == ["fine"]
        (counted,) = asked.traffic.failed.elements()
        assert counted.startswith(kind)
        assert asked.traffic.requests == len(server.asked) == 2
        assert asked.traffic.lost == 0


@pytest.mark.parametrize("kind", FAULTS)
def test_a_prompt_that_always_fails_is_lost_and_nothing_else_is(kind: str) -> None:
    def script(server: Server, path: str, body: Body) -> Say:
        return FAULTS[kind] if "bad" in body["messages"][0]["content"] else GOOD

    with serving(script) as server:
        asked = model(server, retries=1)
        first, lost, last = replies(asked, "one", "bad", "two")
        assert (first, last) == ("fine", "fine")
        assert isinstance(lost, NoReply)
        assert lost.reason.startswith(kind)
        assert lost.reason.endswith(", 2 attempts")
        assert asked.traffic.lost == 1
        with pytest.raises(FailedError, match=r"server 127\.0\.0\.1:\d+: no usable reply from scripted: "):
            asked.generate([Prompt("bad")], max_tokens=8)


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_holds_back_every_request(form: str) -> None:
    until = math.floor(time.time()) + 2
    after = "0.4" if form == "seconds" else formatdate(until, usegmt=True)
    with serving(Once(Say({}, 429, {"Retry-After": after}))) as server:
        asked = model(server, concurrency=1)
        assert replies(asked, "one", "two") == ["fine", "fine"]
        gap = server.times[1] - server.times[0]
        assert gap >= 0.4 if form == "seconds" else time.time() - (server.times[-1] - server.times[1]) >= until


def test_waits_grow_with_each_attempt() -> None:
    with serving(Once(*[Say(b"", 500)] * 4)) as server:
        assert replies(model(server, retries=4, backoff=0.1), "one") == ["fine"]
        gaps = [later - earlier for earlier, later in zip(server.times, server.times[1:], strict=False)]
        assert [0.05 * 2**n <= gap <= 0.1 * 2**n + 0.6 for n, gap in enumerate(gaps)] == [True] * 4


@pytest.mark.parametrize(
    ("status", "content", "message"),
    [
        (401, {"error": {"message": "Incorrect API key provided: sk-secret"}}, r"status 401: .*\*\*\*; wanted a key"),
        (404, {"error": {"message": "no model\nscripted"}}, "status 404: no model scripted"),
        (404, b"<html><h1>Not Found</h1></html>", "status 404: Not Found"),
        (400, {"detail": "top_p is wrong"}, "status 400: top_p is wrong"),
        (302, b"", "status 302: no reason given"),
        (429, {"error": {"message": "pay first", "code": "insufficient_quota"}}, "status 429: pay first"),
        (402, {"error": {"message": "pay first"}}, "status 402: pay first"),
    ],
)
def test_what_the_server_refuses_fails_at_once_in_one_line(
    status: int, content: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with serving(lambda *_: Say(content, status)) as server:
        kind = FailedError if "pay" in message else RefusedError
        with pytest.raises(kind, match=message) as caught:
            replies(model(server, concurrency=1), "one", "two", "three")
        assert "\n" not in str(caught.value)
        assert "sk-secret" not in str(caught.value)
        assert len(server.asked) == 1


def test_a_prompt_that_is_too_long_is_one_lost_prompt() -> None:
    def script(server: Server, path: str, body: Body) -> Say:
        long = {"error": {"message": "This model's maximum context length is 9 tokens", "code": "context_length"}}
        return Say(long, 400) if "long" in body["messages"][0]["content"] else GOOD

    with serving(script) as server:
        found = replies(model(server), "one", "long", "two")
        assert found[1] == NoReply("status 400: This model's maximum context length is 9 tokens")
        assert found[::2] == ["fine", "fine"]
        assert len(server.asked) == 3


def test_a_server_that_is_gone_stops_the_run() -> None:
    with serving(lambda *_: Say(b"", 500)) as server:
        asked = model(server, retries=0)
        with pytest.raises(FailedError, match=f"no usable reply to {MAX_FAILURES_IN_A_ROW} prompts in a row"):
            replies(asked, *map(str, range(2 * MAX_FAILURES_IN_A_ROW)))
    with pytest.raises(
        FailedError, match=r"cannot be reached \(connection: .*\); wanted an OpenAI-compatible server at"
    ):
        check_model(f"openai:scripted@{server.url}")


def test_the_number_of_requests_at_once_is_limited_and_used() -> None:
    with serving(lambda *_: GOOD, pause=0.05) as server:
        assert replies(model(server, concurrency=3), *map(str, range(9))) == ["fine"] * 9
        assert server.most_under_way == 3


def test_the_rate_limit_spaces_requests() -> None:
    with serving(lambda *_: GOOD) as server:
        replies(model(server, requests_per_minute=1200), *map(str, range(5)))
        assert server.times[-1] - server.times[0] >= 4 * 0.05 - 0.02


def test_another_model_in_the_replies_is_noted_once() -> None:
    with serving(lambda *_: Say(chat("fine", model="some-other-7b"))) as server:
        asked = model(server)
        assert replies(asked, "one", "two") == ["fine", "fine"]
        (note,) = asked.traffic.notes
        assert "asked for scripted, its replies name some-other-7b" in note


@pytest.mark.parametrize(
    "named", ["scripted", "scripted-2024-07-18", "scripted:latest", "scripted@main", "org/scripted", ""]
)
def test_a_dated_or_tagged_name_is_the_same_model(named: str) -> None:
    with serving(lambda *_: Say(chat("fine", model=named))) as server:
        asked = model(server)
        replies(asked, "one")
        assert not asked.traffic.notes


def test_the_key_comes_from_the_environment_and_goes_to_the_server_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-mine")
    with serving(lambda *_: GOOD) as server, ReplyStore(":memory:") as store:
        asked = model(server, api_key_env="MY_KEY")
        CachedLanguageModel(asked, store).generate([Prompt("one")], max_tokens=3)
        assert server.headers[0]["Authorization"] == "Bearer sk-mine"
        assert "sk-mine" not in repr(vars(asked)["settings"]) + repr(asked.traffic) + repr(asked._options)
        assert not [row for row in store._connection.iterdump() if "sk-mine" in row]


def test_openais_key_is_not_sent_in_the_open_to_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    from rag.servers._options import api_key

    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    options = ServerOptions()
    assert api_key(parse_address("openai:m@http://gpu-box:8000/v1", options), options) is None
    assert api_key(parse_address("openai:m@https://gpu-box/v1", options), options) == "sk-mine"
    assert api_key(parse_address("openai:m@http://localhost:8000/v1", options), options) == "sk-mine"
    named = ServerOptions(api_key_env="OPENAI_API_KEY")
    assert api_key(parse_address("openai:m@http://gpu-box:8000/v1", named), named) == "sk-mine"


def test_a_named_key_that_is_not_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(ValueError, match="environment variable NO_SUCH_KEY is not set"):
        load_model("openai:m@http://localhost:1/v1", server=ServerOptions(api_key_env="NO_SUCH_KEY"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"api_key_env": "sk-abcdef"}, "api_key_env is no name of an environment variable"),
        (
            {"api_key": "sk-abcdef"},
            r"unknown setting 'llms\.0\.server\.api_key'; did you mean llms\.server\.api_key_env",
        ),
        ({"base_url": "http://me:secret@host/v1"}, "base_url holds more than an address"),
        ({"base_url": "ftp://host/v1"}, "base_url is 'ftp://host/v1'; wanted http"),
        ({"concurrency": 0}, "concurrency is 0; wanted at least 1"),
        ({"timeout": -1}, "timeout is -1.0; wanted a number above 0"),
        ({"timeout": "soon"}, "timeout: wanted a valid number"),
        ({"price_per_million": {"prompt": -1}}, "price_per_million"),
    ],
)
def test_options_that_make_no_sense_are_refused_without_repeating_a_key(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        grid_of({"llms": [{"model": "openai:m", "server": given}], "retrievers": ["oracle"]})
    assert "sk-abcdef" not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "base", "expected"),
    [
        ("openai:qwen@http://h:1/v1/", None, ("qwen", "http://h:1/v1")),
        ("openai:org/qwen", "http://h:1/v1", ("org/qwen", "http://h:1/v1")),
        ("openai:@cf/meta@https://h/v1", None, ("@cf/meta", "https://h/v1")),
        ("openai:gpt", None, ("gpt", "https://api.openai.com/v1")),
    ],
)
def test_a_name_gives_model_and_address(
    name: str, base: str | None, expected: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert tuple(parse_address(name, ServerOptions(base_url=base))) == expected


@pytest.mark.parametrize("name", ["openai:", "openai:a b", "openai:@http://h/v1"])
def test_a_name_without_model_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="wanted openai:MODEL"):
        parse_address(name, ServerOptions())


def test_two_addresses_are_refused() -> None:
    with pytest.raises(ValueError, match="wanted one address"):
        parse_address("openai:m@http://a/v1", ServerOptions(base_url="http://b/v1"))


@pytest.mark.parametrize(
    ("text", "opening", "rest"),
    [
        ("Question: Which bird sings?", "Question: Which", " bird sings?"),
        ("Which bird sings?", "Question: Which", " bird sings?"),
        ("which bird sings?", "Question: Which", " bird sings?"),
        ("bird sings?", "Question: Which", " bird sings?"),
        ("Question: What sings?", "Question: Which", " What sings?"),
        ("Whichever sings?", "Question: Which", " Whichever sings?"),
        ("anything", "", "anything"),
        ("", "Question:", ""),
    ],
)
def test_a_chat_reply_is_read_as_going_on_from_its_opening(text: str, opening: str, rest: str) -> None:
    assert without_repeated_opening(text, opening) == rest


def test_a_reply_ends_at_a_stop_string_and_at_the_wanted_length_whatever_the_server_does() -> None:
    with serving(lambda *_: Say(chat("one line\nmore lines"))) as server:
        assert replies(model(server), "x", stop=("\n",)) == ["one line"]
    with serving(lambda *_: Say(chat("y" * 10**6))) as server:
        (text,) = replies(model(server), "x")
        assert isinstance(text, str)
        assert len(text) < 1000


def test_fields_a_server_refuses_are_left_out_and_noted() -> None:
    def script(server: Server, path: str, body: Body) -> Say:
        if "max_tokens" in body:
            said = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
        elif "seed" in body:
            said = "Unknown field: seed"
        elif body.get("response_format", {}).get("type") == "json_schema":
            said = "response_format json_schema is not supported"
        else:
            return Say(chat("fine"))
        return Say({"error": {"message": said}}, 400)

    with serving(script) as server:
        asked = model(server)
        schema = {"type": "object", "properties": {}}
        assert replies(asked, "one", "two", schema=schema) == ["fine", "fine"]
        assert server.asked[-1][1]["response_format"] == {"type": "json_object"}
        assert server.asked[-1][1]["max_completion_tokens"] == 8
        assert len(asked.traffic.notes) == 2
        before = len(server.asked)
        replies(asked, "three", schema=schema)
        assert len(server.asked) == before + 1


def test_tokens_are_counted_as_the_server_bills_them_and_estimated_when_it_does_not_say() -> None:
    with serving(lambda *_: Say(chat("a b c", prompt_tokens=7, completion_tokens=5))) as server:
        asked = model(server)
        (arrival,) = asked.replies([Prompt("hello")], max_tokens=8)
        assert arrival[1:] == ("a b c", 7, 5)
        assert (asked.traffic.prompt_tokens, asked.traffic.written_tokens) == (7, 5)
    for usage in (None, [1], {"prompt_tokens": -1, "completion_tokens": 10**30}):
        with serving(lambda *_, usage=usage: Say({**chat("abcdefgh"), "usage": usage})) as server:
            (arrival,) = model(server).replies([Prompt("x" * 39)], max_tokens=8)
            assert arrival[1:] == ("abcdefgh", 10, 2)


def test_each_reply_is_kept_as_it_comes_and_only_missing_ones_are_asked_for(tmp_path: Path) -> None:
    def script(server: Server, path: str, body: Body) -> Say:
        return Say({}, 404) if body["messages"][0]["content"] == "stop" else GOOD

    with serving(script) as server, ReplyStore(tmp_path / "r.sqlite") as store:
        asked = model(server, concurrency=1)
        with pytest.raises(ValueError, match="status 404"):
            CachedLanguageModel(asked, store).generate([Prompt(u) for u in ("a", "b", "stop", "c")], max_tokens=3)
        assert len(store) == 2
        cached = CachedLanguageModel(asked, store)
        assert cached.generate([Prompt(u) for u in ("a", "c", "b")], max_tokens=3) == ["fine"] * 3
        assert [body["messages"][0]["content"] for _, body in server.asked] == ["a", "b", "stop", "c"]
        assert (cached.usage.calls, cached.usage.cached) == (3, 2)


def test_no_more_is_asked_than_may_be_under_way_beyond_what_was_taken() -> None:
    with serving(lambda *_: GOOD) as server:
        arrivals = iter(model(server, concurrency=3).replies([Prompt(str(n)) for n in range(20)], max_tokens=8))
        for taken in range(1, 6):
            next(arrivals)
            time.sleep(0.1)
            assert len(server.asked) <= taken + 3 - 1, "what was taken last may not be stored yet"
        assert len(list(arrivals)) == 15
        assert len(server.asked) == 20


def test_a_lost_prompt_is_asked_for_again_next_time(tmp_path: Path) -> None:
    with serving(Once(Say(b"", 500))) as server, ReplyStore(tmp_path / "r.sqlite") as store:
        cached = CachedLanguageModel(model(server, retries=0), store)
        assert cached.replies([Prompt("a")], max_tokens=3) == [NoReply("status 500, 1 attempt")]
        assert cached.replies([Prompt("a")], max_tokens=3) == ["fine"]


def likelihood_script(server: Server, path: str, body: Body) -> Say:
    return Say(echo(body["prompt"]) if body.get("echo") else {"choices": [{"text": ""}]})


def vllm_script(server: Server, path: str, body: Body) -> Say:
    if "prompt_logprobs" not in body:
        return Say({"error": {"message": "echo is not supported"}}, 400)
    return Say(prompt_logprobs(body["prompt"]))


@pytest.mark.parametrize("script", [likelihood_script, vllm_script])
def test_likelihoods_are_the_sums_the_server_gives_after_the_prompt(script: Any) -> None:
    with serving(script) as server:
        asked = model(server)
        prompt, continuations = Prompt("What does the keeper count?", reply="Answer:"), (" ships", " ships and storms")
        found = asked.log_likelihoods(prompt, continuations)
        rendered = "What does the keeper count?\nAnswer:"
        start = len(tokens(rendered))
        assert found.tokens == (1, 3)
        assert found.prompt_tokens == start
        for text, total in zip(continuations, found.sums, strict=True):
            whole = rendered + text
            assert total == pytest.approx(sum(log_probabilities(whole)[start:]), abs=1e-9)
        before = len(server.asked)
        asked.log_likelihoods(prompt, continuations)
        assert len(server.asked) == before + 3


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_likelihoods_agree_with_those_of_the_same_model_on_this_machine(tiny_folder: Any, family: str) -> None:
    import torch

    local: Any = load_model(str(tiny_folder(family)), dtype="float32")

    def script(server: Server, path: str, body: Body) -> Say:
        ids = local.tokenizer(body["prompt"])["input_ids"]
        with server.lock, torch.inference_mode():
            logs = torch.log_softmax(local._model(torch.tensor([ids])).logits[0], dim=-1)
        given = [None, *(float(logs[place, one]) for place, one in enumerate(ids[1:]))]
        named = {"tokens": local.tokenizer.convert_ids_to_tokens(ids), "token_logprobs": given}
        return Say({"choices": [{"text": "", "logprobs": named}], "usage": {"prompt_tokens": len(ids)}})

    with serving(script) as server:
        far = model(server, tokenizer=str(tiny_folder(family)), timeout=20)
        for prompt in (Prompt("What does the keeper count?", reply="Answer:"), Prompt("Bread", system="Be brief.")):
            choices = [" ships", " ships, lamps and storms", " \u00fcber-salt"]
            ours, theirs = local.log_likelihoods(prompt, choices), far.log_likelihoods(prompt, choices)
            assert theirs.tokens == ours.tokens
            assert theirs.prompt_tokens == ours.prompt_tokens
            assert theirs.sums == pytest.approx(ours.sums, abs=1e-3)


def bent(**changes: Any) -> Say:
    """An echoed prompt whose log-probabilities are not what they should be."""
    reply = echo("The capital of France is Paris")
    reply["choices"][0]["logprobs"] |= changes
    return Say(reply)


@pytest.mark.parametrize(
    "said",
    [
        bent(token_logprobs=[None, -1.0]),
        bent(tokens=["The"], token_logprobs=[None]),
        bent(token_logprobs=[None, -1.0, 3.0, -1.0, -1.0, -1.0, -1.0]),
        bent(token_logprobs=[None, -1.0, float("nan"), -1.0, -1.0, -1.0, -1.0]),
        bent(tokens=None),
        Say(chat("no log-probabilities")),
        Say({"error": {"message": "echo is not supported"}}, 400),
        Say({"error": {"message": "no such path"}}, 404),
    ],
)
def test_a_server_without_honest_log_probabilities_is_found_out_at_the_first_request(said: Say) -> None:
    with serving(lambda *_: said) as server:
        asked = model(server)
        with pytest.raises(ValueError, match=r"gives no log-probabilities .* by another") as caught:
            asked.log_likelihoods(Prompt("x"), [" y"])
        assert "\n" not in str(caught.value)
        with pytest.raises(ValueError, match="gives no log-probabilities"):
            asked.need_likelihoods()


def test_one_reply_with_log_probabilities_of_another_length_loses_one_prompt() -> None:
    def script(server: Server, path: str, body: Body) -> Say:
        reply = echo(body["prompt"])
        if "bad" in body["prompt"]:
            reply["choices"][0]["logprobs"]["token_logprobs"].pop()
        return Say(reply)

    with serving(script) as server:
        asked = model(server)
        found = {
            one.place: one.value for one in asked.likelihoods([(Prompt("bad"), (" y",)), (Prompt("a b"), (" y",))])
        }
        assert found[0] == NoReply(
            "log-probabilities of mismatched length: tokens has 2, token_logprobs has 1, 3 attempts"
        )
        assert isinstance(found[1], Likelihoods)
        with pytest.raises(FailedError, match="mismatched length"):
            asked.log_likelihoods(Prompt("bad"), [" y"])


def test_the_context_is_what_the_options_or_the_server_say() -> None:
    with serving(scripted) as server:
        assert model(server).context_tokens == 8192
        assert model(server, context_tokens=100).context_tokens == 100
    with serving(lambda *_: Say(b"", 404)) as server:
        assert model(server).context_tokens > 10**6


def test_a_model_the_server_does_not_list_is_remarked_before_anything_is_asked() -> None:
    with serving(scripted) as server:
        (remark,) = check_model(f"openai:absent@{server.url}", ServerOptions(**QUICK))
        assert remark.endswith("does not list absent; it lists scripted")
        assert check_model(f"openai:scripted@{server.url}", ServerOptions(**QUICK)) == []


def test_plain_text_goes_through_the_chat_template_of_the_named_tokenizer(tiny_folder: Any) -> None:
    with serving(lambda *_: Say({"choices": [{"text": " ships", "finish_reason": "stop"}]})) as server:
        folder = str(tiny_folder("llama"))
        asked = model(server, chat=False, tokenizer=folder)
        assert asked.generate([Prompt("Who?", system="Be brief.", reply="Answer:")], max_tokens=4) == [" ships"]
        path, body = server.asked[0]
        assert path == "completions"
        assert body["prompt"].endswith("<|im_start|>assistant\nAnswer:")
        local = load_model(folder, dtype="float32")
        assert asked.count_tokens("the keeper counts") == local.count_tokens("the keeper counts")


def test_a_server_model_is_a_language_model_and_a_remote_one() -> None:
    asked: LanguageModel = ServerModel("openai:m@http://localhost:1/v1")
    assert isinstance(asked, RemoteLanguageModel)


def test_the_manual_shows_every_option_with_its_default() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
    block = next(one for one in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "concurrency" in one)
    shown = yaml.safe_load(block)["writer"]["server"]
    defaults = asdict(ServerOptions())
    assert list(shown) == list(defaults)
    chosen = {"base_url", "api_key_env"}
    assert {name: value for name, value in shown.items() if name not in chosen} == {
        name: value for name, value in defaults.items() if name not in chosen
    }
