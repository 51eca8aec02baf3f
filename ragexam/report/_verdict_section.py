"""The verdict on the page: what to take, what to know before trusting it, a card for each component."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from examcore import counted
from examcore.page import chance, joined, percent, points
from ragexam._retrieval import PEOPLES_OVERLAP
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._component_verdicts import FacetVerdict, describe
from ragexam.report._dependence_section import mix_sentence
from ragexam.report._exam_section import model_roles
from ragexam.report._page_parts import ChanceBar, PageCard, PageSection
from ragexam.report._response_scores import bounds_in, facets_of, levels_of, without_black_boxes
from ragexam.report._run_evidence import RunEvidence
from ragexam.report._run_findings import RunFindings
from ragexam.report._trust_section import misfit_sentences

_ALLOWANCE = (
    " Intervals in ability allow for combinations that do better or worse than their parts suggest and for answers "
    "that pipelines share; intervals in accuracy only for the choice of questions."
)


UNCHECKED = (
    "The order of retrievers was not checked with questions of your users. Compared with questions that people asked, "
    "exams like this one were off in BM25 minus dense retrieval by +.06 [.00, .12], +.04 [−.02, .09] and −.12 [−.19, "
    "−.05] of nDCG (StackExchange, MT-RAG, COVID-QA): the more of the passages' words people use, the better BM25 "
    "does. To check: ragexam validity RUN questions.jsonl, or users in the configuration."
)
"""Measured by `benchmarks/external_validity.py` (RESULTS.md, External validity)."""


def verdict_section(found: RunFindings) -> PageSection:
    """The verdict, the warnings that belong beside it, a card per component, and where its numbers come from."""
    fitted = [verdict for verdict in found.verdicts if verdict.compared and verdict.unit != "accuracy"]
    others = [verdict for verdict in found.verdicts if verdict.compared and verdict not in fitted]
    by_accuracy = [facet_name(verdict.facet) for verdict in others]
    all_by_accuracy = found.from_accuracy or bool(by_accuracy and not fitted)
    scale = "accuracy, resampled over questions" if all_by_accuracy else "the fitted measurement model"
    if by_accuracy and not all_by_accuracy:
        scale += f", for the {joined(by_accuracy)} from accuracy, resampled over questions"
    bounds = sorted(bounds_in(found.evidence.scores))
    left_out = f" {joined(bounds).capitalize()} are bounds and were left out of the comparison." if bounds else ""
    allowance = "" if all_by_accuracy else _ALLOWANCE
    return PageSection(
        found.verdict if found.verdicts else ["The answers name no components to compare."],
        [*verdict_warnings(found), *misfit_sentences(found.departures)],
        cards=[_verdict_card(verdict, own_words=found.own_words) for verdict in found.verdicts],
        note=f"Probabilities and intervals (90 %) come from {scale}.{allowance}{left_out}{_mix(found, by_accuracy)}",
    )


def _mix(found: RunFindings, by_accuracy: Sequence[str]) -> str:
    """Whose questions a verdict of the fit holds for, where it may depend on them."""
    model = found.evidence.model
    said = "" if model is None or found.from_accuracy else mix_sentence(model)
    by_exam = (
        f" What is said of the {joined(by_accuracy)} is about the exam's questions." if said and by_accuracy else ""
    )
    return f" {said}{by_exam}" if said else ""


def verdict_warnings(found: RunFindings) -> list[str]:
    """What a reader must know before trusting the verdict."""
    lines = []
    evidence, model = found.evidence, found.evidence.model
    if model is None:
        lines.append("No measurement model was fitted: the verdict rests on accuracy alone.")
    elif not model.converged:
        lines.append(
            "The measurement model did not converge: treat the verdict and every ability on this page as provisional."
        )
    elif found.from_accuracy:
        lines.append("The measurement model was fitted without components: the verdict rests on accuracy alone.")
    lines += [f"{note[:1].upper()}{note[1:]}." for note in evidence.notes]
    if len(without_black_boxes(evidence.scores)) < len(evidence.scores):
        lines.append(
            "Black boxes bring their own retrieval and share no component with the grid: they are listed among the "
            "pipelines and left out of all comparisons of components."
        )
    if found.own_words and any(facet_name(one.facet) == "retriever" for one in found.verdicts):
        low, high = (percent(one) for one in PEOPLES_OVERLAP)
        lines.append(
            f"{percent(found.overlap)} of the words that retrievers searched for are in the passages (of the words of "
            f"people's questions, {low} to {high}), so the results on retrievers hold for questions in the passages' "
            "own words. Write a new exam, or check this one with your users' questions: ragexam validity RUN "
            "questions.jsonl."
        )
    elif (evidence.validity is None or not evidence.validity.n_people) and any(
        "wording" in one.metadata for one in evidence.questions
    ):
        compared = any(one.compared and facet_name(one.facet) == "retriever" for one in found.verdicts)
        lines += [UNCHECKED] if compared else []
    if evidence.validity is not None and (wrong := evidence.validity.counted("contradicted")):
        lines.append(
            f"Your users' questions contradict the exam on {counted(wrong, 'pair')} of retrievers that they tell "
            "apart: trust them, not the exam."
        )
    lines += _role_warnings(evidence)
    if math.isfinite(found.value_of_passages.estimate) and not found.value_of_passages.low > 0:
        lines.append(
            "It is not certain that pipelines answer better with the right passage than without one: "
            "this exam may not measure retrieval at all."
        )
    return lines


def _role_warnings(evidence: RunEvidence) -> Iterator[str]:
    """A model that wrote or checked questions and also sits the exam is flattered by its own selection."""
    scores = evidence.scores
    examinees = {_model(level): level for level in levels_of(scores, "llm")} if "llm" in facets_of(scores) else {}
    for name, roles in model_roles(evidence.questions).items():
        if _model(name) in examinees:
            yield (
                f"{examinees[_model(name)]} {joined(roles)} the questions and also sits the exam: "
                "questions were selected on its own answers, which flatters its score."
            )


def _model(name: str) -> str:
    """A model's bare name, so that a path or prefix does not hide that two are the same."""
    bare = name.rsplit("/", 1)[-1].rsplit(":", 1)[-1].lower().removesuffix(".gguf")
    return "".join(letter for letter in bare if letter.isalnum())


def _verdict_card(verdict: FacetVerdict, *, own_words: bool) -> PageCard:
    where = " for the passages' own words" if own_words and facet_name(verdict.facet) == "retriever" else ""
    best = verdict.ties if verdict.compared and not verdict.told_apart else [verdict.best] if verdict.best else ()
    by_ability = verdict.compared and verdict.unit != "accuracy"
    return PageCard(
        heading=f"Best {facet_name(verdict.facet)}{where}"
        if verdict.compared
        else facet_name(verdict.facet).capitalize(),
        answer=joined([level_name(verdict.facet, level) for level in best], "or") or "–",
        sentence=describe(verdict),
        # Of a verdict by accuracy the sentence says it already.
        remark=f"In accuracy: {points(verdict.accuracy_gap)}." if by_ability else "",
        chances=[
            ChanceBar(level_name(verdict.facet, level), round(100 * share), chance(share, short=True))
            for level, share in verdict.chances
        ],
    )
