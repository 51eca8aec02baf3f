"""Reading a run folder: everything the page and the summary need, and plain sentences about what is absent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from examcore import Dropped, Question, RunFolder, parse_json_object, read_dropped, read_exam, read_text
from ragexam._question_covariates import read_mix
from ragexam._retrieval import NO_RETRIEVAL, RetrievalTable, read_retrieval, searched_questions
from ragexam.report._fitted_model import FittedModel, read_fitted_model
from ragexam.report._free_text import FreeTextAnswers, read_free_text
from ragexam.report._pruning import PruningRecord, pruning_record
from ragexam.report._response_scores import bound_of, read_scores
from ragexam.report._retrieval_section import read_answers
from ragexam.validity import ValidityTable

Made = TypeVar("Made")


@dataclass(frozen=True)
class RunEvidence:
    """The content of a run folder; `missing` explains what is None or empty."""

    folder: RunFolder
    questions: tuple[Question, ...]
    dropped: tuple[Dropped, ...]
    scores: pd.DataFrame
    model: FittedModel | None
    pruning: PruningRecord | None
    record: Mapping[str, Any]
    n_documents: int | None
    n_chunks: int | None
    missing: tuple[str, ...]
    answers: pd.DataFrame | None = None
    retrieval: RetrievalTable = NO_RETRIEVAL
    validity: ValidityTable | None = None
    free_text: FreeTextAnswers | None = None

    @property
    def notes(self) -> list[str]:
        """What a reader must be told of how the exam was written and sat."""
        return [*self.part("usage").get("notes", []), *self.part("sitting").get("notes", [])]

    @property
    def tokens_read_per_question(self) -> float | None:
        """Tokens that models read for each question written; None where that is not known."""
        found: float | None = self.part("statistics").get("cost", {}).get("tokens_read_per_question")
        return found

    @property
    def seconds(self) -> Mapping[str, float]:
        """Seconds per step of the run."""
        steps = self.part("steps")
        return {str(name): float(step.get("seconds", 0.0)) for name, step in steps.items() if isinstance(step, Mapping)}

    def part(self, name: str) -> Mapping[str, Any]:
        """A part of `run.json`, empty where it has none.

        `sitting` says how the answers came about, `process` the most memory that a process of the run took, in bytes,
        and the longest time it said nothing, in seconds.
        """
        found = self.record.get(name)
        return found if isinstance(found, Mapping) else {}


def read_evidence(run: Path) -> RunEvidence:
    """Read a run folder; `ValueError` in one line when it is none, or when one of its files is damaged."""
    folder = RunFolder(Path(run))
    for path, what in ((folder.exam, "the questions"), (folder.responses, "the answers' scores")):
        if not path.is_file():
            found = f"no {path.name}" if folder.path.is_dir() else "no such folder"
            raise ValueError(f"{folder.path}: {found}; wanted a run folder, whose {path.name} holds {what}")
    questions = read_exam(folder.exam).questions
    record = _json(folder.record)
    renamed = renamed_bounds(record or {})
    scores = read_scores(folder.responses)
    _check_same_exam(folder, questions, scores)
    if "retriever" in scores.columns:
        scores["retriever"] = scores["retriever"].replace(renamed)
    has_fit = (folder.fit / "fit.json").is_file()
    model = read_fitted_model(folder.fit, renamed, read_mix(folder.users_mix)) if has_fit else None
    pruned = _json(folder.pruned / "prune.json")
    dropped = tuple(read_dropped(folder.dropped)) if folder.dropped.is_file() else ()
    answers = read_answers(folder.answers, questions)
    absent = {
        "No measurement model was fitted: the verdict comes from accuracy alone.": model is None,
        "The exam was not pruned, so there is nothing to say about a shorter one.": pruned is None,
        "There is no record of dropped questions.": not folder.dropped.is_file(),
        "There is no answers.sqlite: the choices, the passages read and the costs are unknown.": answers is None,
        "There is no run.json, so how the run was made is not known.": record is None,
    }
    return RunEvidence(
        folder=folder,
        questions=questions,
        dropped=dropped,
        scores=scores,
        model=model,
        pruning=None if pruned is None else pruning_record(folder.pruned / "prune.json", pruned),
        record=record or {},
        n_documents=_count_lines(folder.corpus),
        n_chunks=_count_lines(folder.chunks),
        missing=tuple(sentence for sentence, is_absent in absent.items() if is_absent),
        answers=answers,
        retrieval=_made(
            folder.retrieval,
            lambda: read_retrieval(folder.retrieval, searched_questions(questions, dropped)),
            NO_RETRIEVAL,
            "retriever,measure,estimate,low,high,questions",
        ),
        validity=_made(
            folder.validity,
            lambda: ValidityTable.of(json.loads(read_text(folder.validity))),
            None,
            "what ragexam run writes there",
        ),
        free_text=read_free_text(folder, questions),
    )


def renamed_bounds(value: object) -> dict[str, str]:
    """Retrievers that a configuration gave a name of its own though their kind is a bound: name to kind.

    Without this, an oracle called otherwise would be recommended as the best retriever.
    """
    if isinstance(value, Mapping):
        name, kind = value.get("name"), value.get("kind")
        if isinstance(name, str) and isinstance(kind, str) and bound_of(kind) and not bound_of(name):
            return {name: kind}
        value = list(value.values())
    if not isinstance(value, list):
        return {}
    return {name: kind for one in value for name, kind in renamed_bounds(one).items()}


def _made(path: Path, read: Callable[[], Made], otherwise: Made, wanted: str) -> Made:
    """What a file of a run holds, `otherwise` where there is none; `ValueError` in one line for a damaged one."""
    if not path.is_file():
        return otherwise
    try:
        return read()
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error!s}; wanted {wanted}") from None


def _check_same_exam(folder: RunFolder, questions: tuple[Question, ...], scores: pd.DataFrame) -> None:
    known = {question.id for question in questions}
    for place, item in enumerate(scores["item"]):
        if item not in known:
            where = f"{folder.responses}:{place + 2}"
            raise ValueError(f"{where}: item {item!r} is no question of {folder.exam.name}; wanted its answers")
    if scores["score"].notna().sum() == 0:
        raise ValueError(f"{folder.responses}: nothing was answered; wanted at least one score")


def _json(path: Path) -> dict[str, Any] | None:
    return parse_json_object(read_text(path), str(path)) if path.is_file() else None


def _count_lines(path: Path) -> int | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return sum(1 for line in file if line.strip())
