"""Writing replies with transformers' own loop, for models whose state is more than keys and values of all positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList

from rag.local._decoding import TokenFilter


def write_by_transformers(
    model: Any,
    prompts: Sequence[Sequence[int]],
    ends: Sequence[int],
    *,
    max_tokens: int,
    done: Callable[[Sequence[int]], bool],
    temperature: float,
    seed: int,
    only: TokenFilter | None,
) -> list[list[int]]:
    """The tokens of a reply to each prompt, given as tokens; `ends` are the tokens that end a reply.

    `done` decides from a row's new tokens whether it is complete. Greedy at temperature 0, else sampled from `seed`;
    `only` restricts the next token.
    """
    width = max(map(len, prompts))
    pad = ends[0] if ends else 0
    device = model.device
    gaps = [width - len(prompt) for prompt in prompts]
    padded = [[*[pad] * gap, *prompt] for prompt, gap in zip(prompts, gaps, strict=True)]
    masked = [[*[0] * gap, *[1] * (width - gap)] for gap in gaps]
    config = GenerationConfig(
        max_new_tokens=max_tokens,
        do_sample=temperature > 0,
        temperature=temperature if temperature > 0 else None,
        top_k=0 if temperature > 0 else None,
        eos_token_id=list(ends) or None,
        pad_token_id=pad,
    )
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        written = model.generate(
            input_ids=torch.tensor(padded, device=device),
            attention_mask=torch.tensor(masked, device=device),
            generation_config=config,
            stopping_criteria=StoppingCriteriaList([_DoneRows(done, width)]),
            logits_processor=LogitsProcessorList([_AllowedTokensOnly(only, width)] if only else []),
        )
    return [list(row) for row in written[:, width:].tolist()]


class _DoneRows(StoppingCriteria):  # type: ignore[misc]
    def __init__(self, done: Callable[[Sequence[int]], bool], start: int) -> None:
        self._done, self._start = done, start

    def __call__(self, input_ids: Any, *_: Any, **__: Any) -> Any:
        done = [self._done(row) for row in input_ids[:, self._start :].tolist()]
        return torch.tensor(done, dtype=torch.bool, device=input_ids.device)


class _AllowedTokensOnly(LogitsProcessor):  # type: ignore[misc]
    def __init__(self, only: TokenFilter, start: int) -> None:
        self._only, self._start = only, start

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self._only.restrict(scores, range(len(scores)), input_ids[:, self._start :].tolist())
        return scores
