"""Labels for every question of an exam, by rules, by a language model and by clusters, and what they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from examcore import CachedLanguageModel, Exam, NoReply, Prompt, Question, ReportProgress
from taxonomy import (
    LABEL_PROMPT_VERSION,
    LABEL_REPLY_TOKENS,
    Clustering,
    Encode,
    ModelLabels,
    Taxonomy,
    cluster,
    label_by_model,
)

BATCH = 8
"""Prompts that a model here reads together; they are kept together, too."""
CLUSTER = "cluster"
"""The name that clusters are stored under."""


@dataclass(frozen=True)
class Classification:
    """What a labeller said of an exam in one respect.

    `labels` has, for every question that could be labelled, its levels, perhaps none; `levels` are all that there are.
    `basis` counts what the rules' labels rest on. `unparsed`, `unanswered`, `clipped` and `samples` are those of
    `taxonomy.Asked`.
    """

    name: str
    by: str
    levels: tuple[str, ...]
    several: bool
    labels: Mapping[str, tuple[str, ...]]
    basis: Mapping[str, int] | None = None
    asked: ModelLabels | None = None


@dataclass
class ModelLabeller:
    """A cached model that is asked for labels, a `remote` one for all at once; `reasons` counts why any are missing."""

    model: CachedLanguageModel
    remote: bool
    report: ReportProgress
    reasons: Counter[str] = field(default_factory=Counter)

    def __call__(self, prompts: Sequence[str]) -> list[str | None]:
        """A reply to each prompt, None where there is none; a prompt too long for the model is not put."""
        found: list[str | None] = [None] * len(prompts)
        places = [place for place, prompt in enumerate(prompts) if self._fits(prompt)]
        self.reasons["too long for the model"] += len(prompts) - len(places)
        size = max(len(places), 1) if self.remote else BATCH
        for start in range(0, len(places), size):
            batch = places[start : start + size]
            replies = self.model.replies([Prompt(prompts[place]) for place in batch], max_tokens=LABEL_REPLY_TOKENS)
            for place, reply in zip(batch, replies, strict=True):
                if isinstance(reply, NoReply):
                    self.reasons[reply.reason] += 1
                else:
                    found[place] = reply
            self.report(start + len(batch), len(places))
        return found

    def _fits(self, prompt: str) -> bool:
        # A chat template takes some tokens more.
        return self.model.count_tokens(prompt) + LABEL_REPLY_TOKENS + 64 <= self.model.context_tokens


def classify(
    exam: Exam, taxonomies: Sequence[Taxonomy], ask: ModelLabeller | None, encode: Encode | None, seed: int
) -> tuple[Exam, list[Classification], Clustering | None]:
    """The exam with labels, the labels by taxonomy, and the clusters.

    The model that is asked labels what has definitions; the rules of ragexam label the languages of
    `taxonomy.WORDINGS`, and questions in others have none of their labels. Questions are grouped where there is an
    encoder. Labels of other names that the exam has stay. A question that a model's reply gives no levels has none: the
    rules do not stand in. `metadata.labelled_by` says of each name who gave the labels.
    """
    found = [
        _by_rules(exam, one) if ask is None or not one.has_definitions else _by_model(exam, one, ask)
        for one in taxonomies
    ]
    clusters = None
    if encode is not None:
        clusters = cluster([question.stem for question in exam.questions], encode, seed=seed)
        found += [_clustered(exam, clusters)] if clusters.names else []
    return Exam(tuple(_with_labels(one, found) for one in exam.questions)), found, clusters


def _by_rules(exam: Exam, taxonomy: Taxonomy) -> Classification:
    readings = {one.id: taxonomy.read(one.stem, one.language) for one in exam.questions}
    return Classification(
        name=taxonomy.name,
        by="rules",
        levels=taxonomy.names,
        several=taxonomy.several,
        labels={name: reading.levels for name, reading in readings.items()},
        basis=dict(Counter(reading.basis for reading in readings.values())),
    )


def _by_model(exam: Exam, taxonomy: Taxonomy, ask: ModelLabeller) -> Classification:
    # Stem and choices, the key not marked.
    shown = ["\n".join([one.stem, *(f"- {choice}" for choice in one.choices)]) for one in exam.questions]
    asked = label_by_model(taxonomy, shown, ask)
    given = zip(exam.ids, asked.levels, strict=True)
    return Classification(
        name=taxonomy.name,
        by=f"{ask.model.name}, prompt {LABEL_PROMPT_VERSION}",
        levels=taxonomy.names,
        several=taxonomy.several,
        labels={name: levels for name, levels in given if levels is not None},
        asked=asked,
    )


def _clustered(exam: Exam, clusters: Clustering) -> Classification:
    given = zip(exam.ids, clusters.members, strict=True)
    return Classification(
        name=CLUSTER,
        by=f"k-means, seed {clusters.seed}",
        levels=clusters.names,
        several=False,
        labels={name: (clusters.names[member],) for name, member in given},
    )


def _with_labels(question: Question, found: Sequence[Classification]) -> Question:
    labels = {**question.labels, **{one.name: one.labels.get(question.id, ()) for one in found}}
    before = question.metadata.get("labelled_by")
    by = {**(before if isinstance(before, Mapping) else {}), **{one.name: one.by for one in found}}
    return replace(question, labels=labels, metadata={**question.metadata, "labelled_by": by})
