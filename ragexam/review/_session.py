"""What `ragexam view` does: serve a page until it is stopped, or answer from the logs without a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exam_gen.review import AuditResult, missing_judgments
from examcore import Progress
from ragexam.review._blind_audit import BlindAudit
from ragexam.review._exam_editor import ExamEditor
from ragexam.review._run_files import ReviewedExam
from ragexam.review._server import Application, ReviewServer


@dataclass(frozen=True)
class SessionResult:
    """What a session did: its `numbers` as JSON types, and in words."""

    numbers: Mapping[str, Any]
    words: str

    def record(self) -> Mapping[str, Any]:
        """The numbers."""
        return self.numbers

    def lines(self) -> list[str]:
        """The words."""
        return self.words.split("\n")


def review_session(run: Path, port: int, progress: Progress, *, page: bool) -> SessionResult | ReviewedExam:
    """Serve the page until it is stopped; without a page, write the reviewed exam."""
    editor = ExamEditor(run)
    if editor.torn:
        progress.say(f"{editor.folder.edits}: the last line was cut off by a crash and does not count; all others do")
    if not page:
        return editor.write()
    _serve(editor, port, progress)
    editor.refresh()
    done = editor.progress()
    lines = f"{editor.folder.edits}: {done.words}"
    if done.edits and not editor.is_written():
        lines += f"\nreviewed.jsonl does not hold all of them yet: ragexam view {run} --write"
    return SessionResult(done.record(), lines)


def audit_session(
    blind: BlindAudit, port: int, progress: Progress, *, sheet: Path | None, page: bool
) -> SessionResult | AuditResult:
    """Serve the audit until it is stopped, or write its sheet; then tell what the judgments say."""
    if few := missing_judgments(blind.draw):
        progress.say(f"note: {few}")
    if sheet is not None:
        items = blind.write_sheet(sheet)
        found = {"sheet": str(sheet), "items": items, "audit": blind.draw.id, "judgments": str(blind.log)}
        return SessionResult(found, f"{sheet}: {items} items; judgments go to {blind.log}")
    if page:
        _serve(blind, port, progress)
    return blind.result()


def _serve(application: Application, port: int, progress: Progress) -> None:
    with ReviewServer(application, port) as server:
        progress.say(f"open {server.address}\nCtrl-C ends it; every decision is saved at once")
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            progress.say("")
