"""Writing the page: gather, find, draw, and fill the template with everything escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from exam_gen.files import write_text
from ragexam.report import background, sections
from ragexam.report.accuracy import accuracy_view
from ragexam.report.drawings import Drawings, draw
from ragexam.report.gather import Evidence, gather
from ragexam.report.pruning import pruned_ids, pruning_view
from ragexam.report.questions import questions_view
from ragexam.report.summary import Findings, find
from ragexam.report.words import clipped

CONTENTS = (
    ("verdict", "Verdict"),
    ("numbers", "Key numbers"),
    ("accuracy", "Accuracy"),
    ("components", "Components"),
    ("information", "Precision"),
    ("kinds", "Kinds of questions"),
    ("pruning", "A shorter exam"),
    ("questions", "Questions"),
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
    return template("page.html").render(context(evidence, found, drawings))


def template(name: str) -> Template:
    """One of the templates, which escape all they are given."""
    environment = Environment(
        loader=PackageLoader("ragexam.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def frame(title: str, subtitle: str, contents: Sequence[tuple[str, str]]) -> dict[str, object]:
    """What the frame of every page names: its heads, contents, style and script."""
    script, style = _own_file("sort.js"), _own_file("style.css")
    return {
        "title": title,
        "subtitle": subtitle,
        "contents": contents,
        "version": installed_version(),
        "style": Markup(style),
        "script": Markup(script),
        "script_hash": "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def context(evidence: Evidence, found: Findings, drawings: Drawings) -> Mapping[str, object]:
    """Everything the template names."""
    measured = evidence.measured
    numbers, number_warnings = sections.numbers_view(evidence, found)
    subtitle = f"{len(evidence.questions)} questions, {len(found.accuracy)} pipelines"
    return {
        **frame(_title(evidence), subtitle, CONTENTS),
        "verdict": sections.verdict_view(evidence, found),
        "numbers": numbers,
        "number_warnings": number_warnings,
        "accuracy": accuracy_view(evidence.scores, None if measured is None else measured.abilities),
        "components": sections.components_view(measured, drawings.components),
        "information": sections.information_view(measured, drawings.information),
        "kinds": sections.kinds_view(drawings.kinds, drawings.counts),
        "pruning": pruning_view(evidence.pruning, drawings.pruning),
        "questions": questions_view(evidence.questions, evidence.scores, measured, pruned_ids(evidence.pruning)),
        "exam": background.exam_view(evidence, found.exam),
        "diagnostics": background.diagnostics_view(evidence),
        "making": background.making_view(evidence),
        "grading": (evidence.folder.path / "grading" / "report.html").is_file(),
    }


def _title(evidence: Evidence) -> str:
    configuration = evidence.record.get("configuration")
    corpus = configuration.get("corpus") if isinstance(configuration, Mapping) else None
    source = corpus.get("source") if isinstance(corpus, Mapping) else None
    name = source if isinstance(source, str) and source else evidence.folder.path.resolve().name
    return f"Which retrieval and prompting answers best on {clipped(name.rstrip('/').rsplit('/', 1)[-1], 80)}?"


def _own_file(name: str) -> str:
    return files("ragexam.report").joinpath(name).read_text(encoding="utf-8").strip()


def installed_version() -> str:
    """The version of the package, for the foot of a page."""
    try:
        return version("ragexam")
    except PackageNotFoundError:
        return "(not installed)"
