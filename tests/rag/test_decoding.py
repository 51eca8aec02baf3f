"""Writing as a batch: rows that ended leave, draws follow the model's probabilities."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from rag.local import BatchWriter, _decoding
from rag.local._decoding import PromptTokens, TokenFilter, _drawn
from rag.local._prefix_cache import PrefixCache

ROWS = [
    PromptTokens(tuple(range(4, 4 + length)), cut) for length, cut in ((30, 9), (3, 0), (61, 50), (17, 16), (45, 0))
]


@pytest.fixture
def network(tiny_folder: Callable[..., Path]) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(tiny_folder("qwen2")).eval()


def never(_: Sequence[int]) -> bool:
    return False


@torch.inference_mode()
def test_every_row_is_the_models_own_greedy_continuation(network: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = []
    for row in ROWS:
        ids = list(row.ids)
        for _ in range(10):
            ids.append(int(network(input_ids=torch.tensor([ids])).logits[0, -1].argmax()))
        expected.append(ids[len(row.ids) :])
    for at_once in (1024, 20):
        monkeypatch.setitem(_decoding.GROUP_TOKENS, "cpu", at_once)
        writer = BatchWriter(network, PrefixCache(network, block=8), ())
        assert writer.write(writer.start(ROWS, 10), max_tokens=10, done=never) == expected


@torch.inference_mode()
def test_rows_that_ended_leave_the_batch_and_change_no_other(network: Any) -> None:
    writer, sizes = BatchWriter(network, PrefixCache(network, block=8), (2,)), []
    whole = BatchWriter(network, PrefixCache(network, block=8), ()).write(
        writer.start(ROWS, 12), max_tokens=12, done=never
    )
    network.register_forward_pre_hook(
        lambda _, args, kwargs: sizes.append(kwargs["input_ids"].shape[0]), with_kwargs=True
    )
    lasting = (12, 2, 5, 3, 9)
    started = writer.start(ROWS, 12)
    sizes.clear()

    def ends(row: int, ids: Sequence[int]) -> Sequence[int]:
        return [2] if len(ids) == lasting[row] - 1 and row in (1, 2) else []

    def done(ids: Sequence[int]) -> bool:
        return any(len(ids) == lasting[row] and list(ids) == whole[row][: len(ids)] for row in (3, 4))

    written = writer.write(started, max_tokens=12, done=done, only=TokenFilter(ends))
    free = [[token for token in ids if token != 2] for ids in written]
    assert [len(ids) for ids in written] == list(lasting)
    assert free == [ids[: len(kept)] for ids, kept in zip(whole, free, strict=True)]
    assert [written[row][-1] for row in (1, 2)] == [2, 2]
    assert sizes == [5, 5, 5, 5, 2, 2, 2, 2, 1, 1, 1]


def test_drawn_tokens_have_the_shares_of_their_probabilities() -> None:
    logits = torch.tensor([[0.0, 1.0, float("-inf"), 2.0, -1.0]])
    numbers = (torch.arange(10_000) + 0.5) / 10_000
    for temperature in (0.5, 1.0, 2.0):
        drawn = _drawn(logits.expand(10_000, -1), temperature, numbers)
        shares = torch.bincount(drawn, minlength=5) / 10_000
        assert torch.allclose(shares, torch.softmax(logits[0] / temperature, -1), atol=2e-4)
        assert shares[2] == 0
    assert _drawn(logits, 1.0, torch.tensor([0.0])).item() == 0
    assert _drawn(logits, 1.0, torch.tensor([1 - 2**-24])).item() == 4
