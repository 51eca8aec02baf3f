"""What `ragexam answers` does: show the free-text answers of a run, write a sheet to label by hand, take labels in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from examcore import RunFolder, counted, language_named, read_exam, read_text, write_lines, write_text
from ragexam.report import LABELS, FreeTextAnswers, read_free_text, read_hand_labels


@dataclass(frozen=True)
class AnswerSheet:
    """A sheet of free-text answers to label by hand."""

    path: Path
    rows: int

    def record(self) -> Mapping[str, Any]:
        """The sheet as JSON types."""
        return {"sheet": str(self.path), "answers": self.rows}

    def lines(self) -> list[str]:
        """The sheet for a reader."""
        wanted = ", ".join(LABELS[:-1])
        return [
            f"{self.path}: {counted(self.rows, 'answer')}; set each label to {wanted} or {LABELS[-1]}, then --labels"
        ]


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


def write_answer_sheet(found: FreeTextAnswers, path: Path, size: int, seed: int = 0) -> AnswerSheet:
    """Write `size` answers drawn at random, in random order and without their grades, as JSON lines to label."""
    places = np.random.default_rng(seed).permutation(len(found.answers))[:size]
    rows = []
    for place in places:
        one = found.answers[place]
        question = found.questions[one.question]
        about = {"question": one.question, "asked": question.stem, "key": question.answer, "passage": question.context}
        spoken = language_named(question.language).attributes
        rows.append({"pipeline": one.pipeline, **about, "answer": one.reply, **spoken, "label": ""})
    write_lines(path, rows)
    return AnswerSheet(path, len(rows))
