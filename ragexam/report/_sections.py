"""The sections of the page in words and tables: from findings to what the template shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from exam_gen import Baseline, ExamStatistics
from examcore import IntervalEstimate
from examcore.page import chance, joined, percent, plain_number, points, signed, signed_range
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._component_verdicts import FacetVerdict, describe, sentences
from ragexam.report._fitted_model import FittedModel
from ragexam.report._page_tables import PageTable, TableCell, TableRow, column_heads, number_cell
from ragexam.report._provenance import model_roles
from ragexam.report._response_scores import bound_of, facets_of, levels_of, without_black_boxes
from ragexam.report._run_evidence import RunEvidence
from ragexam.report._run_findings import RunFindings

View = Mapping[str, object]
_LARGE_RESIDUAL = 0.25
_CLEAR_RESIDUAL = 0.15
"""In standard deviations of ability: a lower limit below this is what the prior alone would give."""


def verdict_view(evidence: RunEvidence, found: RunFindings, more: Sequence[str] = ()) -> View:
    """The verdict, the warnings that belong beside it, `more` among them, and a card per component."""
    fitted = [verdict for verdict in found.verdicts if verdict.compared and verdict.unit != "accuracy"]
    by_accuracy = [
        facet_name(verdict.facet) for verdict in found.verdicts if verdict.compared and verdict not in fitted
    ]
    all_by_accuracy = found.from_accuracy or bool(by_accuracy and not fitted)
    scale = "accuracy, resampled over questions" if all_by_accuracy else "the fitted measurement model"
    if by_accuracy and not all_by_accuracy:
        scale += f", for the {joined(by_accuracy)} from accuracy, resampled over questions"
    bounds = sorted(set(_bounds(evidence.scores)))
    left_out = f" {joined(bounds).capitalize()} are bounds and were left out of the comparison." if bounds else ""
    allowance = (
        ""
        if all_by_accuracy
        else " Intervals in ability allow for combinations that do better or worse than their parts suggest and for "
        "answers that pipelines share; intervals in accuracy only for the choice of questions."
    )
    return {
        "sentences": sentences(found.verdicts) if found.verdicts else ["The answers name no components to compare."],
        "warnings": [*verdict_warnings(evidence, found), *more],
        "cards": [_verdict_card(verdict) for verdict in found.verdicts],
        "note": f"Probabilities and intervals (90 %) come from {scale}.{allowance}{left_out}",
    }


def verdict_warnings(evidence: RunEvidence, found: RunFindings) -> list[str]:
    """What a reader must know before trusting the verdict."""
    lines = []
    measured = evidence.measured
    if measured is None:
        lines.append("No measurement model was fitted: the verdict rests on accuracy alone.")
    elif not measured.converged:
        lines.append(
            "The measurement model did not converge: treat the verdict and every ability on this page as provisional."
        )
    elif found.from_accuracy:
        lines.append("The measurement model was fitted without components: the verdict rests on accuracy alone.")
    lines += [f"{note[:1].upper()}{note[1:]}." for note in evidence.notes]
    if len(without_black_boxes(evidence.scores)) < len(evidence.scores):
        lines.append(
            "Black boxes bring their own retrieval and share no component with the grid: they stand in the table of "
            "pipelines and in no comparison of components."
        )
    lines += _role_warnings(evidence)
    if math.isfinite(found.value_of_passages.estimate) and not found.value_of_passages.low > 0:
        lines.append(
            "Pipelines do not surely answer better with the right passage than without any: "
            "this exam may not measure retrieval at all."
        )
    return lines


def _role_warnings(evidence: RunEvidence) -> Iterator[str]:
    """A model that wrote or checked questions and also sits the exam is flattered by its own selection."""
    examinees = {_model(level): level for level in levels_of(evidence.scores, "llm")} if _has_llm(evidence) else {}
    for name, roles in model_roles(evidence.questions).items():
        if _model(name) in examinees:
            yield (
                f"{examinees[_model(name)]} {joined(roles)} the questions and also sits the exam: "
                "questions were selected on its own answers, which flatters its score."
            )


def _has_llm(evidence: RunEvidence) -> bool:
    return "llm" in facets_of(evidence.scores)


def _model(name: str) -> str:
    """A model's bare name, so that a path or prefix does not hide that two are the same."""
    bare = name.rsplit("/", 1)[-1].rsplit(":", 1)[-1].lower().removesuffix(".gguf")
    return "".join(letter for letter in bare if letter.isalnum())


