"""What the commands on scores print for a reader: short tables and plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from examcore.console import interval_text
from grading.commands._printing import Pairs, compared

Found = Mapping[str, Any]
_LABELS = {"importance": "weigh nothing", "support": "count as no support"}


def nuggets(found: Found, shown: Pairs = "neighbours") -> str:
    """Each system's six scores, strange labels, and for several systems what tells them apart."""
    systems = list(found["systems"].values()) if "systems" in found else [found]
    lines = [line for one in systems for line in _nugget_system(one, found["interval"])]
    if "systems" not in found:
        return "\n".join(lines)
    shared = ", ".join(f"{count} by {number}" for number, count in found["supported_by"].items())
    left_out = found["unmatched"]
    others = [one["sentence"] for one in found["by_other_metrics"].values()]
    lines += ["", *_told_apart(found, shown), "beside it, not adjusted for looking at more than one score:"]
    lines += [*(f"  {one}" for one in others), "", f"nuggets fully supported by so many systems: {shared}"]
    for what, why in (("repeated_in_topic", "stand twice in a topic"), ("not_in_all_systems", "lack in some system")):
        if left_out[what]:
            lines.append(f"  left out: {len(left_out[what])} nuggets that {why}: {_names(_texts(left_out[what]))}")
    return "\n".join([*lines, *_missing(found["missing_topics"])])


def agreement(found: Found) -> str:
    """The coefficients, the confusion table, and what stands in one file only."""
    names = ("agreement", "kappa", "kappa_quadratic", "alpha", "alpha_ordinal", "alpha_interval")
    lines = [
        f"{found['n']} pairs of {found['n_topics']} topics judged by both; "
        f"{found['interval']:.0%} intervals over {found['interval_over']}",
        *(f"  {name:<16} {interval_text(found[name])}" for name in names),
        *_confusion(found["confusion"]),
    ]
    for which in ("a", "b"):
        once = found[f"only_in_{which}"]
        if once["n"]:
            shown = _names([f"{one['topic']} {one['passage']}" for one in once["first"]], total=once["n"])
            whole = f"; {len(once['topics'])} topics wholly: {_names(once['topics'])}" if once["topics"] else ""
            lines.append(f"only in {which.upper()}: {once['n']} pairs ({shown}){whole}")
        if found["without_grade"][which]:
            lines.append(f"without a grade in {which.upper()}: {found['without_grade'][which]} rows, left out")
    return "\n".join(lines)


def leaderboard(found: Found, shown: Pairs = "neighbours") -> str:
    """The correlations by what was resampled, ties, who stands in one only, and the systems told apart."""
    lines = [f"{found['n']} systems in both; {found['interval']:.0%} intervals"]
    for title, part in (
        ("systems resampled", found),
        ("topics resampled", found["over_topics"]),
        ("systems and topics resampled", found["over_systems_and_topics"]),
    ):
        if part is not None:
            lines.append(title)
            lines += [
                f"  {name:<9} {interval_text(part[name])}" for name in ("spearman", "kendall", "tau_ap", "tau_ap_b")
            ]
    if sum(found["tied"].values()):
        lines.append(f"ties broken at random ({found['tied']['a']} systems tied in A, {found['tied']['b']} in B)")
        ties = found["random_ties"].items()
        lines += [f"  {name:<9} {interval_text(one)}, standard deviation {one['sd']:.3f}" for name, one in ties]
    for which in ("a", "b"):
        alone = found[f"only_in_{which}"]
        lines += [f"only in {which.upper()}: {len(alone)} systems: {_names(alone)}"] if alone else []
        lines += [f"{found[which]['file']}: left out {one}" for one in found[which]["left_out"]]
        lines += _told_apart(found[which], shown) if found[which]["pairs"] else []
    return "\n".join([*lines, *found["warnings"]])


def power(found: Found) -> str:
    """For each pair the topics needed, and at other numbers of questions."""
    lines = [
        f"topics needed to find a gap with power {found['power']:g}, two-sided paired t test at "
        f"{found['alpha_per_pair']:.4g} ({found['interval']:.0%} intervals)"
    ]
    for one in found["pairs"]:
        gap = f"gap {one['gap']:.4g}" + ("" if found["gap"] is not None else ", the pilot's own")
        lines.append(f"{one['first']} and {one['second']}: pilot's difference {interval_text(one['observed'])}; {gap}")
        if one["detectable"] != one["detectable"]:
            lines.append(f"  no number can be told: the {one['n_topics']} topics all have the same difference")
            continue
        lines.append(f"  {_count(one['topics']['estimate'])} topics [{_range(one['topics'])}]")
        if one["by_questions"]:
            each = ", ".join(f"{_count(topics)} x {number}" for number, topics in one["by_questions"].items())
            lines.append(f"  topics x questions on each: {each}")
        least = f"a gap of {one['detectable']:.4g}" if one["detectable"] < float("inf") else "no gap"
        lines.append(f"  the pilot's {one['n_topics']} topics find {least}")
    if found["gap"] is None:
        lines.append(
            "A pilot's own gap is a noisy guess, too large where it was picked for being large: name the --gap."
        )
    return "\n".join(lines)


