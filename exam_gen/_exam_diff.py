"""What changed from one version of an exam to the next: by question id, and by content where ids differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from examcore import Exam, Question

_FIELDS: Mapping[str, Callable[[Question], object]] = {
    "question": lambda one: one.stem,
    "choices": lambda one: sorted(one.choices),
    "order of choices": lambda one: one.choices,
    "answer": lambda one: one.answer,
    "context": lambda one: one.context,
    "source": lambda one: (one.document_id, one.chunk_id),
    "topic": lambda one: one.topic,
    "labels": lambda one: {name: tuple(values) for name, values in one.labels.items()},
}
"""What is compared of two questions, metadata apart."""


@dataclass(frozen=True)
class ExamDiff:
    """Two exams by their hashes, and the ids of the questions that differ.

    `changed` names the parts that differ of questions with the same id, also of one whose other version a reader's edit
    made (`metadata.edited`), under the id of the first exam; `renamed` leads from an id of the first exam to
    the id under which the second asks the same. `moved`: the common questions stand in another order.
    """

    before: str
    after: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    renamed: Mapping[str, str]
    same: int
    moved: bool

    def as_dict(self) -> dict[str, object]:
        """The difference as plain mappings and lists, for JSON."""
        return asdict(self)


def diff_exams(before: Exam, after: Exam) -> ExamDiff:
    """The difference of two exams: questions of the same id or origin, then those of the same stem, choices, answer."""
    old = {one.id: one for one in before.questions}
    known = _edits(before, after)
    new = {known.get(one.id, one.id): one for one in after.questions}
    common = [name for name in old if name in new]
    changed = {name: parts for name in common if (parts := _parts(old[name], new[name]))}
    renamed = _renamed([one for name, one in old.items() if name not in new], [new[n] for n in new if n not in old])
    return ExamDiff(
        before=before.hash,
        after=after.hash,
        added=tuple(name for name in new if name not in old and name not in renamed.values()),
        removed=tuple(name for name in old if name not in new and name not in renamed),
        changed=changed,
        renamed=renamed,
        same=len(common) - len(changed),
        moved=common != [name for name in new if name in old],
    )


def _edits(before: Exam, after: Exam) -> dict[str, str]:
    """From ids of the second exam to those of the first, where both are one question before and after an edit."""
    ids = {one.id for one in before.questions}, {one.id for one in after.questions}
    left = {origin(one): one.id for one in before.questions if one.id not in ids[1]}
    return {one.id: found for one in after.questions if one.id not in ids[0] and (found := left.pop(origin(one), ""))}


def origin(question: Question) -> str:
    """The id that a question was written under, whatever a reader's edit made of it."""
    edited = question.metadata.get("edited")
    return str(edited["from"]) if isinstance(edited, Mapping) and "from" in edited else question.id


def _parts(old: Question, new: Question) -> tuple[str, ...]:
    """The parts that differ; the order of choices only matters while the choices are the same."""
    found = [name for name, part in _FIELDS.items() if part(old) != part(new)]
    return tuple(name for name in found if not (name == "order of choices" and "choices" in found))


def _renamed(old: Sequence[Question], new: Sequence[Question]) -> dict[str, str]:
    places: dict[tuple[str, ...], list[str]] = {}
    for one in new:
        places.setdefault(content(one), []).append(one.id)
    return {one.id: found.pop(0) for one in old if (found := places.get(content(one)))}


def content(question: Question) -> tuple[str, ...]:
    """What a question asks: stem, answer and choices, without regard to case, white space and the choices' order."""
    plain = [" ".join(text.split()).casefold() for text in (question.stem, question.answer, *question.choices)]
    return (*plain[:2], *sorted(plain[2:]))
