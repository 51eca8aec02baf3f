"""Fitting and pruning a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

import irt
from examcore import ReportProgress, RunFolder, read_exam, write_exam
from rag import OWN_FACETS
from ragexam._config import Config


def fit_run(folder: RunFolder, config: Config, report: ReportProgress) -> None:
    """Fit the responses of a run into `fit/`."""
    fitted(run_data(folder), config.fit, config.seed, n_choices(folder.exam), report).save(folder.fit)


def prune_run(folder: RunFolder, config: Config, report: ReportProgress) -> None:
    """Prune the exam of a run into `pruned/`: `prune.json`, the exam that is left, and its fit."""
    assert config.prune is not None
    data, options = run_data(folder), n_choices(folder.exam)
    known = {one.name: getattr(config.prune, one.name) for one in fields(irt.PruneSettings)}
    chosen = irt.prune(
        data,
        irt.load_fit(folder.fit),
        settings=irt.PruneSettings(**known | {"seed": config.seed}),
        groups=topics(folder.exam) if config.prune.balance else None,
        options=options,
        progress=report,
    )
    exam = read_exam(folder.exam).select(chosen.kept)
    write_exam(folder.pruned / "exam.jsonl", exam)
    fitted(data.select(chosen.kept), config.fit, config.seed, options, report).save(folder.pruned / "fit")
    chosen.save(folder.pruned)


def fitted(
    data: irt.ResponseMatrix,
    settings: irt.FitSettings,
    seed: int,
    options: int | Mapping[str, int],
    report: ReportProgress,
) -> irt.Fit:
    """Fit a table under the settings."""
    return irt.fit(
        data, settings=irt.FitSettings(**vars(settings) | {"seed": seed, "options": options}), progress=report
    )


def run_data(folder: RunFolder) -> irt.ResponseMatrix:
    """The responses of a run, with the facets that vary in it."""
    return irt.without_constant_facets(_crossed(irt.read_responses(folder.responses)))


def _crossed(data: irt.ResponseMatrix) -> irt.ResponseMatrix:
    """The table without black boxes, unless there is nothing else: they share no component with a grid."""
    assert data.facets is not None
    kept = [
        one for one, retriever in zip(data.students, data.facets["retriever"], strict=True) if retriever != OWN_FACETS
    ]
    if not kept or len(kept) == len(data.students):
        return data
    note = f"Black boxes (retriever '{OWN_FACETS}') were left out: they share no component with the other pipelines."
    return replace(data.select_students(kept), notes=(*data.notes, note))


def n_choices(exam: Path) -> dict[str, int]:
    """The number of choices of each question, on which guessing is centred."""
    return {question.id: len(question.choices) for question in read_exam(exam).questions}


def topics(exam: Path) -> dict[str, str]:
    """The topic of each question."""
    return {question.id: question.topic for question in read_exam(exam).questions}
