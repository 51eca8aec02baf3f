"""What is known of questions before anybody answers, by name, and the same of the users' own questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from exam_gen import overlaps
from examcore import Chunk, Question, content_stems, read_text, write_text
from ragexam.validity import UserQuestion, nearest_passages, passage_overlap

Value = float | str


def values_of(questions: Sequence[Question], names: Sequence[str], kind: str) -> dict[str, dict[str, Value]]:
    """Each covariate that is named, by question, as `irt.fit` takes it.

    `overlap` and `length` (in content words) are those of the queries of a kind, `topic` the question's; other names
    are those of labels, of which the first counts, and of measures in the metadata. ValueError for what no question
    has; of a question that lacks it nothing is said.
    """
    found = {}
    for name in names:
        read = _MEASURES.get(name, lambda question, _, name=name: _kept(question, name))
        values = {question.id: read(question, kind) for question in questions}
        found[name] = {item: value for item, value in values.items() if value is not None}
        if not found[name]:
            raise ValueError(
                f"fit.item_covariates: found '{name}', which no question has; wanted {', '.join(_MEASURES)}, a label "
                "or a measure in the metadata of the exam"
            )
    return found


def values_of_users(users: Sequence[UserQuestion], chunks: Sequence[Chunk]) -> dict[str, list[float]]:
    """What can be known of the users' questions: their overlaps and lengths, each in its nearest passage's language."""
    nearest = nearest_passages(users, chunks)
    lengths = [float(len(content_stems(one.text, chunk.language))) for one, chunk in nearest]
    return {"overlap": [passage_overlap(one.text, chunk) for one, chunk in nearest], "length": lengths}


def write_mix(path: Path, mix: Mapping[str, Sequence[float]]) -> None:
    """Write the values of the users' questions."""
    write_text(path, [json.dumps(mix), "\n"])


def read_mix(path: Path) -> dict[str, list[float]]:
    """The values of the users' questions by covariate, none where there is no file. ValueError for another file."""
    if not path.is_file():
        return {}
    found = json.loads(read_text(path))
    if not isinstance(found, dict) or not all(isinstance(values, list) for values in found.values()):
        raise ValueError(f"{path}: found {str(found)[:40]!r}; wanted a list of numbers by covariate")
    return found


_MEASURES: Mapping[str, Callable[[Question, str], Value | None]] = {
    "overlap": lambda question, kind: next(iter(overlaps([question], kind)), None),
    "length": lambda question, kind: float(len(content_stems(question.query(kind), question.language))),
    "topic": lambda question, _: question.topic or None,
}


def _kept(question: Question, name: str) -> Value | None:
    """The first label of this name, or what the metadata say."""
    value = next(iter(question.labels.get(name, ())), question.metadata.get(name))
    return value if isinstance(value, int | float | str) else None
