"""Nuggets of a topic, grown over its passages as AutoNuggetizer does (Pradeep et al. 2024).

The model reads some passages at a time with the list so far and returns the revised list. A batch whose reply holds no
list is asked again in two halves; the list stays as it was where those hold none either. Duplicates go, then each
nugget is labelled vital or okay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from examcore import (
    ModelUsage,
    NoReply,
    Progress,
    ReplyStore,
    ReportProgress,
    RunFolder,
    normalized,
    unreported,
    write_lines,
)
from grading._printing import counted_notes, shortened
from grading._similarity import similarity, words
from grading.banks._bank_writing import topic_texts
from grading.formats._nugget_sources import read_nugget_sources
from grading.graders._assessor import CachedAssessor, ModelOptions, PassagePrompt, asking_of, write_record
from grading.graders._graders import shown_replies
from grading.graders._reply_parsing import OPENING
from grading.nuggets._nugget_labels import NuggetsToLabel, label_nuggets, refuse_lost
from grading.nuggets._nugget_prompts import (
    CREATION_VERSION,
    FACT_TOKENS,
    IMPORTANCE_LABELS,
    IMPORTANCE_VERSION,
    creation_prompt,
    importance_prompt,
    listed_passages,
    parse_nuggets,
)
from rag.engines import EngineOptions

PASSAGES = 10
"""Passages that are read together, as in TREC RAG 2024."""
MOST = 30
"""Nuggets of a topic, as in TREC RAG 2024."""
NEAR = 0.8
"""Similarity of one and two words from which two nuggets say the same, as `bank lint` takes it for questions."""
UNREAD_IMPORTANCE = "okay"
"""The importance of a nugget for which no label could be read, as nuggetizer sets it."""
_NEGATION = frozenset({"no", "not", "never", "none", "without", "nor", "neither", "cannot"})
"""Words that turn a statement round, together with those that end in n't."""


class CreatedNugget(NamedTuple):
    """A nugget and its importance; `read` says whether the model's label could be read."""

    text: str
    importance: str
    read: bool = True


@dataclass
class TopicNuggets:
    """The nuggets of a topic, and what happened while they were made of its passages.

    `query` is the text of its query. `unread` are replies that held no list or lacked labels, `unread_passages` counts
    the passages whose replies held no list, `duplicates` the nuggets that said what another says, `cut` the characters
    of passages that were not read; `lost` says why a reply is missing.
    """

    topic: str
    query: str
    passages: Sequence[str]
    texts: list[str] = field(default_factory=list)
    nuggets: list[CreatedNugget] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    unread_passages: int = 0
    duplicates: int = 0
    cut: int = 0
    lost: str = ""


