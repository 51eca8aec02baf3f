"""Writing the page: gather, find, draw, and fill the template with everything escaped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from examcore import write_text
from examcore.page import clipped, page_frame, page_template
from ragexam.report import _background as background
from ragexam.report import _costs as costs
from ragexam.report import _reading as reading
from ragexam.report import _sections as sections
from ragexam.report._accuracy import accuracy_view
from ragexam.report._drawings import Drawings, draw
from ragexam.report._faults import signs_of
from ragexam.report._gains import change_view
from ragexam.report._gather import Evidence, gather
from ragexam.report._interactions import interactions_view
from ragexam.report._kinds import kinds_view
from ragexam.report._pipelines import pipelines_view
from ragexam.report._pruning import pruned_ids, pruning_view
from ragexam.report._questions import questions_view
from ragexam.report._scores import without_black_boxes
from ragexam.report._summary import Findings, find
from ragexam.report._topics import topics_view
from ragexam.report._trust import misfit_sentences, trust_view

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
    evidence = gather(Path(run))
    drawings = draw(evidence)
    page = render(evidence, find(evidence), drawings)
    write_text(evidence.folder.report, [page])
    return evidence.folder.report


def render(evidence: Evidence, found: Findings, drawings: Drawings) -> str:
    """The page as text; what comes from files is escaped by the template, only our own style and script are not."""
    return page_template("ragexam.report", "page.html").render(context(evidence, found, drawings))


def context(evidence: Evidence, found: Findings, drawings: Drawings) -> Mapping[str, object]:
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


def _answers(evidence: Evidence, found: Findings) -> Mapping[str, object]:
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


def _measurement(evidence: Evidence, drawings: Drawings, levels: pd.DataFrame | None) -> Mapping[str, object]:
    """What the fitted model says, and how far to trust it."""
    measured = evidence.measured
    return {
        "components": sections.components_view(measured, drawings.components),
        "interactions": interactions_view(measured),
        "information": sections.information_view(measured, drawings.information),
        "diagnostics": trust_view(evidence, levels),
    }


def _exam(evidence: Evidence, found: Findings, drawings: Drawings) -> Mapping[str, object]:
    """The questions, one by one and by kind, and how they came about."""
    questions, scores = evidence.questions, evidence.scores
    return {
        "questions": questions_view(questions, signs_of(evidence), pruned_ids(evidence.pruning)),
        "topics": topics_view(questions, scores),
        "kinds": kinds_view(evidence.measured, questions, scores, drawings.kinds),
        "pruning": pruning_view(evidence.pruning, drawings.pruning),
        "exam": background.exam_view(evidence, found.exam),
        "making": background.making_view(evidence),
    }


def _subtitle(evidence: Evidence, found: Findings) -> str:
    return f"{len(evidence.questions)} questions, {len(found.accuracy)} pipelines"


def _title(evidence: Evidence) -> str:
    configuration = evidence.record.get("configuration")
    corpus = configuration.get("corpus") if isinstance(configuration, Mapping) else None
    source = corpus.get("source") if isinstance(corpus, Mapping) else None
    name = source if isinstance(source, str) and source else evidence.folder.path.resolve().name
    name = name.rstrip("/").rsplit("/", 1)[-1]
    for suffix in (".gz", ".jsonl", ".json", ".csv", ".parquet"):
        name = name.removesuffix(suffix)
    return f"Which retrieval and prompting answers best on {clipped(name, 80)}?"
