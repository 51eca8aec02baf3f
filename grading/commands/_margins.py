"""The margin of EXAM's own reader, calibrated, margin: what is read and written, and its lines for a reader."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from examcore import FailedError, NoReply, Progress, ReplyStore, RunFolder, read_exam, write_text
from examcore.console import AsJson, Quiet, interval_text, jsonable, show
from grading._printing import joined
from grading.commands._grading import asking_of
from grading.commands._options import ModelOptions, Resampling
from grading.graders._assessor import NORMALIZATION
from grading.graders._calibration import calibrate, read_trials, trials_of
from rag import EXAM_PROMPT_VERSION


def margin(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run: questions with their passages.")],
    model: ModelOptions,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for margin.json and the replies.")],
    resampling: Resampling,
    share: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Share of questions that may be answered without support.")
    ] = 0.05,
    passages: Annotated[
        int, typer.Option(min=1, help="Passages of other documents in an article, as many as articles have.")
    ] = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Set the margin of grade run --grader choices: by how much a passage must raise a choice to support it."""
    progress = Progress(quiet=quiet)
    level, seed = resampling.interval, resampling.seed
    questions = read_exam(exam)
    trials = trials_of(questions, passages, seed)
    if not trials:
        raise ValueError(f"{exam}: no question has a document and the passage it was written from; wanted some that do")
    with RunFolder(out).held(), ReplyStore(out / "replies.sqlite") as store:
        with asking_of(model, store, progress) as asking, progress.step("reading") as report:
            found = list(read_trials(trials, asking, report))
        lost = [one for one in found if isinstance(one, NoReply)]
        if lost:
            raise FailedError(f"{len(lost)} questions got no reply: {lost[0].reason}")
        reads = [one for one in found if not isinstance(one, NoReply)]
        calibration = calibrate(reads, share=share, level=level, seed=seed)
        result = {
            "margin": calibration.margin,
            "n": calibration.n,
            "margins": list(calibration.margins),
            "held_out": {name: getattr(calibration, name).as_dict() for name in ("unsupported", "answered", "right")},
            "share": share,
            "passages": passages,
            "model": model.model,
            "prompt": EXAM_PROMPT_VERSION,
            "normalization": NORMALIZATION,
            "exam": str(exam),
            "without_passage": len(questions.questions) - len(trials),
            "interval": level,
            "seed": seed,
            "usage": asdict(asking.usage),
        }
        write_text(out / "margin.json", [json.dumps(jsonable({"format": 1, **result}), indent=2) + "\n"])
    show(result, as_json=as_json, lines=_lines(result, out / "margin.json"))


def _lines(result: dict[str, Any], path: Path) -> str:
    rates, share = result["held_out"], result["share"]
    lines = [
        f"{path}: margin {result['margin']:.3f} nats for {result['model']}, from {result['n']} questions",
        f"on questions held out (margins {min(result['margins']):.3f} to {max(result['margins']):.3f}):",
        f"  answered from passages of other documents: {interval_text(rates['unsupported'])}, wanted at most {share:g}",
        f"  answered from their own passage: {interval_text(rates['answered'])}",
        f"  answered rightly from it: {interval_text(rates['right'])}",
    ]
    notes = []
    if rates["unsupported"]["low"] > share:
        notes.append("More is answered without support than wanted: the margin does not hold on other questions.")
    if rates["answered"]["low"] <= rates["unsupported"]["high"]:
        notes.append("Questions are not clearly answered more often from their own passage: the model cannot tell.")
    if result["without_passage"]:
        notes.append(f"Questions without a document or passage, which take no part: {result['without_passage']}.")
    return joined(lines, notes)