def reusability(found: Found) -> str:
    """Each system with and without its part, then the summary."""
    what = "questions" if found["kind"] == "bank" else "passages"
    width = max(len(one["system"]) for one in found["systems"])
    lines = [
        f"a {found['kind']} of {found['n_units']} {what}, {found['n_topics']} topics; each of {found['n_systems']} "
        f"systems left out in turn, {found['interval']:.0%} intervals over topics"
    ]
    for one in found["systems"]:
        ranks = f"rank {one['rank']:g} -> {one['rank_without']:g}"
        change = f"change {interval_text(one['change'])}  {ranks}  tau {interval_text(one['tau'])}"
        lines.append(f"{one['system']:<{width}}  {one['unique']} {what} its own  {change}")
    if found["not_graded"]:
        lines.append(f"{found['not_graded']} questions of systems have no grade and count 0")
    return "\n".join(
        [
            *lines,
            f"Kendall's tau, mean {interval_text(found['tau'])}; "
            f"ranks moved, mean {interval_text(found['displacement'])}",
        ]
    )


def bias(found: Found) -> str:
    """The favour, its test, and what it says."""
    clear = found["favour"]["low"] > 0 or found["favour"]["high"] < 0
    direction = "favour" if found["favour"]["estimate"] > 0 else "disfavour"
    says = f"judges {direction} their own family" if clear else "no favour for judges' own families can be told"
    how = "all" if found["exact"] else "a sample of"
    lines = [
        f"favour {interval_text(found['favour'])} (p = {found['p']:.3f}): {says}",
        f"  by permuting families over {found['n_systems']} systems ({how} {found['arrangements']} ways); "
        f"over {found['n_topics']} topics {interval_text(found['over_topics'])}",
        *(
            f"  {judge}: {value:.3f}" if value == value else f"  {judge}: unknown"
            for judge, value in found["by_judge"].items()
        ),
    ]
    left_out = found["left_out_topics"]
    if left_out:
        lines.append(f"left out: {len(left_out)} topics that lack some score: {_names(left_out)}")
    return "\n".join(lines)


def _told_apart(board: Found, shown: Pairs) -> list[str]:
    """The sentence on all pairs, and each of them where that is wanted."""
    if shown == "all":
        return [board["sentence"], *(f"  {line}" for line in compared(board["pairs"], shown))]
    return [f"{board['sentence']} Each difference: --pairs all." if len(board["pairs"]) > 1 else board["sentence"]]


def _nugget_system(one: Found, interval: float) -> list[str]:
    lines = [
        f"{one['run']}: {one['n_topics']} topics, {one['n_nuggets']} nuggets, {interval:.0%} intervals over topics"
    ]
    lines += [f"  {metric:<22} {interval_text(value)}" for metric, value in one["all"].items()]
    for which, counts in one["unknown_labels"].items():
        if counts:
            shown = _names([f"{name!r} {number}" for name, number in counts.items()])
            lines.append(f"  {sum(counts.values())} unknown labels of {which} {_LABELS[which]}: {shown}")
    for metric, topics in one["undefined"].items():
        lines.append(f"  {metric} is undefined on {len(topics)} topics, which its mean leaves out: {_names(topics)}")
    return lines


def _confusion(table: Mapping[str, Mapping[str, int]]) -> list[str]:
    width = max(6, *(len(str(n)) for row in table.values() for n in row.values()))
    header = "  A \\ B   " + " ".join(f"{one:>{width}}" for one in table)
    return [header, *(f"  {one:>7} " + " ".join(f"{n:>{width}}" for n in row.values()) for one, row in table.items())]


def _missing(missing: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        f"{system} lacks {len(topics)} topics that others have: {_names(topics)}" for system, topics in missing.items()
    ]


def _texts(nuggets: Sequence[Found]) -> list[str]:
    return [f"{one['topic']} {one['text']!r}" for one in nuggets]


def _names(names: Sequence[str], shown: int = 3, total: int | None = None) -> str:
    more = (len(names) if total is None else total) - min(shown, len(names))
    return ", ".join(names[:shown]) + (f" and {more} more" if more else "")


def _count(topics: float) -> str:
    return f"{topics:.0f}" if topics < float("inf") else "no number of"


def _range(topics: Mapping[str, float]) -> str:
    return ", ".join("no end" if topics[end] == float("inf") else f"{topics[end]:.0f}" for end in ("low", "high"))
