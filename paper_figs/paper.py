"""All tables and figures of the paper in one document, from the answers kept in `experiments/` or from runs named."""

from __future__ import annotations

import argparse
import base64
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from examcore.page import page_template
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
from paper_figs._command_line import CACHE, Build, distinct
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

    @property
    def anchor(self) -> str:
        """What the contents link to."""
        return self.label.lower().replace(" ", "-")


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
            made.save(out)
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

    def drawing(plate: PaperFigure) -> str:
        return base64.b64encode((folder / f"{plate.name}{SCREEN.suffix}.svg").read_bytes()).decode()

    page = page_template("paper_figs", "paper.html")
    return page.render(**found._asdict(), sections=sections, drawing=drawing, as_html=as_html)


if __name__ == "__main__":
    raise SystemExit(main())
