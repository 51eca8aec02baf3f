"""Labels as tables: counts and shares with intervals, clusters, agreement; for a program and for a reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from examcore import wilson
from examcore.console import interval_text, printable
from ragexam.classify._classification import Classification
from taxonomy import Clustering


def dimension(found: Classification, questions: int, interval: float) -> dict[str, Any]:
    """Counts and shares of the levels among the questions that were labelled, with Wilson's intervals.

    `unlabelled` questions have no level; those whose reply was not understood, or missing, are not among the labelled.
    """
    counts = Counter(level for levels in found.labels.values() for level in levels)
    table: dict[str, Any] = {
        "by": found.by,
        "several": found.several,
        "labelled": len(found.labels),
        "unlabelled": sum(not levels for levels in found.labels.values()),
        "levels": {level: _share(counts[level], len(found.labels), interval) for level in found.levels},
    }
    if found.basis is not None:
        table["basis"] = dict(found.basis)
    if found.asked is not None:
        asked = found.asked
        table |= {"unparsed": asked.unparsed, "unanswered": asked.unanswered, "clipped": asked.clipped}
        table["unparsed_share"] = _share(asked.unparsed, questions, interval)
        table["unparsed_examples"] = list(asked.samples)
    return table


def clustering(found: Clustering) -> dict[str, Any]:
    """How the questions were grouped, or why not."""
    silhouettes = {
        str(size): {"found": own, "structureless": other} for size, (own, other) in found.silhouettes.items()
    }
    table = {"clusters": list(found.names), "seed": found.seed, "excess": found.excess, "bar": found.bar}
    return {**table, "stability": found.stability, "silhouettes": silhouettes, "reason": found.reason}


def lines_of(content: Mapping[str, Any]) -> str:
    """All tables for a reader."""
    parts = [f"{content['questions']} questions; {content['interval']:.0%} intervals"]
    parts += [_dimension_lines(name, table) for name, table in content["dimensions"].items()]
    if "clusters" in content:
        parts.append(_cluster_line(content["clusters"]))
    parts += [_agreement_lines(name, table, content) for name, table in content.get("agreement", {}).items()]
    parts += [f"no reply: {count} {printable(why)}" for why, count in content.get("no_reply", {}).items()]
    return "\n\n".join(parts)


def _share(count: int, total: int, interval: float) -> dict[str, Any]:
    if not total:
        return {"count": count, "share": None, "low": None, "high": None}
    low, high = wilson(count / total, total, interval)
    return {"count": count, "share": count / total, "low": low, "high": high}


def _dimension_lines(name: str, table: Mapping[str, Any]) -> str:
    several = ", several to a question" if table["several"] else ""
    lines = [f"{printable(name)} (by {printable(table['by'])}{several})"]
    width = max(len(printable(level)) for level in table["levels"])
    for level, one in table["levels"].items():
        share = "     -" if one["share"] is None else f"{one['share']:6.1%}  [{one['low']:.1%}, {one['high']:.1%}]"
        lines.append(f"  {printable(level):{width}} {one['count']:6}  {share}")
    return "\n".join([*lines, *_remarks(table)])


def _remarks(table: Mapping[str, Any]) -> list[str]:
    said = {
        "words": "by a listed word",
        "wording": "by the wording",
        "otherwise": "by neither, so the level given otherwise",
        "nothing": "not at all",
    }
    lines = []
    if table["unlabelled"]:
        lines.append(f"  without a level: {table['unlabelled']}")
    if table.get("basis"):
        told = ", ".join(f"{table['basis'][one]} {words}" for one, words in said.items() if table["basis"].get(one))
        lines.append(f"  labelled {told}")
    if "unparsed" in table:
        counts = f"{table['unparsed']} replies were no list of levels, {table['unanswered']} missing"
        lines.append(f"  {table['labelled']} labelled; {counts}, {table['clipped']} questions shown in part")
        lines += [f"    not understood: {one!r}" for one in table["unparsed_examples"]]
    return lines


def _cluster_line(found: Mapping[str, Any]) -> str:
    if not found["clusters"]:
        return f"clusters: none told apart ({found['reason']})"
    excess, bar = found["excess"], found["bar"]
    return (
        f"{len(found['clusters'])} clusters; silhouette {excess:.3f} above that of text without any, which varies by "
        f"{bar:.3f}\n  groups by other seeds agree with these by {found['stability']:.2f} (0: as chance, 1: the same)"
    )


def _agreement_lines(name: str, table: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    equal = table["equal"]
    lines = [
        f"{printable(name)}: agreement with {printable(content['compared_with'])} over {table['n']} questions",
        f"  same levels   {interval_text(equal)}",
        f"  Cohen's kappa {interval_text(_known(table['kappa']))}",
        f"  Krippendorff's alpha {interval_text(_known(table['alpha']))}",
    ]
    for level, one in table["levels"].items():
        counts = f"{one['ours']:4} here {one['theirs']:4} there {one['both']:4} both"
        lines.append(f"    {printable(level):14} {counts}  kappa {interval_text(_known(one['kappa']))}")
    only: Sequence[tuple[str, Sequence[str]]] = (("here", table["only_ours"]), ("there", table["only_theirs"]))
    lines += [f"  labelled only {where}: {len(names)} ({_some(names)})" for where, names in only if names]
    return "\n".join(lines)


def _known(estimate: Mapping[str, float]) -> dict[str, float | None]:
    """An estimate whose undefined numbers are None."""
    return {name: value if value == value else None for name, value in estimate.items()}


def _some(names: Sequence[str]) -> str:
    return ", ".join(printable(name) for name in names[:3]) + (", …" if len(names) > 3 else "")
