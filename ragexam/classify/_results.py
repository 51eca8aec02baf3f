"""What classifying an exam returns: counts and shares with intervals, clusters, agreement with another labeller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from examcore import wilson
from examcore.console import interval_text, printable
from ragexam.classify._classification import Classification
from ragexam.classify._label_agreement import LabellerAgreement
from taxonomy import Clustering, ModelLabels

_BASES = {
    "words": "by a listed word",
    "wording": "by the wording",
    "otherwise": "by neither, so the level given otherwise",
    "nothing": "not at all",
}
"""What a label may rest on, in words."""


@dataclass(frozen=True)
class ClassificationResult:
    """The labels of an exam by taxonomy, and where asked for its clusters and the agreement with `compared_with`.

    `usage` is that of the model that was asked, None without one; `no_reply` counts by reason what it did not answer.
    """

    exam: Path
    hash: str
    questions: int
    interval: float
    seed: int
    found: Sequence[Classification]
    clusters: Clustering | None = None
    usage: Mapping[str, Any] | None = None
    no_reply: Mapping[str, int] = field(default_factory=dict)
    compared_with: Path | None = None
    agreement: Mapping[str, LabellerAgreement] = field(default_factory=dict)
    out: Path | None = None

    def record(self) -> dict[str, Any]:
        """The result as JSON types; parts that were not asked for are left out."""
        optional = {
            "clusters": None if self.clusters is None else _cluster_record(self.clusters),
            "usage": self.usage,
            "no_reply": None if self.usage is None else dict(self.no_reply),
            "compared_with": self.compared_with and str(self.compared_with),
            "agreement": {name: one.record(self.interval) for name, one in self.agreement.items()} or None,
            "out": self.out and str(self.out),
        }
        return {
            "exam": str(self.exam),
            "hash": self.hash,
            "questions": self.questions,
            "interval": self.interval,
            "seed": self.seed,
            "dimensions": {one.name: self._dimension(one) for one in self.found},
            **{name: value for name, value in optional.items() if value is not None},
        }

    def lines(self) -> list[str]:
        """All tables for a reader, a blank line between them."""
        parts = [[f"{self.questions} questions; {self.interval:.0%} intervals"]]
        parts += [list(self._dimension_lines(one)) for one in self.found]
        parts += [] if self.clusters is None else [_cluster_lines(self.clusters)]
        parts += [list(self._agreement_lines(name, one)) for name, one in self.agreement.items()]
        parts += [[f"no reply: {count} {printable(why)}"] for why, count in self.no_reply.items()]
        parts += [[f"{self.out}: {self.questions} questions with labels"]] if self.out else []
        return "\n\n".join("\n".join(part) for part in parts).split("\n")

    def _dimension(self, found: Classification) -> dict[str, Any]:
        """Counts and shares of the levels among the questions that were labelled, with Wilson's intervals.

        `unlabelled` questions have no level; those whose reply was not understood, or missing, are not among the
        labelled.
        """
        table: dict[str, Any] = {
            "by": found.by,
            "several": found.several,
            "labelled": len(found.labels),
            "unlabelled": sum(not levels for levels in found.labels.values()),
            "levels": self._levels(found),
        }
        if found.basis is not None:
            table["basis"] = dict(found.basis)
        if asked := found.asked:
            table |= {"unparsed": asked.unparsed, "unanswered": asked.unanswered, "clipped": asked.clipped}
            table["unparsed_share"] = _share(asked.unparsed, self.questions, self.interval)
            table["unparsed_examples"] = list(asked.samples)
        return table

    def _levels(self, found: Classification) -> dict[str, dict[str, Any]]:
        counts = Counter(level for levels in found.labels.values() for level in levels)
        return {level: _share(counts[level], len(found.labels), self.interval) for level in found.levels}

    def _dimension_lines(self, found: Classification) -> Iterator[str]:
        yield f"{printable(found.name)} (by {printable(found.by)}{', several to a question' if found.several else ''})"
        width = max(len(printable(level)) for level in found.levels)
        for level, one in self._levels(found).items():
            share = "     -" if one["share"] is None else f"{one['share']:6.1%}  [{one['low']:.1%}, {one['high']:.1%}]"
            yield f"  {printable(level):{width}} {one['count']:6}  {share}"
        if unlabelled := sum(not levels for levels in found.labels.values()):
            yield f"  without a level: {unlabelled}"
        if basis := found.basis:
            told = ", ".join(f"{basis[name]} {words}" for name, words in _BASES.items() if basis.get(name))
            yield f"  labelled {told}"
        if found.asked is not None:
            yield from _asked_lines(found.asked, len(found.labels))

    def _agreement_lines(self, name: str, found: LabellerAgreement) -> Iterator[str]:
        other = printable(str(self.compared_with))
        yield f"{printable(name)}: agreement with {other} over {found.n} questions"
        yield f"  same levels   {interval_text(found.equal_share(self.interval))}"
        yield f"  Cohen's kappa {interval_text(found.kappa)}"
        yield f"  Krippendorff's alpha {interval_text(found.alpha)}"
        for level, one in found.levels.items():
            counts = f"{one.first:4} here {one.second:4} there {one.both:4} both"
            yield f"    {printable(level):14} {counts}  kappa {interval_text(one.kappa)}"
        for where, names in (("here", found.only_first), ("there", found.only_second)):
            if names:
                some = ", ".join(map(printable, names[:3])) + (", …" if len(names) > 3 else "")
                yield f"  labelled only {where}: {len(names)} ({some})"


def _asked_lines(asked: ModelLabels, labelled: int) -> Iterator[str]:
    counts = f"{asked.unparsed} replies were no list of levels, {asked.unanswered} missing"
    yield f"  {labelled} labelled; {counts}, {asked.clipped} questions shown in part"
    yield from (f"    not understood: {one!r}" for one in asked.samples)


def _share(count: int, total: int, interval: float) -> dict[str, Any]:
    low, high = wilson(count / total, total, interval) if total else (None, None)
    return {"count": count, "share": count / total if total else None, "low": low, "high": high}


def _cluster_record(found: Clustering) -> dict[str, Any]:
    """How the questions were grouped, or why not."""
    silhouettes = {
        str(size): {"found": own, "structureless": other} for size, (own, other) in found.silhouettes.items()
    }
    table = {"clusters": list(found.names), "seed": found.seed, "excess": found.excess, "bar": found.bar}
    return {**table, "stability": found.stability, "silhouettes": silhouettes, "reason": found.reason}


def _cluster_lines(found: Clustering) -> list[str]:
    if not found.names:
        return [f"clusters: none told apart ({found.reason})"]
    return [
        f"{len(found.names)} clusters; silhouette {found.excess:.3f} above that of text without any, which varies by "
        f"{found.bar:.3f}",
        f"  groups by other seeds agree with these by {found.stability:.2f} (0: as chance, 1: the same)",
    ]
