"""The tests' language model as the graders ask it."""

from __future__ import annotations

from pathlib import Path

from examcore import ReplyStore
from grading.graders._assessor import Assessor, CachedAssessor
from tests.scripted_model import ScriptedModel


def asking(model: ScriptedModel, path: Path, batch: int = 1) -> CachedAssessor:
    return CachedAssessor(Assessor(model, batch=batch), ReplyStore(path / "replies.sqlite"), batch)
