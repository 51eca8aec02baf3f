"""The usage of the models that made an exam: replies, tokens, cost, and notes about their servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from examcore import GivesLikelihoods, LanguageModel, ModelUsage
from rag.servers._server_model import ServerModel


def need_likelihoods(model: LanguageModel) -> None:
    """Raise in one line when a model's server gives no log-probabilities, before anything is paid for."""
    if isinstance(model, GivesLikelihoods):
        model.need_likelihoods()


def usage_record(works: Sequence[tuple[str, LanguageModel, ModelUsage]]) -> dict[str, Any]:
    """For each kind of work its model, calls, tokens, seconds and cost; the total `cost`; `notes` for the user.

    Tokens, seconds and cost are those of the whole exam over all runs; `server` counts the requests of this run.
    """
    content: dict[str, Any] = {"cost": 0.0, "notes": []}
    for name, model, usage in works:
        content[name] = {"model": model.name, **asdict(usage), "seconds": round(usage.seconds, 1), "cost": 0.0}
        if isinstance(model, ServerModel):
            content[name]["cost"] = round(model.price.of(usage.prompt_tokens, usage.written_tokens), 6)
            content[name]["server"] = model.traffic.as_dict()
            content["notes"] += list(model.traffic.notes)
            content["cost"] += content[name]["cost"]
    return content


def failed_requests(content: Mapping[str, Any]) -> str:
    """The servers' failures, such as `3 status 500, 1 timeout`; empty without any."""
    failed: Counter[str] = Counter()
    for name in ("writing", "verifying"):
        failed.update(content.get(name, {}).get("server", {}).get("failed", {}))
    return ", ".join(f"{count} {kind}" for kind, count in failed.most_common())


def usage_lines(content: Mapping[str, Any]) -> list[str]:
    """One line for each kind of work (replies, tokens, seconds, cost, failed requests), then the notes."""
    lines = []
    for name in ("writing", "verifying"):
        if name not in content:
            continue
        one = content[name]
        line = f"{name} with {one['model']}: {one['calls']} replies, {one['cached']} of them kept from before; "
        line += f"{one['prompt_tokens']:,} tokens read, {one['written_tokens']:,} written, {one['seconds']:.0f} s"
        line += f", cost {one['cost']:.4f}" if one["cost"] else ""
        if failed := failed_requests({name: one}):
            line += f"; failed requests: {failed}"
        lines.append(line)
    return [*lines, *(f"note: {note}" for note in content.get("notes", []))]
