"""What stands after a reader's edits, and the exam they make of the one that was written.

`apply_edits` is a pure function of exam, dropped questions and edits; `Review` is its state between two edits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from exam_gen._assembly import shuffle_choices
from exam_gen.review._edits import ACTIONS, CONTENT, Edit, Fields, check_change
from examcore import Dropped, Exam, Question, check_choices, shown_json

ORDER_SEED = 0
"""Dropped questions stand with the key where the writer left it; restored ones are shuffled by this seed and id."""


@dataclass(frozen=True)
class ReviewEntry:
    """One thing to be read: a question of the exam, or a dropped one (of which perhaps only raw text is left)."""

    id: str
    question: Question | None
    dropped: Dropped | None = None

    @property
    def standing(self) -> dict[str, object]:
        """What stands before any edit; `reason` is None in the exam and says why a question is out of it."""
        content: dict[str, object] = dict.fromkeys(CONTENT)
        if self.question is not None:
            content = {
                "question": self.question.stem,
                "choices": list(self.question.choices),
                "answer": self.question.key,
            }
        return {**content, "reason": None if self.dropped is None else self.dropped.reason, "read": False}


class Reviewed(NamedTuple):
    """The exam after a review, and everything that is not in it."""

    exam: Exam
    dropped: tuple[Dropped, ...]


def entries(exam: Exam, dropped: Sequence[Dropped]) -> dict[str, ReviewEntry]:
    """Everything there is to read, by id: the exam's questions, then the dropped ones, each in its order.

    A dropped question whose id is taken gets `~2` (`~3` …) behind it; one without a question is named by its content.
    """
    found = {question.id: ReviewEntry(question.id, question) for question in exam.questions}
    for one in dropped:
        base = one.question.id if one.question else f"dropped-{_digest(one.chunk_id, one.reason, one.raw)}"
        name, number = base, 2
        while name in found:
            name, number = f"{base}~{number}", number + 1
        found[name] = ReviewEntry(name, one.question and replace(one.question, id=name), one)
    return found


@dataclass
class Review:
    """What stands after the edits recorded so far."""

    entries: Mapping[str, ReviewEntry]
    standings: dict[str, dict[str, object]] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    in_force: dict[str, list[Edit]] = field(default_factory=dict)

    @classmethod
    def of(cls, exam: Exam, dropped: Sequence[Dropped], edits: Iterable[Edit] = ()) -> Review:
        """Begin a review, or take one up; `ValueError` names the first edit that does not fit what it changes."""
        found = entries(exam, dropped)
        review = cls(found, {name: entry.standing for name, entry in found.items()})
        for edit in edits:
            review.record(edit)
        return review

    def propose(
        self, question: str, action: str, time: str, *, content: Fields | None = None, reason: str = ""
    ) -> Edit:
        """The edit that an action would be; `ValueError` in one line when the action makes no sense here.

        `content` (`question`, `choices`, `answer`) belongs to `edit`, `reason` to `retire`.
        """
        now = self._standing(question)
        number, undoes = len(self.edits) + 1, None
        if action == "undo":
            last = self._last(question)
            after, undoes = last.before, last.number
        else:
            after = {"read": True, **_wanted(action, question, now, content or {}, reason)}
        changed = {name: value for name, value in after.items() if now[name] != value}
        if not changed or (action == "edit" and not set(CONTENT) & set(changed)):
            raise ValueError(f"question {question!r}: {action} changes nothing; wanted another action")
        before = {name: now[name] for name in changed}
        edit = Edit(number, time, question, action, before, changed, undoes)
        self._check(edit)
        return edit

    def record(self, edit: Edit) -> None:
        """Take an edit in force; `ValueError` when it does not follow the ones before it or changes something else."""
        self._check(edit)
        self.standings[edit.question] |= edit.after
        stack = self.in_force.setdefault(edit.question, [])
        if edit.action == "undo":
            stack.pop()
        else:
            stack.append(edit)
        self.edits.append(edit)

    @property
    def last(self) -> Edit | None:
        """The last edit in force of all questions, which an undo would turn round."""
        tops = [stack[-1] for stack in self.in_force.values() if stack]
        return max(tops, key=lambda edit: edit.number, default=None)

    def question(self, name: str) -> Question | None:
        """The question as it stands, under the id it has in the exam; None where only raw text is left.

        An edited one gets an id of its own, because answers to the earlier wording say nothing about this one.
        """
        written, now = self.entries[name].question, self.standings[name]
        if written is None:
            return None
        stem, choices, key = str(now["question"]), _texts(now["choices"]), _index(now["answer"])
        before = self.entries[name].standing
        changed = [one for one in CONTENT if now[one] != before[one]]
        if not changed:
            return written
        edited = {"edited": {"from": name, "fields": changed}}
        return replace(
            written,
            id=f"{name}~{_digest(stem, *choices, str(key))}",
            stem=stem,
            choices=choices,
            key=key,
            metadata={**written.metadata, **edited},
        )

    def _standing(self, question: str) -> dict[str, object]:
        if question not in self.standings:
            raise ValueError(f"question {question!r}: neither in the exam nor among the dropped; wanted one of them")
        return self.standings[question]

    def _last(self, question: str) -> Edit:
        stack = self.in_force.get(question)
        if not stack:
            raise ValueError(f"question {question!r}: nothing to undo; wanted an edit in force")
        return stack[-1]

    def _check(self, edit: Edit) -> None:
        where = f"edit {edit.number} (question {edit.question!r})"
        if edit.number != len(self.edits) + 1:
            raise ValueError(f"{where}: wanted number {len(self.edits) + 1}, edits are numbered in their order")
        if edit.question not in self.standings:
            raise ValueError(f"{where}: neither in the exam nor among the dropped; wanted edits of this exam")
        now = self.standings[edit.question]
        if edit.action == "undo":
            last = self._last(edit.question)
            if (edit.undoes, dict(edit.after)) != (last.number, dict(last.before)):
                raise ValueError(f"{where}: undoes {edit.undoes}; wanted {last.number}, with what stood before it")
        else:
            check_change(edit, where)
        for name, value in edit.before.items():
            if now[name] != value:
                raise ValueError(
                    f"{where}: {name} was {shown_json(value)} then; wanted the {shown_json(now[name])} of now"
                )
        after = {**now, **edit.after}
        if edit.action in ("edit", "restore"):
            check_choices(_texts(after["choices"]), where)
            if not 0 <= _index(after["answer"]) < len(_texts(after["choices"])):
                raise ValueError(f"{where}: answer is {after['answer']}; wanted the index of a choice")
            if not str(after["question"]).strip():
                raise ValueError(f"{where}: the question is blank; wanted some text")


def apply_edits(exam: Exam, dropped: Sequence[Dropped], edits: Iterable[Edit]) -> Reviewed:
    """The exam and the dropped after a review: retired out, restored in (behind the others), edited under a new id.

    `metadata.edited` names the id and the fields before, `metadata.restored` the reason of the drop. Raises
    `ValueError` for edits that belong to another exam.
    """
    review = Review.of(exam, dropped, edits)
    kept: list[Question] = []
    lost: list[Dropped] = []
    for name, entry in review.entries.items():
        question, reason = review.question(name), review.standings[name]["reason"]
        if reason is None and question is not None:
            kept.append(question if entry.dropped is None else _restored(question, entry.dropped.reason))
        elif entry.dropped is not None and reason == entry.dropped.reason:
            lost.append(replace(entry.dropped, question=question))
        else:
            raw = entry.dropped.raw if entry.dropped else str(question and question.metadata.get("raw", ""))
            chunk = entry.dropped.chunk_id if entry.dropped else str(question and question.chunk_id)
            lost.append(Dropped(str(reason), raw, chunk, question))
    return Reviewed(Exam(tuple(kept)), tuple(lost))


def _wanted(action: str, question: str, now: Fields, content: Fields, reason: str) -> Fields:
    """The fields an action sets, besides that the question is read."""
    if action == "accept":
        return {}
    if action not in ("edit", "retire", "restore"):
        raise ValueError(f"action {action!r}: unknown; wanted one of {', '.join(ACTIONS)}")
    if action in ("edit", "restore") and now["choices"] is None:
        raise ValueError(f"question {question!r}: only its raw text is left; wanted one with choices to {action}")
    if action == "edit":
        if unknown := sorted(set(content) - set(CONTENT)):
            raise ValueError(f"question {question!r}: no field {unknown[0]!r} to edit; wanted {', '.join(CONTENT)}")
        return content
    if (now["reason"] is None) == (action == "restore"):
        where = "in the exam" if now["reason"] is None else "out of the exam"
        raise ValueError(f"question {question!r}: already {where}; {action} was wanted")
    return {"reason": None if action == "restore" else f"retired: {reason.strip() or 'by the reader'}"}


def _restored(question: Question, reason: str) -> Question:
    question = replace(question, metadata={**question.metadata, "restored": reason})
    return question if "shuffle" in question.metadata else shuffle_choices(question, ORDER_SEED)


def _texts(value: object) -> tuple[str, ...]:
    assert isinstance(value, list | tuple)
    return tuple(str(one) for one in value)


def _index(value: object) -> int:
    assert isinstance(value, int)
    return value


def _digest(*parts: str) -> str:
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]
