"""Dense passage retrieval (Karpukhin et al. 2020): one encoder for questions and another for passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rag.retrieval._vectors import Vectors

DPR_MODEL_CLASSES = ("DPRQuestionEncoder", "DPRContextEncoder")
MAX_TOKENS = 512
"""Texts are cut to this many tokens."""


def dpr_part(place: str, local: bool) -> str:
    """The DPR class that a folder or hub name holds, by its configuration; empty for any other model.

    `local`: do not access the hub.
    """
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(place, local_files_only=local)
    except (OSError, ValueError):  # other encoders need no configuration; loading will report a real problem
        return ""
    named = (getattr(config, "architectures", None) or [""])[0]
    return named if config.model_type == "dpr" and named in DPR_MODEL_CLASSES else ""


class DprEncoder:
    """One part of DPR with the interface of a sentence-transformers encoder; compare its vectors by inner product."""

    def __init__(self, place: str, part: str, local: bool) -> None:
        import transformers

        self._tokenizer = transformers.AutoTokenizer.from_pretrained(place, local_files_only=local)
        self._model = getattr(transformers, part).from_pretrained(place, local_files_only=local).eval()

    def encode(self, texts: Sequence[str], batch_size: int = 32, **_: Any) -> Vectors:
        """The vectors `[n, d]` of texts, not normalised: DPR was trained on inner products."""
        import torch

        found = []
        with torch.inference_mode():
            for start in range(0, len(texts), batch_size):
                batch = self._tokenizer(
                    list(texts[start : start + batch_size]),
                    padding=True,
                    truncation=True,
                    max_length=MAX_TOKENS,
                    return_tensors="pt",
                )
                inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
                found.append(self._model(**inputs).pooler_output.float().numpy())
        return np.concatenate(found)
