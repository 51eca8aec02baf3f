"""Writing the page: gather, find, draw, and fill the template with everything escaped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from examcore import write_text
from examcore.page import clipped, page_frame, page_template
from ragexam.report import _costs as costs
from ragexam.report import _provenance as background
from ragexam.report import _sections as sections
from ragexam.report import _source_reading as reading
from ragexam.report._accuracy_tables import accuracy_view
from ragexam.report._interactions import interactions_view
from ragexam.report._level_gains import change_view
from ragexam.report._pipelines import pipelines_view
from ragexam.report._pruning_record import pruned_ids, pruning_view
from ragexam.report._question_cards import questions_view
from ragexam.report._question_faults import answer_signs
from ragexam.report._question_groupings import kinds_view
from ragexam.report._response_scores import without_black_boxes
from ragexam.report._run_evidence import RunEvidence, read_evidence
from ragexam.report._run_figures import RunFigures, draw_figures
from ragexam.report._run_findings import RunFindings, find_all
from ragexam.report._topic_accuracy import topics_view
from ragexam.report._trust_checks import misfit_sentences, trust_view

CONTENTS = (
    ("verdict", "Verdict"),
    ("change", "What to change"),
    ("numbers", "Key numbers"),
    ("accuracy", "Accuracy"),
    ("pipelines", "Pipelines"),
    ("components", "Components"),
    ("interactions", "Combinations"),
    ("retrieval", "Retrieval"),
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


def write_report(run: Path) -> Path:
    """Write `report.html` and `figures/` from the files of a run folder, and return the page's path.

    Raises `ValueError` in one line when the folder is no run or a file of it is damaged.
    """
    evidence = read_evidence(Path(run))
    drawings = draw_figures(evidence)
    page = render(evidence, find_all(evidence), drawings)
    write_text(evidence.folder.report, [page])
    return evidence.folder.report


def render(evidence: RunEvidence, found: RunFindings, drawings: RunFigures) -> str:
    """The page as text; what comes from files is escaped by the template, only our own style and script are not."""
    return page_template("ragexam.report", "page.html").render(context(evidence, found, drawings))


def context(evidence: RunEvidence, found: RunFindings, drawings: RunFigures) -> Mapping[str, object]:
    """Everything the template names."""
    levels = found.departures
    return {
        **page_frame(_title(evidence), _subtitle(evidence, found), CONTENTS),
        "verdict": sections.verdict_view(evidence, found, misfit_sentences(levels)),
        **_answers(evidence, found),
        **_measurement(evidence, drawings, levels),
        **_exam(evidence, found, drawings),
        "grading": (evidence.folder.path / "grading" / "report.html").is_file(),
    }


def _answers(evidence: RunEvidence, found: RunFindings) -> Mapping[str, object]:
    """What pipelines answered: verdict, gains, accuracy, retrieval, cost."""
    scores, figures = evidence.scores, evidence.folder.path / "figures"
    numbers, number_warnings = sections.numbers_view(evidence, found)
    spent = costs.pipeline_costs(evidence.answers, scores, costs.prices_of(evidence.configuration))
    return {
        "change": change_view(without_black_boxes(scores), found.draws, found.verdicts, found.from_accuracy),
        "numbers": numbers,
        "number_warnings": number_warnings,
        "accuracy": accuracy_view(scores),
        "pipelines": pipelines_view(scores, evidence.measured, spent),
        "retrieval": reading.reading_view(scores, evidence.answers, evidence.retrieval, figures),
        "costs": costs.costs_view(scores, spent, figures),
    }


def _measurement(evidence: RunEvidence, drawings: RunFigures, levels: pd.DataFrame | None) -> Mapping[str, object]:
    """What the fitted model says, and how far to trust it."""
    measured = evidence.measured
    return {
        "components": sections.components_view(measured, drawings.components),
        "interactions": interactions_view(measured),
        "information": sections.information_view(measured, drawings.information),
        "diagnostics": trust_view(evidence, levels),
    }


def _exam(evidence: RunEvidence, found: RunFindings, drawings: RunFigures) -> Mapping[str, object]:
    """The questions, one by one and by kind, and how they came about."""
    questions, scores = evidence.questions, evidence.scores
    return {
        "questions": questions_view(questions, answer_signs(evidence), pruned_ids(evidence.pruning)),
        "topics": topics_view(questions, scores),
        "kinds": kinds_view(evidence.measured, questions, scores, drawings.kinds),
        "pruning": pruning_view(evidence.pruning, drawings.pruning),
        "exam": background.exam_view(evidence, found.exam),
        "making": background.making_view(evidence),
    }


def _subtitle(evidence: RunEvidence, found: RunFindings) -> str:
    return f"{len(evidence.questions)} questions, {len(found.accuracy)} pipelines"


def _title(evidence: RunEvidence) -> str:
    configuration = evidence.record.get("configuration")
    corpus = configuration.get("corpus") if isinstance(configuration, Mapping) else None
    source = corpus.get("source") if isinstance(corpus, Mapping) else None
    name = source if isinstance(source, str) and source else evidence.folder.path.resolve().name
    name = name.rstrip("/").rsplit("/", 1)[-1]
    for suffix in (".gz", ".jsonl", ".json", ".csv", ".parquet"):
        name = name.removesuffix(suffix)
    return f"Which retrieval and prompting answers best on {clipped(name, 80)}?"
