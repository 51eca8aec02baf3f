"""The arrays of a fit in one file, `posterior.nc`, which other programs open with ArviZ."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from irt._model import ITEM_COVARIATE, ItemEffects
from irt._partial_credit import RATED_ITEMS
from irt._responses import Floats, ResponseMatrix

DIMENSIONS = {"a": "item", "b": "item", "c": "item", "d": "item", "theta": "student"}
THRESHOLDS = ["item", "threshold"]


class PosteriorArrays(NamedTuple):
    """A table with draws `[D, ...]`, point estimates and errors by name, chance levels `[I]`, effects on items."""

    data: ResponseMatrix
    draws: Mapping[str, Floats]
    point: Mapping[str, Floats]
    errors: Mapping[str, Floats]
    chance: Floats
    item_effects: ItemEffects | None = None


def write(fit: PosteriorArrays, chains: int, levels: Mapping[str, Sequence[str]], path: Path) -> None:
    """Write the arrays as ArviZ InferenceData in netCDF; `levels` names those of each term whose effects were drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz

        coords: dict[str, Any] = {"item": list(fit.data.items), "student": list(fit.data.students)}
        dims: dict[str, list[str]] = {name: [axis] for name, axis in DIMENSIONS.items()}
        for name in RATED_ITEMS:
            if name in fit.draws:
                coords["threshold"] = list(range(1, fit.draws[name].shape[2] + 1))
                dims |= {name: THRESHOLDS, "top": ["item"]}
        for term, names in levels.items():
            level = _escaped(f"level.{term}")
            coords[level] = list(names)
            dims[_escaped(f"effect.{term}")] = [level]
            dims[_escaped(f"{ITEM_COVARIATE}.{term}")] = [level, "covariate"]
        dims[ITEM_COVARIATE] = ["covariate"]
        grid = ["student", "item"]
        dims["expected"] = grid
        constants: dict[str, Any] = {"chance": fit.chance}
        if fit.data.top is not None:
            constants["top"] = fit.data.top
        columns = {} if fit.data.facets is None else dict(fit.data.facets.items())
        facets = {_escaped(f"facet.{name}"): column.to_numpy(dtype=str) for name, column in columns.items()}
        constants |= facets
        constants |= {_escaped(f"point.{name}"): values for name, values in fit.point.items()}
        constants |= {_escaped(f"error.{name}"): values for name, values in fit.errors.items()}
        for kind, effects in _by_kind(fit.item_effects).items():
            constants |= {_escaped(f"{kind}.{name}"): values for name, values in effects.items()}
            dims |= {_escaped(f"{kind}.{name}"): ["item", _escaped(f"level.{name}")] for name in effects}
        if fit.item_effects is not None:
            constants["expected"] = fit.item_effects.expected
        dims |= {f"{kind}.{name}": axes for name, axes in list(dims.items()) for kind in ("point", "error")}
        dims |= {key: ["student"] for key in facets}
        posterior = {
            _escaped(name): values.reshape(chains, len(values) // chains, *values.shape[1:])
            for name, values in fit.draws.items()
        }
        inference = arviz.from_dict(
            posterior=posterior,
            observed_data={"scores": fit.data.scores, "trials": fit.data.attempts},
            constant_data=constants,
            coords=coords,
            dims=dims | {"scores": grid, "trials": grid, "chance": ["item"]},
        )
        inference.to_netcdf(str(path), engine="h5netcdf")


def _by_kind(effects: ItemEffects | None) -> dict[str, Mapping[str, Floats]]:
    return {} if effects is None else {"item_effect": effects.mean, "item_effect_sd": effects.sd}


def _escaped(name: str) -> str:
    """A name without slashes, which separate groups in the file."""
    return name.replace("%", "%25").replace("/", "%2F")


def read(path: Path, facets: Sequence[str]) -> PosteriorArrays:
    """The arrays of a file, whose table has these columns of facets; ValueError for a file that cannot be read."""
    import xarray

    def group(name: str) -> Any:
        try:
            with xarray.open_dataset(path, group=name, engine="h5netcdf") as opened:
                return opened.load()
        except (OSError, ValueError) as error:
            raise ValueError(f"{path}: not a readable posterior ({' '.join(str(error).split())[:120]})") from error

    posterior, observed, constant = group("posterior"), group("observed_data"), group("constant_data")
    draws = {
        str(name).replace("%2F", "/").replace("%25", "%"): np.asarray(values).reshape(-1, *values.shape[2:])
        for name, values in posterior.data_vars.items()
    }
    students = tuple(str(name) for name in observed["student"].values)
    items = tuple(str(name) for name in observed["item"].values)
    columns = {name: constant[_escaped(f"facet.{name}")].values.astype(str) for name in facets}
    table = pd.DataFrame(columns, index=pd.Index(students, name="student"), dtype=str) if columns else None
    trials = observed["trials"].values
    top = constant["top"].values if "top" in constant else None
    counts = trials if trials.max() > 1 and top is None else None
    data = ResponseMatrix(observed["scores"].values, students, items, counts, table, top=top)
    point, errors = (
        {
            name: np.asarray(constant[_escaped(prefix + name)]).reshape(values.shape[1:])
            for name, values in draws.items()
            if _escaped(prefix + name) in constant
        }
        for prefix in ("point.", "error.")
    )
    effects = None
    if "expected" in constant:
        mean, sd = (
            {name: constant[key].values for name in facets if (key := _escaped(f"{kind}.{name}")) in constant}
            for kind in ("item_effect", "item_effect_sd")
        )
        effects = ItemEffects(mean, sd, constant["expected"].values)
    return PosteriorArrays(data, draws, point, errors, constant["chance"].values, effects)
