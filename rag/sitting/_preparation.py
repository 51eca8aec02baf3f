"""Preparing models before work begins: download weights, and refuse models that cannot be used."""

from __future__ import annotations

from collections.abc import Iterable

from examcore import LanguageModel, Progress, ReportProgress
from rag._models import ModelSettings, check_model, load_model, need_likelihoods
from rag.answering._black_box import check_black_box
from rag.grid._specs import BlackBoxSpec, LlmSpec
from rag.servers._options import is_server
from rag.weights._embedded import download_bytes, find_weights, is_embedded, locate_weights


def load_language_model(one: ModelSettings | LlmSpec) -> LanguageModel:
    """The language model that settings or a grid entry name."""
    if isinstance(one, LlmSpec):
        return one.load()
    return load_model(one.model, one.dtype, one.device, server=one.server)


def prepare_models(
    names: Iterable[str], examinees: Iterable[ModelSettings | LlmSpec | BlackBoxSpec], progress: Progress
) -> None:
    """Download missing embedded weights among `names`, then raise in one line for an examinee that cannot be used."""
    for name in dict.fromkeys(names):
        if is_embedded(name) and find_weights(name) is None:
            with progress.step(f"download of {name} ({download_bytes(name) / 1e6:.0f} MB)") as report:
                locate_weights(name, in_megabytes(report))
    for one in examinees:
        if isinstance(one, BlackBoxSpec):
            check_black_box(one)
            continue
        for remark in check_model(one.model, one.server, one.dtype, one.device):
            progress.say(f"note: {remark}")
        if isinstance(one, LlmSpec) and is_server(one.model) and one.answers == "likelihood":
            need_likelihoods(load_language_model(one))


def in_megabytes(report: ReportProgress) -> ReportProgress:
    """Report megabytes instead of bytes."""
    return lambda done, total: report(done // 10**6, total // 10**6)
