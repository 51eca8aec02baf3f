"""The real embedded weights: present only where they were downloaded before, skipped elsewhere."""

from pathlib import Path

import pytest
import torch

from examcore import Chunk, Prompt, Question, common_prefix
from rag import build_retriever, embed, load_model
from rag.local import LocalModel
from rag.weights._embedded import find_weights

pytestmark = pytest.mark.models

TEXT = "The assert statement inserts debugging assertions. It raises AssertionError when the expression is false. "


def needs(name: str) -> None:
    if find_weights(name) is None:
        pytest.skip(f"the weights of embedded:{name} are not on this machine")


@pytest.fixture(scope="module")
def smollm() -> LocalModel:
    needs("smollm2-135m")
    model = load_model("embedded:smollm2-135m", dtype="float32")
    assert isinstance(model, LocalModel)
    return model


def test_shared_cache_equals_plain_forward(smollm: LocalModel) -> None:
    choices = (" AssertionError", " a debugging assertion", " ValueError", " nothing at all")
    for user in (TEXT * 5 + "Question: What is raised?", "Question: What is raised?"):
        prompt = Prompt(user=user, reply="Answer:")
        found = smollm.log_likelihoods(prompt, choices)
        text = smollm.render(prompt)
        alone, *joint = [
            smollm.tokenizer(one, add_special_tokens=False)["input_ids"]
            for one in (text, *(text + choice for choice in choices))
        ]
        start = min(common_prefix(alone, ids) for ids in joint)
        for total, ids in zip(found.sums, joint, strict=True):
            with torch.inference_mode():
                logs = smollm._model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
            assert total == pytest.approx(sum(float(logs[n - 1, ids[n]]) for n in range(start, len(ids))), abs=1e-3)


def test_passage_makes_its_own_words_likelier(smollm: LocalModel) -> None:
    choices = (" AssertionError", " ZeroDivisionError")
    with_text = smollm.log_likelihoods(Prompt(user=TEXT + "What does assert raise?", reply="Answer:"), choices).sums
    assert with_text[0] > with_text[1]


def test_replies_are_text_and_repeat(smollm: LocalModel) -> None:
    prompts = [Prompt(user="Name a colour."), Prompt(user="Count to three.", reply="One, two,")]
    replies = smollm.generate(prompts, max_tokens=12, stop=["\n"])
    assert replies == smollm.generate(prompts, max_tokens=12, stop=["\n"])
    assert "three" in replies[1]
    assert not any("<|im_end|>" in reply or "\n" in reply for reply in replies)


def test_dense_retriever_ranks_by_meaning(tmp_path: Path) -> None:
    needs("minilm-l6")
    texts = ("Cats and dogs are kept as pets.", "The stock market fell sharply.", "Rain is expected at noon.")
    vectors = embed(texts, cache_dir=tmp_path)
    assert vectors.shape == (3, 384)
    assert (vectors**2).sum(axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    chunks = [Chunk(f"c{n}", "d", text, 0, 9) for n, text in enumerate(texts)]
    dense = build_retriever("dense", chunks)
    question = Question("q", "How did share prices develop?", ("a", "b"), 0)
    assert [chunk.id for chunk in dense.retrieve(question, 1)] == ["c1"]
