"""The steps of a run: each done once, and only for the exam that the folder holds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examcore import Progress, ReportProgress, RunFolder, RunRecord, file_hash, fingerprint_of
from rag import differences
from ragexam._config import ExamConfig
from ragexam._doctor import PACKAGES, version

EXAM_SETTINGS = ("seed", "corpus", "writer", "verifier", "exam", "pool", "filters")
"""A run folder holds one exam: these settings may not change in it, `GROWTH` apart."""
GROWTH = ("questions", "minutes")
"""Settings of `exam` that may change: what was written is used again."""


@dataclass(frozen=True)
class Steps:
    """Does each step once: a finished one, still there and made from the same things, is not done again."""

    folder: RunFolder
    record: RunRecord
    progress: Progress

    @classmethod
    def of(cls, folder: RunFolder, config: ExamConfig, progress: Progress) -> Steps:
        """Open a run; raises `ValueError` when the folder holds another exam."""
        record = RunRecord.open(folder)
        content = config.model_dump(mode="json")
        inputs = {"corpus": source_hash(config.corpus.source)}
        _refuse_other(record, content, inputs)
        kept = {name: value for name, value in record.content.get("configuration", {}).items() if name not in content}
        record.content |= {
            "configuration": {**kept, **content},
            "seed": config.seed,
            "versions": {name: version(name) for name in ("ragexam", *PACKAGES)},
            "inputs": inputs,
        }
        record.save()
        return cls(folder, record, progress)

    def do(
        self,
        name: str,
        made_from: Mapping[str, object],
        makes: Sequence[Path],
        work: Callable[[ReportProgress], None],
        first: Callable[[Progress], None] | None = None,
    ) -> None:
        """Do a step unless it is done; what it makes from what decides that.

        `first` is a part of it with progress of its own.
        """
        wanted = fingerprint_of(made_from)
        if self.record.fingerprint(name) == wanted and all(path.exists() for path in makes):
            self.progress.say(f"{name}: already done")
            return
        self.record.begin(name, wanted)
        began, done = time.monotonic(), False
        try:
            if first is not None:
                first(self.progress)
            with self.progress.step(name) as report:
                work(report)
            done = True
        finally:
            self._note_process()
            self.record.spend(name, time.monotonic() - began, done=done)

    def _note_process(self) -> None:
        """Keep the most memory that a process of this run took, and the longest time it said nothing."""
        kept = self.record.content.get("process", {})
        now = {"peak_memory_bytes": peak_memory_bytes(), "longest_silence_seconds": self.progress.longest_silence}
        self.record.content["process"] = {name: max(value, kept.get(name, 0)) for name, value in now.items()}


def peak_memory_bytes() -> int:
    """The most memory that this process has taken so far; 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def source_hash(source: str) -> str:
    """A hash of the files behind a corpus source, empty for a source that is no file."""
    path = Path(source)
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file())
        return fingerprint_of({str(one.relative_to(path)): file_hash(one) for one in files})
    return file_hash(path) if path.is_file() else ""


def _refuse_other(record: RunRecord, content: Mapping[str, Any], inputs: Mapping[str, str]) -> None:
    if "filtered" in record.content:
        raise ValueError(
            f"{record.folder.record}: holds an exam that ragexam filter made; wanted another run folder (or ragexam "
            "sit, to let a grid sit this exam)"
        )
    before = record.content.get("configuration")
    if before is None or record.fingerprint("exam") is None:
        return
    known = ExamConfig.model_validate({"run": "", "corpus": {"source": ""}}).model_dump(mode="json")
    # A setting that an earlier release did not know stood at its default.
    stood = {name: _lasting(_filled(before.get(name, known.get(name)), known.get(name))) for name in EXAM_SETTINGS}
    found = differences(stood, {name: _lasting(content.get(name)) for name in EXAM_SETTINGS})
    if not found and record.content.get("inputs") != dict(inputs):
        found = ["the corpus has changed since"]
    if found:
        raise ValueError(
            f"{record.folder.record}: holds another exam ({'; '.join(found)}); wanted the settings stored "
            "(undo the change), another run folder, or this one removed"
        )


def _filled(before: object, default: object) -> object:
    """A group of settings with the defaults of those it lacks."""
    if not isinstance(before, dict) or not isinstance(default, dict):
        return before
    return {**default, **{name: _filled(value, default.get(name)) for name, value in before.items()}}


def _lasting(settings: object) -> object:
    """Settings without how a server is asked and how much is written, which may change in a run."""
    if not isinstance(settings, dict):
        return settings
    return {key: value for key, value in settings.items() if key not in ("server", *GROWTH)}
