"""Labels of nuggets, asked for in batches: how important each is, or how far an answer supports it.

A nugget that gets no readable label in its batch is asked about once more, alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from examcore import NoReply, Prompt, ReportProgress, unreported
from grading.graders._assessor import CachedAssessor, PassagePrompt
from grading.graders._reply_parsing import OPENING
from grading.nuggets._nugget_prompts import LABEL_TOKENS, parse_labels

BATCH = 10
"""Nuggets that are asked about together, as in TREC RAG 2024."""


class NuggetsToLabel(NamedTuple):
    """Nuggets and how to ask for their labels; `text` is the answer in the prompt, empty where there is none."""

    about: str
    nuggets: Sequence[str]
    prompt: Callable[[Sequence[str]], Prompt]
    text: str = ""


@dataclass
class NuggetLabels:
    """The label of each nugget, None where no reply could be read.

    `unread` are the replies that could not be, `lost` says why a reply is missing, and `cut` counts the characters of
    the text that were not read.
    """

    labels: list[str | None]
    unread: list[str] = field(default_factory=list)
    lost: str = ""
    cut: int = 0


class _LabelBatch(NamedTuple):
    """Some nuggets of a request, by place."""

    request: int
    places: Sequence[int]


def label_nuggets(
    asking: CachedAssessor,
    requests: Sequence[NuggetsToLabel],
    known: Mapping[str, str],
    report: ReportProgress = unreported,
) -> list[NuggetLabels]:
    """The labels of each request's nuggets; `known` leads from what a model may write to the labels."""
    found = [NuggetLabels([None] * len(one.nuggets)) for one in requests]
    batches = [
        _LabelBatch(at, range(start, min(start + BATCH, len(one.nuggets))))
        for at, one in enumerate(requests)
        for start in range(0, len(one.nuggets), BATCH)
    ]
    _ask(asking, requests, batches, known, found, report)
    alone = [
        _LabelBatch(batch.request, [place])
        for batch in batches
        if len(batch.places) > 1 and not found[batch.request].lost
        for place in batch.places
        if found[batch.request].labels[place] is None
    ]
    _ask(asking, requests, alone, known, found, report)
    return found


def _ask(
    asking: CachedAssessor,
    requests: Sequence[NuggetsToLabel],
    batches: Sequence[_LabelBatch],
    known: Mapping[str, str],
    found: Sequence[NuggetLabels],
    report: ReportProgress,
) -> None:
    """Ask about some batches, and enter what is read into `found`."""
    replies = asking.replies(_asked(requests[one.request], one.places) for one in batches)
    for number, (batch, reply) in enumerate(zip(batches, replies, strict=True), start=1):
        one = found[batch.request]
        one.cut = max(one.cut, reply.cut)
        if isinstance(reply.text, NoReply):
            one.lost = reply.text.reason
        else:
            labels = parse_labels(reply.text, len(batch.places), known)
            for place, label in labels.items():
                one.labels[batch.places[place]] = label
            if len(labels) < len(batch.places):
                one.unread.append(reply.text)
        report(number, len(batches))


def _asked(request: NuggetsToLabel, places: Sequence[int]) -> PassagePrompt:
    prompt = request.prompt([request.nuggets[place] for place in places])
    return PassagePrompt(request.about, prompt, request.text, OPENING + LABEL_TOKENS * len(places))
