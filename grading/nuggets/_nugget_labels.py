"""Labels of nuggets, asked for in batches: how important each is, or how far an answer supports it.

A nugget that gets no readable label in its batch is asked about once more, alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from examcore import FailedError, NoReply, Prompt, ReportProgress, unreported
from grading._printing import shortened
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


_Batch = tuple[int, Sequence[int]]
"""A request and some of its nuggets, by place."""


def label_nuggets(
    asking: CachedAssessor,
    requests: Sequence[NuggetsToLabel],
    known: Mapping[str, str],
    report: ReportProgress = unreported,
) -> list[NuggetLabels]:
    """The labels of each request's nuggets; `known` leads from what a model may write to the labels."""
    found = [NuggetLabels([None] * len(one.nuggets)) for one in requests]
    batches = [
        (at, range(start, min(start + BATCH, len(one.nuggets))))
        for at, one in enumerate(requests)
        for start in range(0, len(one.nuggets), BATCH)
    ]
    _ask(asking, requests, batches, known, found, report)
    alone = [
        (at, [place])
        for at, places in batches
        if len(places) > 1 and not found[at].lost
        for place in places
        if found[at].labels[place] is None
    ]
    _ask(asking, requests, alone, known, found, report)
    return found


def refuse_lost(lost: Mapping[str, str], what: str) -> None:
    """Raise `FailedError` where replies are missing: the rest is written, and the same call asks for them again."""
    if lost:
        reasons = ", ".join(f"{count} {why}" for why, count in Counter(lost.values()).most_common(3))
        raise FailedError(f"{len(lost)} {what} got no reply ({reasons}): {shortened(list(lost))}; the rest is written")


def _ask(
    asking: CachedAssessor,
    requests: Sequence[NuggetsToLabel],
    batches: Sequence[_Batch],
    known: Mapping[str, str],
    found: Sequence[NuggetLabels],
    report: ReportProgress,
) -> None:
    """Ask about some batches, and enter what is read into `found`."""
    replies = asking.replies(_asked(requests[at], places) for at, places in batches)
    for number, ((at, places), reply) in enumerate(zip(batches, replies, strict=True), start=1):
        one = found[at]
        one.cut = max(one.cut, reply.cut)
        if isinstance(reply.value, NoReply):
            one.lost = reply.value.reason
        else:
            labels = parse_labels(reply.value, len(places), known)
            for place, label in labels.items():
                one.labels[places[place]] = label
            if len(labels) < len(places):
                one.unread.append(reply.value)
        report(number, len(batches))


def _asked(request: NuggetsToLabel, places: Sequence[int]) -> PassagePrompt:
    prompt = request.prompt([request.nuggets[place] for place in places])
    return PassagePrompt(request.about, prompt, request.text, OPENING + LABEL_TOKENS * len(places))
