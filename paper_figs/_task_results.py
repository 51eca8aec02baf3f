"""Results of a task: a run folder, or a folder of released answers, which holds no text."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

import irt
from examcore import Question, parse_json_object, read_exam, read_text
from taxonomy import labels

BOUNDS = ("closed-book", "oracle")
"""Retrievers that bound what retrieval can do, and are no choice."""
FACETS: Mapping[str, str] = {"llm": "Language model", "retriever": "Retriever", "icl": "Prompting mode"}
"""Components of a pipeline and what they are called in a heading."""


@dataclass(frozen=True)
class TaskResults:
    """What is known of one task; `task` is its name in figures and tables, `cache` where its fits are kept."""

    folder: Path
    task: str
    cache: Path

    @property
    def slug(self) -> str:
        """The task's name as a part of file names."""
        return re.sub(r"[^a-z0-9]+", "-", self.task.lower()).strip("-") or "task"

    @property
    def responses(self) -> Path:
        """The table of answers."""
        return self.folder / "responses.csv"

    @cached_property
    def data(self) -> irt.ResponseMatrix:
        """Who answered what; ValueError where there are no answers."""
        return irt.read_responses(self.responses)

    @cached_property
    def questions(self) -> pd.DataFrame:
        """One row per question that was asked: `question, topic, key, bloom, form, text` and what else the file tells.

        `bloom` and `form` are tuples of labels, those stored with a question, else what its text says; `text` is
        None where the folder holds none.
        """
        exam, released = self.folder / "exam.jsonl", self.folder / "questions.csv"
        if exam.is_file():
            rows = [_of_exam(question) for question in read_exam(exam).questions]
        elif released.is_file():
            rows = list(_of_released(released))
        else:
            raise FileNotFoundError(f"{exam}: no such file, nor {released.name}; wanted the questions of a run")
        asked = set(self.data.items)
        table = pd.DataFrame([row for row in rows if row["question"] in asked])
        lacking = asked - set() if table.empty else asked - set(table["question"])
        if lacking:
            raise ValueError(f"{self.responses}: item {min(lacking)!r} is no question of {self.folder}")
        return table

    @cached_property
    def corpus(self) -> Mapping[str, Any] | None:
        """What is in the corpus (`ragexam corpus --json`); None where the folder does not say."""
        return self._told("corpus", "documents")

    @cached_property
    def statistics(self) -> Mapping[str, Any] | None:
        """What became of every question (`ragexam statistics --json`); None where the folder does not say."""
        return self._told("statistics", "surviving")

    def levels(self, facet: str) -> tuple[str, ...]:
        """Levels of a facet in order of first appearance; none where the table lacks it."""
        return irt.levels(self.data, facet) if facet in irt.facet_names(self.data) else ()

    def students_at(self, **wanted: str) -> list[int]:
        """Rows of the pipelines at these levels of these facets."""
        facets = self.data.facets
        rows = range(len(self.data.students))
        if facets is None:
            return list(rows)
        return [row for row in rows if all(facets[name].iloc[row] == level for name, level in wanted.items())]

    def labelled(self, kind: str) -> dict[str, list[str]]:
        """The questions under each label of a kind (`bloom`, `form`, `topic`), in order of first appearance."""
        found: dict[str, list[str]] = {}
        for row in self.questions.to_dict("records"):
            value = row[kind]
            for name in (value,) if isinstance(value, str) else value:
                found.setdefault(name, []).append(row["question"])
        return found

    def _told(self, name: str, needed: str) -> Mapping[str, Any] | None:
        """A JSON object of its own file, or the part of that name of the run's record."""
        path, record = self.folder / f"{name}.json", self.folder / "run.json"
        found: object = None
        if path.is_file():
            found = read_json(path)
        elif record.is_file():
            path, found = record, read_json(record).get(name)
        if found is None:
            return None
        if not isinstance(found, dict) or needed not in found:
            raise ValueError(f"{path}: no {needed!r}; wanted what ragexam {name} --json tells")
        return found


def read_run(argument: str, cache: Path) -> TaskResults:
    """A run given as `FOLDER` or `TASK=FOLDER`; a folder `released` is called after the one around it."""
    name, sign, rest = argument.partition("=")
    # A folder may have "=" in its name, too.
    named = bool(sign) and not Path(argument).exists()
    folder = Path(rest if named else argument)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder; wanted a run, or TASK=RUN")
    whole = folder.resolve()
    return TaskResults(folder, name if named else whole.parent.name if whole.name == "released" else whole.name, cache)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; ValueError in one line for anything else."""
    return parse_json_object(read_text(path), str(path))


def level_name(facet: str, level: str) -> str:
    """What a level is called in a heading: 0, 1 or 2 examples shown, others by their name."""
    if facet == "icl" and level.isdigit():
        return f"{level} example{'' if level == '1' else 's'}"
    return level


def facet_name(facet: str) -> str:
    """What a component is called in a heading."""
    return FACETS.get(facet, facet)


def _of_exam(question: Question) -> dict[str, Any]:
    return {
        "question": question.id,
        "topic": question.topic,
        "key": question.key,
        "stem_words": len(question.stem.split()),
        "choice_words": tuple(len(one.split()) for one in question.choices),
        "text": question.stem,
        **_labels(question.labels, question.stem),
    }


def _of_released(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            try:
                yield {
                    "question": row["question"],
                    "topic": row["topic"],
                    "key": int(row["key"]),
                    "stem_words": int(row["stem_words"]),
                    "choice_words": tuple(int(one) for one in row["choice_words"].split()),
                    "text": None,
                    **_labels(json.loads(row["labels"]), None),
                }
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(
                    f"{path}:{number}: {type(error).__name__} {error}; wanted a released question"
                ) from None


def _labels(stored: Mapping[str, Sequence[str]], text: str | None) -> dict[str, tuple[str, ...]]:
    read = {} if text is None or {"bloom", "form"} <= set(stored) else labels(text)
    return {kind: tuple(stored.get(kind) or read.get(kind, ())) for kind in ("bloom", "form")}
