"""What `ragexam answers` does: show the free-text answers of a run, write a sheet to label by hand, take labels in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from examcore import RunFolder, counted, language_named, read_exam, read_text, write_lines, write_text
from ragexam.report import LABELS, FreeTextAnswers, read_free_text, read_hand_labels

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class LabelSheet:
    """A sheet of so many things, such as answers, to label by hand; `option` takes it back with its `labels`."""

    path: Path
    rows: int
    thing: str
    labels: Sequence[str]
    option: str

    def record(self) -> Mapping[str, Any]:
        """The sheet as JSON types."""
        return {"sheet": str(self.path), f"{self.thing}s": self.rows}

    def lines(self) -> list[str]:
        """The sheet for a reader."""
        wanted = f"{', '.join(self.labels[:-1])} or {self.labels[-1]}"
        return [f"{self.path}: {counted(self.rows, self.thing)}; set each label to {wanted}, then {self.option}"]


def free_text_of(run: Path, labels: Path | None = None) -> FreeTextAnswers:
    """The free-text answers of a run; `labels` given by hand are checked and kept in its folder.

    Raises ValueError in one line for a run without such answers and for labels of other answers.
    """
    folder = RunFolder(run)
    if not folder.exam.is_file():
        raise ValueError(f"{run}: no {folder.exam.name}; wanted a run folder")
    questions = read_exam(folder.exam).questions
    found = read_free_text(folder, questions)
    if found is None:
        raise ValueError(
            f"{run}: no free-text answers; wanted a grid with answers: text, or a system with choices: false"
        )
    if labels is None:
        return found
    hand = read_hand_labels(labels, found.answers)
    write_text(folder.answer_labels, [read_text(labels)])
    return replace(found, hand=hand)


def write_answer_sheet(found: FreeTextAnswers, path: Path, size: int, seed: int = 0) -> LabelSheet:
    """Write `size` answers drawn at random, in random order and without their grades, as JSON lines to label."""
    rows = []
    for one in drawn(found.answers, size, seed):
        asked = one.question
        about = {"question": asked.id, "asked": asked.stem, "key": asked.answer, "passage": asked.context}
        spoken = language_named(asked.language).attributes
        rows.append({"pipeline": one.pipeline, **about, "answer": one.reply, **spoken, "label": ""})
    write_lines(path, rows)
    return LabelSheet(path, len(rows), "answer", LABELS, "--labels")


def drawn(things: Sequence[Thing], size: int, seed: int) -> list[Thing]:
    """At most `size` of them in random order."""
    return [things[place] for place in np.random.default_rng(seed).permutation(len(things))[:size]]
