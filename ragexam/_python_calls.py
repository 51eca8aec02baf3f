"""The steps of a run as functions: what the commands of the same names call, loaded when they are called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragexam._run_results import RunResult, SittingResult, WritingResult

if TYPE_CHECKING:
    from examcore import Progress
    from rag.engines import EngineOptions
    from ragexam._retrieval import RetrievalTable
    from ragexam._settings import SettingChanges

WRITING_SHARE = 0.8
"""Of the minutes of a run, those that go to writing; the quickstart sits, fits and reports in a tenth of its time."""


def run(
    config: str | Path,
    *,
    out: str | Path | None = None,
    overrides: SettingChanges = (),
    minutes: float | None = None,
    engine: EngineOptions | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Write, sit, measure, prune and report, or what is left to do of that.

    `config` is a YAML file, whose settings `overrides` change: `{"exam.questions": 80}`. `out` is the run folder, in
    place of the setting `run`. After `minutes` there is a smaller exam to look at, which the same call goes on with.
    Without `engine` the exam is sat in this process; without `progress` it is shown on standard error.
    Raises ValueError or FileNotFoundError, in one line, for settings or files that are not as wanted.
    """
    from ragexam._config import Config
    from ragexam._run import HERE, run_all
    from ragexam._settings import parsed_overrides, read

    changes = dict(parsed_overrides(overrides))
    if out is not None:
        changes["run"] = str(out)
    if minutes is not None:
        changes["exam.minutes"] = minutes * WRITING_SHARE
    return RunResult(run_all(read(Path(config), Config, changes), _shown(progress), engine or HERE))


def load_run(path: str | Path) -> RunResult:
    """Read a run folder whose exam was sat; ValueError, in one line, for any other folder."""
    from ragexam.report import analyse_run

    return RunResult(analyse_run(Path(path)))


def generate(
    corpus: str,
    out: str | Path,
    *,
    questions: int | None = None,
    writer: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    overrides: SettingChanges = (),
    progress: Progress | None = None,
) -> WritingResult:
    """Write an exam from a corpus into the run folder `out`, or what is left to do of it.

    `questions` are wanted, `writer` is the model that writes them, `sample` the number of documents drawn by the seed.
    """
    from ragexam._config import generate_config
    from ragexam._run import run_exam

    given = {"exam.questions": questions, "writer.model": writer, "corpus.sample": sample}
    return run_exam(generate_config(corpus, Path(out), seed, given, overrides), _shown(progress))


def sit(
    exam: str | Path,
    pipelines: str | Path,
    out: str | Path,
    *,
    seed: int = 0,
    overrides: SettingChanges = (),
    engine: EngineOptions | None = None,
    progress: Progress | None = None,
) -> SittingResult:
    """Let the grid of the YAML file `pipelines` sit an exam (`exam.jsonl`, or a run folder); answers go into `out`."""
    from ragexam._config import GridSettings
    from ragexam._run import HERE, run_sitting
    from ragexam._settings import read

    grid = read(Path(pipelines), GridSettings, overrides)
    return run_sitting(Path(exam), grid, Path(out), engine or HERE, seed, _shown(progress))


def retrieval(path: str | Path, *, progress: Progress | None = None) -> RetrievalTable:
    """How well each retriever of a run finds the passage that a question was written from, measured where it was not.

    `path` is the folder of a run whose exam was sat.
    """
    from ragexam._retrieval import measure_retrieval

    return measure_retrieval(Path(path), _shown(progress))


def _shown(progress: Progress | None) -> Progress:
    """The progress given, else that of the commands: on standard error."""
    from examcore import Progress

    return progress or Progress()
