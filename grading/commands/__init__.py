"""The commands on free-text systems: `ragexam grade …`."""

from __future__ import annotations

import typer

from grading.commands import _banks as banks
from grading.commands import _measures as measures
from grading.commands import _page as page
from grading.commands import _reports as reports
from grading.commands import _scores as scores

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Grade systems that answer in free text: EXAM, EXAM++, ARGUE, nuggets, leaderboards.",
    epilog="Example: ragexam grade nuggets run-a.jsonl run-b.jsonl",
)
for module in (scores, measures, reports, banks, page):
    module.register(app)
