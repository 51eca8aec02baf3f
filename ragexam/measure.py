"""Fitting and pruning, for a run folder and for any response table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import irt
from exam_gen.files import read_exam, write_exam
from irt.estimation import BACKENDS
from irt.selection import prune
from rag.pipelines import FACETS
from ragexam.config import Config, FitSettings
from ragexam.folder import RunFolder
from ragexam.progress import Progress, Report
from ragexam.settings import check


def fit_run(folder: RunFolder, config: Config, report: Report) -> None:
    """Fit the responses of a run into `fit/`."""
    fitted(run_data(folder), config.fit, config.seed, n_choices(folder.exam), report).save(folder.fit)


def prune_run(folder: RunFolder, config: Config, report: Report) -> None:
    """Prune the exam of a run into `pruned/`: `prune.json`, the exam that is left, and its fit."""
    assert config.prune is not None
    data, options = run_data(folder), n_choices(folder.exam)
    chosen = prune(
        data,
        irt.load_fit(folder.fit),
        keep=config.prune.keep,
        holdout=config.prune.holdout,
        seed=config.seed,
        options=options,
        progress=report,
    )
    exam = read_exam(folder.exam).select(chosen.kept)
    write_exam(folder.pruned / "exam.jsonl", exam)
    fitted(data.select(chosen.kept), config.fit, config.seed, options, report).save(folder.pruned / "fit")
    chosen.save(folder.pruned)


def fit_table(
    responses: Path,
    out: Path,
    model: str,
    method: str,
    backend: str,
    facets: str | None,
    interval: float,
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """`ragexam fit`: returns the content of `fit.json`."""
    if backend not in (known := set(BACKENDS.values()) | {"numpyro"}):
        raise ValueError(f"--backend {backend}: unknown; wanted one of {', '.join(sorted(known))}")
    data = varying(irt.read_responses(responses, facets=facet_list(facets)))
    settings = check("fit", {"model": model, "method": method, "interval": interval}, FitSettings)
    out.mkdir(parents=True, exist_ok=True)
    with progress.step("fit") as report:
        fitted(data, settings, seed, 4, report).save(out)
    return dict(json.loads((out / "fit.json").read_text(encoding="utf-8")))


def prune_table(
    responses: Path,
    out: Path,
    keep: float,
    holdout: float,
    model: str,
    facets: str | None,
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """`ragexam prune`: returns the content of `prune.json`."""
    data = varying(irt.read_responses(responses, facets=facet_list(facets)))
    out.mkdir(parents=True, exist_ok=True)
    with progress.step("prune") as report:
        chosen = prune(data, keep=keep, holdout=holdout, model=model, seed=seed, progress=report)
    chosen.save(out)
    return dict(json.loads((out / "prune.json").read_text(encoding="utf-8")))


def fitted(
    data: irt.ResponseMatrix, settings: FitSettings, seed: int, options: int | Mapping[str, int], report: Report
) -> irt.Fit:
    """Fit a table under the settings."""
    return irt.fit(
        data,
        model=settings.model,
        method=settings.method,
        interval=settings.interval,
        options=options,
        seed=seed,
        progress=report,
    )


def varying(data: irt.ResponseMatrix) -> irt.ResponseMatrix:
    """The table without facets that have one level only, which its notes tell: there is nothing to compare."""
    constant = irt.constant_facets(data)
    notes = tuple(
        f"Facet '{name}' has one level only and was left out: there is nothing to compare." for name in constant
    )
    kept = data.with_facets([name for name in irt.facet_names(data) if name not in constant])
    return replace(kept, notes=(*data.notes, *notes))


def run_data(folder: RunFolder) -> irt.ResponseMatrix:
    """The responses of a run, with the facets that vary in it."""
    return varying(irt.read_responses(folder.responses, facets=FACETS))


def n_choices(exam: Path) -> dict[str, int]:
    """The number of choices of each question, on which guessing is centred."""
    return {question.id: len(question.choices) for question in read_exam(exam).questions}


def facet_list(facets: str | None) -> list[str] | None:
    """The facet names of a comma-separated list; None stays None."""
    return None if facets is None else [name.strip() for name in facets.split(",") if name.strip()]
