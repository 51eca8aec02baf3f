"""Fitting and pruning a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import irt
from examcore import Exam, ReportProgress, RunFolder, read_chunks, read_exam, write_exam
from rag import OWN_FACETS
from ragexam._config import Config
from ragexam._question_covariates import values_of, values_of_users, write_mix
from ragexam.validity import read_users

ItemValues = Mapping[str, Mapping[str, float | str]]
"""Of each item covariate a number or a label for every item."""


def fit_run(folder: RunFolder, config: Config, report: ReportProgress) -> None:
    """Fit the responses of a run into `fit/`; what is known of the users' questions goes beside it."""
    exam = read_exam(folder.exam)
    known = item_covariates(exam, config)
    if known and config.users is not None:
        chunks = read_chunks(folder.chunks)
        write_mix(folder.users_mix, values_of_users(read_users(config.users, chunks), chunks))
    fitted(run_data(folder), config.fit, config.seed, n_choices(exam), report, known).save(folder.fit)


def prune_run(folder: RunFolder, config: Config, report: ReportProgress) -> None:
    """Prune the exam of a run into `pruned/`: `prune.json`, the exam that is left, and its fit."""
    assert config.prune is not None
    data, exam, whole = run_data(folder), read_exam(folder.exam), irt.load_fit(folder.fit)
    settings = {one.name: getattr(config.prune, one.name) for one in fields(irt.PruneSettings)}
    chosen = irt.prune(
        data,
        whole,
        settings=irt.PruneSettings(**settings | {"seed": config.seed}),
        groups={question.id: question.topic for question in exam.questions} if config.prune.balance else None,
        options=n_choices(exam),
        progress=report,
    )
    write_exam(folder.pruned / "exam.jsonl", exam.select(chosen.kept))
    left, known = still_varying(data.select(chosen.kept), whole.settings.item_covariates or {})
    fitted(left, config.fit, config.seed, n_choices(exam), report, known).save(folder.pruned / "fit")
    chosen.save(folder.pruned)


def still_varying(data: irt.ResponseMatrix, known: ItemValues) -> tuple[irt.ResponseMatrix, ItemValues]:
    """The item covariates that are not the same for all items of a table, which has a note about the others."""
    kept = {name: values for name, values in known.items() if len({values[item] for item in data.items}) > 1}
    gone = [name for name in known if name not in kept]
    if gone:
        note = f"Item covariates that are the same for all items that are left were left out: {', '.join(gone)}."
        data = replace(data, notes=(*data.notes, note))
    return data, kept


def fitted(
    data: irt.ResponseMatrix,
    settings: irt.FitSettings,
    seed: int,
    options: int | Mapping[str, int],
    report: ReportProgress,
    known: ItemValues | None = None,
) -> irt.Fit:
    """Fit a table under the settings; `known` are the values of the item covariates that they name."""
    given = {"seed": seed, "options": options, "item_covariates": known or None}
    return irt.fit(data, settings=irt.FitSettings(**vars(settings) | given), progress=report)


def item_covariates(exam: Exam, config: Config) -> dict[str, dict[str, float | str]]:
    """The values of the item covariates that a run names."""
    kinds = config.grid.queries
    kind = kinds if isinstance(kinds, str) else kinds[0]
    return values_of(exam.questions, config.fit.item_covariates or (), kind)


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


def n_choices(exam: Exam) -> dict[str, int]:
    """The number of choices of each question, on which guessing is centred."""
    return {question.id: len(question.choices) for question in exam.questions}
