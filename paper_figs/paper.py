"""All tables and figures of the paper in one document, from the answers kept in `experiments/` or from runs named."""

from __future__ import annotations

import argparse
import base64
import html
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from paper_figs import (
    accuracy_by_pipeline,
    accuracy_by_topic,
    bloom_examples,
    bloom_levels,
    component_abilities,
    component_contrasts,
    corpora,
    exam_process,
    exam_statistics,
    information_by_bloom,
    information_by_question_word,
    information_over_pruning,
    irt_plates,
    model_fit,
)
from paper_figs._command_line import CACHE, Build, distinct, save
from paper_figs._figure_files import SCREEN, PaperFigure
from paper_figs._table_files import PaperTable, as_html
from paper_figs._task_results import TaskResults, read_run

TASKS: Mapping[str, tuple[str, ...]] = {
    "DevOps": ("devops", "paper_grid"),
    "Arxiv": ("arxiv",),
    "StackExchange": ("stackexchange",),
    "SEC filings": ("sec_filings",),
}
"""The paper's four tasks, and folders of `experiments/` that hold answers of each (or whose names hold the first)."""
PARTS: Mapping[str, Build] = {
    "Table 1": corpora.build,
    "Table 2": accuracy_by_pipeline.build,
    "Table 3": component_abilities.build,
    "Table 3 as a picture": component_contrasts.build,
    "Table 4": exam_statistics.build,
    "Table 5": model_fit.build,
    "Table 6": bloom_examples.build,
    "Figures 1 and 7": accuracy_by_topic.build,
    "Figure 2": bloom_levels.build,
    "Figure 3": information_by_bloom.build,
    "Figure 4": information_by_question_word.build,
    "Figures 5 and 12": information_over_pruning.build,
    "Figure 6": exam_process.build,
    "Figures 8 to 11": irt_plates.build,
}
"""What the document holds, in its order."""


class PaperSection(NamedTuple):
    """One part of the document: what was made, and why it lacks tasks that could not be drawn."""

    label: str
    made: tuple[PaperFigure | PaperTable, ...]
    lacking: tuple[str, ...]


class PaperRuns(NamedTuple):
    """The runs of the document, and a sentence for each task or folder that is left out."""

    runs: tuple[TaskResults, ...]
    left_out: tuple[str, ...]


def main(argv: Sequence[str] | None = None) -> int:
    """Build the document; 2 with one line on standard error when there is nothing to build it from."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="FOLDER or TASK=FOLDER (default: experiments/*/released)"
    )
    parser.add_argument("--out", type=Path, default=Path("paper"), help="folder to write to (default: paper)")
    parser.add_argument("--cache", type=Path, default=CACHE, help=f"folder of fits that were made (default: {CACHE})")
    arguments = parser.parse_args(argv)
    try:
        runs = [read_run(one, arguments.cache) for one in arguments.runs]
        found = given(runs) if runs else discover(Path("experiments"), arguments.cache)
        if not found.runs:
            raise ValueError("experiments: no folder released with responses.csv; wanted a RUN")
        print(write(found, arguments.out))
    except (ValueError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    return 0


def given(runs: Sequence[TaskResults]) -> PaperRuns:
    """Runs that were named; the paper's tasks that are not among them are left out."""
    named = {run.slug for run in distinct(runs)}
    absent = [task for task in TASKS if TaskResults(Path(), task, Path()).slug not in named]
    return PaperRuns(tuple(runs), tuple(f"{task}: no run was given." for task in absent))


def discover(experiments: Path, cache: Path) -> PaperRuns:
    """The answers kept for each of the paper's tasks; a task without answers is left out by name."""
    folders = sorted(path.parent for path in experiments.glob("*/released/responses.csv"))
    runs, left_out = [], []
    for task, names in TASKS.items():
        mine = [one for one in folders if one.parent.name in names or names[0] in one.parent.name]
        folders = [one for one in folders if one not in mine]
        if mine:
            runs.append(TaskResults(mine[0], task, cache))
        else:
            left_out.append(f"{task}: no answers are kept in {experiments}/.")
        left_out += [f"{one}: {mine[0]} stands for {task}." for one in mine[1:]]
    left_out += [f"{one}: none of the paper's tasks." for one in folders]
    return PaperRuns(tuple(runs), tuple(left_out))


