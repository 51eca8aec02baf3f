"""Prompts scored together: the plain numbers, to the last bit whatever stands beside them, and no answer lost."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from examcore import Likelihoods, Prompt, StreamsLikelihoods
from rag import load_model
from rag.local import LocalModel
from rag.local._passes import PromptPiece
from tests.rag.conftest import FAMILIES, TEXT

Asked = list[tuple[Prompt, tuple[str, ...]]]
WORDS = TEXT.split()


def words(generator: random.Random, low: int, high: int) -> str:
    start = generator.randrange(len(WORDS) - high)
    return " ".join(WORDS[start : start + generator.randint(low, high)])


def ragged(seed: int, count: int = 14) -> Asked:
    """Prompts of 3 to 150 words, some with one beginning, some the same; 1 to 5 choices of 1 to 12 words."""
    generator = random.Random(seed)
    shared = [words(generator, 5, 60) for _ in range(2)]
    asked: Asked = []
    for place in range(count):
        choices = tuple(f" {words(generator, 1, 12)}" for _ in range(generator.randint(1, 5)))
        above = "\n\n".join(shared[: generator.randint(0, 2)])
        user = f"{above}\n\n{words(generator, 3, 40)}".strip()
        asked.append((asked[-1][0] if place % 5 == 4 else Prompt(user, reply="Answer:"), choices))
    return asked


def tiny(loaded: Any, **options: Any) -> LocalModel:
    return LocalModel(loaded._model, loaded.tokenizer, name="tiny", **options)


def scored(model: LocalModel, asked: Asked) -> list[Likelihoods]:
    found = {one.place: one.value for one in model.likelihoods(asked)}
    assert sorted(found) == list(range(len(asked)))
    return [value for place in range(len(asked)) if isinstance(value := found[place], Likelihoods)]


def plain(model: LocalModel, asked: Asked) -> list[list[float]]:
    """One pass for each choice, over its whole text."""
    with torch.inference_mode():
        joints = [model._scorable(*one) for one in asked]
        return [[model._score_alone(joint.prompt, own) for own in joint.own] for joint in joints]


def best(sums: Sequence[float]) -> int:
    return max(range(len(sums)), key=sums.__getitem__)


@pytest.fixture(params=FAMILIES)
def loaded(request: pytest.FixtureRequest, tiny_folder: Callable[..., Path]) -> Any:
    return load_model(str(tiny_folder(request.param)), dtype="float32")


@pytest.mark.parametrize("seed", range(3))
def test_ragged_prompts_are_scored_as_one_choice_at_a_time(loaded: LocalModel, seed: int) -> None:
    asked = ragged(seed)
    expected = plain(loaded, asked)
    for block, size, keep in ((16, 64, None), (128, 512, 0)):
        model = tiny(loaded, block=block, size=size, keep=keep)
        assert model.streaming["pass"] == size
        found = scored(model, asked)
        for one, sums, (prompt, choices) in zip(found, expected, asked, strict=True):
            assert one.sums == pytest.approx(sums, abs=1e-3)
            assert best(one.sums) == best(sums)
            assert one[1:] == loaded.log_likelihoods(prompt, choices)[1:]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_what_is_asked_beside_a_prompt_changes_no_bit_of_its_numbers(
    tiny_folder: Callable[..., Path], dtype: str
) -> None:
    for family in FAMILIES:
        loaded = load_model(str(tiny_folder(family)), dtype=dtype)
        asked = ragged(11)
        for size in (64, 512):
            model = tiny(loaded, block=16, size=size)
            model.__dict__["_packs"] = True  # random weights in bfloat16 may stray too far for the trial
            whole = scored(model, asked)
            for some in ([13, 2, 7], [5], list(reversed(range(14)))):
                other = tiny(loaded, block=16, size=size, keep=0)
                other.__dict__["_packs"] = True
                assert scored(other, [asked[one] for one in some]) == [whole[one] for one in some]
                assert scored(model, [asked[one] for one in some]) == [whole[one] for one in some]


def test_beginnings_and_prompts_asked_again_are_read_once(loaded: LocalModel) -> None:
    seen: list[int] = []
    loaded._model.base_model.register_forward_pre_hook(
        lambda _, args, kwargs: seen.append(int((kwargs["input_ids"] != 0).sum())), with_kwargs=True
    )
    model = tiny(loaded, block=16, size=64)
    assert isinstance(model, StreamsLikelihoods)
    assert model.streaming["pass"] == 64
    above = " ".join(WORDS[:60])
    asked: Asked = [(Prompt(f"{above}\n\nWhat is {one}?", reply="Answer:"), (" ships", " ow")) for one in WORDS[:6]]
    lengths = [len(model._scorable(*one).prompt) for one in asked]
    seen.clear()
    scored(model, asked * 2)
    assert sum(seen) < lengths[0] + 12 * 30 < sum(lengths)
    seen.clear()
    scored(model, asked)
    assert sum(seen) <= 6 * 6


class Full:
    """Memory that does not suffice for more than some tokens at once, for a model's layers."""

    def __init__(self, model: LocalModel, most: int, error: Exception) -> None:
        self._most, self._error = most, error
        model._model.base_model.layers[-1].register_forward_pre_hook(self._check)

    def _check(self, _: object, args: tuple[torch.Tensor, ...]) -> None:
        if args[0].shape[1] > self._most:
            raise self._error