def _bounds(scores: pd.DataFrame) -> Iterator[str]:
    for facet in facets_of(scores):
        for level in levels_of(scores, facet):
            bound = bound_of(level)
            if bound:
                yield bound


def _verdict_card(verdict: FacetVerdict) -> View:
    best = level_name(verdict.facet, verdict.best) if verdict.best else "–"
    if verdict.compared and not verdict.told_apart:
        answer = joined([level_name(verdict.facet, level) for level in verdict.ties], "or")
    else:
        answer = best
    return {
        "heading": f"Best {facet_name(verdict.facet)}" if verdict.compared else facet_name(verdict.facet).capitalize(),
        "answer": answer,
        "sentence": describe(verdict),
        "accuracy": f"In accuracy: {points(verdict.accuracy_gap)}."
        if verdict.compared and verdict.unit != "accuracy"
        else "",
        "chances": [
            {"name": level_name(verdict.facet, level), "share": round(100 * share), "text": chance(share, short=True)}
            for level, share in verdict.chances
        ],
    }


def numbers_view(evidence: RunEvidence, found: RunFindings) -> tuple[list[View], list[str]]:
    """The key numbers and the warnings they call for."""
    n_documents = "" if evidence.n_documents is None else f" from {evidence.n_documents} documents"
    numbers: list[View] = [
        _number("Questions", str(len(evidence.questions)), f"multiple choice, written{n_documents}"),
        _number("Pipelines", str(len(found.accuracy)), _grid(evidence.scores)),
        _passages(found.value_of_passages),
        _baseline("Always the same letter", found.exam.fixed_answer, "the best position in hindsight"),
        _baseline("Always the longest choice", found.exam.longest_answer, "the choice with the most characters"),
    ]
    return numbers, list(_baseline_warnings(found.exam))


def _baseline_warnings(exam: ExamStatistics) -> Iterator[str]:
    if not exam.fixed_answer.within_chance:
        yield "The right answers stand too often at the same position: answering blindly pays."
    for baseline, name in ((exam.longest_answer, "longest"), (exam.shortest_answer, "shortest")):
        if not baseline.within_chance and baseline.accuracy > baseline.chance:
            yield (
                f"The right answers are too often the {name} ones: picking the {name} choice pays, so every score here "
                "is lifted by something that is not knowledge."
            )
        elif not baseline.within_chance:
            yield f"The right answers are too rarely the {name} ones: leaving the {name} choice out pays."


def _number(heading: str, value: str, sentence: str) -> View:
    return {"heading": heading, "value": value, "sentence": sentence}


def _grid(scores: pd.DataFrame) -> str:
    parts = []
    for facet in facets_of(scores):
        count, name = scores[facet].nunique(), facet_name(facet)
        parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return " × ".join(parts) or "each with its own name"


def _passages(gain: IntervalEstimate) -> View:
    heading = "The right passage is worth"
    if not math.isfinite(gain.estimate):
        return _number(heading, "–", "Needs both oracle and closed book among the retrievers.")
    limits = f"95 % interval {signed(100 * gain.low, 0)} to {signed(100 * gain.high, 0)}"
    if math.isnan(gain.low):
        limits = "interval unknown: one question"
    return _number(heading, f"{signed(100 * gain.estimate, 0)} points", f"oracle minus closed book ({limits})")


def _baseline(heading: str, found: Baseline, how: str) -> View:
    verdict = "within sampling error of chance" if found.within_chance else "not explained by chance"
    luck = f"chance gives {percent(found.chance)}; p = {found.p_value:.2g}"
    return _number(heading, percent(found.accuracy), f"{how}: {verdict} ({luck})")


