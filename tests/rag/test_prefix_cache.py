"""Blocks of keys and values: shared by prompts, the same numbers to the last bit, counted in bytes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from rag.local._prefix_cache import PrefixCache, has_full_attention

LONG = tuple(range(4, 104))
OTHER = (*LONG[:70], *range(200, 240))


@pytest.fixture(params=("llama", "qwen2", "gemma3"))
def network(request: pytest.FixtureRequest, tiny_folder: Callable[..., Path]) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(tiny_folder(request.param)).eval()


def same(first: Any, second: Any) -> bool:
    """Whether logits, keys, values and lengths agree to the last bit."""
    pairs = list(zip(first.cache.layers, second.cache.layers, strict=True))
    return (
        torch.equal(first.logits, second.logits)
        and all(torch.equal(a.keys, b.keys) and torch.equal(a.values, b.values) for a, b in pairs)
        and all(a.get_seq_length() == b.get_seq_length() for a, b in pairs)
    )


@torch.inference_mode()
def test_a_prompt_is_encoded_to_the_same_bits_whatever_was_asked_before(network: Any) -> None:
    asked = (LONG, LONG[:32], OTHER, LONG[:33], LONG[:64], LONG[:96], OTHER[:80], LONG)
    for block in (16, 32):
        for keep in (None, 60_000, 0):
            used = PrefixCache(network, block=block, keep=keep)
            for cut in (0, 21):
                for ids in asked:
                    assert same(used.encode(ids, cut), PrefixCache(network, block=block).encode(ids, cut))


@torch.inference_mode()
def test_the_logits_are_those_of_one_pass_over_the_whole_prompt(network: Any) -> None:
    whole = network(input_ids=torch.tensor([LONG])).logits[0, -1]
    for cut in (0, 7, 16, len(LONG) - 1, len(LONG)):
        found = PrefixCache(network, block=16).encode(LONG, cut).logits
        assert torch.allclose(found, whole, atol=1e-4)


def counted(network: Any) -> list[int]:
    seen: list[int] = []
    network.base_model.register_forward_pre_hook(
        lambda _, args, kwargs: seen.append(kwargs["input_ids"].shape[1]), with_kwargs=True
    )
    return seen


@torch.inference_mode()
def test_only_what_no_earlier_prompt_began_with_is_read(network: Any) -> None:
    prefixes, seen = PrefixCache(network, block=16), counted(network)

    def read(ids: Sequence[int], cut: int = 0) -> list[int]:
        seen.clear()
        prefixes.encode(ids, cut)
        return list(seen)

    assert read(LONG) == [16] * 6 + [4]
    assert read(LONG) == []
    assert read(OTHER) == [16, 16, 14]  # 64 of the 70 tokens they share
    assert read(LONG[:32]) == [16]  # its last block is known, what follows it is not
    assert read(LONG[:32]) == []
    assert read(LONG, 70) == [6, 16, 14]
    assert read(OTHER, 70) == [16, 16, 8]  # all 70
    prefixes.clear()
    assert prefixes.size == 0
    assert read(LONG[:20]) == [16, 4]


@torch.inference_mode()
def test_what_is_a_prompts_own_is_not_kept(network: Any) -> None:
    prefixes, shared = PrefixCache(network, block=16), PrefixCache(network, block=16)
    prefixes.encode(LONG, 70)
    shared.begin((*LONG[:70], 7), 70)
    assert prefixes.size == shared.size > 0


@torch.inference_mode()
def test_bytes_are_counted_once_and_the_longest_unused_go_first(network: Any) -> None:
    full = PrefixCache(network, block=16)
    full.encode(OTHER)
    alone = full.size
    full.encode(LONG)
    assert full.size < 2 * alone
    held = [tensor for block in full.blocks._blocks.values() for tensor in (*block.keys, *block.values)]
    held += [block.logits for block in full.blocks._blocks.values() if block.logits is not None]
    assert full.size == sum(tensor.untyped_storage().nbytes() for tensor in held)
    small, seen = PrefixCache(network, block=16, keep=alone), counted(network)
    for ids in (OTHER, LONG, OTHER):
        small.encode(ids)
        assert 0 < small.size <= alone
    seen.clear()
    small.encode(OTHER)
    assert seen == []
    small.encode(LONG)
    assert seen == [16, 16, 4]  # the 64 tokens that OTHER has, too, are still known


@torch.inference_mode()
def test_what_begins_a_prompt_leaves_at_least_one_token(network: Any) -> None:
    prefixes = PrefixCache(network, block=16)
    for ids, cut, left in ((LONG[:16], 0, 16), (LONG[:17], 0, 1), (LONG[:40], 10, 14), (LONG[:40], 40, 8)):
        begun = prefixes.begin(ids, cut)
        assert begun.left == ids[-left:]
        assert prefixes.left(ids, cut) == left
        assert (begun.cache.get_seq_length() if begun.cache else 0) == len(ids) - left


@torch.inference_mode()
def test_sliding_windows_are_told_from_full_attention(network: Any) -> None:
    sliding = "sliding_attention" in (getattr(network.config, "layer_types", None) or ())
    assert has_full_attention(PrefixCache(network).encode(LONG).cache) == (not sliding)


def test_no_tokens_are_refused(network: Any) -> None:
    with pytest.raises(ValueError, match="no tokens; wanted at least one"):
        PrefixCache(network).encode(())
