"""Where weights lie and as which numbers they are held changes log-likelihoods by rounding, never by company."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from examcore import Prompt
from rag import load_model
from rag.local import LocalModel
from rag.local._passes import PromptPiece
from rag.weights import _placement as placements
from rag.weights._placement import quantization_method, resolve_placement

ASKED = [
    (Prompt(f"Bread needs flour.\n\nQuestion: what does the keeper of lamp {n} count?", reply="Answer:"), choices)
    for n, choices in enumerate(
        [(" ships", " lamps and storms"), (" yeast", " salt", " the coast"), (" at noon", " at four")]
    )
]


def loaded(name: object, **options: Any) -> LocalModel:
    model = load_model(str(name), **options)
    assert isinstance(model, LocalModel)
    return model


def sums(model: LocalModel) -> list[tuple[float, ...]]:
    found = {one.place: one.value for one in model.likelihoods(ASKED)}
    return [found[place].sums for place in range(len(ASKED))]  # type: ignore[union-attr]


def alone(model: LocalModel) -> list[tuple[float, ...]]:
    return [next(iter(model.likelihoods([one]))).value.sums for one in ASKED]  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def wide_folder(tiny_folder: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of the smallest width that is kept in 4 bits, whose numbers stand in blocks of 64."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig

    folder = tmp_path_factory.mktemp("wide")
    tokenizer = AutoTokenizer.from_pretrained(tiny_folder("llama"))
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=512,
        initializer_range=0.2,
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_unknown_names_are_refused() -> None:
    with pytest.raises(
        ValueError, match="dtype 'int3': unknown; wanted auto, float32, bfloat16, float16, int8, nf4, w8a8"
    ):
        resolve_placement("int3", "cpu")
    with pytest.raises(ValueError, match=r"device 'toaster': .*; wanted auto, cpu, cuda, mps or spread"):
        resolve_placement("auto", "toaster")


def test_fewer_bits_without_their_library_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placements, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"dtype 'nf4': needs bitsandbytes; wanted pip install 'ragexam\[quantized\]'"):
        resolve_placement("nf4", "cpu")


def test_spread_over_what_there_is_a_model_has_the_numbers_of_one_device(tiny_folder: Callable[..., Path]) -> None:
    one, spread = (loaded(tiny_folder("llama"), dtype="float32", device=device) for device in ("cpu", "spread"))
    assert spread.streaming == one.streaming
    assert sums(spread) == (
        sums(one) if not torch.cuda.is_available() else [pytest.approx(x, abs=1e-3) for x in sums(one)]
    )


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_layers_that_accelerate_brings_when_they_are_needed_change_nothing(
    tiny_folder: Callable[..., Path], tmp_path: Path, family: str
) -> None:
    from accelerate import dispatch_model

    whole, parted = (loaded(tiny_folder(family), dtype="float32", device="cpu") for _ in range(2))
    places = {"model.embed_tokens": "cpu", "model.layers.0": "cpu", "model.layers.1": "disk", "model.norm": "cpu"}
    names = {name.partition(".layers")[0] for name, _ in parted._model.named_modules()}
    others = {f"model.{name}": "cpu" for name in ("rotary_emb", "rotary_emb_local") if f"model.{name}" in names}
    dispatch_model(
        parted._model, {**places, **others, "lm_head": "cpu"}, main_device="cpu", offload_dir=tmp_path, force_hooks=True
    )
    assert {one.device.type for one in parted._model.parameters()} == {"cpu", "meta"}
    assert parted.streaming == whole.streaming
    assert sums(parted) == sums(whole)
    prompts = [prompt for prompt, _ in ASKED]
    assert parted.generate(prompts, max_tokens=4) == whole.generate(prompts, max_tokens=4)


def test_a_mask_lies_where_the_layer_that_asks_for_it_lies() -> None:
    piece = PromptPiece((1, 2), (), (0, 0))
    for device in ("cpu", "meta", "cpu"):
        assert piece.mask(torch.empty(1, device=device), 1, None).device.type == device


@pytest.fixture(params=["int8", "nf4"])
def bits(request: pytest.FixtureRequest) -> str:
    pytest.importorskip("bitsandbytes", reason="bitsandbytes keeps models in fewer bits")
    return str(request.param)


def test_a_quantised_model_is_smaller_and_near_the_whole_one(wide_folder: Path, bits: str) -> None:
    whole, packed = (loaded(wide_folder, dtype=dtype, device="cpu") for dtype in ("float32", bits))
    assert packed.settings["quantized"] == bits
    assert "quantized" not in whole.settings
    assert footprint(packed) < footprint(whole) / 1.5
    share, nats = {"int8": (0.02, 0.1), "nf4": (0.1, 1.5)}[bits]
    for mine, theirs in zip(sums(packed), sums(whole), strict=True):
        assert mine == pytest.approx(theirs, rel=share, abs=nats)
        assert mine != theirs


def test_a_quantised_model_gives_a_prompt_the_same_numbers_in_any_company(wide_folder: Path, bits: str) -> None:
    model = loaded(wide_folder, dtype=bits, device="cpu")
    # LLM.int8() looks for outliers among all tokens of a pass: its prompts are read one by one.
    assert bool(model.streaming["pass"]) == (bits == "nf4")
    assert sums(model) == alone(model) == sums(loaded(wide_folder, dtype=bits, device="cpu"))


def test_a_folder_of_quantised_weights_is_read_as_it_is(wide_folder: Path, bits: str, tmp_path: Path) -> None:
    packed = loaded(wide_folder, dtype=bits, device="cpu")
    packed._model.save_pretrained(tmp_path)
    packed.tokenizer.save_pretrained(tmp_path)
    again = loaded(tmp_path, dtype=str(packed.settings["dtype"]), device="cpu")
    assert quantization_method(again._model.config) == again.settings["quantized"] == "bitsandbytes"
    assert sums(again) == sums(packed)
    with pytest.raises(ValueError, match=r"is quantised already \(bitsandbytes\); wanted dtype auto"):
        load_model(str(tmp_path), dtype=bits)


def footprint(model: LocalModel) -> int:
    """Bytes of what is quantised: the layers without embedding and head."""
    layers = model._model.model.layers.parameters()
    return sum(one.numel() * one.element_size() for one in layers)


def test_without_chat_a_prompt_is_plain_text(tiny_folder: Callable[..., Path]) -> None:
    folder = tiny_folder("llama")
    plain, chat, bare = loaded(folder, chat=False), loaded(folder), loaded(tiny_folder("llama", chat=False))
    prompt = Prompt("What does the keeper count?", system="Be brief.", reply="Answer:")
    assert plain.render(prompt) == bare.render(prompt) == "Be brief.\n\nWhat does the keeper count?\nAnswer:"
    assert plain.log_likelihoods(prompt, [" ships"]) == bare.log_likelihoods(prompt, [" ships"])
    assert plain.render(prompt) != chat.render(prompt)
    assert plain.settings["chat"] is False
    assert "chat" not in chat.settings
