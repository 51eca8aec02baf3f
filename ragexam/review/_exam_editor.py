"""Editing an exam: every question of a run as it stands, and the decisions that change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from exam_gen.review import CONTENT, FAULTS, Edit, Review, Reviewed, apply_edits, edit_of
from exam_gen.rules import objections, rule_of
from examcore import Exam, Question, locked_log, read_exam, read_log, write_dropped, write_exam
from ragexam.review._marked_passage import hidden_characters, pieces, spoken
from ragexam.review._run_files import ReviewedExam, ReviewProgress, RunFiles, now, question_flags, shares_right
from ragexam.review._server import Body, ConflictError, Query, number_of, place_of, text_of
from taxonomy import labels

CLIPPED = 200
"""Characters of a stem in the list."""
TORN = (
    "edits.jsonl ends in the middle of a line because of a crash. That decision was never confirmed and does not "
    "count; all others do."
)


class ExamEditor:
    """Serves the questions of a run and writes the log of decisions; several pages and processes may share it."""

    page = "review.html"

    def __init__(self, run: Path) -> None:
        self.files = RunFiles(run)
        self.folder = self.files.folder
        self.review = Review.of(self.files.exam, self.files.dropped)
        self.torn = False
        self._size = 0
        self._lowered: dict[str, tuple[int, str]] = {}
        self.reads = {"start": self._start, "question": self._question, "search": self._search, "state": self._state}
        self.writes = {"act": self._act, "write": lambda _: self.write().record()}
        self.refresh()

    def refresh(self) -> None:
        """Read what others have added to the log; `ValueError` when it does not belong to this exam."""
        path = self.folder.edits
        size = path.stat().st_size if path.exists() else 0
        if size == self._size:
            return
        found = read_log(path)
        edits = [edit_of(record) for record in found.records]
        known = len(self.review.edits)
        if edits[:known] != self.review.edits:
            self.review, known = Review.of(self.files.exam, self.files.dropped), 0
        try:
            for edit in edits[known:]:
                self.review.record(edit)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        self.torn = bool(found.torn)
        self._size = size

    def act(self, question: str, action: str, *, seen: int, content: Mapping[str, object], reason: str = "") -> Edit:
        """Record a decision on a question; it is on the disk when this returns.

        `seen` is the number of edits that the reader's page knew of. Raises `ConflictError` when there are more, so
        that nobody decides on a state they have not seen. An `undo` without a question undoes the last edit in force.
        """
        self.files.check_unchanged()
        with locked_log(self.folder.edits) as pen:
            self.refresh()
            if seen != len(self.review.edits):
                raise ConflictError("another page changed the review; this page now shows the new state: look again")
            if action == "undo" and not question:
                if self.review.last is None:
                    raise ValueError("nothing to undo")
                question = self.review.last.question
            edit = self.review.propose(question, action, now(), content=content, reason=reason)
            pen.append(edit.fields)
            self.review.record(edit)
            self.torn, self._size = False, self.folder.edits.stat().st_size
        return edit

    def reviewed(self) -> Reviewed:
        """The exam as it stands after the edits, questions with a new wording labelled anew."""
        exam, dropped = apply_edits(self.files.exam, self.files.dropped, self.review.edits)
        # Labels follow the wording; dropped questions never had any.
        labelled = [
            replace(one, labels={**one.labels, **labels(one.stem, one.language)})
            if {"edited", "restored"} & set(one.metadata)
            else one
            for one in exam.questions
        ]
        return Reviewed(Exam(tuple(labelled)), dropped)

    def write(self) -> ReviewedExam:
        """Write `reviewed.jsonl` and `reviewed-dropped.jsonl`."""
        self.files.check_unchanged()
        self.refresh()
        exam, dropped = self.reviewed()
        if not len(exam):
            raise ValueError(f"{self.folder.edits}: no question is left in the exam; wanted at least one")
        write_dropped(self.folder.reviewed_dropped, dropped)
        write_exam(self.folder.reviewed, exam)
        return ReviewedExam(self.folder.reviewed, len(exam), exam.hash, len(dropped), self.progress())

    def is_written(self) -> bool:
        """Whether `reviewed.jsonl` holds the exam as it stands now."""
        path = self.folder.reviewed
        return path.is_file() and read_exam(path).hash == self.reviewed().exam.hash

    def progress(self) -> ReviewProgress:
        """How far the review has come."""
        touched = {edit.question for edit in self.review.edits}
        marks = Counter(mark for name in touched for mark in self._marks(name))
        written = [name for name in touched if self.review.entries[name].dropped is None]
        read = sum(bool(self.review.standings[name]["read"]) for name in written)
        edits = len(self.review.edits)
        return ReviewProgress(len(self.files.exam), read, marks["edited"], marks["retired"], marks["restored"], edits)

    @cached_property
    def _flags(self) -> dict[str, list[str]]:
        return question_flags(self.folder)

    @cached_property
    def _shares(self) -> dict[str, tuple[int, int]]:
        return shares_right(self.folder)

    @cached_property
    def _order(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.review.entries, start=1)}

    def _start(self, _: Query) -> dict[str, object]:
        self.refresh()
        return {
            "run": self.files.name,
            "faults": FAULTS,
            "rows": [self._row(name) for name in self.review.entries],
            **self._progress_and_notice(),
        }

    def _state(self, _: Query) -> dict[str, object]:
        self.refresh()
        return self._progress_and_notice()

    def _progress_and_notice(self) -> dict[str, object]:
        return {"progress": self.progress().record(), "notice": TORN if self.torn else ""}

    def _search(self, query: Query) -> list[str]:
        """Ids of the questions that hold every word of the query, in stem, choices, passage, reason or raw text."""
        words = query.get("q", "").casefold().split()
        return [name for name in self.review.entries if all(word in self._searched(name) for word in words)]

    def _searched(self, name: str) -> str:
        """The text of an entry; kept, because lowering a whole exam's text takes seconds, until the entry changes."""
        stack = self.review.in_force.get(name)
        version = stack[-1].number if stack else 0
        found = self._lowered.get(name)
        if found is None or found[0] != version:
            found = self._lowered[name] = version, self._text(name)
        return found[1]

    def _text(self, name: str) -> str:
        """All text of an entry in lower case."""
        entry, now_ = self.review.entries[name], self.review.standings[name]
        chunk = entry.dropped.chunk_id if entry.dropped else ""
        choices = now_["choices"]
        parts = [name, now_["question"] or "", *(choices if isinstance(choices, list) else [])]
        parts += [now_["reason"] or "", self.files.passage(entry.question, chunk)]
        parts += [entry.dropped.raw if entry.dropped else "", entry.question.topic if entry.question else ""]
        return "\n".join(map(str, parts)).casefold()

    def _act(self, body: Body) -> dict[str, object]:
        content = body.get("content") or {}
        if not isinstance(content, dict):
            raise ValueError("request: content is no object; wanted question, choices, answer")
        edit = self.act(
            text_of(body, "question", ""),
            text_of(body, "action"),
            seen=number_of(body, "seen"),
            content={name: value for name, value in content.items() if name in CONTENT},
            reason=text_of(body, "reason", ""),
        )
        undone = None if edit.undoes is None else self.review.edits[edit.undoes - 1].action
        shown = {"row": self._row(edit.question), "detail": self._detail(edit.question), "undone": undone}
        return shown | self._progress_and_notice()

    def _question(self, query: Query) -> dict[str, object]:
        """A question by its number in the list: an address cannot carry every id."""
        self.refresh()
        names = list(self.review.entries)
        return self._detail(names[place_of(query, len(names)) - 1])

    def _marks(self, name: str) -> Iterator[str]:
        """What the reader has done with a question."""
        entry, stands = self.review.entries[name], self.review.standings[name]
        if stands["read"]:
            yield "read"
        if any(stands[one] != entry.standing[one] for one in CONTENT):
            yield "edited"
        if entry.dropped is None and stands["reason"] is not None:
            yield "retired"
        if entry.dropped is not None and stands["reason"] is None:
            yield "restored"

    def _row(self, name: str) -> dict[str, object]:
        entry, stands = self.review.entries[name], self.review.standings[name]
        raw = entry.dropped.raw if entry.dropped else ""
        reason = stands["reason"]
        return {
            "id": name,
            "number": self._order[name],
            "spoken": spoken(entry.question),
            "stem": " ".join(str(stands["question"] or raw).split())[:CLIPPED],
            "rule": None if reason is None else rule_of(str(reason)),
            "marks": list(self._marks(name)),
            "flagged": name in self._flags,
        }

    def _detail(self, name: str) -> dict[str, object]:
        entry, stands = self.review.entries[name], self.review.standings[name]
        question, written = self.review.question(name), entry.question
        passage = self.files.passage(written, entry.dropped.chunk_id if entry.dropped else "")
        metadata = written.metadata if written else {}
        before = entry.standing
        key = question.answer if question else ""
        marked = pieces(passage, key, str(metadata.get("evidence") or ""))
        return {
            "id": name,
            **stands,
            "spoken": spoken(written),
            "written": {one: before[one] for one in CONTENT} if "edited" in self._marks(name) else None,
            "dropped_for": entry.dropped.reason if entry.dropped else None,
            "raw": entry.dropped.raw if entry.dropped else "",
            "passage": marked,
            "key_in_passage": any(kind == "key" for _, kind in marked),
            "flags": self._flags.get(name, []),
            "right": self._shares.get(name),
            "hints": objections(question) if question else [],
            "hidden": hidden_characters(
                "\n".join([passage, *([question.stem, *question.choices] if question else [])])
            ),
            "facts": _facts(written, metadata),
            "history": [
                {"number": one.number, "time": one.time, "action": one.action, "undoes": one.undoes}
                for one in self.review.edits
                if one.question == name
            ],
        }


def _facts(question: Question | None, metadata: Mapping[str, Any]) -> dict[str, str]:
    """What is known about how a question was made, in short strings."""
    if question is None:
        return {}
    shown = {"document": question.document_id, "passage": question.chunk_id, "topic": question.topic}
    shown |= {name: ", ".join(values) for name, values in question.labels.items()}
    numbers = {name: value for name, value in metadata.items() if isinstance(value, str | int | float)}
    skipped = ("evidence", "raw")
    shown |= {name.replace("_", " "): str(value) for name, value in numbers.items() if name not in skipped}
    return {name: value[:CLIPPED] for name, value in shown.items() if value}
