"""The commands on free-text systems: `ragexam grade …`."""

from __future__ import annotations

import typer

from grading.commands import banks, measures, page, reports, scores

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Grade systems that answer in free text: EXAM, EXAM++, ARGUE, nuggets, leaderboards.",
    epilog="Example: ragexam grade nuggets run-a.jsonl run-b.jsonl",
)
for module in (scores, measures, reports, banks, page):
    module.register(app)
