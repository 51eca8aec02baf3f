"""Fitted models of a task, each made once: kept under the hash of the answers and of the code that fits.

Two models answer two questions. Questions (curves, information) are measured against a Normal(0, 1) population of
pipelines whose abilities are free, by marginal maximum likelihood with priors. Components are measured by the model
whose abilities add up from facets, whose effects have a joint posterior. Where pipelines that share a retriever answer
almost alike, the second one places them at few abilities, and its discriminations run away: its items are not drawn.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

import irt
from paper_figs._task_results import TaskResults, read_json

MODEL = "2pl"
"""The model of the questions' curves and of the components."""
SEED = 0


def item_fit(run: TaskResults, model: str = MODEL) -> irt.Fit:
    """The questions measured against a population of free abilities."""
    folder = _made(run, f"items-{model}", lambda to: population_fit(run.data, model).save(to))
    return _loaded(folder)


def population_fit(data: irt.ResponseMatrix, model: str) -> irt.Fit:
    """A fit without facets: abilities Normal(0, 1), items with priors whose spreads are estimated."""
    return irt.fit(data, model=model, method="mml", facets=(), priors=irt.Priors(), seed=SEED)


def components(run: TaskResults) -> pd.DataFrame:
    """`facet, level, effect, sd, low, high, method`: zero-sum effects on ability, from their joint posterior.

    Those of the run's own fit where it has one, else of a fit made now: a nested Laplace approximation in seconds, or,
    where it finds no mode, sampling in minutes. ValueError for answers without facets of two levels.
    """
    given = run.folder / "fit"
    if (given / "components.csv").is_file() and (given / "fit.json").is_file():
        folder = given
    else:
        if set(irt.facet_names(run.data)) <= set(irt.constant_facets(run.data)):
            raise ValueError(f"{run.responses}: no facet has two levels; wanted columns such as llm and retriever")
        folder = _made(run, "components", lambda to: _facet_fit(run.data).save(to))
    table = pd.read_csv(folder / "components.csv", dtype={"facet": str, "level": str})
    if table.empty:
        raise ValueError(f"{folder}: fitted without facets; wanted a fit with components")
    return table.assign(method=read_json(folder / "fit.json")["method"])


def pruning(run: TaskResults) -> dict[str, Any]:
    """The record of the run's pruning, else of a pruning to 70 % of the questions made now."""
    for path in (run.folder / "pruned" / "prune.json", run.folder / "prune.json"):
        if path.is_file():
            return _checked(path)
    folder = _made(run, "pruned", lambda to: irt.prune(run.data, keep=0.7, seed=SEED).save(to))
    return _checked(folder / "prune.json")


@functools.lru_cache(maxsize=16)
def _loaded(folder: Path) -> irt.Fit:
    """Reading draws takes longer than drawing them; the folder's name holds the hash of what is in it."""
    return irt.load_fit(folder)


def _facet_fit(data: irt.ResponseMatrix) -> irt.Fit:
    facets = [name for name in irt.facet_names(data) if name not in irt.constant_facets(data)]
    try:
        return irt.fit(data, model=MODEL, method="laplace", facets=facets, seed=SEED)
    except ValueError as error:
        if "method 'nuts'" not in str(error):
            raise
        return irt.fit(data, model=MODEL, method="nuts", facets=facets, seed=SEED)


def _checked(path: Path) -> dict[str, Any]:
    found = read_json(path)
    for name in ("trajectory", "theta", "heldout_gain", "kept", "dropped"):
        if name not in found:
            raise ValueError(f"{path}: no {name!r}; wanted the record of a pruning")
    return found


def _made(run: TaskResults, kind: str, make: Callable[[Path], object]) -> Path:
    """A folder of the cache, made when it is not there; unfinished ones are made again."""
    _ = run.data  # refuses a folder without answers
    folder = run.cache / f"{kind}-{_hash(run.responses)}"
    if not (folder / "done").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)
        (folder / "done").write_text(json.dumps({"answers": str(run.responses)}) + "\n", encoding="utf-8")
    return folder


def _hash(responses: Path) -> str:
    """Of the answers, and of the sources of what fits them."""
    found = hashlib.sha256(responses.read_bytes())
    for source in (Path(__file__), *sorted(Path(irt.__file__).parent.rglob("*.py"))):
        found.update(source.read_bytes())
    return found.hexdigest()[:16]