ERRORS = (
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    MemoryError(),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda one: type(one).__name__)
def test_when_memory_runs_out_passes_are_halved_and_every_answer_comes(
    tiny_folder: Callable[..., Path], error: Exception
) -> None:
    loaded = load_model(str(tiny_folder("llama")), dtype="float32")
    assert isinstance(loaded, LocalModel)
    asked = ragged(5)
    expected = plain(loaded, asked)
    model = tiny(loaded, block=32, size=256)
    assert model.streaming["pass"] == 256
    Full(model, 64, error)
    with pytest.warns(RuntimeWarning, match="out of memory with .* tokens at once: going on with") as told:
        found = scored(model, asked)
    assert [str(one.message).partition(":")[0].split()[4] for one in told] == ["256", "128"]
    for one, sums in zip(found, expected, strict=True):
        assert one.sums == pytest.approx(sums, abs=1e-3)
    assert scored(model, asked) == found  # without another word


@pytest.mark.filterwarnings("ignore:out of memory")
def test_memory_too_small_for_anything_ends_in_one_line(tiny_folder: Callable[..., Path]) -> None:
    model = load_model(str(tiny_folder("llama")), dtype="float32")
    assert isinstance(model, LocalModel)
    assert model.streaming["pass"] == 512
    Full(model, 8, ERRORS[0])
    with pytest.raises(OSError, match=r"out of memory while .* tokens were read at once; wanted more memory"):
        scored(model, ragged(5))


def test_other_failures_are_not_taken_for_a_lack_of_memory(tiny_folder: Callable[..., Path]) -> None:
    model = load_model(str(tiny_folder("llama")), dtype="float32")
    assert isinstance(model, LocalModel)
    assert model.streaming["pass"] == 512
    Full(model, 8, RuntimeError("shapes do not fit"))
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        scored(model, ragged(5))


def test_models_whose_pieces_cannot_be_packed_are_read_prompt_by_prompt(
    tiny_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_model(str(tiny_folder("llama")), dtype="float32")
    assert isinstance(model, LocalModel)
    monkeypatch.setattr(type(model._model), "_supports_attention_backend", False)
    asked = ragged(2, 4)
    assert scored(model, asked) == [model.log_likelihoods(*one) for one in asked]
    assert model.streaming["pass"] == 0


def test_continuations_longer_than_a_pass_are_scored_by_themselves(loaded: LocalModel) -> None:
    model = tiny(loaded, block=16, size=32)
    asked: Asked = [(Prompt("What?"), (" ships", " " + " ".join(WORDS[:60]))), *ragged(3, 4)]
    found = scored(model, asked)[0]
    assert found == model.log_likelihoods(*asked[0])
    assert found.sums == pytest.approx(loaded.log_likelihoods(*asked[0]).sums, abs=1e-3)


def test_a_continuation_sees_its_prompt_and_itself_alone() -> None:
    piece = PromptPiece((9, 8, 7, 6), (), (0, 1, 1, 2))
    assert piece.positions == [0, 1, 2, 1]
    mask = piece.mask(torch.zeros(1), 1, None)
    assert (mask == 0).int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 1]]
    near = PromptPiece((9, 8, 7, 6), (), (0, 1, 1, 2)).mask(torch.zeros(1), 1, 2)
    assert (near == 0).int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]
