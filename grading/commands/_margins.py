"""The margin of EXAM's own reader, calibrated: what is read and written, and its lines for a reader."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from examcore import FailedError, NoReply, Progress, ReplyStore, RunFolder, read_exam, write_text
from examcore.console import interval_text, jsonable
from grading.commands._bank_runs import asking_of
from grading.commands._options import ModelOptions, Resampling
from grading.commands._printing import PrintedResult, joined
from grading.graders._assessor import NORMALIZATION
from grading.graders._calibration import calibrate, read_trials, trials_of
from rag import EXAM_PROMPT_VERSION


def calibrated(
    exam: Path, model: ModelOptions, out: Path, share: float, passages: int, resampling: Resampling, progress: Progress
) -> PrintedResult:
    """Calibrate on an exam; writes `margin.json`, which `grade run --margin` reads, and keeps the replies to go on.

    Raises `FailedError` when a question got no reply.
    """
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
        margin = calibrate(reads, share=share, level=level, seed=seed)
        result = {
            "margin": margin.margin,
            "n": margin.n,
            "margins": list(margin.margins),
            "held_out": {name: getattr(margin, name).as_dict() for name in ("unsupported", "answered", "right")},
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
    return PrintedResult(result, _lines(result, out / "margin.json"))


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
