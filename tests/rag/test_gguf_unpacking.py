"""A GGUF file unpacked tensor by tensor holds the weights that it was made from."""

import json
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from rag.local import _gguf_unpacking
from rag.local._gguf_unpacking import unpack_gguf

NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""The names of a Llama model's tensors in transformers and in GGUF files (gguf's documentation)."""
TINY = LlamaConfig(
    vocab_size=64, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=128, tie_word_embeddings=False,
)  # fmt: skip


def in_gguf(name: str) -> str:
    for ours, theirs in NAMES.items():
        name = name.replace(ours, theirs)
    return name.replace("model.layers.", "blk.")


def written(path: Path, model: LlamaForCausalLM, kind: gguf.GGMLQuantizationType, *, without: str = "") -> None:
    """The model as a GGUF file, matrices in blocks of `kind`; halves of rotary heads are interleaved there."""
    config = model.config
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    for name, weight in model.state_dict().items():
        plain = weight.numpy()
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
        for own, count in heads.items():
            if own in name:
                plain = plain.reshape(count, 2, -1, plain.shape[1]).swapaxes(1, 2).reshape(plain.shape)
        if in_gguf(name) == without:
            continue
        if plain.ndim == 2:
            writer.add_tensor(in_gguf(name), gguf.quantize(np.ascontiguousarray(plain), kind), raw_dtype=kind)
        else:
            writer.add_tensor(in_gguf(name), plain)
    writer.add_tensor("rope_freqs.weight", np.ones(8, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    torch.manual_seed(0)
    return LlamaForCausalLM(TINY).eval()


@pytest.mark.parametrize(
    ("kind", "near"), [(gguf.GGMLQuantizationType.F32, 0.0), (gguf.GGMLQuantizationType.Q8_0, 2e-3)]
)
def test_weights_come_back_in_parts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: LlamaForCausalLM,
    kind: gguf.GGMLQuantizationType,
    near: float,
) -> None:
    monkeypatch.setattr(_gguf_unpacking, "PART_BYTES", 20_000)
    monkeypatch.setattr(_gguf_unpacking, "SLICE", 1024)
    written(tmp_path / "tiny.gguf", model, kind)
    assert unpack_gguf(tmp_path / "tiny.gguf", torch.float32, tmp_path / "out")
    index = json.loads((tmp_path / "out" / "model.safetensors.index.json").read_text())
    assert len(set(index["weight_map"].values())) > 3
    found = AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    assert type(found) is LlamaForCausalLM
    for name, weight in model.state_dict().items():
        assert float((found.state_dict()[name] - weight).abs().max()) <= near, name


def test_a_file_whose_tensors_are_not_those_of_the_model_is_left_to_transformers(
    tmp_path: Path, model: LlamaForCausalLM
) -> None:
    written(tmp_path / "tiny.gguf", model, gguf.GGMLQuantizationType.F32, without="blk.1.ffn_up.weight")
    assert not unpack_gguf(tmp_path / "tiny.gguf", torch.float32, tmp_path / "out")
    assert not (tmp_path / "out").exists()
