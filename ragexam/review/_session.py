"""What `ragexam view` does: a page until it is stopped, or one question to the logs without a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from exam_gen.review import audit_lines, missing_judgments
from examcore import Progress
from ragexam.review._application import Application
from ragexam.review._blind_audit import BlindAudit
from ragexam.review._exam_editor import ExamEditor
from ragexam.review._server import ReviewServer


class SessionResult(NamedTuple):
    """A result for a program, and for a reader."""

    found: Mapping[str, Any]
    lines: str


@dataclass(frozen=True)
class AuditRequest:
    """A blind audit: so many survivors and drops, drawn by a seed; on a page, or into a sheet."""

    size: int
    seed: int
    sheet: Path | None = None
    page: bool = True


def review_session(run: Path, port: int, progress: Progress, *, page: bool) -> SessionResult:
    """Let a reader edit until the page is stopped; without a page, write the reviewed exam."""
    desk = ExamEditor(run)
    if desk.torn:
        progress.say(f"{desk.folder.edits}: a last line that a crash had cut off does not count; all others do")
    if not page:
        written = desk.write()
        return SessionResult(written, f"{written['reviewed']}: {written['questions']} questions, {_said(written)}")
    _serve(desk, port, progress)
    desk.refresh()
    done = desk.progress()
    lines = f"{desk.folder.edits}: {_said(done)}"
    if done["edits"] and not desk.is_written():
        lines += f"\nreviewed.jsonl does not hold all of them yet: ragexam view {run} --write"
    return SessionResult(done, lines)


def audit_session(run: Path, audit: AuditRequest, port: int, progress: Progress) -> SessionResult:
    """Let a reader judge until the page is stopped, or write the sheet; then what the judgments say."""
    desk = BlindAudit(run, audit.size, audit.seed)
    if few := missing_judgments(desk.draw):
        progress.say(f"note: {few}")
    if audit.sheet is not None:
        items = desk.write_sheet(audit.sheet)
        found = {"sheet": str(audit.sheet), "items": items, "audit": desk.draw.id, "judgments": str(desk.log)}
        return SessionResult(found, f"{audit.sheet}: {items} items; judgments go to {desk.log}")
    if audit.page:
        _serve(desk, port, progress)
    found = desk.result()
    return SessionResult(found, audit_lines(found))


def _serve(application: Application, port: int, progress: Progress) -> None:
    with ReviewServer(application, port) as server:
        progress.say(f"open {server.address}\nCtrl-C ends it; every decision is on the disk at once")
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            progress.say("")


def _said(done: Mapping[str, Any]) -> str:
    changes = ", ".join(f"{done[name]} {name}" for name in ("edited", "retired", "restored"))
    return f"{done['read']} of {done['exam']} read, {changes}"
