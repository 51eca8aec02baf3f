"""The comparison in words: what changed, how sure that is, and what cannot be compared."""

from __future__ import annotations

from typing import NamedTuple

from examcore.page import clipped, joined, plain_number, points, signed
from ragexam.report._component_names import facet_name, facet_plural, level_name
from ragexam.report._response_scores import LEVEL, facets_of, levels_of, row_interval
from ragexam.report.comparison._changes import AbilityChanges, AccuracyChanges
from ragexam.report.comparison._paired_runs import PairedRuns


class ComparisonSentences(NamedTuple):
    """Sentences by section."""

    lead: list[str]
    warnings: list[str]
    accuracy: list[str]
    ability: list[str]


def comparison_sentences(
    both: PairedRuns, accuracy: AccuracyChanges | None, ability: AbilityChanges | str
) -> ComparisonSentences:
    """Everything that is said above the tables."""
    lead = [_overall(both, accuracy), *_clearest(accuracy)]
    warnings = [*(ability.link.warnings if isinstance(ability, AbilityChanges) else ()), *_settings(both)]
    return ComparisonSentences(lead, warnings, _accuracy(both, accuracy), _ability(ability))


def _overall(both: PairedRuns, accuracy: AccuracyChanges | None) -> str:
    if accuracy is None:
        return "No pipeline answered a common question in both runs: the answers do not say what changed."
    n = len(both.pipelines)
    tried = "the one pipeline that both tried" if n == 1 else f"the {n} pipelines that both tried"
    size = f"On the {accuracy.n_questions} questions that both runs asked, {tried}"
    if accuracy.identical:
        return f"{size} gave the same right and wrong answers in both."
    change = accuracy.overall
    if change.excludes_zero:
        way = "better" if change.estimate > 0 else "worse"
        return f"{size} {'is' if n == 1 else 'are'} {way} in B: {points(change)} of accuracy."
    return f"{size} did not measurably change: {points(change)} of accuracy."


def _clearest(accuracy: AccuracyChanges | None) -> list[str]:
    if accuracy is None or accuracy.identical:
        return []
    levels = accuracy.levels[accuracy.levels["p_adjusted"] <= 1 - LEVEL]
    if levels.empty:
        return ["No component changed clearly, all levels tested together."]
    told = [
        f"the {facet_name(row['facet'])} {level_name(row['facet'], clipped(row['level'], 60))} "
        f"({points(row_interval(row))})"
        for row in levels.to_dict("records")[:4]
    ]
    more = f" and {len(levels) - 4} more" if len(levels) > 4 else ""
    return [f"Changed clearly, all levels of components tested together: {joined(told)}{more}."]


def _accuracy(both: PairedRuns, accuracy: AccuracyChanges | None) -> list[str]:
    if accuracy is None:
        return ["Needs pipelines that answered the same questions in both runs."]
    clear = int((accuracy.pipelines["p_adjusted"] <= 1 - LEVEL).sum())
    lines = [
        "Accuracy in B minus accuracy in A, paired question by question; intervals (90\u00a0%) and p hold for all "
        f"rows of a table at once. {clear} of {len(both.pipelines)} pipelines changed clearly."
    ]
    if accuracy.left_out:
        lines.append(f"{accuracy.left_out} common questions were left out, because somebody did not answer them.")
    return lines


def _ability(ability: AbilityChanges | str) -> list[str]:
    if isinstance(ability, str):
        return [ability]
    line = ability.link
    lines = [
        f"Abilities of B were put on the scale of A by {len(line.anchors)} common questions: ability in A = "
        f"{plain_number(line.slope.estimate)} × ability in B {'−' if line.intercept.estimate < 0 else '+'} "
        f"{plain_number(abs(line.intercept.estimate))} "
        f"(slope {plain_number(line.slope.low)} to {plain_number(line.slope.high)}, intercept "
        f"{signed(line.intercept.low)} to {signed(line.intercept.high)})."
    ]
    if line.dropped:
        lines.append(f"{len(line.dropped)} questions drifted and were left out of the line.")
    if line.scatter > 1:
        lines.append(
            f"Difficulties miss the line by {plain_number(line.scatter, 1)} times their error; "
            "its interval is wider by that."
        )
    lines.append("Intervals (90\u00a0%) take the two fits as independent.")
    return lines


def _settings(both: PairedRuns) -> list[str]:
    """Differences of the fits that make a comparison of abilities questionable."""
    first, second = both.a.model, both.b.model
    if first is None or second is None:
        return []
    lines = []
    if first.fit.model != second.fit.model:
        lines.append(f"A was fitted by a {first.fit.model.upper()} model and B by a {second.fit.model.upper()} model.")
    for name, model in ((both.name_a, first), (both.name_b, second)):
        if not model.converged:
            lines.append(f"The fit of {name} did not converge: its abilities are provisional.")
    return lines


def not_compared(both: PairedRuns, accuracy: AccuracyChanges | None) -> list[str]:
    """What is not compared, and why: each a sentence."""
    lines = [
        f"{both.only_a} questions are only in A and {both.only_b} only in B: nothing is said about them.",
    ]
    if not both.questions:
        lines.append("No question is word for word the same in both runs: accuracies and abilities are not compared.")
    if both.reworded:
        lines.append(
            f"{len(both.reworded)} questions have the same id and another text, key or choices: they count as "
            f"different questions ({_some(list(both.reworded))})."
        )
    for name, mine, other in ((both.name_a, both.a, both.b), (both.name_b, both.b, both.a)):
        others = set(other.scores["student"])
        own = [str(one) for one in dict.fromkeys(mine.scores["student"]) if one not in others]
        if own:
            lines.append(f"{len(own)} pipelines are only in {name} ({_some(own)}).")
    for facet in facets_of(both.a.scores):
        if facet not in both.levels:
            lines.append(f"The runs share no {facet_name(facet)}.")
            continue
        for name, mine in ((both.name_a, both.a), (both.name_b, both.b)):
            own = [one for one in levels_of(mine.scores, facet) if one not in both.levels[facet]]
            if own:
                lines.append(
                    f"Only {name} tried the {facet_plural(facet)} {_some([level_name(facet, one) for one in own])}."
                )
    if accuracy is None and both.questions:
        lines.append("The common questions were answered by no pipeline in both runs.")
    return lines


def _some(names: list[str]) -> str:
    shown = ", ".join(clipped(name, 60) for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
