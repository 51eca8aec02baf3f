"""Linear layers in 8-bit integers: near the exact product, the same for a token in any company, smaller."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from examcore import Prompt
from rag import load_model
from rag.weights import _int8 as integers
from rag.weights import _placement as placements
from rag.weights._int8 import MAX_GROUP, Int8Linear, _QuantizedInput, computes_int8, to_int8
from rag.weights._placement import LARGE_PACKED, W8A8, resolve_placement

pytestmark = pytest.mark.skipif(not computes_int8(), reason="torch multiplies no 8-bit integers on this processor")
ASKED = (Prompt("Where does the tide come in first?"), (" at the mole", " in the upper harbour"))


@pytest.fixture(autouse=True)
def no_gradients() -> None:
    torch.manual_seed(4)


def quantized(linear: torch.nn.Linear) -> Int8Linear:
    return Int8Linear(linear, _QuantizedInput())


@torch.inference_mode()
@pytest.mark.parametrize("inputs", [64, 1536, 3 * MAX_GROUP, 2 * MAX_GROUP + 1])
@pytest.mark.parametrize("bias", [True, False])
def test_a_product_is_within_two_percent_of_the_exact_one(inputs: int, bias: bool) -> None:
    linear = torch.nn.Linear(inputs, 96, bias=bias)
    tokens = torch.randn(2, 5, inputs)
    exact = linear(tokens)
    assert (quantized(linear)(tokens) - exact).norm() <= 0.02 * exact.norm()


@torch.inference_mode()
def test_weights_of_seven_bits_are_nearly_as_exact() -> None:
    linear, tokens = torch.nn.Linear(1536, 96), torch.randn(5, 1536)
    exact = linear(tokens)
    for steps, most in zip(integers.WEIGHT_STEPS, (0.012, 0.015), strict=True):
        found = Int8Linear(linear, _QuantizedInput(), steps)(tokens)
        assert (found - exact).norm() <= most * exact.norm()
    assert 2 * 255 * integers.WEIGHT_STEPS[-1] < 2**15 <= 2 * 255 * integers.WEIGHT_STEPS[0]


def test_a_processor_whose_sums_overflow_gets_weights_of_seven_bits() -> None:
    code = "from rag.weights._int8 import weight_steps; print(weight_steps())"
    here = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    found = subprocess.run([sys.executable, "-c", code], env=here, check=True, capture_output=True, text=True)
    assert int(found.stdout) in (63, 127), "127 where a processor sums in 32 bits even so"


@torch.inference_mode()
def test_an_outlier_spoils_its_own_group_alone() -> None:
    linear = torch.nn.Linear(4 * MAX_GROUP, 32, bias=False)
    tokens = torch.randn(3, 4 * MAX_GROUP)
    linear.weight[:, 0] = 0.0
    tokens[:, 0] = 300.0
    exact = linear(tokens)
    whole = Int8Linear(linear, _QuantizedInput())
    error = (whole(tokens) - exact).norm() / exact.norm()
    # With one scale for all inputs, steps of 300 / 127 would drown every one of them.
    steps = torch.full_like(tokens, 300 / 127)
    lost = linear((tokens / steps).round() * steps) - exact
    assert error < 0.6 * lost.norm() / exact.norm()


@torch.inference_mode()
def test_a_token_has_the_same_numbers_in_any_company() -> None:
    layer = quantized(torch.nn.Linear(1536, 256))
    tokens = torch.randn(40, 1536)
    together = layer(tokens)
    assert all(torch.equal(layer(tokens[place : place + 1])[0], together[place]) for place in range(40))


@torch.inference_mode()
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_dtype_of_the_input_is_given_back(dtype: torch.dtype) -> None:
    assert quantized(torch.nn.Linear(64, 8)).forward(torch.randn(2, 64, dtype=dtype)).dtype == dtype


@torch.inference_mode()
def test_an_input_that_changed_is_quantised_anew() -> None:
    layers = {"query": torch.nn.Linear(64, 8), "key": torch.nn.Linear(64, 8)}
    model = to_int8(torch.nn.ModuleDict(layers), torch.float32)
    first, second = torch.randn(1, 64), torch.randn(1, 64)
    alone = model["key"](second)
    model["query"](first)
    assert torch.equal(model["key"](second), alone)


@torch.inference_mode()
def test_an_embedding_keeps_the_numbers_and_the_dtype_of_its_file() -> None:
    embedding = torch.nn.Embedding(9, 8).to(torch.bfloat16)
    exact = embedding.weight.detach().float()
    model = to_int8(torch.nn.ModuleDict({"embedding": embedding, "head": torch.nn.Linear(8, 9)}), torch.float32)
    assert torch.equal(model["embedding"](torch.arange(9)), exact)
    assert model["embedding"]._rows.dtype == torch.bfloat16


@torch.inference_mode()
def test_weights_are_rounded_slice_by_slice_to_the_same_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    linear, tokens = torch.nn.Linear(64, 70), torch.randn(3, 64)
    whole = quantized(linear)(tokens)
    monkeypatch.setattr(integers, "SLICE", 32)
    assert torch.equal(quantized(linear)(tokens), whole)


def test_a_model_in_integers_is_near_the_whole_one(tiny_folder: Callable[..., Path]) -> None:
    folder = tiny_folder("llama")
    whole = load_model(str(folder), dtype="float32", device="cpu")
    packed = load_model(str(folder), dtype=W8A8, device="cpu")
    assert packed.settings["quantized"] == W8A8  # type: ignore[attr-defined]
    kinds = {type(one).__name__ for one in packed._model.modules()}  # type: ignore[attr-defined]
    assert "Int8Linear" in kinds
    assert "Linear" not in kinds
    exact, found = (model.log_likelihoods(*ASKED).sums for model in (whole, packed))
    assert found == pytest.approx(exact, abs=0.5)
    assert found == load_model(str(folder), dtype=W8A8, device="cpu").log_likelihoods(*ASKED).sums


def test_large_packed_weights_on_a_processor_are_computed_in_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve_placement("auto", "cpu", LARGE_PACKED).quantized == W8A8
    assert not resolve_placement("auto", "cpu", LARGE_PACKED - 1).quantized
    assert not resolve_placement("float32", "cpu", LARGE_PACKED).quantized
    monkeypatch.setattr(placements, "computes_w8a8", lambda: False)
    assert not resolve_placement("auto", "cpu", LARGE_PACKED).quantized
    with pytest.raises(ValueError, match="dtype 'w8a8': not on cpu; wanted a processor whose torch multiplies int8"):
        resolve_placement(W8A8, "cpu")


def test_another_device_than_a_processor_is_refused() -> None:
    with pytest.raises(ValueError, match="dtype 'w8a8': not on meta; wanted a processor"):
        resolve_placement(W8A8, "meta")