def write(found: PaperRuns, out: Path) -> Path:
    """Every figure and table in its forms, and `paper.html`, which holds them all."""
    sections = []
    for label, build in PARTS.items():
        begun = time.monotonic()
        section = assembled(label, build, found.runs)
        for made in section.made:
            save(made, out)
        sections.append(section)
        print(f"{label}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    path = out / "paper.html"
    out.mkdir(parents=True, exist_ok=True)
    path.write_text(document(sections, found, out), encoding="utf-8")
    return path


def assembled(label: str, build: Build, runs: Sequence[TaskResults]) -> PaperSection:
    """A part of all runs that have what it needs, and why the others have it not."""
    try:
        return PaperSection(label, tuple(build(runs)), ())
    except (ValueError, OSError):
        faults = {run: fault for run in runs if (fault := _fault(build, run))}
    good = [run for run in runs if run not in faults]
    lacking = tuple(f"{run.task}: {fault}" for run, fault in faults.items())
    return PaperSection(label, tuple(build(good)) if good else (), lacking)


def _fault(build: Build, run: TaskResults) -> str:
    try:
        build([run])
    except (ValueError, OSError) as error:
        return str(error)
    return ""


def document(sections: Sequence[PaperSection], found: PaperRuns, folder: Path) -> str:
    """One HTML page without network or scripts; pictures are in it, files beside it."""
    parts = "".join(_section(section, folder) for section in sections)
    entries = "".join(f'<li><a href="#{_anchor(one.label)}">{html.escape(one.label)}</a></li>' for one in sections)
    sizes = {run: f"{len(run.data.students)} pipelines, {len(run.data.items)} questions" for run in found.runs}
    tasks = "".join(f"<li>{html.escape(f'{one.task}: {size} ({one.folder})')}</li>" for one, size in sizes.items())
    absent = "".join(f"<li>{html.escape(one)}</li>" for one in found.left_out)
    left = f"<p>Left out:</p><ul>{absent}</ul>" if absent else ""
    return _PAGE.format(tasks=tasks, left=left, entries=entries, parts=parts)


def _section(section: PaperSection, folder: Path) -> str:
    made = "".join(_table(one) if isinstance(one, PaperTable) else _figure(one, folder) for one in section.made)
    lacking = "".join(f'<p class="note">Not shown: {html.escape(one)}</p>' for one in section.lacking)
    return f'<section id="{_anchor(section.label)}"><h2>{html.escape(section.label)}</h2>{made}{lacking}</section>'


def _table(table: PaperTable) -> str:
    files = " ".join(f'<a href="{table.name}.{suffix}">{suffix}</a>' for suffix in ("tex", "md", "csv"))
    return (
        f'<h3>{html.escape(table.title)}</h3><div class="scroll" tabindex="0" role="region" '
        f'aria-label="{html.escape(table.title)}">{as_html(table)}</div>'
        f'<p class="note">{html.escape(table.note)} <span class="files">{files}</span></p>'
    )


def _figure(plate: PaperFigure, folder: Path) -> str:
    picture = base64.b64encode((folder / f"{plate.name}{SCREEN.suffix}.svg").read_bytes()).decode()
    files = " ".join(f'<a href="{plate.name}.{suffix}">{suffix}</a>' for suffix in ("pdf", "png", "csv"))
    wide = "" if len(plate.panels) > 1 or plate.across else ' class="narrow"'
    return (
        f'<h3>{html.escape(plate.title)}</h3><figure{wide}><img alt="{html.escape(f"{plate.title}. {plate.caption}")}" '
        f'src="data:image/svg+xml;base64,{picture}"><figcaption>{html.escape(plate.caption)} '
        f'<span class="files">{files}</span></figcaption></figure>'
    )


def _anchor(label: str) -> str:
    return label.lower().replace(" ", "-")


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tables and figures</title>
<style>
:root {{ color-scheme: light dark; --ink: #1d2129; --paper: #fff; --line: #c4c9d1; --soft: #59616d; --link: #0b5cad; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e6e8eb; --paper: #16181c; --line: #444b55; --soft: #a5adb8; --link: #7db8f0; }}
}}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 70rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }}
a {{ color: var(--link); }}
nav ul {{ columns: 12rem; }}
section {{ border-top: 1px solid var(--line); margin-top: 2rem; }}
h3 {{ font-size: 1.05rem; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .15rem .8rem .15rem 0; text-align: right; white-space: nowrap; vertical-align: top; }}
th:first-child, td:first-child, .wide, th.group {{ text-align: left; }}
td.wide {{ white-space: normal; min-width: 9rem; overflow-wrap: break-word; }}
thead th {{ border-bottom: 1px solid var(--ink); border-top: 2px solid var(--ink); }}
tbody th {{ font-weight: normal; }}
tbody tr:last-child > * {{ border-bottom: 2px solid var(--ink); }}
th.group {{ font-weight: bold; padding-top: .6rem; }}
figure {{ margin: 0; }}
figure img {{ width: 100%; background: #fff; }}
figure.narrow {{ max-width: 36rem; }}
figcaption, .note {{ color: var(--soft); font-size: .9rem; max-width: 50rem; }}
@media print {{ body {{ font-size: 9pt; max-width: none; padding: 0; }} nav, .files {{ display: none; }}
  figure, tr {{ break-inside: avoid; }} h2, h3 {{ break-after: avoid; }} .scroll {{ overflow: visible; }} }}
</style></head><body>
<h1>Tables and figures</h1>
<p>The tables and figures of Guinet et al. (2024), <cite>Automated Evaluation of Retrieval-Augmented Language Models
with Task-Specific Exam Generation</cite>, drawn from our own answers; numbering is the paper's. Every estimate has an
interval of 90 %: of accuracies over questions, which all pipelines share; of model parameters from their posterior.</p>
<p>Tasks:</p><ul>{tasks}</ul>{left}
<nav aria-label="Contents"><ul>{entries}</ul></nav>
{parts}
</body></html>
"""


if __name__ == "__main__":
    raise SystemExit(main())