def components_view(measured: FittedModel | None, figure: object | None) -> View:
    """Contrasts between levels and whether the additive story holds."""
    if measured is None:
        return {"sentences": ["Needs a fitted measurement model."], "warnings": [], "table": None, "figure": None}
    if measured.components.empty:
        return {
            "sentences": ["The model was fitted without components."],
            "warnings": [],
            "table": None,
            "figure": None,
        }
    lines = [
        "Effects are in units of ability and add up to zero within a component; only differences between levels of the "
        "same component mean anything.",
        *_spread(measured.components),
    ]
    warnings = []
    if measured.residual is not None:
        scale = measured.residual
        lines.append(
            f"What the components do not explain has a scale of {plain_number(scale.estimate)} "
            f"(90 % interval {plain_number(scale.low)} to {plain_number(scale.high)})."
        )
        if scale.low > max(_LARGE_RESIDUAL * _typical(measured.components), _CLEAR_RESIDUAL):
            warnings.append(
                "The additive story fails here: what a component is worth depends on what it is combined with. "
                "Compare whole pipelines, not components."
            )
    return {"sentences": lines, "warnings": warnings, "table": _effects(measured.components), "figure": figure}


def _effects(components: pd.DataFrame) -> PageTable:
    rows = tuple(
        TableRow(
            (
                TableCell(facet_name(str(row["facet"]))),
                TableCell(level_name(str(row["facet"]), str(row["level"]))),
                number_cell(signed(row["effect"]), row["effect"]),
                number_cell(signed_range(IntervalEstimate(row["effect"], row["low"], row["high"])), row["low"]),
            )
        )
        for row in components.to_dict("records")
    )
    caption = "Effect of each level on ability, zero on average within a component, with 90\u00a0% intervals"
    return PageTable(caption, column_heads("component", "level", "#effect", "#90\u00a0% interval"), rows, sortable=True)


def _typical(components: pd.DataFrame) -> float:
    """Standard deviation of the effects one could choose between, around their components' means."""
    chosen = components[[bound_of(str(level)) is None for level in components["level"]]]
    centred = chosen["effect"] - chosen.groupby("facet")["effect"].transform("mean")
    return float(np.sqrt((centred**2).mean()))


def _spread(components: pd.DataFrame) -> Iterator[str]:
    """Which component matters most: the distance between its best and its worst level, bounds left out."""
    spans = {}
    for facet, rows in components.groupby("facet", sort=False):
        effects = [row["effect"] for row in rows.to_dict("records") if bound_of(str(row["level"])) is None]
        if len(effects) > 1:
            spans[facet_name(str(facet))] = max(effects) - min(effects)
    if len(spans) > 1:
        ordered = sorted(spans.items(), key=lambda pair: -pair[1])
        told = joined([f"{name} {plain_number(span)}" for name, span in ordered])
        yield f"In ability, the best choice is ahead of the worst by: {told}."


def information_view(measured: FittedModel | None, figure: object | None) -> View:
    """Where on the ability scale the exam measures, and whether the pipelines are there."""
    if measured is None:
        return {"sentences": ["Needs a fitted measurement model."], "figure": None}
    theta, information = measured.curve["theta"].to_numpy(float), measured.curve["total"].to_numpy(float)
    peak = int(np.nanargmax(information))
    abilities = measured.abilities["theta"].to_numpy(float)
    at_pipelines = np.interp(abilities, theta, information)
    errors = 1 / np.sqrt(np.maximum(at_pipelines, 1e-9))
    lines = [
        "Ability is counted in standard deviations of these pipelines, 0 being their average. "
        f"The exam measures most sharply at ability {signed(float(theta[peak]), 1)}, with a standard error of "
        f"{plain_number(1 / math.sqrt(max(float(information[peak]), 1e-9)))}. The pipelines lie between "
        f"{signed(float(abilities.min()), 1)} and {signed(float(abilities.max()), 1)}, where the standard error is "
        f"{plain_number(float(errors.min()))} to {plain_number(float(errors.max()))}.",
        _placement(float(theta[peak]), abilities),
    ]
    return {"sentences": lines, "figure": figure}


def _placement(peak: float, abilities: np.ndarray) -> str:
    above = float((abilities > peak).mean())
    if above >= 0.75:
        return "Most pipelines are abler than that: harder questions would tell the good ones apart better."
    if above <= 0.25:
        return "Most pipelines are less able than that: easier questions would tell the weak ones apart better."
    return "That is where the pipelines are: the exam fits them."
