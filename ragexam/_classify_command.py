"""The command that labels questions: classify."""

from __future__ import annotations

import typer

from examcore import Progress
from examcore.console import AsJson, Quiet, show_result
from irt.commands import with_records
from ragexam.classify import ClassificationJob, run

classifying = typer.Typer(add_completion=False, rich_markup_mode=None)


def classify(job: ClassificationJob, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Label questions by Bloom's taxonomy, by their form, by a taxonomy of yours; compare labellers."""
    show_result(run(job, Progress(quiet=quiet)), as_json=as_json)


classifying.command("classify", epilog="Example: ragexam classify runs/quickstart --clusters --out labelled.jsonl")(
    with_records(classify)
)
