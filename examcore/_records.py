"""The records that flow from a corpus to an exam."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from examcore._languages import ENGLISH, LANGUAGES


@dataclass(frozen=True)
class Document:
    """One text of the corpus; `topic` groups documents in reports, `date` begins with the year (empty: unknown).

    `language` is a code of `LANGUAGES`.
    """

    id: str
    title: str
    text: str
    source: str = ""
    topic: str = ""
    date: str = ""
    language: str = ENGLISH


@dataclass(frozen=True)
class Chunk:
    """Characters `start:end` of a document, with the title, topic and language it inherits."""

    id: str
    document_id: str
    text: str
    start: int
    end: int
    title: str = ""
    topic: str = ""
    language: str = ENGLISH


STEM = "stem"
"""The kind of query that is the question's own stem."""


@dataclass(frozen=True)
class Query:
    """What somebody types who wants a question answered: a retriever reads it in place of the stem.

    `kind`: `question` (the question in other words), `keywords`, or a name of the author's own.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Question:
    """A multiple-choice question; `choices[key]` is right, `context` is the text it was written from.

    Models answer the stem; retrievers search for a query.
    """

    id: str
    stem: str
    choices: tuple[str, ...]
    key: int
    document_id: str = ""
    chunk_id: str = ""
    topic: str = ""
    context: str = ""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)
    queries: tuple[Query, ...] = ()

    @property
    def language(self) -> str:
        """The language it is asked in: `metadata["language"]`, English where that is missing or none of `LANGUAGES`."""
        code = self.metadata.get("language")
        return code if isinstance(code, str) and code in LANGUAGES else ENGLISH

    @property
    def answer(self) -> str:
        """The text of the right choice."""
        return self.choices[self.key]

    def query(self, kind: str) -> str:
        """What a retriever reads: the first query of a kind, the stem where there is none."""
        return next((one.text for one in self.queries if one.kind == kind), self.stem)


@dataclass(frozen=True)
class Dropped:
    """Something that did not become a question: why, and the model text it came from."""

    reason: str
    raw: str
    chunk_id: str = ""
    question: Question | None = None


@dataclass(frozen=True)
class Exam:
    """An ordered set of questions with unique ids."""

    questions: tuple[Question, ...]

    def __post_init__(self) -> None:
        ids = [question.id for question in self.questions]
        if len(set(ids)) != len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            raise ValueError(f"exam: question id {twice!r} stands twice; wanted unique ids")

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def ids(self) -> tuple[str, ...]:
        """The question ids, in exam order."""
        return tuple(question.id for question in self.questions)

    @cached_property
    def by_id(self) -> Mapping[str, Question]:
        """The questions by id."""
        return {question.id: question for question in self.questions}

    @cached_property
    def hash(self) -> str:
        """Sixteen hex digits over what an examinee sees: ids, stems, choices, keys, contexts, and queries if any."""
        seen = [
            [q.id, q.stem, list(q.choices), q.key, q.context, *([one.kind, one.text] for one in q.queries)]
            for q in self.questions
        ]
        text = json.dumps(seen, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def select(self, ids: Collection[str]) -> Exam:
        """The exam of the named questions, in this exam's order."""
        wanted = set(ids)
        if unknown := wanted - set(self.by_id):
            raise ValueError(f"exam: no question {sorted(unknown)[0]!r}; wanted ids of this exam")
        return Exam(tuple(q for q in self.questions if q.id in wanted))
