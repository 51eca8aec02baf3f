"""The extractive reader beside a second implementation, on five architectures with random weights.

The second implementation is written from how SQuAD 2.0 is scored: of every window, read alone and without padding, all
pairs of a start and an end; the null score is the least over windows of the logits at the classification token. For one
window it is also that of products of probabilities, by which question-answering pipelines choose.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from grading.graders._extractive import LONGEST, load_reader

WORDS = "the outer layer of skin is called epidermis . what ? moon raises tides a baker kneads bread with salt".split()  # noqa: SIM905
QUESTION = "what is the outer layer ?"
NAMES = ["<pad>", "<unk>", "<cls>", "<sep>"]


class Kind(NamedTuple):
    """How an architecture puts question and passage together."""

    pair: str
    config: dict[str, Any]
    side: str = "right"
    types: bool = True


SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
KINDS = {
    "bert": Kind("<cls> $A <sep> $B:1 <sep>:1", {**SIZES, "max_position_embeddings": 40}),
    "electra": Kind("<cls> $A <sep> $B:1 <sep>:1", {**SIZES, "embedding_size": 16, "max_position_embeddings": 40}),
    # Two marks between, and places that begin behind the padding's.
    "roberta": Kind(
        "<cls> $A <sep> <sep> $B <sep>",
        {**SIZES, "max_position_embeddings": 41, "type_vocab_size": 1, "pad_token_id": 0},
        types=False,
    ),
    "distilbert": Kind(
        "<cls> $A <sep> $B <sep>",
        {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 40},
        types=False,
    ),
    # The classification token comes last, and padding first.
    "xlnet": Kind(
        "$A <sep> $B:1 <sep>:1 <cls>:2", {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32}, side="left"
    ),
}


@pytest.fixture(params=list(KINDS))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A random model of the architecture, saved as on a hub, whose longest input is 40 tokens."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import AutoConfig, AutoModelForQuestionAnswering, PreTrainedTokenizerFast

    torch.set_num_threads(1)
    kind = KINDS[request.param]
    names = [*NAMES, *WORDS]
    raw = Tokenizer(models.WordLevel({word: number for number, word in enumerate(names)}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    raw.post_processor = processors.TemplateProcessing(
        single="<cls> $A <sep>", pair=kind.pair, special_tokens=[("<cls>", 2), ("<sep>", 3)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        unk_token="<unk>",
        cls_token="<cls>",
        sep_token="<sep>",
        pad_token="<pad>",
        model_max_length=40,
        padding_side=kind.side,
        model_input_names=["input_ids", *(["token_type_ids"] if kind.types else []), "attention_mask"],
    )
    config = AutoConfig.for_model(
        request.param, vocab_size=len(names), initializer_range=0.9, **{"pad_token_id": 0, **kind.config}
    )
    with torch.random.fork_rng():
        torch.manual_seed(5)
        AutoModelForQuestionAnswering.from_config(config).save_pretrained(tmp_path / "reader")
    tokenizer.save_pretrained(tmp_path / "reader")
    return tmp_path / "reader"


class Window(NamedTuple):
    """One window read alone: logits, the passage's characters of each token (None outside it), the null's place."""

    start: np.ndarray
    end: np.ndarray
    offsets: list[tuple[int, int] | None]
    nowhere: int


def windows(folder: Path, passage: str, stride: int = 10) -> list[Window]:
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    cut = tokenizer(
        QUESTION, passage, truncation="only_second", max_length=40, stride=stride,
        return_overflowing_tokens=True, return_offsets_mapping=True,
    )  # fmt: skip
    found = []
    for row, ids in enumerate(cut["input_ids"]):
        given = {name: torch.tensor([cut[name][row]]) for name in tokenizer.model_input_names}
        with torch.inference_mode():
            logits = model(**given)
        sides = cut.sequence_ids(row)
        places = [
            tuple(one) if side == 1 else None for one, side in zip(cut["offset_mapping"][row], sides, strict=True)
        ]
        start, end = logits.start_logits[0].numpy(), logits.end_logits[0].numpy()
        found.append(Window(start.astype(float), end.astype(float), places, ids.index(tokenizer.cls_token_id)))
    return found


def squad(found: list[Window]) -> tuple[tuple[int, int], float, float]:
    """The characters of the best span, its score, and the null score."""
    spans: dict[tuple[int, int], float] = {}
    for one in found:
        inside = [place for place, offset in enumerate(one.offsets) if offset is not None]
        for first, last in itertools.product(inside, repeat=2):
            if first <= last < first + LONGEST:
                characters = (one.offsets[first][0], one.offsets[last][1])  # type: ignore[index]
                score = one.start[first] + one.end[last]
                spans[characters] = max(score, spans.get(characters, -np.inf))
    best = max(spans, key=spans.__getitem__)
    return best, spans[best], min(one.start[one.nowhere] + one.end[one.nowhere] for one in found)


def by_probabilities(one: Window) -> tuple[tuple[int, int], float, float]:
    """The span with the largest product of probabilities, with it and the product of the null's."""
    masked = np.array([offset is None and place != one.nowhere for place, offset in enumerate(one.offsets)])
    first, last = (np.exp(np.where(masked, -1e4, each) - each.max()) for each in (one.start, one.end))
    first, last = first / first.sum(), last / last.sum()
    products = np.triu(np.outer(first, last)) - np.triu(np.outer(first, last), LONGEST)
    null = products[one.nowhere, one.nowhere]
    products[one.nowhere, :] = products[:, one.nowhere] = 0
    place = np.unravel_index(products.argmax(), products.shape)
    begin, end = one.offsets[place[0]], one.offsets[place[1]]
    assert begin is not None
    assert end is not None
    return (begin[0], end[1]), float(products.max()), float(null)


@pytest.mark.parametrize("length", [6, 25, 90, 200])
def test_the_reader_finds_what_squads_rule_finds(folder: Path, length: int) -> None:
    passage = " ".join(WORDS[(7 * n + length) % len(WORDS)] for n in range(length))
    found = windows(folder, passage)
    assert (len(found) > 1) == (length > 30)
    span = load_reader(str(folder), "cpu").read(QUESTION, passage)
    best, score, null = squad(found)
    assert (span.start, span.end) == best
    assert span.score == pytest.approx(score, abs=1e-4)
    assert span.null == pytest.approx(null, abs=1e-4)


def test_in_one_window_it_is_what_a_pipelines_probabilities_choose(folder: Path) -> None:
    reader, answered = load_reader(str(folder), "cpu"), 0
    for n in range(12):
        passage = " ".join(WORDS[(5 * n + 3 * word) % len(WORDS)] for word in range(12))
        (one,) = windows(folder, passage)
        best, product, null = by_probabilities(one)
        span = reader.read(QUESTION, passage)
        assert (span.start, span.end) == best
        assert (span.score > span.null) == (product > null)
        assert np.exp(span.score - span.null) == pytest.approx(product / null, rel=1e-3)
        answered += span.score > span.null
    assert answered > 0
