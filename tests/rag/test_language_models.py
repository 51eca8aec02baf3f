"""One contract over every kind of language model."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from examcore import LanguageModel, Likelihoods, Prompt
from rag import load_model
from tests.rag.faulty_server import Body, Say, Server, chat, echo, serving

PROMPTS = (Prompt(user="What does the keeper count?", reply="Answer:"), Prompt(user="Bread needs", system="Be brief."))


def answer(server: Server, path: str, body: Body) -> Say:
    return Say(echo(body["prompt"]) if path == "completions" else chat("the keeper counts ships"))


@pytest.fixture(params=["llama", "qwen2", "gemma3", "hash", "server"])
def model(request: pytest.FixtureRequest, tiny_folder: Callable[..., Path], hash_model: Any) -> Iterator[LanguageModel]:
    if request.param == "hash":
        yield hash_model
    elif request.param == "server":
        with serving(answer) as server:
            yield load_model(f"openai:scripted@{server.url}")
    else:
        yield load_model(str(tiny_folder(request.param)))


def test_contract_of_every_model(model: LanguageModel) -> None:
    assert model.name
    assert model.context_tokens > 100
    assert model.count_tokens("") == 0
    assert 0 < model.count_tokens("one two") <= model.count_tokens("one two three four")
    for prompt in PROMPTS:
        found = model.log_likelihoods(prompt, [" ships", " ships and storms", " ships"])
        assert isinstance(found, Likelihoods)
        assert len(found.sums) == len(found.tokens) == 3
        assert all(math.isfinite(one) and one < 0 for one in found.sums)
        assert found.sums[0] == pytest.approx(found.sums[2], abs=1e-5)
        assert 0 < found.tokens[0] == found.tokens[2] <= found.tokens[1]
        assert 0 < found.prompt_tokens < model.context_tokens
        assert found == model.log_likelihoods(prompt, [" ships", " ships and storms", " ships"])
    assert model.log_likelihoods(PROMPTS[0], []).sums == ()
    replies = model.generate(PROMPTS, max_tokens=5)
    assert len(replies) == 2
    assert all(isinstance(reply, str) for reply in replies)
    assert replies == model.generate(PROMPTS, max_tokens=5)
    assert model.generate([], max_tokens=5) == []