@dataclass(frozen=True)
class CreationResult:
    """The nuggets that a model made of each topic, what could not be read, and what it cost; `out` has the nuggets."""

    out: Path
    model: str
    topics: Sequence[TopicNuggets]
    usage: ModelUsage

    @property
    def written(self) -> list[TopicNuggets]:
        """The topics that got all their replies."""
        return [one for one in self.topics if not one.lost]

    @property
    def unread(self) -> list[str]:
        """The replies that could not be read, or not whole."""
        return [reply for one in self.topics for reply in one.unread]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        nuggets = [each for one in self.written for each in one.nuggets]
        return {
            "out": self.out,
            "model": self.model,
            "prompts": [CREATION_VERSION, IMPORTANCE_VERSION],
            "topics": len(self.written),
            "passages": sum(len(one.passages) for one in self.written),
            "n": len(nuggets),
            "importance": dict(Counter(one.importance for one in nuggets)),
            "importance_unread": sum(not one.read for one in nuggets),
            "passages_unread": sum(one.unread_passages for one in self.written),
            "duplicates": sum(one.duplicates for one in self.written),
            "cut_characters": sum(one.cut for one in self.written),
            "without_nuggets": [one.topic for one in self.written if not one.nuggets],
            "unread_replies": len(self.unread),
            "unread_examples": shown_replies(self.unread),
            "no_reply": sum(bool(one.lost) for one in self.topics),
            "usage": self.usage,
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        told = self.record()
        counts = ", ".join(f"{count} {name}" for name, count in told["importance"].items()) or "none"
        lines = [
            f"{self.out}: {told['n']} nuggets ({counts}) of {told['topics']} topics by {self.model}, "
            f"from {told['passages']} passages"
        ]
        without = told["without_nuggets"]
        said = {
            "nuggets said what another says and were left out": told["duplicates"],
            "replies could not be read, or lacked labels; these parts were asked again": told["unread_replies"],
            "passages are in batches of which no list could be read": told["passages_unread"],
            "nuggets are okay because no label of importance could be read": told["importance_unread"],
            "characters of passages were beyond what the model reads": told["cut_characters"],
            f"topics have no nugget: {shortened(without)}": len(without),
        }
        return lines + counted_notes(said)


class _PassageBatch(NamedTuple):
    """Passages of a topic that are read together."""

    topic: TopicNuggets
    passages: Sequence[str]

    def halves(self) -> tuple[_PassageBatch, _PassageBatch]:
        """The first passages and the rest."""
        middle = len(self.passages) // 2
        return self._replace(passages=self.passages[:middle]), self._replace(passages=self.passages[middle:])

    def prompt(self, most: int) -> PassagePrompt:
        """What the model is asked: to revise the list that the topic has by now."""
        topic, text = self.topic, listed_passages(self.passages)
        asked = creation_prompt(topic.query, text, topic.texts, most)
        return PassagePrompt(topic.topic, asked, text, OPENING + FACT_TOKENS * most)


def create_nuggets(
    passages: Path,
    queries: Path | None,
    out: Path,
    model: ModelOptions,
    engine: EngineOptions,
    progress: Progress,
    *,
    together: int,
    most: int,
) -> CreationResult:
    """Make nuggets of the topics of a file, and write them and how they were made into the folder `out`.

    `queries` has the texts of queries that the passages lack. Raises `ValueError` where no reply holds a nugget, and
    `FailedError` where replies are missing.
    """
    sources = read_nugget_sources(passages)
    texts = {**sources.queries, **topic_texts(queries, sources.passages)}
    topics = [TopicNuggets(one, texts.get(one, one), found) for one, found in sources.passages.items()]
    with RunFolder(out).held(), ReplyStore(out / "replies.sqlite") as store:
        with asking_of(model, store, progress, engine) as asking:
            with progress.step("nuggets") as report:
                grow_nuggets(asking, topics, together=together, most=most, report=report)
            with progress.step("importance") as report:
                weigh_nuggets(asking, topics, report)
        result = CreationResult(out / "nuggets.jsonl", model.model, topics, asking.usage)
        if not any(one.nuggets or one.lost for one in topics):
            shown = "; ".join(map(repr, shown_replies(result.unread))) or "empty lists"
            raise ValueError(f"{passages}: no nugget in any reply ({shown}); wanted another model or other passages")
        write_lines(result.out, map(nugget_line, result.written))
        settings = {"settings": {"together": together, "most": most}}
        write_record(out / "create.json", {"passages": passages, "queries": queries}, settings, result.record())
    refuse_lost({one.topic: one.lost for one in topics if one.lost}, "topics")
    return result


def grow_nuggets(
    asking: CachedAssessor,
    topics: Sequence[TopicNuggets],
    *,
    together: int = PASSAGES,
    most: int = MOST,
    report: ReportProgress = unreported,
) -> None:
    """Grow the nuggets of every topic, without their importance; the topics' batches are asked side by side."""
    total = sum(-(-len(one.passages) // together) for one in topics)
    done = 0
    for start in range(0, max((len(one.passages) for one in topics), default=0), together):
        batches = [
            _PassageBatch(one, one.passages[start : start + together])
            for one in topics
            if start < len(one.passages) and not one.lost
        ]
        _read_passages(asking, batches, most)
        done += len(batches)
        report(done, total)


def weigh_nuggets(asking: CachedAssessor, topics: Sequence[TopicNuggets], report: ReportProgress = unreported) -> None:
    """Label the nuggets of every topic vital or okay."""
    grown = [one for one in topics if not one.lost]
    requests = [NuggetsToLabel(one.topic, one.texts, partial(importance_prompt, one.query)) for one in grown]
    for one, found in zip(grown, label_nuggets(asking, requests, IMPORTANCE_LABELS, report), strict=True):
        one.lost = found.lost
        one.unread += found.unread
        one.nuggets = [
            CreatedNugget(text, label or UNREAD_IMPORTANCE, label is not None)
            for text, label in zip(one.texts, found.labels, strict=True)
        ]


def _read_passages(asking: CachedAssessor, batches: Sequence[_PassageBatch], most: int) -> None:
    """Revise each topic's list by its batch, or by the halves of one whose reply holds no list."""
    unread = _revise(asking, batches, most)
    single = [one for one in unread if len(one.passages) == 1]
    halved = [one.halves() for one in unread if len(one.passages) > 1]
    # The second halves are read with the list that the first have made.
    for halves in ([first for first, _ in halved], [second for _, second in halved]):
        single += _revise(asking, halves, most)
    for one in single:
        one.topic.unread_passages += len(one.passages)


def _revise(asking: CachedAssessor, batches: Sequence[_PassageBatch], most: int) -> list[_PassageBatch]:
    """Revise each topic's list by its batch; returns the batches whose reply holds no list."""
    asked = [one for one in batches if not one.topic.lost]
    unread = []
    for batch, reply in zip(asked, asking.replies([one.prompt(most) for one in asked]), strict=True):
        topic = batch.topic
        topic.cut += reply.cut
        if isinstance(reply.value, NoReply):
            topic.lost = reply.value.reason
            continue
        texts = parse_nuggets(reply.value)
        # A model that has nothing to add may reply with nothing; the facts that it was shown still hold.
        if not texts and (texts is None or topic.texts):
            topic.unread.append(reply.value)
            unread.append(batch)
            continue
        kept = distinct_nuggets(texts)
        topic.duplicates += len(texts) - len(kept)
        topic.texts = kept[:most]
    return unread


def nugget_line(topic: TopicNuggets) -> dict[str, object]:
    """A topic as nuggetizer writes it, the vital nuggets first."""
    ordered = sorted(topic.nuggets, key=lambda one: one.importance != "vital")
    nuggets = [{"text": one.text, "importance": one.importance} for one in ordered]
    return {"query": topic.query, "qid": topic.topic, "nuggets": nuggets}


def distinct_nuggets(texts: Sequence[str]) -> list[str]:
    """The nuggets without those that say what one before them says, in their order."""
    kept: dict[str, str] = {}
    for text in texts:
        plain = normalized(text)
        near = (one for one in kept.values() if _marks(one) == _marks(text))
        if plain and plain not in kept and not any(similarity(text, [one]).score >= NEAR for one in near):
            kept[plain] = text
    return list(kept.values())


def _marks(text: str) -> Counter[str]:
    """The words that change what a statement says, however alike the rest is."""
    return Counter(one for one in words(text) if one in _NEGATION or one.endswith("n't") or any(map(str.isdigit, one)))
