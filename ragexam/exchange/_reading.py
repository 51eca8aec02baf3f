"""Reading answers back: files of other tools become one table of responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from examcore import Exam
from rag import Pipeline, write_responses
from ragexam._assembling import open_exam
from ragexam.exchange import _inspect_tasks as inspect_tasks
from ragexam.exchange import _lm_eval as lm_eval
from ragexam.exchange._formats import ImportedAnswer
from ragexam.exchange._inspect_tasks import read_log_file

PATTERNS = ("samples_*.jsonl", "*.eval", "*.json")
"""What is looked for in a folder; results files of lm-eval are passed over."""


@dataclass(frozen=True)
class AnswerCounts:
    """Questions that a pipeline was asked, its right answers, and its trials."""

    asked: int
    right: int
    trials: int


@dataclass(frozen=True)
class ImportResult:
    """The responses in `out` to the exam of this hash, and the answers of each pipeline."""

    out: Path
    exam: str
    questions: int
    students: Mapping[str, AnswerCounts]

    def lines(self) -> list[str]:
        """The accuracy of each pipeline, and where the responses are."""
        rows = [
            f"{count.right / count.trials:.3f}  {name}  ({count.asked} of {self.questions} questions)"
            for name, count in self.students.items()
        ]
        return [*rows, str(self.out)]


def import_answers(sources: Sequence[str], exam_path: Path, out: Path, normalization: str) -> ImportResult:
    """Write the answers of samples files and logs, each `PATH` or `LLM=PATH`, as `responses.csv`.

    A folder stands for all such files below it. Students are pipelines, in the order of the files; a question that one
    was not asked has no score. Raises ValueError for answers to other questions and for two answers of one student to
    one question.
    """
    if normalization not in lm_eval.NORMALIZATIONS:
        wanted = ", ".join(lm_eval.NORMALIZATIONS)
        raise ValueError(f"--normalization {normalization}: not in these files; wanted one of {wanted}")
    exam = open_exam(exam_path)
    named = [pair for source in sources for pair in _files(source)]
    answers = _once(one for llm, path in named for one in read_answers(path, llm, exam, normalization))
    if not answers:
        raise ValueError(f"{sources[0]}: no answers; wanted samples of lm-eval or logs of Inspect")
    pipelines = list(dict.fromkeys(one.pipeline for one in answers))
    scores = {(one.pipeline.id, one.question): one.right for one in answers}
    trials = {(one.pipeline.id, one.question): one.trials for one in answers}
    write_responses(out, exam.ids, pipelines, scores, trials if set(trials.values()) != {1} else None)
    answered = {one.id: [answer for answer in answers if answer.pipeline == one] for one in pipelines}
    students = {
        name: AnswerCounts(len(mine), sum(one.right for one in mine), sum(one.trials for one in mine))
        for name, mine in answered.items()
    }
    return ImportResult(out, exam.hash, len(exam), students)


def read_answers(path: Path, llm: str, exam: Exam, normalization: str) -> Iterator[ImportedAnswer]:
    """The answers of one file; without `llm` the model goes by the name the file gives it."""
    if path.suffix == ".jsonl":
        return lm_eval.read_samples(path, llm or lm_eval.model_of(path), exam, normalization)
    log = read_log_file(path)
    return inspect_tasks.read_log(path, llm or log.model, log, exam)


def _files(source: str) -> list[tuple[str, Path]]:
    """The model name given, if any, and the files."""
    llm, equals, rest = source.partition("=")
    path = Path(source)
    llm, path = (llm, Path(rest)) if equals and not path.exists() else ("", path)
    if not path.exists():
        raise FileNotFoundError(
            f"{path}: no such file; wanted samples of lm-eval, a log of Inspect or a folder of them"
        )
    if not path.is_dir():
        return [(llm, path)]
    found = sorted({one for pattern in PATTERNS for one in path.rglob(pattern)})
    return [(llm, one) for one in found if not one.name.startswith("results_")]


def _once(answers: Iterable[ImportedAnswer]) -> list[ImportedAnswer]:
    """The answers, when no student has two to one question."""
    places: dict[tuple[Pipeline, str], str] = {}
    kept = []
    for one in answers:
        key = (one.pipeline, one.question)
        if key in places:
            raise ValueError(
                f"{one.place}: {one.pipeline.id} answered {one.question!r} before, at {places[key]}; wanted one answer "
                "(leave one of two files out, or tell two models apart: NAME=PATH)"
            )
        places[key] = one.place
        kept.append(one)
    return kept
