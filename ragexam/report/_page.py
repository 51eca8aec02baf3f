"""Writing the page: draw the figures and fill the template with everything escaped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from examcore import write_text
from examcore.page import clipped, page_frame, page_template
from ragexam.report._accuracy_tables import accuracy_section, topics_section
from ragexam.report._costs_section import costs_section
from ragexam.report._dependence_section import dependence_section
from ragexam.report._exam_section import exam_section, key_numbers, provenance
from ragexam.report._free_text import free_text_section
from ragexam.report._interactions import interactions_section
from ragexam.report._level_gains import change_section
from ragexam.report._measurement_sections import components_section, information_section
from ragexam.report._page_parts import Picture
from ragexam.report._pipelines_section import pipelines_section
from ragexam.report._pruning import pruning_section
from ragexam.report._question_groupings import groupings_section
from ragexam.report._questions_section import questions_section
from ragexam.report._response_scores import only_black_boxes, without_black_boxes
from ragexam.report._retrieval_section import retrieval_section
from ragexam.report._run_evidence import RunEvidence
from ragexam.report._run_figures import draw_figures
from ragexam.report._run_findings import RunFindings
from ragexam.report._trust_section import trust_section
from ragexam.report._variance_section import variance_section
from ragexam.report._verdict_section import verdict_section

CONTENTS = (
    ("verdict", "Verdict"),
    ("change", "What to change"),
    ("numbers", "Key numbers"),
    ("accuracy", "Accuracy"),
    ("pipelines", "Pipelines"),
    ("components", "Components"),
    ("interactions", "Combinations"),
    ("retrieval", "Retrieval"),
    ("free-text", "Free text"),
    ("costs", "Cost"),
    ("information", "Precision"),
    ("questions", "Questions"),
    ("topics", "Topics"),
    ("kinds", "Kinds of questions"),
    ("pruning", "A shorter exam"),
    ("exam", "The exam"),
    ("diagnostics", "Trust"),
    ("making", "How it was made"),
)


def write_report(findings: RunFindings) -> Path:
    """Write `report.html` and `figures/` into the run's folder, and return the page's path."""
    folder = findings.evidence.folder
    write_text(folder.report, [render(findings, draw_figures(findings))])
    return folder.report


def render(findings: RunFindings, figures: Mapping[str, Picture]) -> str:
    """The page as text; what comes from files is escaped by the template, only our own style and script are not."""
    return page_template("ragexam.report", "page.html").render(page_context(findings, figures))


def page_context(findings: RunFindings, figures: Mapping[str, Picture]) -> Mapping[str, object]:
    """Everything the template names: the frame, and a section for each part of the page."""
    evidence, costs, picture = findings.evidence, findings.costs, figures.get
    questions, scores, model, pruning = evidence.questions, evidence.scores, evidence.model, evidence.pruning
    subtitle = f"{len(questions)} questions, {len(findings.accuracy)} pipelines"
    reading = (findings.reading, findings.worth_of_source, evidence.retrieval, evidence.validity)
    contents = [one for one in CONTENTS if one[0] != "free-text" or evidence.free_text]
    gains = (without_black_boxes(scores), findings.draws, findings.verdicts, findings.from_accuracy)
    return {
        **page_frame(_title(evidence), subtitle, contents),
        "verdict": verdict_section(findings),
        "change": change_section(*gains),
        "numbers": key_numbers(findings),
        "accuracy": accuracy_section(scores),
        "pipelines": pipelines_section(scores, model, costs),
        "components": components_section(model, picture("component_contrasts")),
        "variance": variance_section(model, findings.verdicts, questions),
        "dependence": dependence_section(model),
        "interactions": interactions_section(model),
        "retrieval": retrieval_section(scores, *reading, picture("retrieval_and_answers")),
        "free_text": free_text_section(evidence.free_text, scores),
        "costs": costs_section(scores, costs, findings.frontier, picture("quality_and_cost")),
        "information": information_section(model, picture("exam_information")),
        "questions": questions_section(questions, findings.signs, () if pruning is None else pruning.dropped),
        "topics": topics_section(questions, scores),
        "kinds": groupings_section(model, questions, scores, figures),
        "pruning": pruning_section(pruning, picture("information_over_pruning")),
        "exam": exam_section(evidence, findings.exam),
        "diagnostics": trust_section(evidence, findings.departures),
        "making": provenance(evidence),
        "grading": (evidence.folder.path / "grading" / "report.html").is_file(),
    }


def _title(evidence: RunEvidence) -> str:
    corpus = evidence.part("configuration").get("corpus")
    source = corpus.get("source") if isinstance(corpus, Mapping) else None
    name = source if isinstance(source, str) and source else evidence.folder.path.resolve().name
    name = name.rstrip("/").rsplit("/", 1)[-1]
    for suffix in (".gz", ".jsonl", ".json", ".csv", ".parquet"):
        name = name.removesuffix(suffix)
    what = "system" if only_black_boxes(evidence.scores) else "retrieval and prompting"
    return f"Which {what} answers best on {clipped(name, 80)}?"
